"""Statistics of the runs of one algorithm, and the variance of one run of each. Pure.

Mean, median, quantile, trimmed mean, success rate. The variance of one run of a rate follows from the rate, p(1 − p):
from Jeffreys' posterior, (x + ½)/(n + 1), as ten of ten is no certainty.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, gammaln

from ampler.core.arrays import Bools, Codes, Floats
from ampler.core.contracts import Statistic
from ampler.core.errors import InvalidRule
from ampler.core.settings import share

# Added to the numbers of successes and failures: Jeffreys' prior. The root mean square of the standard error is then
# 0.93 to 1.19 times the true one for rates of 0.1 to 0.9 and five runs or more, and 1.7 times for 0.02 and ten runs,
# where Laplace's 1 gives 2.1; ± 1.96 of it cover 93 to 99 % where the sample variance covers 87 to 95 %.
PRIOR = 0.5
SURER = 8  # 98 instead of 90 % of the pairs with even odds are within se, at the cost of 0.1 % more runs
TINY = 1e-9  # replaces a parameter of 0, whose bound is known
NUMBERS = 'for numbers use statistic "mean"'  # remedy where values are not 0 or 1


class Summary:
    """A statistic that works along the last axis and knows the variance of one run, n·Var(statistic).

    `unbiased` says that it estimates its own value without bias, so that the bias of its logarithm is known.
    """

    __slots__ = ()
    unbiased: ClassVar[bool] = False

    def __call__(self, values: Floats) -> Any:
        """Return the statistic of the values along the last axis: the mean, unless it is another one."""
        return values.mean(axis=-1)

    def spread(self, values: Floats) -> float:
        """Return the variance of one run: by resampling, where no formula is known."""
        return resampled_spread(self, values)

    def degrees(self, counts: Floats) -> Floats | None:
        """Return the degrees of freedom that the spread of this many values is worth; None where that is not known."""
        return None


@dataclass(frozen=True, slots=True)
class Rate(Summary):
    """Success rate: the share of runs with the value 1; failures have 0."""

    unbiased: ClassVar[bool] = True

    def spread(self, values: Floats) -> float:
        """Return the variance of one run; it is positive even if all values are equal."""
        return float(rate_variances(np.array(float(len(values))), values.mean()))


def neither_yes_nor_no(value: float) -> str:
    """Return the beginning of an error message about invalid values of a rate."""
    return f"a rate needs values of 1 (yes) or 0 (no), got {value:g}"


def is_yes_or_no(values: Floats) -> Bools:
    """Return which values are 0 or 1."""
    return np.asarray((values == 0.0) | (values == 1.0))


def rate_variances(counts: Floats, rates: Floats) -> Floats:
    """Return p(1 − p) with the posterior mean of p under Jeffreys' prior.

    >>> rate_variances(np.array([10.0, 10.0]), np.array([0.5, 1.0])).round(3).tolist()
    [0.25, 0.043]
    """
    p = (counts * rates + PRIOR) / (counts + 2 * PRIOR)
    return np.asarray(p * (1 - p))


def rate_variance_bounds(counts: Floats, rates: Floats, levels: Floats) -> Floats:
    """Return upper confidence bounds of p(1 − p), each missed with a probability of at most `levels`.

    The bounds of Clopper & Pearson (1934) hold for every rate, Jeffreys' on average only. With as many runs in total,
    99 % of the pairs of five algorithms come within the accuracy wanted instead of 93 to 96 % in the hardest cases.
    Even odds themselves look uneven on both sides by chance, and are given up with an eighth of that chance only: it
    costs a run or two, where the variance hardly changes.

    >>> rate_variance_bounds(np.array([10.0, 40.0]), np.array([1.0, 0.5]), np.array([0.05, 0.05])).round(3).tolist()
    [0.192, 0.25]
    """
    wide = _nearest_to_even(counts, rates, levels / SURER)
    nearest = np.where(wide == 0.5, 0.5, _nearest_to_even(counts, rates, levels))
    return np.asarray(nearest * (1 - nearest))


def _nearest_to_even(counts: Floats, rates: Floats, levels: Floats) -> Floats:
    """The rate nearest to ½ between the exact bounds, each missed with probability `levels`."""
    yes, no = counts * rates, counts * (1 - rates)
    low = np.where(yes > 0, betaincinv(np.maximum(yes, TINY), no + 1, levels), 0.0)
    high = np.where(no > 0, betaincinv(yes + 1, np.maximum(no, TINY), 1 - levels), 1.0)
    return np.asarray(np.clip(0.5, low, high))


RESAMPLES = 999
SEED = 20190  # fixed: an estimate is a function of the samples alone
LONGEST_GAP = 45  # two neighbouring order statistics of a resample lie further apart with probability e^-45


@dataclass(frozen=True, slots=True)
class Mean(Summary):
    """The arithmetic mean."""

    unbiased: ClassVar[bool] = True

    def spread(self, values: Floats) -> float:
        """Return the sample variance."""
        return float(values.var(ddof=1))


@dataclass(frozen=True, slots=True)
class Quantile(Summary):
    """A quantile (0.5: the median), interpolated linearly between neighbouring values as numpy does.

    Its variance is the bootstrap's with infinitely many resamples, without drawing any: Maritz & Jarrett (1978) gave
    the chance of each value to be an order statistic of a resample; neighbouring pairs follow from multinomials. For
    an interpolated quantile this is closer to the truth than Maritz and Jarrett's own variance of one order statistic
    (n = 10, normal, median: 1.23 times the true variance against 1.43). It needs runs on both sides: with fewer than
    about five beyond the quantile it is often far too small.
    """

    q: float

    def __post_init__(self) -> None:
        share("a quantile", self.q, "the median is 0.5", error=InvalidRule)

    def __call__(self, values: Floats) -> Any:
        """Return the quantile along the last axis."""
        if self.q == 0.5:
            return np.median(values, axis=-1)  # same result, faster
        return np.quantile(values, self.q, axis=-1)

    def spread(self, values: Floats) -> float:
        """Return n times the variance of the bootstrap's quantile."""
        chances = _order_chances(len(values), self.q)
        x = np.sort(values) - self(values)
        lower, variance = _moments(chances.lower, x)
        if chances.weight > 0.0:
            upper, variance_upper = _moments(chances.upper, x)
            lags = range(1, len(chances.gaps) + 1)
            squares = (chances.gaps[lag - 1, : len(x) - lag] * (x[lag:] - x[:-lag]) ** 2 for lag in lags)
            gap = sum(float(own.sum()) for own in squares) - (upper - lower) ** 2  # Var(U − L)
            w = chances.weight  # Var((1−w)·L + w·U) = (1−w)·Var L + w·Var U − w·(1−w)·Var(U − L)
            variance = (1 - w) * variance + w * variance_upper - w * (1 - w) * gap
        return len(x) * max(variance, 0.0)

    def degrees(self, counts: Floats) -> Floats:
        """Return √(π·n·q(1−q)), n−1 at most: the spread rests on the density at the quantile, on √n values or so.

        Hall & Martin (1988): the squared relative error of the bootstrap's variance tends to 2/√(π·n·q(1−q)); that of
        a sample variance with ν degrees of freedom is 2/ν. In samples of 10 to 400 normal to lognormal values its low
        quantiles are those of 0.95 to 2.4 times as many degrees: the spread is too large by 5 to 40 % on average.
        """
        return np.asarray(np.minimum(np.sqrt(np.pi * counts * self.q * (1.0 - self.q)), counts - 1.0))


