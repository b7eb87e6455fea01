"""Designs checked by simulation: Holm run for real on simulated paired differences. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import sqrt
from reprlib import repr as shown
from typing import Any, get_args

import numpy as np

from ampler.core.checks import choice, integer
from ampler.core.errors import InvalidDesign
from ampler.design import Design
from ampler.design.simulate import Dependence, Distribution, Setting, Tally, families_for, rehearse

FEWEST_FAMILIES = 20  # in the very largest designs; the intervals say how little that is
CHECK_DRAWS = 20_000  # draws that tell whether a distribution has mean 0 and standard deviation 1


@dataclass(frozen=True, slots=True)
class Rate:
    """A probability found by simulation, with its Monte Carlo standard error and 95 % interval."""

    value: float
    error: float
    lower: float
    upper: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.lower:.3f} to {self.upper:.3f})"


@dataclass(frozen=True, slots=True)
class DesignCheck:
    """What a design does when its tests are really run: Holm stepping down through simulated families.

    The powers are None when no difference is real. `worst_power` is that of the comparison detected least often;
    `family_wise_error` is the probability of rejecting at least one true null, 0 when there is none.
    """

    instances: int
    comparisons: int
    null: int
    dependence: Dependence
    replications: int
    mean_power: Rate | None
    worst_power: Rate | None
    any_power: Rate | None
    all_power: Rate | None
    family_wise_error: Rate

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return asdict(self)

    def __str__(self) -> str:
        real = self.comparisons - self.null
        powers = f"mean power {self.mean_power}, at least one detected {self.any_power}, " if real else ""
        return (
            f"{self.instances} instances, {real} of {self.comparisons} differences real ({self.dependence}), "
            f"{self.replications} simulated families: {powers}family-wise error {self.family_wise_error}"
        )


def simulate_design(
    design: Design,
    *,
    null: int = 0,
    dependence: Dependence = "independent",
    distribution: Distribution | None = None,
    replications: int | None = None,
    rng: int | np.random.Generator = 0,
) -> DesignCheck:
    """Run the design's tests on simulated differences and say what they detect, and how often they err.

    `null` of the comparisons have no difference, all others the design's effect. With `dependence="reference"` all
    comparisons share one algorithm, as in all-vs-one. `distribution(rng, size)` draws what the differences scatter by
    (for "reference": what each algorithm's results scatter by), with mean 0 and standard deviation 1; normal if not
    given. `rng` is a seed or a generator.

    >>> from ampler.design import required_instances
    >>> check = simulate_design(required_instances(comparisons=21, effect=0.5), rng=1)
    >>> 0.88 < check.mean_power.value < 0.91
    True
    """
    setting = _setting(design, null, dependence, distribution)
    families = _replications(replications, setting)
    seed = _seed(rng)
    if distribution is not None:
        _check_distribution(distribution, seed)
    tally = rehearse(setting, families=families, seed=seed)
    return _check(setting, tally)


def _setting(design: Design, null: int, dependence: Dependence, distribution: Distribution | None) -> Setting:
    """Check what was asked and describe it as a rehearsal."""
    if not isinstance(design, Design):
        raise InvalidDesign(f"simulate_design needs a Design, got {shown(design)}: make one with required_instances")
    if distribution is not None and not callable(distribution):
        raise InvalidDesign(
            f"distribution must be a function of (rng, size), got {shown(distribution)}: "
            "write for example lambda rng, size: rng.exponential(size=size) - 1"
        )
    return Setting(
        instances=design.instances,
        comparisons=design.comparisons,
        real=design.comparisons
        - integer("null", null, 0, design.comparisons, "count the differences that are not real"),
        effect=design.effect,
        alpha=design.alpha,
        alternative=design.alternative,
        test=design.test,
        correction=design.correction,
        dependence=choice("dependence", dependence, get_args(Dependence), "'reference' is for all-vs-one"),
        distribution=distribution,
    )


def _replications(replications: int | None, setting: Setting) -> int:
    """Take the replications asked for, or as many as a second or so buys."""
    if replications is None:
        return families_for(setting, least=FEWEST_FAMILIES)
    return integer("replications", replications, 2, 10**9, "10000 are plenty")


def _seed(rng: int | np.random.Generator) -> int:
    """Take a seed as it is, and one number from a generator."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    return integer("rng", rng, 0, 2**63, "give a seed or a numpy Generator")


def _check_distribution(distribution: Distribution, seed: int) -> None:
    """Refuse a distribution that is clearly not centred or not scaled; heavy tails need some room."""
    draws = np.asarray(distribution(np.random.default_rng(seed), (CHECK_DRAWS,)), dtype=float)
    mean, sd = float(draws.mean()), float(draws.std())
    if not (abs(mean) < 0.1 and 0.5 < sd < 2.0):
        raise InvalidDesign(
            f"distribution must have mean 0 and standard deviation 1, but {CHECK_DRAWS} draws have mean {mean:.3g} "
            f"and standard deviation {sd:.3g}: subtract its mean and divide by its standard deviation"
        )


def _check(setting: Setting, tally: Tally) -> DesignCheck:
    """Turn counts into rates."""
    n, real = tally.families, setting.real > 0
    return DesignCheck(
        instances=setting.instances,
        comparisons=setting.comparisons,
        null=setting.comparisons - setting.real,
        dependence=setting.dependence,
        replications=n,
        mean_power=_mean_rate(tally) if real else None,
        worst_power=_worst_rate(tally) if real else None,
        any_power=_rate(tally.with_any / n, n) if real else None,
        all_power=_rate(tally.with_all / n, n) if real else None,
        family_wise_error=_rate(tally.with_false / n, n) if setting.real < setting.comparisons else _CERTAINLY_NOT,
    )


_CERTAINLY_NOT = Rate(0.0, 0.0, 0.0, 0.0)  # without a true null there is none to reject
_QUANTILE = 1.959963984540054  # of the normal distribution at 0.975


def _mean_rate(tally: Tally) -> Rate:
    """The mean share detected per family, as if from as many coins as would have its standard error.

    The share lies in [0, 1], so its variance v is at most p(1 − p) and the number of coins n·p(1 − p)/v at least n.
    """
    p, error, n = tally.mean_power, tally.error, tally.families
    coins = p * (1 - p) / error**2 if error > 0 else n
    return _rate(p, max(n, coins))


def _worst_rate(tally: Tally) -> Rate:
    """The lowest rate of a comparison; all K intervals hold together, so the lowest bounds enclose the lowest."""
    from scipy.special import ndtri

    n = tally.families
    quantile = -float(ndtri(0.025 / len(tally.detections)))
    return _rate(int(tally.detections.min()) / n, n, quantile)


def _rate(p: float, n: float, quantile: float = _QUANTILE) -> Rate:
    """Wilson's interval: where the true rate may lie for p to be within the quantile of it; sound at 0 and 1 too."""
    shrunk = 1 + quantile**2 / n
    centre = (p + quantile**2 / (2 * n)) / shrunk
    half = quantile / shrunk * sqrt(p * (1 - p) / n + quantile**2 / (4 * n**2))
    return Rate(p, sqrt(p * (1 - p) / n), max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)))
