"""Whole studies of algorithms that are equal on average, sampled by a rule that looks at the values.

The decisions are those of `ampler.stats.guard` and `ampler.sampling.allocation`, which take a batch of instances as
they take one; the estimates are those of `ampler.sampling.bias`. Every claim in such a study is false. Values have
mean 1 on every instance, so `cv` is the standard deviation of a run; `spread` makes it differ from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from ampler.analysis.stopping import biased_by_stopping, shift_between
from ampler.core.choices import Estimate
from ampler.sampling.allocation import largest_error, next_runs
from ampler.sampling.bias import stopping_bias
from ampler.sampling.rules import Accuracy, default_budget
from ampler.stats.contrasts import Contrasts
from ampler.stats.guard import guarded_variances
from ampler.stats.shape import pooled_skewness

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

SEED = 1978  # fixed before the first look
ALPHA = 0.05
ESTIMATES: dict[str, Estimate] = {"all runs": "all-runs", "corrected": "corrected", "first runs": "first-runs"}
UNWARNED = "corrected, without a warning"  # claims that are printed without a word against them
ROWS = 1500  # instances sampled at once: their streams fit into memory


@dataclass(frozen=True)
class Study:
    """Equal algorithms on `instances`; `values` names the distribution of each algorithm, or of all of them."""

    values: str | tuple[str, ...]
    cv: float | tuple[float, ...]
    rule: Accuracy
    instances: int = 47
    algorithms: int = 8
    spread: float = 0.0  # sd of the logarithm of an instance's cv

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"a{k}" for k in range(self.algorithms))

    @property
    def contrasts(self) -> Contrasts:
        return self.rule.check(self.names)

    def of_each(self, what: object) -> Sequence[object]:
        return what if isinstance(what, tuple) else (what,) * self.algorithms


@dataclass(frozen=True)
class Cells:
    """What is known of every cell when its runs have ended: moments as central power sums; and of its first runs."""

    counts: Floats
    means: Floats
    second: Floats
    third: Floats
    fourth: Floats
    first_means: Floats
    first_second: Floats

    @property
    def variances(self) -> Floats:
        return self.second / (self.counts - 1)

    @property
    def kurtosis(self) -> Floats:
        return _kurtosis(self.counts, self.second, self.fourth)

    @property
    def skews(self) -> Floats:
        return np.divide(
            np.sqrt(self.counts) * self.third,
            self.second**1.5,
            out=np.zeros_like(self.third),
            where=self.second > 0,
        )


def false_claims(study: Study, studies: int, *, key: int = 0) -> dict[str, tuple[float, float, float]]:
    """Return for each estimate the share of studies with a false claim, its standard error, and the mean t."""
    found: dict[str, list[Floats]] = {name: [] for name in (*ESTIMATES, UNWARNED)}
    per_batch = max(1, ROWS // study.instances)
    for batch in range(0, studies, per_batch):
        size = min(per_batch, studies - batch)
        cells = sampled(study, size * study.instances, [SEED, key, batch])
        differences = {name: each.reshape(size, study.instances, -1) for name, each in estimates(study, cells).items()}
        for name, each in differences.items():
            found[name].append(_t(each))
        told = [is_warned(study, cells, differences, place) for place in range(size)]
        found[UNWARNED].append(np.where(np.array(told)[:, None], 0.0, found["corrected"][-1]))
    return {name: _errors(np.concatenate(t), study.instances) for name, t in found.items()}


def is_warned(study: Study, cells: Cells, differences: dict[str, Floats], place: int) -> bool:
    """Whether the analysis of this study begins with the warning that nothing should be claimed on it."""
    shift = shift_between({kind: differences[name][place] for name, kind in ESTIMATES.items()}, "corrected")
    rows = slice(place * study.instances, (place + 1) * study.instances)
    skewness = pooled_skewness(cells.counts[rows], cells.variances[rows], cells.skews[rows])
    known = SimpleNamespace(
        rule=study.rule,
        skewness=skewness,
        largest_skewness=float(np.abs(skewness).max()),
        blocks=SimpleNamespace(algorithms=study.names),
    )
    pairs = [
        (study.names[i], study.names[j]) for i, j in zip(study.contrasts.first, study.contrasts.second, strict=True)
    ]
    said = biased_by_stopping(shift, pairs, estimates=known, used="corrected", instances=study.instances)  # type: ignore[arg-type]
    return said is not None and said.kind == "biased"


def estimates(study: Study, cells: Cells) -> dict[str, Floats]:
    """The differences by all runs as they are, corrected for when they ended, and by the first runs alone."""
    start, v = study.rule.start, cells.variances / cells.counts
    corrected = cells.means - _bias(study, cells)
    return {
        "all runs": _differences(study.contrasts, cells.means, v),
        "corrected": _differences(study.contrasts, corrected, v),
        "first runs": _differences(study.contrasts, cells.first_means, cells.first_second / (start - 1) / start),
    }


def _differences(contrasts: Contrasts, means: Floats, v: Floats) -> Floats:
    """The differences, corrected for the noise of the runs."""
    return contrasts.differences(contrasts.corrected(means, v)[0] if contrasts.corrects(unbiased=True) else means)


def _bias(study: Study, cells: Cells) -> Floats:
    """The bias of every mean; the skewness of the runs is pooled over the instances of each study."""
    parts = []
    for place in range(0, len(cells.counts), study.instances):
        rows = slice(place, place + study.instances)
        parts.append(pooled_skewness(cells.counts[rows], cells.variances[rows], cells.skews[rows], supported=True))
    return stopping_bias(
        study.rule,
        study.contrasts,
        counts=cells.counts,
        theta=cells.means,
        variances=cells.variances,
        kurtosis=cells.kurtosis,
        skewness=np.repeat(np.array(parts), study.instances, axis=0),
    )


def sampled(study: Study, rows: int, seed: list[int]) -> Cells:
    """Let the rule decide on every instance until it stops."""
    rule, contrasts = study.rule, study.contrasts
    budget = rule.budget or default_budget(study.algorithms)
    state = _State(study, rows, seed)
    first = state.means.copy(), state.second.copy()
    active = np.arange(rows)
    while len(active):
        counts, means, second, fourth = (a[active] for a in (state.counts, state.means, state.second, state.fourth))
        variances = second / (counts - 1)
        bounds = guarded_variances(
            counts, variances, _kurtosis(counts, second, fourth), guard=rule.guard, reference=contrasts.reference
        )
        left = budget - counts.sum(axis=1)
        going = (largest_error(contrasts, counts, bounds, means) > rule.se) & (left > 0) & (variances > 0).any(axis=1)
        active, left = active[going], left[going]
        for size in np.unique(np.minimum(left, rule.batch)):  # the last round of a budget is smaller
            some = np.minimum(left, rule.batch) == size
            chosen = np.flatnonzero(going)[some]
            added = next_runs(
                contrasts, counts[chosen], bounds[chosen], means[chosen], se=rule.se, allocation=rule.allocation,
                size=int(size),
            )  # fmt: skip
            state.add(active[some], added)
    return Cells(state.counts, state.means, state.second, state.third, state.fourth, *first)


class _State:
    """Counts and moments of every cell so far, and the streams that values are taken from."""

    def __init__(self, study: Study, rows: int, seed: list[int]) -> None:
        scale = np.exp(study.spread * np.random.default_rng([*seed, 99]).standard_normal(rows))
        draws = [
            DISTRIBUTIONS[str(name)](float(cv))
            for name, cv in zip(*map(study.of_each, (study.values, study.cv)), strict=True)
        ]  # type: ignore[arg-type]
        self.streams = [_Stream(draw, scale, [*seed, k]) for k, draw in enumerate(draws)]
        shape = rows, study.algorithms
        self.counts = np.zeros(shape)
        self.means, self.second, self.third, self.fourth = (np.zeros(shape) for _ in range(4))
        self.add(np.arange(rows), np.full(shape, study.rule.start))

    def add(self, rows: NDArray[np.intp], added: Counts) -> None:
        """Draw the values of a round and bring the moments of those that got runs up to date."""
        for k, stream in enumerate(self.streams):
            here = rows[added[:, k] > 0]
            self.counts[here, k] += added[added[:, k] > 0, k]
            moments = stream.moments(here, self.counts[here, k].astype(int))
            self.means[here, k], self.second[here, k], self.third[here, k], self.fourth[here, k] = moments


class _Stream:
    """Power sums of the first n values of an algorithm on every instance, as far as anyone has asked."""

    def __init__(self, draw: Draw, scale: Floats, seed: list[int]) -> None:
        self.draw, self.scale, self.seed = draw, scale, seed
        self._lengthen(64)

    def moments(self, rows: NDArray[np.intp], n: Counts) -> tuple[Floats, ...]:
        """Mean and central power sums of the first n values on these instances."""
        if len(n) and n.max() >= len(self.sums):
            self._lengthen(2 * int(n.max()))
        s1, s2, s3, s4 = np.moveaxis(self.sums[n, rows], -1, 0)
        mean = s1 / np.maximum(n, 1)
        square = mean * mean
        second = np.maximum(s2 - s1 * mean, 0.0)
        third = s3 - 3 * mean * s2 + 2 * square * s1
        fourth = s4 - 4 * mean * s3 + 6 * square * s2 - 3 * square * s1 * mean
        return 1.0 + mean, second, third, fourth

    def _lengthen(self, length: int) -> None:
        """A longer stream begins like the shorter one."""
        x = self.scale * self.draw(np.random.default_rng(self.seed), (length, len(self.scale)))
        square = x * x  # a general power takes many times as long
        powers = np.stack([x, square, square * x, square * square], axis=-1)
        self.sums = np.concatenate([np.zeros((1, len(self.scale), 4)), np.cumsum(powers, axis=0)])


def _standardised(draw: Draw, mean: float, sd: float) -> Callable[[float], Draw]:
    return lambda cv: lambda rng, shape: cv * (draw(rng, shape) - mean) / sd


def _lognormal(cv: float) -> Draw:
    """Lognormal values with mean 1 and this coefficient of variation, less their mean."""
    sigma = float(np.sqrt(np.log1p(cv * cv)))
    return lambda rng, shape: np.exp(sigma * rng.standard_normal(shape) - sigma**2 / 2) - 1


DISTRIBUTIONS: dict[str, Callable[[float], Draw]] = {
    "normal": _standardised(lambda rng, shape: rng.standard_normal(shape), 0.0, 1.0),
    "exponential": _standardised(lambda rng, shape: rng.standard_exponential(shape), 1.0, 1.0),
    "gamma": _standardised(lambda rng, shape: rng.standard_gamma(4.0, shape), 4.0, 2.0),
    "lognormal": _lognormal,
    "long": _standardised(
        lambda rng, shape: np.exp(rng.standard_normal(shape)), np.exp(0.5), float(np.sqrt((np.e - 1) * np.e))
    ),
    "t3": _standardised(lambda rng, shape: rng.standard_t(3, shape), 0.0, float(np.sqrt(3))),
    "t2": _standardised(lambda rng, shape: rng.standard_t(2, shape), 0.0, 1.0),
    "bernoulli": _standardised(lambda rng, shape: (rng.random(shape) < 0.1).astype(float), 0.1, 0.3),
    "reflected": _standardised(lambda rng, shape: -rng.standard_exponential(shape), -1.0, 1.0),
    "penalty": lambda cv: (
        lambda rng, shape: (
            (rng.random(shape) < 0.02) * (6000 - 61) / 179.78 + 61 / 179.78 - 1 + 0.01 * rng.standard_normal(shape)
        )
    ),  # 61 s, and 6000 s in 2 % of the runs; mean 179.78 s is the unit
}


def _kurtosis(counts: Floats, second: Floats, fourth: Floats) -> Floats:
    return np.divide(counts * fourth, second * second, out=np.zeros_like(second), where=second > 0)


def _t(differences: Floats) -> Floats:
    """The t statistics of every study and comparison."""
    n = differences.shape[1]
    return differences.mean(axis=1) / (differences.std(axis=1, ddof=1) / np.sqrt(n))


def _errors(t: Floats, instances: int) -> tuple[float, float, float]:
    """Holm rejects something if the smallest p-value is at most α/K."""
    smallest = 2 * student.sf(np.abs(t), instances - 1).min(axis=1)
    share = float((smallest <= ALPHA / t.shape[1]).mean())
    return share, float(np.sqrt(max(share * (1 - share), 0.01) / len(t))), float(t.mean())