@dataclass(frozen=True, slots=True)
class TrimmedMean(Summary):
    """The mean without the smallest and the largest values, a share `cut` of them on each side (0.2: a fifth).

    Its variance comes from the winsorised sample (Yuen 1974): right on average to 3 % from n = 10 on, normal to
    exponential, where the bootstrap gives up to 20 % more.
    """

    unbiased: ClassVar[bool] = True

    cut: float = 0.2

    def __post_init__(self) -> None:
        if not 0.0 <= self.cut < 0.5:
            raise InvalidRule(f"a trimmed mean must cut between 0 and 0.5 on each side, got {self.cut!r}; 0.2 is usual")

    def __call__(self, values: Floats) -> Any:
        """Return the trimmed mean along the last axis."""
        n = values.shape[-1]
        out = int(self.cut * n)
        return np.sort(values, axis=-1)[..., out : n - out].mean(axis=-1)

    def spread(self, values: Floats) -> float:
        """Return the winsorised variance, scaled to one run."""
        n = len(values)
        out = int(self.cut * n)
        size = n - 2 * out
        if size < 2:
            return resampled_spread(self, values)
        x = np.sort(values)
        return float(np.clip(x, x[out], x[n - out - 1]).var(ddof=1)) * n * (n - 1) / (size * (size - 1))

    def degrees(self, counts: Floats) -> Floats:
        """Return half of what is customary for a t-test, values kept − 1: where to cut is estimated as well.

        Low quantiles of the spread, 10 to 400 values and a cut of 0.1 to 0.4, are those of 0.6 to 0.9 (normal), 0.4 to
        0.8 (exponential) and 0.2 to 0.8 (lognormal) times kept − 1 degrees of freedom.
        """
        return np.asarray((counts - 2.0 * np.floor(self.cut * counts) - 1.0) / 2.0)


