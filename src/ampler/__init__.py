"""ampler: how many instances, how many runs, and what may I conclude?

The public names, nothing else. They are loaded when first used, so that the shell starts quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ampler.errors import AmplerError as AmplerError
    from ampler.model import Observation as Observation
    from ampler.model import RunKey as RunKey
    from ampler.model import Sample as Sample
    from ampler.model import Stop as Stop

__version__ = "0.1.0"

# The home of each public name; a test compares it with the imports above and with __all__.
_HOMES = {
    "AmplerError": "errors",
    "Observation": "model",
    "RunKey": "model",
    "Sample": "model",
    "Stop": "model",
}

__all__ = [
    "AmplerError",
    "Observation",
    "RunKey",
    "Sample",
    "Stop",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ampler' has no attribute {name!r}")
    return getattr(import_module(f"ampler.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
