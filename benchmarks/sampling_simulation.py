"""Sampling rules on simulated instances whose truth is known, many replications at once.

The decisions are those of `ampler.stats.guard` and `ampler.sampling.allocation`, which take a batch of instances as
they take one. Each algorithm has its own stream of values; all rules, sd patterns, loads and kinds of difference of
one (number of algorithms, distribution) see the same streams.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ampler.sampling.allocation import largest_error, next_runs
from ampler.sampling.pair_errors import pairs_of
from ampler.stats import guard as guard_module
from ampler.stats.contrasts import Contrasts, contrasts_among
from ampler.stats.guard import guarded_variances
from ampler.stats.summaries import summary_of
from summary_streams import LONGEST, SummaryStreams, true_spread

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "sampling"))
from barrier import exact_counts

Floats = NDArray[np.float64]

START = 10
MEAN = 100.0
SPREAD = 0.3  # the algorithms' true means lie within ±30 % of each other
NOISE = 2.0  # the sd that the patterns multiply
MANY = 4000  # runs that are as good as infinitely many


@dataclass(frozen=True)
class Rule:
    """A sampling rule under test; `runs` makes it the fixed rule."""

    allocation: str = "optimal"
    guard: str = "pairs"
    batch: int = 16
    runs: int | None = None
    edition: int = 1  # of the guard; `bench_guard` measures the second

    @property
    def name(self) -> str:
        if self.runs is not None:
            return f"fixed {self.runs}"
        suffix = ("" if self.batch == 16 else f" ({self.batch})") + ("" if self.edition == 1 else f", {self.edition}")
        return "greedy/none (paper)" if self == PAPER else f"{self.allocation}/{self.guard}{suffix}"


PAPER = Rule("greedy", "none", batch=1)


@dataclass(frozen=True)
class Cell:
    """One kind of instance: `load` is the optimum over start runs of every algorithm."""

    difference: str
    reference: bool
    algorithms: int
    pattern: str
    distribution: str
    load: float
    statistic: str = "mean"

    @cached_property
    def contrasts(self) -> Contrasts:
        return contrasts_among(self.algorithms, difference=self.difference, reference=0 if self.reference else None)

    @cached_property
    def deviations(self) -> Floats:
        return NOISE * PATTERNS[self.pattern](self.algorithms)

    @cached_property
    def noise(self) -> Floats:
        """The sd of one run of each algorithm, as the statistic sees it when there are many."""
        return self.deviations * np.sqrt(true_spread(self.distribution, self.statistic, MANY))

    @cached_property
    def hard(self) -> NDArray[np.bool_]:
        """The pairs that the first runs do not bring within se."""
        return self.squared_errors(self._start) > self.se**2

    def squared_errors(self, counts: Floats) -> Floats:
        """The true squared standard error of each pair after so many runs."""
        spread = np.vectorize(partial(true_spread, self.distribution, self.statistic))(counts.astype(int))
        means = np.broadcast_to(self.means, counts.shape)
        return self.contrasts.squared_errors(means, self.deviations**2 * spread / counts)

    @cached_property
    def means(self) -> Floats:
        ladder = np.linspace(1 - SPREAD, 1 + SPREAD, self.algorithms)
        return MEAN * np.random.default_rng([self.algorithms, 1]).permutation(ladder)

    @cached_property
    def optimum(self) -> Floats:
        """The real numbers of runs that are best when the variances are known."""
        return self._optimum(self.se)

    @cached_property
    def se(self) -> float:
        """The accuracy for which the optimum is `load`·start·A runs."""
        from scipy.optimize import brentq

        wanted = self.load * START * self.algorithms
        highest = float(largest_error(self.contrasts, self._start, self.noise**2, self.means))
        lowest = highest / (100 * self.load)
        log_se = brentq(lambda x: np.log(self._optimum(np.exp(x)).sum() / wanted), np.log(lowest), np.log(highest))
        return float(np.exp(log_se))

    @property
    def _start(self) -> Floats:
        return np.full(self.algorithms, float(START))

    def _optimum(self, se: float) -> Floats:
        return exact_counts(pairs_of(self.contrasts, self.noise**2, self.means), se, self._start)


@dataclass(frozen=True)
class Outcome:
    """What a rule did in a cell, one entry per replication."""

    cell: Cell
    rule: Rule
    counts: Floats

    @cached_property
    def runs(self) -> Floats:
        """Runs over the optimum."""
        return self.counts.sum(axis=-1) / self.cell.optimum.sum()

    @cached_property
    def error(self) -> Floats:
        """The largest true standard error over se."""
        cell = self.cell
        variances, means = (np.broadcast_to(a, self.counts.shape) for a in (cell.deviations**2, cell.means))
        return largest_error(cell.contrasts, self.counts, variances, means) / cell.se

    @cached_property
    def within(self) -> Floats:
        """The share of pairs that are truly known to within se."""
        cell = self.cell
        errors = cell.contrasts.squared_errors(np.broadcast_to(cell.means, self.counts.shape), self._squares)
        return (errors <= cell.se**2 * (1 + 1e-9)).mean(axis=-1)

    @cached_property
    def hard_within(self) -> Floats:
        """The share of the hard pairs that are truly known to within se."""
        cell = self.cell
        return (cell.squared_errors(self.counts)[:, cell.hard] <= cell.se**2 * (1 + 1e-9)).mean(axis=-1)

    @property
    def price(self) -> Floats:
        """Runs over the optimum for the accuracy really reached: never below 1, but for the first runs."""
        return self.runs * self.error**2

    @property
    def _squares(self) -> Floats:
        return self.cell.deviations**2 / self.counts

    def summary(self) -> dict[str, float]:
        every = self.error <= 1 + 1e-9
        return {
            "runs": self.runs.mean(),
            "error": self.error.mean(),
            "within": self.within.mean(),
            "within_se": self.within.std() / np.sqrt(len(self.within)),
            "all": every.mean(),
            "all_se": every.std() / np.sqrt(len(every)),
            "price": self.price.mean(),
        }


def streams_for(cell: Cell, replications: int) -> Streams | SummaryStreams:
    """Return the streams of values that rules draw from in a cell."""
    if cell.statistic == "mean":
        return Streams(cell.distribution, cell.algorithms, replications)
    return SummaryStreams(cell.distribution, cell.algorithms, replications, cell.statistic)


def simulate(cell: Cell, rule: Rule, streams: Streams | SummaryStreams) -> Outcome:
    """Let the rule decide on every replication until it stops."""
    shape = (streams.replications, cell.algorithms)
    if rule.runs is not None:
        return Outcome(cell, rule, np.full(shape, float(rule.runs)))
    result = np.empty(shape)
    state = _State.begin(cell, streams)
    while state.size:
        variances = guarded_variances(
            state.counts,
            state.variances,
            state.kurtosis,
            degrees=summary_of(cell.statistic).degrees(state.counts),
            guard=rule.guard,
            reference=cell.contrasts.reference,
            edition=rule.edition,
        )
        going = largest_error(cell.contrasts, state.counts, variances, state.means) > cell.se
        if cell.statistic != "mean":
            going &= state.counts.max(axis=-1) < LONGEST
        if not going.all():
            result[state.rows[~going]] = state.counts[~going]
            state, variances = state.only(going), variances[going]
        if state.size:
            added = next_runs(
                cell.contrasts,
                state.counts,
                variances,
                state.means,
                se=cell.se,
                allocation=rule.allocation,
                size=rule.batch,
            )
            state.add(added)
    return Outcome(cell, rule, result)


@dataclass
class _State:
    """The replications that are still running: what a rule sees of them."""

    cell: Cell
    streams: Streams
    rows: NDArray[np.intp]
    counts: Floats
    means: Floats
    variances: Floats
    kurtosis: Floats

    @classmethod
    def begin(cls, cell: Cell, streams: Streams) -> _State:
        shape = (streams.replications, cell.algorithms)
        state = cls(
            cell, streams, np.arange(shape[0]), np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
        )
        state.add(np.full(shape, START))
        return state

    @property
    def size(self) -> int:
        return len(self.rows)

    def only(self, kept: NDArray[np.bool_]) -> _State:
        arrays = (self.rows, self.counts, self.means, self.variances, self.kurtosis)
        return _State(self.cell, self.streams, *(array[kept] for array in arrays))

    def add(self, added: NDArray[np.int64]) -> None:
        """Draw the values of a round and bring the moments of those that got runs up to date."""
        self.counts += added
        row, algorithm = np.nonzero(added)
        n = self.counts[row, algorithm]
        mean, variance, kurtosis = self.streams.moments(self.rows[row], algorithm, n.astype(np.intp))
        self.means[row, algorithm] = self.cell.means[algorithm] + self.cell.deviations[algorithm] * mean
        self.variances[row, algorithm] = self.cell.deviations[algorithm] ** 2 * variance
        self.kurtosis[row, algorithm] = kurtosis


class Streams:
    """Power sums of the first n values of every (replication, algorithm), as far as anyone has asked."""

    def __init__(self, distribution: str, algorithms: int, replications: int) -> None:
        self.distribution = DISTRIBUTIONS[distribution]
        self.seed = [crc32(distribution.encode()), algorithms]
        self.replications = replications
        self.lengths = np.zeros(algorithms, dtype=np.intp)
        self.offsets = np.zeros(algorithms, dtype=np.intp)
        self.parts: list[Floats] = [np.zeros((1, replications, 4)) for _ in range(algorithms)]
        self.sums = np.zeros((0, replications, 4))

    def moments(self, row: NDArray[np.intp], algorithm: NDArray[np.intp], n: NDArray[np.intp]) -> tuple[Floats, ...]:
        """Return mean, variance and kurtosis n·M4/M2² of the first n values, in units of the true mean and sd."""
        self._reach(algorithm, n)
        s1, s2, s3, s4 = np.moveaxis(self.sums[self.offsets[algorithm] + n, row], -1, 0)
        mean = s1 / n
        square = mean * mean
        second = s2 - s1 * mean
        fourth = s4 - 4 * mean * s3 + 6 * square * s2 - 3 * square * s1 * mean
        with np.errstate(divide="ignore", invalid="ignore"):
            kurtosis = n * fourth / second**2
        sd = self.distribution.sd
        return (mean - self.distribution.mean) / sd, np.maximum(second, 0.0) / (n - 1) / sd**2, kurtosis

    def _reach(self, algorithm: NDArray[np.intp], n: NDArray[np.intp]) -> None:
        """Make the streams long enough; a longer stream begins like the shorter one."""
        needed = np.zeros_like(self.lengths)
        np.maximum.at(needed, algorithm, n)
        short = np.nonzero(needed > self.lengths)[0]
        if len(short):
            for k in short:
                self._lengthen(int(k), int(2 * needed[k] + 64))
            self.sums = np.concatenate(self.parts)
            self.offsets = np.concatenate([[0], np.cumsum(self.lengths + 1)[:-1]])

    def _lengthen(self, algorithm: int, length: int) -> None:
        rng = np.random.default_rng([*self.seed, algorithm])
        x = self.distribution.draw(rng, (length, self.replications))
        powers = np.stack([x, x**2, x**3, x**4], axis=-1)
        self.parts[algorithm] = np.concatenate([np.zeros((1, self.replications, 4)), np.cumsum(powers, axis=0)])
        self.lengths[algorithm] = length


@dataclass(frozen=True)
class Distribution:
    """How values vary: `draw` gives them with this mean and sd, exactly constant where all values are equal."""

    draw: Callable[[np.random.Generator, tuple[int, int]], Floats]
    mean: float
    sd: float
    inverse: Callable[[Floats], Floats] | None = None  # of the distribution function, where it has one


DISTRIBUTIONS = {
    "normal": Distribution(lambda rng, shape: rng.standard_normal(shape), 0.0, 1.0, ndtri),
    "exponential": Distribution(lambda rng, shape: rng.standard_exponential(shape), 1.0, 1.0, lambda u: -np.log1p(-u)),
    "lognormal": Distribution(
        lambda rng, shape: np.exp(rng.standard_normal(shape)),
        np.exp(0.5),
        np.sqrt((np.e - 1) * np.e),
        lambda u: np.exp(ndtri(u)),
    ),
    "discrete": Distribution(lambda rng, shape: np.floor(4 * rng.random(shape) ** 2), *(1.0, 1.0)),
    "bernoulli": Distribution(lambda rng, shape: (rng.random(shape) < 0.1).astype(float), 0.1, 0.3),
}


def _exact_discrete() -> Distribution:
    """Four values, 0 to 3, the small ones more often: P(x ≤ k) = √((k+1)/4)."""
    chances = np.diff(np.sqrt(np.arange(5) / 4))
    values = np.arange(4)
    mean = float(chances @ values)
    return Distribution(DISTRIBUTIONS["discrete"].draw, mean, float(np.sqrt(chances @ (values - mean) ** 2)))


DISTRIBUTIONS["discrete"] = _exact_discrete()


def _lognormal_pattern(algorithms: int) -> Floats:
    quantiles = np.exp(ndtri((np.arange(algorithms) + 0.5) / algorithms))
    return np.random.default_rng([algorithms, 2]).permutation(quantiles)


def _one_noisy(place: int) -> Callable[[int], Floats]:
    def pattern(algorithms: int) -> Floats:
        deviations = np.ones(algorithms)
        deviations[place] = 10.0
        return deviations

    return pattern


PATTERNS: dict[str, Callable[[int], Floats]] = {
    "equal": np.ones,
    "one 10×": _one_noisy(-1),
    "noisy reference": _one_noisy(0),
    "linear": lambda algorithms: np.linspace(0.2, 2.0, algorithms),
    "lognormal": _lognormal_pattern,
}


@contextmanager
def tabulated_chi_square() -> Iterator[None]:
    """Look the guard's chi-square quantiles up in a table good to 1e-6: a batch of 200 decisions asks for thousands."""
    exact = guard_module.chi_square_quantile
    guard_module.chi_square_quantile = _tabulated(exact)
    try:
        yield
    finally:
        guard_module.chi_square_quantile = exact


def _tabulated(exact: Callable[[Floats, Floats], Floats]) -> Callable[[Floats, Floats], Floats]:
    logs = np.linspace(np.log(1e-3), np.log(1e6), 20_000)
    step = logs[1] - logs[0]

    @lru_cache(maxsize=64)
    def table(level: float) -> Floats:
        return np.log(np.maximum(exact(np.float64(level), np.exp(logs)), 1e-300))

    def quantile(level: Floats, degrees: Floats) -> Floats:
        level = np.broadcast_to(level, degrees.shape)
        position = (np.log(degrees) - logs[0]) / step
        index = position.astype(np.intp)
        tables = np.concatenate([table(float(one)) for one in np.unique(level)])
        index += len(logs) * np.searchsorted(np.unique(level), level)
        below = tables[index]
        return np.exp(below + (position - np.floor(position)) * (tables[index + 1] - below))

    return quantile