@dataclass(frozen=True, slots=True)
class GeometricMean(Summary):
    """The geometric mean of positive values: the mean of their logarithms, whose variance is exact."""

    def __call__(self, values: Floats) -> Any:
        """Return the geometric mean along the last axis; 0 with a value of 0, NaN with a negative one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = values[..., 0] * np.exp(_logs(values).mean(axis=-1))
        there = np.where((values > 0.0).all(axis=-1), mean, np.where((values < 0.0).any(axis=-1), np.nan, 0.0))
        return float(there) if values.ndim == 1 else there

    def spread(self, values: Floats) -> float:
        """Return the variance of the logarithms, scaled to the mean; 0 with a value of 0, as no other changes it."""
        if not values.min() > 0.0:
            return 0.0
        return float(_logs(values).var(ddof=1) * self(values) ** 2)

    def degrees(self, counts: Floats) -> Floats:
        """Return those of a sample variance, n − 1."""
        return np.asarray(counts - 1.0)


@dataclass(frozen=True, slots=True)
class Custom(Summary):
    """Any callable of a one-dimensional array; with an `axis` parameter it is called once for all resamples."""

    function: Statistic

    def __call__(self, values: Floats) -> Any:
        """Return the callable's value along the last axis."""
        try:
            if values.ndim == 1:
                return float(self.function(values))
            if _takes_axis(self.function):
                return np.asarray(self.function(values, axis=-1), float)  # type: ignore[call-arg]
            return np.array([float(self.function(row)) for row in values])
        except (Exception, SystemExit) as problem:
            raise InvalidRule(
                "the statistic must return a number for an array of values, and it raised"
                f" {type(problem).__name__}: {str(problem)[:200]}"
            ) from problem


def summary_of(statistic: str | Statistic) -> Summary:
    """Return the statistic of a name, "mean", "median", "geometric-mean", "quantile:0.9" and so on, or of any callable.

    >>> summary_of("quantile:0.9")
    Quantile(q=0.9)
    """
    if isinstance(statistic, str) and statistic in _NAMED:
        return _NAMED[statistic]
    if isinstance(statistic, Summary):
        return statistic
    if callable(statistic) and isinstance(statistic, Hashable):
        return Custom(statistic)
    kind, _, number = statistic.partition(":") if isinstance(statistic, str) else ("", "", "")
    try:
        if kind in _NAMED and not number:
            return _NAMED[kind]
        if kind in ("quantile", "trimmed-mean"):
            return (Quantile if kind == "quantile" else TrimmedMean)(float(number))
    except InvalidRule:
        raise
    except ValueError:
        pass
    raise InvalidRule(
        'the statistic must be "mean", "median", "trimmed-mean", "geometric-mean", "quantile:0.9", "rate" or a hashable'
        f" callable of an array, got {statistic!r}"
    )


def is_named(statistic: str) -> bool:
    """Return whether a name is that of a statistic; names of user functions are not.

    >>> is_named("quantile:0.9"), is_named("best_of_three")
    (True, False)
    """
    try:
        summary_of(statistic)
    except InvalidRule:
        return False
    return True


_NAMED: dict[str, Summary] = {
    "mean": Mean(),
    "median": Quantile(0.5),
    "trimmed-mean": TrimmedMean(),
    "geometric-mean": GeometricMean(),
    "rate": Rate(),
}


