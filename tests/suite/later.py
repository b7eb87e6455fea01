"""Parts of scipy that tests load when they use them, and not when they are collected.

What a worker has loaded, each process that it forks copies, and the tests that fork come first.
"""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """A module that is loaded when something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")):  # asked by those who look through all that a file of tests has
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)


stats, optimize, integrate = map(Later, ("scipy.stats", "scipy.optimize", "scipy.integrate"))
