"""ampler: design, execution and analysis of comparisons of algorithms.

::

    design ── how many instances?        ┐
    sampling ── how many runs on each?   ├─► study ── written down: plan, study.toml, study.db ─► running ── carried out
    analysis ── what may I conclude?     ┘                                                            │
         ▲────────────── data ── runs in and out: CSV, Parquet, frames ◄──────────────────────────────┘
    report ── told: words, tables, figures, pages        app ── shell and browser       core, stats ── what all share

The docstring of each package says what it answers and what to read first. `api` is the Python interface (Study,
analyse, advise), `plots` the figures, `testing` what helps to test a rule, a store or an algorithm. Here are the names
that nearly everybody needs; the others are documented in the packages. They are loaded when first used, so that the
shell starts quickly.
"""

from __future__ import annotations

TYPE_CHECKING = False  # nothing is imported here: `python -m ampler` would find a typing.py in the working folder first

if TYPE_CHECKING:  # the same table, as type checkers read it
    from typing import Any

    from ampler.api import (
        Detect as Detect,
        FixedSize as FixedSize,
        Precision as Precision,
        Study as Study,
        advise as advise,
        analyse as analyse,
        analyse_measures as analyse_measures,
        analyze as analyze,
        describe as describe,
        open_study as open_study,
        read_results as read_results,
    )
    from ampler.analysis.results import Analysis as Analysis, Results as Results
    from ampler.core.errors import AmplerError as AmplerError
    from ampler.core.failures import Drop as Drop, Par as Par, Penalty as Penalty, StopStudy as StopStudy
    from ampler.core.plan import Command as Command, Function as Function, Instance as Instance, Limits as Limits
    from ampler.core.settings import Settings as Settings
    from ampler.design import (
        achieved_power as achieved_power,
        detectable_effect as detectable_effect,
        power_curve as power_curve,
        required_instances as required_instances,
    )
    from ampler.report import write_report as write_report
    from ampler.sampling.rules import Accuracy as Accuracy
    from ampler.stats.estimate import estimate as estimate
    from ampler.study.run_inputs import run_seed as run_seed

__version__ = "0.3.0"

# Where the public names live; a test holds them together with the imports above.
_MODULES = {
    "api": "Detect FixedSize Precision Study advise analyse analyse_measures analyze describe open_study read_results",
    "analysis.results": "Analysis Results",
    "core.errors": "AmplerError",
    "core.failures": "Drop Par Penalty StopStudy",
    "core.plan": "Command Function Instance Limits",
    "core.settings": "Settings",
    "design": "achieved_power detectable_effect power_curve required_instances",
    "report": "write_report",
    "sampling.rules": "Accuracy",
    "stats.estimate": "estimate",
    "study.run_inputs": "run_seed",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list of texts, made from the table


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ampler' has no attribute {name!r}")
    return getattr(import_module(f"ampler.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
