"""Dummy algorithms and instances whose true means and standard deviations are known: for tests and trying out. Pure.

A dummy algorithm is an ordinary one, `algorithm(instance, seed) → value`; what it gives depends on these two alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import exp, expm1, sqrt
from typing import Any, Literal

import numpy as np

from ampler.core.errors import InvalidInput

Shape = Literal["normal", "uniform", "exponential", "lognormal", "discrete", "bernoulli"]
Noise = Callable[[np.random.Generator], float]

_RARE = 0.1  # probability of the rarer value of a Bernoulli dummy


@dataclass(frozen=True, slots=True)
class DummyInstance:
    """A problem instance: `difficulty` multiplies the values of every algorithm."""

    name: str
    difficulty: float = 1.0


@dataclass(frozen=True, slots=True)
class DummyAlgorithm:
    """An algorithm with the given mean and standard deviation (on an instance of difficulty 1) and any noise.

    `shape` names a distribution, or is a callable that draws from one with mean 0 and standard deviation 1. With
    `moody` the true mean differs from instance to instance, by that share of `mean` (as a standard deviation).

    >>> slow = DummyAlgorithm("slow", mean=20.0, sd=2.0, shape="exponential")
    >>> slow(DummyInstance("i1"), seed=7) == slow(DummyInstance("i1"), seed=7)
    True
    """

    name: str
    mean: float = 10.0
    sd: float = 1.0
    shape: Shape | Noise = "normal"
    moody: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.shape) and self.shape not in _SHAPES:
            shapes = ", ".join(_SHAPES)
            raise InvalidInput(f"shape must be one of {shapes} or a callable of a generator, got {self.shape!r}")

    def __call__(self, instance: DummyInstance, seed: int) -> float:
        """Return the value of one run."""
        noise = self.shape if callable(self.shape) else _SHAPES[self.shape]
        rng = np.random.default_rng(_number(self.name, instance.name, seed))
        return self.true_mean(instance) + self.true_sd(instance) * noise(rng)

    def true_mean(self, instance: DummyInstance) -> float:
        """Return the mean of the values on an instance."""
        mood = np.random.default_rng(_number(self.name, instance.name)).standard_normal() if self.moody else 0.0
        return instance.difficulty * self.mean * (1.0 + self.moody * mood)

    def true_sd(self, instance: DummyInstance) -> float:
        """Return the standard deviation of the values on an instance."""
        return instance.difficulty * self.sd


def dummy_algorithms(count: int, **settings: Any) -> dict[str, DummyAlgorithm]:
    """Return `count` algorithms named a1, a2, …, whose means rise by one from `mean`; further settings are shared.

    >>> [algorithm.mean for algorithm in dummy_algorithms(3, sd=2.0).values()]
    [10.0, 11.0, 12.0]
    """
    first = settings.pop("mean", 10.0)
    names = [f"a{number}" for number in range(1, count + 1)]
    return {name: DummyAlgorithm(name, mean=first + index, **settings) for index, name in enumerate(names)}


def dummy_instances(count: int, *, spread: float = 0.5, seed: int = 0) -> dict[str, DummyInstance]:
    """Return `count` instances named i1, i2, …, whose difficulties are lognormal with log-sd `spread`.

    >>> list(dummy_instances(3))
    ['i1', 'i2', 'i3']
    """
    levels = np.random.default_rng(seed).lognormal(0.0, spread, count)
    names = [f"i{number}" for number in range(1, count + 1)]
    return {name: DummyInstance(name, float(level)) for name, level in zip(names, levels, strict=True)}


def dummy_draw(
    algorithms: Mapping[str, DummyAlgorithm], instance: DummyInstance, *, seed: int = 0
) -> Callable[[str, int], float]:
    """Return draw(algorithm, index) on one instance, as `ampler.sample` takes it.

    >>> draw = dummy_draw(dummy_algorithms(2), DummyInstance("i1"))
    >>> draw("a1", 0) == draw("a1", 0) != draw("a1", 1)
    True
    """
    return lambda algorithm, index: algorithms[algorithm](instance, _number(seed, index))


def _number(*parts: object) -> int:
    """A number that depends on these parts alone, the same everywhere."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "big")


_SHAPES: dict[str, Noise] = {
    "normal": lambda rng: float(rng.standard_normal()),
    "uniform": lambda rng: float(rng.uniform(-sqrt(3.0), sqrt(3.0))),
    "exponential": lambda rng: float(rng.standard_exponential()) - 1.0,
    "lognormal": lambda rng: (float(rng.lognormal(0.0, 1.0)) - exp(0.5)) / sqrt(expm1(1.0) * exp(1.0)),
    "discrete": lambda rng: (float(rng.integers(5)) - 2.0) / sqrt(2.0),  # five equally likely values: many ties
    "bernoulli": lambda rng: (float(rng.random() < _RARE) - _RARE) / sqrt(_RARE * (1.0 - _RARE)),
}
