"""Limit numerical libraries to one thread per worker; otherwise eight workers on eight cores would start 64.

The number of threads changes the order of sums, and with it the last digits of results.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ONE = "01"  # so that a variable that ampler has set is recognised
PINNED = dict.fromkeys(VARIABLES, ONE)


def pin_threads(environment: MutableMapping[str, str]) -> None:
    """Give numerical libraries one thread, unless the user has set their number; before they are loaded."""
    if not any(name in environment for name in VARIABLES):
        environment.update(PINNED)


def without_pins(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the user's environment for commands, which choose their number of threads themselves."""
    return {name: text for name, text in environment.items() if PINNED.get(name) != text}
