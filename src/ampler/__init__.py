"""ampler: how many instances, how many runs, and what may I conclude?

The public names, nothing else. They are loaded when first used, so that the shell starts quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ampler.analysis import Analysis as Analysis
    from ampler.analysis.advice import Advice as Advice
    from ampler.analysis.advice import suggest_se as suggest_se
    from ampler.core.errors import AmplerError as AmplerError
    from ampler.core.failures import Drop as Drop
    from ampler.core.failures import Par as Par
    from ampler.core.failures import Penalty as Penalty
    from ampler.core.failures import StopStudy as StopStudy
    from ampler.core.samples import Samples as Samples
    from ampler.core.values import Command as Command
    from ampler.core.values import Function as Function
    from ampler.core.values import Instance as Instance
    from ampler.core.values import Observation as Observation
    from ampler.core.values import Plan as Plan
    from ampler.core.values import Question as Question
    from ampler.core.values import Reading as Reading
    from ampler.core.values import RunKey as RunKey
    from ampler.core.values import Sample as Sample
    from ampler.core.values import Stop as Stop
    from ampler.design import Design as Design
    from ampler.design import achieved_power as achieved_power
    from ampler.design import detectable_effect as detectable_effect
    from ampler.design import effect_from as effect_from
    from ampler.design import n_comparisons as n_comparisons
    from ampler.design import power_curve as power_curve
    from ampler.design import required_instances as required_instances
    from ampler.design.simulate import DesignCheck as DesignCheck
    from ampler.design.simulate import simulate_design as simulate_design
    from ampler.front import Study as Study
    from ampler.front import advise as advise
    from ampler.front import analyse as analyse
    from ampler.report import write_report as write_report
    from ampler.running import Progress as Progress
    from ampler.running import run_plan as run_plan
    from ampler.sampling.rules import Accuracy as Accuracy
    from ampler.sampling.rules import Fixed as Fixed
    from ampler.sampling.rules import sample as sample
    from ampler.stats.estimate import Estimate as Estimate
    from ampler.stats.estimate import estimate as estimate
    from ampler.study.plan import make_plan as make_plan
    from ampler.study.plan import run_seed as run_seed
    from ampler.study.store import merge_stores as merge_stores
    from ampler.study.store import open_store as open_store
    from ampler.study.store import read_store as read_store
    from ampler.study.toml import read_study_file as read_study_file

__version__ = "0.1.0"

# The home of each public name; a test compares it with the imports above and with __all__.
_HOMES = {
    "Accuracy": "sampling.rules",
    "Advice": "analysis.advice",
    "AmplerError": "core.errors",
    "Analysis": "analysis",
    "Command": "core.values",
    "Design": "design",
    "DesignCheck": "design.simulate",
    "Drop": "core.failures",
    "Estimate": "stats.estimate",
    "Fixed": "sampling.rules",
    "Function": "core.values",
    "Instance": "core.values",
    "Observation": "core.values",
    "Par": "core.failures",
    "Penalty": "core.failures",
    "Plan": "core.values",
    "Progress": "running",
    "Question": "core.values",
    "Reading": "core.values",
    "RunKey": "core.values",
    "Sample": "core.values",
    "Samples": "core.samples",
    "Stop": "core.values",
    "StopStudy": "core.failures",
    "Study": "front",
    "achieved_power": "design",
    "advise": "front",
    "analyse": "front",
    "detectable_effect": "design",
    "effect_from": "design",
    "estimate": "stats.estimate",
    "make_plan": "study.plan",
    "merge_stores": "study.store",
    "n_comparisons": "design",
    "open_store": "study.store",
    "power_curve": "design",
    "read_store": "study.store",
    "read_study_file": "study.toml",
    "required_instances": "design",
    "run_plan": "running",
    "run_seed": "study.plan",
    "sample": "sampling.rules",
    "simulate_design": "design.simulate",
    "suggest_se": "analysis.advice",
    "write_report": "report",
}

__all__ = [
    "Accuracy",
    "Advice",
    "AmplerError",
    "Analysis",
    "Command",
    "Design",
    "DesignCheck",
    "Drop",
    "Estimate",
    "Fixed",
    "Function",
    "Instance",
    "Observation",
    "Par",
    "Penalty",
    "Plan",
    "Progress",
    "Question",
    "Reading",
    "RunKey",
    "Sample",
    "Samples",
    "Stop",
    "StopStudy",
    "Study",
    "achieved_power",
    "advise",
    "analyse",
    "detectable_effect",
    "effect_from",
    "estimate",
    "make_plan",
    "merge_stores",
    "n_comparisons",
    "open_store",
    "power_curve",
    "read_store",
    "read_study_file",
    "required_instances",
    "run_plan",
    "run_seed",
    "sample",
    "simulate_design",
    "suggest_se",
    "write_report",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ampler' has no attribute {name!r}")
    return getattr(import_module(f"ampler.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
