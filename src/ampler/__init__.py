"""ampler: how many instances, how many runs, and what may I conclude?

The public names, nothing else. They are loaded when first used, so that the shell starts quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ampler.advice import Advice as Advice
    from ampler.advice import suggest_se as suggest_se
    from ampler.analysis import Analysis as Analysis
    from ampler.design import Design as Design
    from ampler.design import achieved_power as achieved_power
    from ampler.design import detectable_effect as detectable_effect
    from ampler.design import effect_from as effect_from
    from ampler.design import n_comparisons as n_comparisons
    from ampler.design import power_curve as power_curve
    from ampler.design import required_instances as required_instances
    from ampler.errors import AmplerError as AmplerError
    from ampler.estimators import Estimate as Estimate
    from ampler.estimators import estimate as estimate
    from ampler.model import Command as Command
    from ampler.model import Drop as Drop
    from ampler.model import Function as Function
    from ampler.model import Instance as Instance
    from ampler.model import Observation as Observation
    from ampler.model import Par as Par
    from ampler.model import Penalty as Penalty
    from ampler.model import Plan as Plan
    from ampler.model import Question as Question
    from ampler.model import Reading as Reading
    from ampler.model import RunKey as RunKey
    from ampler.model import Sample as Sample
    from ampler.model import Stop as Stop
    from ampler.model import StopStudy as StopStudy
    from ampler.plan import make_plan as make_plan
    from ampler.plan import run_seed as run_seed
    from ampler.report import write_report as write_report
    from ampler.runner import Progress as Progress
    from ampler.runner import run_plan as run_plan
    from ampler.samples import Samples as Samples
    from ampler.sampling import Accuracy as Accuracy
    from ampler.sampling import Fixed as Fixed
    from ampler.sampling import sample as sample
    from ampler.simulation import DesignCheck as DesignCheck
    from ampler.simulation import simulate_design as simulate_design
    from ampler.sources import advise as advise
    from ampler.sources import analyse as analyse
    from ampler.store import merge_stores as merge_stores
    from ampler.store import open_store as open_store
    from ampler.store import read_store as read_store
    from ampler.study import Study as Study
    from ampler.studyfile import read_study_file as read_study_file

__version__ = "0.1.0"

# The home of each public name; a test compares it with the imports above and with __all__.
_HOMES = {
    "Accuracy": "sampling",
    "Advice": "advice",
    "AmplerError": "errors",
    "Analysis": "analysis",
    "Command": "model",
    "Design": "design",
    "DesignCheck": "simulation",
    "Drop": "model",
    "Estimate": "estimators",
    "Fixed": "sampling",
    "Function": "model",
    "Instance": "model",
    "Observation": "model",
    "Par": "model",
    "Penalty": "model",
    "Plan": "model",
    "Progress": "runner",
    "Question": "model",
    "Reading": "model",
    "RunKey": "model",
    "Sample": "model",
    "Samples": "samples",
    "Stop": "model",
    "StopStudy": "model",
    "Study": "study",
    "achieved_power": "design",
    "advise": "sources",
    "analyse": "sources",
    "detectable_effect": "design",
    "effect_from": "design",
    "estimate": "estimators",
    "make_plan": "plan",
    "merge_stores": "store",
    "n_comparisons": "design",
    "open_store": "store",
    "power_curve": "design",
    "read_store": "store",
    "read_study_file": "studyfile",
    "required_instances": "design",
    "run_plan": "runner",
    "run_seed": "plan",
    "sample": "sampling",
    "simulate_design": "simulation",
    "suggest_se": "advice",
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
