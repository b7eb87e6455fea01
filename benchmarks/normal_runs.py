"""An algorithm with a mean of its own on each instance and normal runs around it; alone, as its code is looked at."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence


def normal_runs(means: Sequence[float], deviation: float) -> Callable[[int, int], float]:
    """Return an algorithm of the place of an instance and a seed."""
    return lambda place, seed: means[place] + deviation * random.Random(seed).gauss(0.0, 1.0)
