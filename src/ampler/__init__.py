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
    from ampler.model import Observation as Observation
    from ampler.model import RunKey as RunKey
    from ampler.model import Sample as Sample
    from ampler.model import Stop as Stop
    from ampler.samples import Samples as Samples
    from ampler.sampling import Accuracy as Accuracy
    from ampler.sampling import Fixed as Fixed
    from ampler.sampling import sample as sample
    from ampler.simulation import DesignCheck as DesignCheck
    from ampler.simulation import simulate_design as simulate_design
    from ampler.sources import advise as advise
    from ampler.sources import analyse as analyse

__version__ = "0.1.0"

# The home of each public name; a test compares it with the imports above and with __all__.
_HOMES = {
    "Accuracy": "sampling",
    "Advice": "advice",
    "AmplerError": "errors",
    "Analysis": "analysis",
    "Design": "design",
    "DesignCheck": "simulation",
    "Estimate": "estimators",
    "Fixed": "sampling",
    "Observation": "model",
    "RunKey": "model",
    "Sample": "model",
    "Samples": "samples",
    "Stop": "model",
    "achieved_power": "design",
    "advise": "sources",
    "analyse": "sources",
    "detectable_effect": "design",
    "effect_from": "design",
    "estimate": "estimators",
    "n_comparisons": "design",
    "power_curve": "design",
    "required_instances": "design",
    "sample": "sampling",
    "simulate_design": "simulation",
    "suggest_se": "advice",
}

__all__ = [
    "Accuracy",
    "Advice",
    "AmplerError",
    "Analysis",
    "Design",
    "DesignCheck",
    "Estimate",
    "Fixed",
    "Observation",
    "RunKey",
    "Sample",
    "Samples",
    "Stop",
    "achieved_power",
    "advise",
    "analyse",
    "detectable_effect",
    "effect_from",
    "estimate",
    "n_comparisons",
    "power_curve",
    "required_instances",
    "sample",
    "simulate_design",
    "suggest_se",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ampler' has no attribute {name!r}")
    return getattr(import_module(f"ampler.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
