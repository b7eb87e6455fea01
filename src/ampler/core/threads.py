"""Threads of numerical libraries: one for each worker, or eight workers on eight cores would start 64.

Results depend on them: sums in another order end in other digits, and Dask's workers have one thread anyway.
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
    """Return the environment as the user has set it, for commands: they choose their threads themselves."""
    return {name: text for name, text in environment.items() if PINNED.get(name) != text}
