"""Two algorithms on one instance: their runs compared, by Welch's t-test or by Mann and Whitney's. Pure.

The runs are the sample here, and what they show holds for the instance they were made on.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Literal

import numpy as np
from scipy.special import ndtri

from ampler.core.arrays import Floats
from ampler.core.settings import Alternative
from ampler.stats.contrasts import Contrasts
from ampler.stats.dependence import MeanEstimate
from ampler.stats.paired.contract import Bounds, one_sided

RunTest = Literal["t", "wilcoxon"]

EXACT = 50  # fewer runs than this of both, and no ties: Mann and Whitney's test is exact, as in R
MOST_DIFFERENCES = 4_000_000  # differences up to which all are sorted; beyond, the quantile is found by bisection
HALVINGS = 200  # bisections from the largest double to the last bit


@dataclass(frozen=True, slots=True)
class RunTestWords:
    """Name, null hypothesis and citation of a test of runs."""

    words: str
    null: str  # continues "the null hypothesis …"
    cites: tuple[str, ...]
    estimate_of: str

    @property
    def plural(self) -> str:
        """Plural name of the test."""
        return f"{self.words}s"


RUN_TESTS: Mapping[str, RunTestWords] = {
    "t": RunTestWords("Welch's t-test", "of equal means", ("welch1947",), "mean"),
    "wilcoxon": RunTestWords(
        "Mann–Whitney test", "that a run of either is equally likely to be the larger one", ("mann1947",), "shift"
    ),
    "resampled": RunTestWords("corrected resampled t-test", "of equal means", ("nadeau2003",), "mean"),
}


def run_test(test: str) -> RunTestWords:
    """Return the texts of a test of runs.

    >>> run_test("t").plural
    "Welch's t-tests"
    """
    return RUN_TESTS[test if test in RUN_TESTS else "wilcoxon"]


# Welch's t-test ---------------------------------------------------------------------------------------------------


def welch_comparisons(
    contrasts: Contrasts, differences: Floats, theta: Floats, variances: Floats, degrees: Floats
) -> tuple[MeanEstimate, ...]:
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
    return tuple(MeanEstimate(*map(float, numbers)) for numbers in columns)


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
        from scipy.stats import mannwhitneyu

        if self._sd(shift) == 0.0:
            return 1.0
        x, y = self._arrays
        method: Literal["exact", "asymptotic"] = "exact" if self._is_exact(shift) else "asymptotic"
        return float(mannwhitneyu(x - shift * self.unit, y, alternative=alternative, method=method).pvalue)

    def interval(self, alternative: Alternative, alpha: float) -> Bounds:
        """Return the interval between two ordered differences; the whole line where so few runs have no such level."""
        m, n = len(self.first), len(self.second)
        tail = alpha / 2 if alternative == "two-sided" else alpha
        if self._is_exact(0.0):  # ordered differences to omit at each end
            ways = _ways(m, n)
            outside = bisect_right(list(accumulate(ways)), tail * sum(ways))
        else:
            outside = math.floor(m * n / 2 + float(ndtri(tail)) * self._sd(0.0) - 0.5) + 1
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

    def _sd(self, shift: float) -> float:
        """The standard deviation of the wins, ties allowed for (Lehmann 1975, section 1.4)."""
        x, y = self._arrays
        m, n = len(x), len(y)
        _, ties = np.unique(np.concatenate([x - shift * self.unit, y]), return_counts=True)
        size = m + n
        return math.sqrt(m * n / 12 * ((size + 1) - float((ties**3 - ties).sum()) / (size * (size - 1))))

    def _difference(self, position: int) -> float:
        """The difference at this place among all of them in their order."""
        x, y = self._arrays
        if len(x) * len(y) <= MOST_DIFFERENCES:
            return float(np.partition(np.subtract.outer(x, y).ravel(), position)[position])
        low, high = float(x[0] - y[-1]), float(x[-1] - y[0])
        for _ in range(HALVINGS):
            middle = low + (high - low) / 2
            if middle in (low, high):
                break
            below = int(np.searchsorted(y, x - middle, side="left").sum())  # y ≥ x − middle: a difference ≤ middle
            low, high = (low, middle) if len(x) * len(y) - below > position else (middle, high)
        return high


@lru_cache(maxsize=64)
def _ways(m: int, n: int) -> Sequence[int]:
    """Number of orders of m and n runs with 0, 1, … wins: the exact coefficients of a Gaussian binomial."""
    ways = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for position in range(m * n, n + i - 1, -1):  # times 1 − q^(n+i)
            ways[position] -= ways[position - n - i]
        for position in range(i, m * n + 1):  # over 1 − q^i
            ways[position] += ways[position - i]
    return tuple(ways)


RunComparison = MeanEstimate | MannWhitney  # two algorithms whose runs are compared; differences are first − second
