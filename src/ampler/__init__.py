"""ampler: how many instances, how many runs, and what may I conclude?

::

    design ── how many instances?        ┐
    sampling ── how many runs on each?   ├─► study ── written down: plan, study.toml, study.db ─► running ── carried out
    analysis ── what may I conclude?     ┘                                                            │
         ▲────────────── data ── runs in and out: CSV, Parquet, frames ◄──────────────────────────────┘
    report ── told: words, tables, figures, pages        app ── shell and browser       core, stats ── what all share

Each room's own page says what it answers and what to read first. `front` is the Python door (Study, analyse, advise),
`plots` the figures, `testing` what helps to test a rule, a store or an algorithm. Here are the public names, nothing
else. They are loaded when first used, so that the shell starts quickly.
"""

from __future__ import annotations

TYPE_CHECKING = False  # nothing is imported here: `python -m ampler` would find a typing.py in the working folder first

if TYPE_CHECKING:  # the same table, as type checkers read it
    from ampler.front import Study as Study, advise as advise, analyse as analyse
    from ampler.core.values import (
        Around as Around,
        Command as Command,
        Function as Function,
        Instance as Instance,
        Observation as Observation,
        Plan as Plan,
        Question as Question,
        Reading as Reading,
        RunKey as RunKey,
        Sample as Sample,
        Stop as Stop,
    )
    from ampler.core.failures import Drop as Drop, Par as Par, Penalty as Penalty, StopStudy as StopStudy
    from ampler.core.samples import Samples as Samples
    from ampler.core.errors import AmplerError as AmplerError
    from ampler.design import (
        Design as Design,
        achieved_power as achieved_power,
        detectable_effect as detectable_effect,
        effect_from as effect_from,
        n_comparisons as n_comparisons,
        power_curve as power_curve,
        required_instances as required_instances,
    )
    from ampler.design.assurance import (
        AssuredDesign as AssuredDesign,
        assurance as assurance,
        instances_for_assurance as instances_for_assurance,
    )
    from ampler.design.simulate import DesignCheck as DesignCheck, simulate_design as simulate_design
    from ampler.sampling.rules import Accuracy as Accuracy, Fixed as Fixed, sample as sample
    from ampler.stats.estimate import Estimate as Estimate, estimate as estimate
    from ampler.study.plan import make_plan as make_plan
    from ampler.study.seeds import run_seed as run_seed
    from ampler.study.toml import read_study_file as read_study_file
    from ampler.study.store import (
        merge_stores as merge_stores,
        open_store as open_store,
        read_store as read_store,
        rescue_store as rescue_store,
    )
    from ampler.running import Progress as Progress, run_plan as run_plan
    from ampler.analysis import Analysis as Analysis
    from ampler.analysis.advice import Advice as Advice, suggest_se as suggest_se
    from ampler.report import write_report as write_report

__version__ = "0.2.0"

# Where the public names live; a test holds them together with the imports above.
_ROOMS = {
    "front": "Study advise analyse",
    "core.values": "Around Command Function Instance Observation Plan Question Reading RunKey Sample Stop",
    "core.failures": "Drop Par Penalty StopStudy",
    "core.samples": "Samples",
    "core.errors": "AmplerError",
    "design": "Design achieved_power detectable_effect effect_from n_comparisons power_curve required_instances",
    "design.assurance": "AssuredDesign assurance instances_for_assurance",
    "design.simulate": "DesignCheck simulate_design",
    "sampling.rules": "Accuracy Fixed sample",
    "stats.estimate": "Estimate estimate",
    "study.plan": "make_plan",
    "study.seeds": "run_seed",
    "study.toml": "read_study_file",
    "study.store": "merge_stores open_store read_store rescue_store",
    "running": "Progress run_plan",
    "analysis": "Analysis",
    "analysis.advice": "Advice suggest_se",
    "report": "write_report",
}
_HOMES = {name: home for home, names in _ROOMS.items() for name in names.split()}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list of texts, made from the table

if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ampler' has no attribute {name!r}")
    return getattr(import_module(f"ampler.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