def _logs(values: Floats) -> Floats:
    """The logarithms of values relative to the first, so that equal values give 0 and scaling changes nothing."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.log(mantissa / mantissa[..., :1]) + np.log(2.0) * (exponent - exponent[..., :1]))


def resampled(statistic: Summary, values: Floats, resamples: int = RESAMPLES) -> Floats:
    """Return the statistic of each of `resamples` samples drawn from the values with replacement.

    The draws depend on the number of values alone, not on names, order or magnitude of what is compared.
    """
    n = len(values)
    places = (_bits(resamples, n, salt=n) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)
    return np.asarray(statistic(values[places.astype(np.intp)]), dtype=float)


def resampled_spread(statistic: Summary, values: Floats, resamples: int = RESAMPLES) -> float:
    """Return n·Var(statistic) by resampling, for statistics without a formula.

    A resample varies like the n values about their mean, which is too little by (n−1)/n (Efron & Tibshirani 1993,
    section 5.3): of a mean it gives 0.80 of the true standard error at n = 3. So it is widened by n/(n−1).
    """
    n = len(values)
    with np.errstate(invalid="ignore"):  # a statistic that is infinite for some resamples has no variance: NaN
        return float(n * resampled(statistic, values, resamples).var(ddof=1) * widening(n))


def widening(n: Any) -> Any:
    """Return n/(n−1), by which a bootstrap variance from n values is too small; 1 for a single value."""
    return n / np.maximum(n - 1, 1)


def shuffles(streams: int, size: int) -> Codes:
    """Return independent fixed permutations of `size` items, a row for each stream."""
    return _bits(streams, size, salt=streams).argsort(axis=-1, kind="stable")


def _bits(rows: int, columns: int, *, salt: int) -> NDArray[np.uint64]:
    """Random bits that are the same in all versions of numpy."""
    bits: NDArray[np.uint64] = np.random.PCG64([SEED, salt]).random_raw(rows * columns).reshape(rows, columns)
    return bits


@dataclass(frozen=True, slots=True, eq=False)
class _OrderChances:
    """Distribution of the two order statistics around a quantile of a resample.

    `gaps[lag−1, i]` is the chance that the lower one is value i and the upper one value i + lag.
    """

    weight: float
    lower: Floats
    upper: Floats
    gaps: Floats


@lru_cache(maxsize=64)
def _order_chances(n: int, q: float) -> _OrderChances:
    position = (n - 1) * q
    rank = math.floor(position) + 1
    weight = position - (rank - 1)
    steps = np.arange(n + 1) / n
    # The rank-th smallest of a resample is at most value i if rank or more of n draws are: a binomial tail.
    lower = np.diff(betainc(rank, n - rank + 1, steps))
    if weight == 0.0:
        return _OrderChances(0.0, lower, lower, np.empty((0, 0)))
    return _OrderChances(weight, lower, np.diff(betainc(rank + 1, n - rank, steps)), _gap_chances(n, rank))


def _gap_chances(n: int, rank: int) -> Floats:
    """Return the chances of lower at i and upper at i + lag, a row for each lag.

    Of the n draws, rank lie up to i and their largest is i; the smallest of the others is i + lag. In logarithms, as
    the binomial coefficient alone leaves the doubles.
    """
    i = np.arange(1, n)
    above = (n - i).astype(float)
    coefficient = gammaln(n + 1) - gammaln(rank + 1) - gammaln(n - rank + 1)
    split = np.exp(coefficient + rank * np.log(i / n) + (n - rank) * np.log(above / n))
    at_i = split * (1 - (1 - 1 / i) ** rank)
    lags = np.arange(min(LONGEST_GAP, n - 1) + 1)[:, None]
    beyond = (np.maximum(above - lags, 0.0) / above) ** (n - rank)  # chance that the upper one is beyond i + lag
    return np.asarray(at_i * (beyond[:-1] - beyond[1:]))


def _moments(chances: Floats, x: Floats) -> tuple[float, float]:
    """Mean and variance of a value drawn with these chances; plain sums, as BLAS rounds differently on each machine."""
    mean = float((chances * x).sum())
    return mean, float((chances * x * x).sum()) - mean * mean


def _takes_axis(function: Any) -> bool:
    try:
        return "axis" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
