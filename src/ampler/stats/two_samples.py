"""Two algorithms on one instance: their runs compared, by Welch's t-test or by Mann and Whitney's. Pure.

The runs are the sample here, and what they show holds for the instance they were made on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, Protocol

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative
from ampler.stats.contrasts import Contrasts
from ampler.stats.paired.bounds import Bounds, one_sided

RunTest = Literal["t", "wilcoxon"]

EXACT = 50  # fewer runs than this of both, and no ties: Mann and Whitney's test is exact, as in R
MOST_DIFFERENCES = 4_000_000  # between runs that are sorted; of more the quantile is found by halving
HALVINGS = 200  # from the largest double to the last bit


@dataclass(frozen=True, slots=True)
class RunTestWords:
    """What a test of runs is called, what its null hypothesis is, and whom a report cites for it."""

    words: str
    null: str  # continues "the null hypothesis …"
    cites: tuple[str, ...]
    estimate_of: str

    @property
    def plural(self) -> str:
        """Several of these tests, in words."""
        return f"{self.words}s"


RUN_TESTS: Mapping[RunTest, RunTestWords] = {
    "t": RunTestWords("Welch's t-test", "of equal means", ("welch1947",), "mean"),
    "wilcoxon": RunTestWords(
        "Mann–Whitney test", "that a run of either is equally likely to be the larger one", ("mann1947",), "shift"
    ),
}


def run_test(test: str) -> RunTestWords:
    """Return the words of a test of runs.

    >>> run_test("t").plural
    "Welch's t-tests"
    """
    return RUN_TESTS["t" if test == "t" else "wilcoxon"]


class RunComparison(Protocol):
    """Two algorithms whose runs are compared; all differences are first less second."""

    @property
    def estimate(self) -> float:
        """The difference."""
        ...

    def p_value(self, alternative: Alternative, shift: float = 0.0) -> float:
        """Return the p-value of the hypothesis that the difference is `shift`."""
        ...

    def interval(self, alternative: Alternative, alpha: float) -> Bounds:
        """Return the interval of the difference."""
        ...


# Welch's t-test ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Welch:
    """A difference with its standard error and the degrees of freedom that Welch and Satterthwaite give it.

    >>> Welch(estimate=-2.0, error=0.5, degrees=9.0).p_value("two-sided").__round__(5)
    0.00311
    """

    estimate: float
    error: float
    degrees: float

    def p_value(self, alternative: Alternative, shift: float = 0.0) -> float:
        """Return the p-value; 1 where neither algorithm varies, as nothing is known of how they may."""
        from scipy.special import stdtr

        if self.error == 0.0:
            return 1.0
        t = (self.estimate - shift) / self.error
        if alternative == "two-sided":
            return float(min(1.0, 2 * stdtr(self.degrees, -abs(t))))
        return float(stdtr(self.degrees, t if alternative == "less" else -t))

    def interval(self, alternative: Alternative, alpha: float) -> Bounds:
        """Return the interval of the difference; the whole line where neither algorithm varies."""
        from scipy.special import stdtrit

        tail = alpha / 2 if alternative == "two-sided" else alpha
        half = -float(stdtrit(self.degrees, tail)) * self.error if self.error > 0.0 else math.inf
        return one_sided(self.estimate - half, self.estimate + half, alternative, 1 - alpha)


def welch_comparisons(
    contrasts: Contrasts, differences: Floats, theta: Floats, variances: Floats, degrees: Floats
) -> tuple[Welch, ...]:
    """Return Welch's test of every pair.

    `theta` are the statistics, `variances` their squared standard errors and `degrees` the degrees of freedom of these.
    An error is a sum over the algorithms, whatever the kind of difference, and Satterthwaite's formula adds its parts.
    """
    parts = np.array([contrasts.squared_errors(theta, own) for own in np.diag(variances)])
    squared = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = 1 / ((parts / squared) ** 2 / degrees[:, None]).sum(axis=0)
    worth = np.where(np.isfinite(worth), worth, math.inf)
    columns = zip(differences, np.sqrt(squared), worth, strict=True)
    return tuple(Welch(*map(float, numbers)) for numbers in columns)


# Mann and Whitney's test ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MannWhitney:
    """Runs of two algorithms, compared by their ranks; the estimate is Hodges and Lehmann's shift over `unit`.

    >>> runs = MannWhitney((1.1, 2.2, 0.4), (3.1, 4.6, 2.9, 5.0))
    >>> round(runs.p_value("two-sided"), 4), runs.estimate
    (0.0571, -2.6)
    """

    first: tuple[float, ...]
    second: tuple[float, ...]
    unit: float = 1.0

    @cached_property
    def estimate(self) -> float:
        """The median of all differences between a run of the one and a run of the other."""
        pairs = len(self.first) * len(self.second)
        return (self._difference((pairs - 1) // 2) + self._difference(pairs // 2)) / 2 / self.unit

    def p_value(self, alternative: Alternative, shift: float = 0.0) -> float:
        """Return the p-value: exact for few runs without ties, else normal with continuity and ties corrected."""
        x, y = self._arrays
        wins = _wins(x - shift * self.unit, y)
        if self._is_exact(shift):
            at_most, at_least = _exact_tails(len(x), len(y), round(wins))
        else:
            at_most, at_least = self._normal_tails(wins, shift)
        tail = {"less": at_most, "greater": at_least, "two-sided": 2 * min(at_most, at_least)}[alternative]
        return min(1.0, tail)

    def interval(self, alternative: Alternative, alpha: float) -> Bounds:
        """Return the interval between two ordered differences; the whole line where so few runs have no such level."""
        m, n = len(self.first), len(self.second)
        tail = alpha / 2 if alternative == "two-sided" else alpha
        outside = _exact_outside(m, n, tail) if self._is_exact(0.0) else self._normal_outside(tail)
        if outside < 1:
            return Bounds(-math.inf, math.inf, 1.0)
        low, high = self._difference(outside - 1), self._difference(m * n - outside)
        return one_sided(low / self.unit, high / self.unit, alternative, 1 - alpha)

    @cached_property
    def _arrays(self) -> tuple[Floats, Floats]:
        return np.sort(np.array(self.first)), np.sort(np.array(self.second))

    def _is_exact(self, shift: float) -> bool:
        x, y = self._arrays
        together = np.concatenate([x - shift * self.unit, y])
        return max(len(x), len(y)) < EXACT and len(np.unique(together)) == len(together)

    def _normal_tails(self, wins: float, shift: float) -> tuple[float, float]:
        from scipy.special import ndtr

        m, n, sd = len(self.first), len(self.second), self._sd(shift)
        if sd == 0.0:
            return 1.0, 1.0
        away = wins - m * n / 2
        return float(ndtr((away + 0.5) / sd)), float(ndtr(-(away - 0.5) / sd))

    def _sd(self, shift: float) -> float:
        """The standard deviation of the wins, ties allowed for (Lehmann 1975, section 1.4)."""
        x, y = self._arrays
        m, n = len(x), len(y)
        _, ties = np.unique(np.concatenate([x - shift * self.unit, y]), return_counts=True)
        size = m + n
        return math.sqrt(m * n / 12 * ((size + 1) - float((ties**3 - ties).sum()) / (size * (size - 1))))

    def _normal_outside(self, tail: float) -> int:
        from scipy.special import ndtri

        m, n = len(self.first), len(self.second)
        return math.floor(m * n / 2 + float(ndtri(tail)) * self._sd(0.0) - 0.5) + 1

    def _difference(self, place: int) -> float:
        """The difference at this place among all of them in their order."""
        x, y = self._arrays
        if len(x) * len(y) <= MOST_DIFFERENCES:
            return float(np.partition(np.subtract.outer(x, y).ravel(), place)[place])
        low, high = float(x[0] - y[-1]), float(x[-1] - y[0])
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2
            if middle in (low, high):
                break
            below = int(np.searchsorted(y, x - middle, side="left").sum())  # y ≥ x − middle: a difference ≤ middle
            low, high = (low, middle) if len(x) * len(y) - below > place else (middle, high)
        return high


def _wins(x: Floats, y: Floats) -> float:
    """How often a run of the first is above one of the second; a tie is half of it. Both are sorted."""
    return float((np.searchsorted(y, x, side="left") + np.searchsorted(y, x, side="right")).sum()) / 2


def _exact_tails(m: int, n: int, wins: int) -> tuple[float, float]:
    """The chances of at most, and of at least, so many wins."""
    ways = _ways(m, n)
    total = sum(ways)
    return sum(ways[: wins + 1]) / total, sum(ways[wins:]) / total


def _exact_outside(m: int, n: int, tail: float) -> int:
    """How many ordered differences are left out at each end: as many as the chance allows."""
    ways = _ways(m, n)
    total, sum_, outside = sum(ways), 0, 0
    for number in ways:
        sum_ += number
        if sum_ > tail * total:
            break
        outside += 1
    return outside


@lru_cache(maxsize=64)
def _ways(m: int, n: int) -> Sequence[int]:
    """In how many orders of m and n runs there are 0, 1, … wins: the coefficients of a Gaussian binomial, exactly."""
    ways = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for place in range(m * n, n + i - 1, -1):  # times 1 − q^(n+i)
            ways[place] -= ways[place - n - i]
        for place in range(i, m * n + 1):  # over 1 − q^i
            ways[place] += ways[place - i]
    return tuple(ways)
