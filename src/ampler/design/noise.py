"""What the noise of runs takes from a power. Pure.

Tests see measured differences, whose variance is that between instances and that of the runs together. An effect is in
standard deviations of these; whoever thinks of the standard deviation between instances alone has a smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

from ampler.design.designs import Design, achieved_power

RATIOS = (1 / 3, 1 / 2, 1.0)  # se over the standard deviation between instances: harmless, felt, ruinous


@dataclass(frozen=True, slots=True)
class NoisyPower:
    """The power left when each difference is known to `ratio` standard deviations between instances."""

    ratio: float
    power: float

    @property
    def share(self) -> float:
        """The share of run noise in the variance of the measured differences."""
        return self.ratio**2 / (1 + self.ratio**2)


def powers_left(design: Design, ratios: tuple[float, ...] = RATIOS) -> tuple[NoisyPower, ...]:
    """Return what is left of a design's power if its effect was meant in standard deviations between instances.

    >>> from ampler.design import required_instances
    >>> left = powers_left(required_instances(comparisons=1, effect=0.5, power=0.8))
    >>> [(round(each.share, 2), round(each.power, 2)) for each in left]
    [(0.1, 0.77), (0.2, 0.72), (0.5, 0.52)]
    """
    return tuple(NoisyPower(ratio, _achieved(design, design.effect / hypot(1.0, ratio))) for ratio in ratios)


def _achieved(design: Design, effect: float) -> float:
    """The power for another effect; for a simulated target that of the mean, by convention."""
    return achieved_power(
        instances=design.instances,
        comparisons=design.comparisons,
        effect=effect,
        alpha=design.alpha,
        target="mean" if design.target == "simulated" else design.target,
        alternative=design.alternative,
        test=design.test,
        correction=design.correction,
    ).power
