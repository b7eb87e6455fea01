"""A simulated algorithm, alone in its module, as ampler looks at the code of an algorithm and of what it imports."""

from collections.abc import Callable, Sequence
from random import Random


def noisy_solver(name: str, means: Sequence[float], noise: float) -> Callable[[int, int], float]:
    """Return an algorithm whose value on the instance of a place has a mean of its own, and noise of its seed."""
    return lambda place, seed: means[place] + noise * Random(f"{name} {seed}").gauss(0.0, 1.0)
