"""Run noise that contradicts a claim: where the runs alone make a mean less certain than the differences show. Pure.

The variance of the differences holds the noise of the runs, so it estimates more than that noise. Where it is smaller,
as when algorithms that sometimes reach their time limit did so equally often, chance has hidden the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ampler.analysis.compare import Comparison, Doubt, Equivalence
from ampler.core.arrays import Floats, Interval
from ampler.core.choices import Alternative
from ampler.core.wording import digits

CHANCE = 0.1  # of a smaller variance, if nothing but the noise made it: down to here the test is left as it is


@dataclass(frozen=True, slots=True)
class NoiseError:
    """The standard error that the noise of the runs alone gives a mean difference, with its degrees of freedom."""

    error: float
    freedom: float

    def interval(self, estimate: float, alternative: Alternative, alpha: float) -> Interval:
        """Return the interval of the mean by this error."""
        from scipy.special import stdtrit

        half = -float(stdtrit(self.freedom, alpha / (2 if alternative == "two-sided" else 1))) * self.error
        low = -math.inf if alternative == "less" else estimate - half
        return low, math.inf if alternative == "greater" else estimate + half

    def p_value(self, estimate: float) -> float:
        """Return the two-sided p-value of the mean by this error."""
        from scipy.special import stdtr

        return 2 * float(stdtr(self.freedom, -abs(estimate) / self.error))


def noise_errors(differences: Floats, errors: Floats, freedom: Floats) -> list[NoiseError | None]:
    """Return for each pair the error by noise alone where it exceeds that of the differences by more than chance.

    `freedom` are the degrees of freedom of each squared error.
    """
    return [_noise_error(*columns) for columns in zip(differences.T, errors.T, freedom.T, strict=True)]


def _noise_error(differences: Floats, errors: Floats, freedom: Floats) -> NoiseError | None:
    from scipy.special import chdtr

    there = ~np.isnan(differences)
    size = int(there.sum())
    known = there & np.isfinite(errors) & (errors > 0)
    if size < 2 or not known.any():
        return None
    largest = float(errors[known].max())  # so that squares are doubles
    squares = (errors[known] / largest) ** 2
    noise = largest * math.sqrt(float(squares.sum())) / size
    with np.errstate(over="ignore"):
        own = float(np.std(differences[there], ddof=1)) / math.sqrt(size)
    if not noise > own or chdtr(size - 1, (size - 1) * (own / noise) ** 2) >= CHANCE:
        return None
    return NoiseError(noise, float(squares.sum() ** 2 / (squares**2 / freedom[known]).sum()))  # Satterthwaite 1946


def widened(
    comparisons: Sequence[Comparison],
    noise: Sequence[NoiseError | None],
    *,
    alternative: Alternative,
    alpha: float,
) -> tuple[Comparison, ...]:
    """Return comparisons of means with intervals at least as wide as the noise of the runs implies."""
    return tuple(
        each if of_runs is None else _widened(each, of_runs, alternative, alpha / len(comparisons))
        for each, of_runs in zip(comparisons, noise, strict=True)
    )


def _widened(each: Comparison, noise: NoiseError, alternative: Alternative, joint_alpha: float) -> Comparison:
    if each.estimate_of != "mean":
        return each
    return replace(
        each,
        interval=_hull(each.interval, noise.interval(each.estimate, alternative, each.alpha)),
        joint_interval=_hull(each.joint_interval, noise.interval(each.estimate, alternative, joint_alpha)),
    )


def width_doubt(comparison: Comparison, noise: NoiseError | None, alternative: Alternative) -> tuple[Doubt, ...]:
    """Say that a significant difference is within the noise of the runs."""
    if noise is None or comparison.estimate_of != "mean" or not comparison.rejected:
        return ()
    low, high = noise.interval(comparison.estimate, alternative, comparison.alpha)
    if not low <= 0 <= high:
        return ()
    p = digits(noise.p_value(comparison.estimate), 2)
    return (
        Doubt(
            "noise-width",
            f"the noise of the runs alone makes the mean less certain than the differences show (p = {p} by the noise);"
            " more runs per instance would settle it",
        ),
    )


def not_equivalent(same: Equivalence | None, comparison: Comparison, noise: NoiseError | None) -> Equivalence | None:
    """Return what is established of equivalence, not more than the noise of the runs allows."""
    if same is None or noise is None or comparison.estimate_of != "mean":
        return same
    low, high = noise.interval(comparison.estimate, "two-sided", 2 * same.alpha)
    return replace(same, established=same.established and -same.margin < low and high < same.margin)


def _hull(one: Interval, other: Interval) -> Interval:
    return min(one[0], other[0]), max(one[1], other[1])
