"""Instances as blocks: runs gathered by instance and algorithm, then summarised. Pure.

    runs ─► gather (what a failed run counts as) ─► Cells ─► comparable ─► summarise (the statistic) ─► Blocks

Arrays have instances in rows and algorithms in columns. An algorithm may lack an instance: its cell is empty, its
statistic NaN, and so is every difference it has a part in; all others are as if it had never been there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ampler.core.arrays import Bools, Codes, Counts, Floats, Runs
from ampler.core.contracts import Statistic
from ampler.core.errors import InvalidData
from ampler.core.failures import FailurePolicy, WorstObserved, values_under
from ampler.core.settings import CalibrationVersion, Guard
from ampler.stats import summaries
from ampler.stats.contrasts import Contrasts
from ampler.stats.dependence import mean_covariances
from ampler.stats.descriptive import ROUNDING, settled
from ampler.stats.variance_bounds import guarded_variances

ORDINARY = 200  # magnitudes within 2^±200 need no scaling: fourth powers stay within the doubles
ROOM = 400  # others are scaled to 2^400, so that squares of values 10^280 times smaller do not underflow


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The values of every algorithm on every instance, one cell after the other, instance by instance."""

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    values: Floats  # in the order of the runs within a cell
    counts: Counts  # values in each cell
    spent: Counts  # runs of each cell, failed ones included
    labels: Codes | None = None  # label that pairs runs of different algorithms, such as a seed
    starts: Counts = field(init=False)  # where each cell begins

    def __post_init__(self) -> None:
        ends = np.cumsum(self.counts).reshape(self.counts.shape)
        object.__setattr__(self, "starts", ends - self.counts)

    def of(self, instance: int, algorithm: int) -> Floats:
        """Return the values of one cell."""
        start = self.starts[instance, algorithm]
        return self.values[start : start + self.counts[instance, algorithm]]

    def table(self, instance: int, certain: Bools) -> Floats:
        """Return the values of an instance with algorithms in columns and what runs share in rows, NaN where none is.

        Algorithms that are certain have their value everywhere.
        """
        assert self.labels is not None
        starts, ends = self.starts[instance], self.starts[instance] + self.counts[instance]
        first, last = int(starts[0]), int(ends[-1])
        names, rows = np.unique(self.labels[first:last], return_inverse=True)
        values = np.full((len(names), len(self.algorithms)), np.nan)
        values[rows, np.repeat(np.arange(len(self.algorithms)), self.counts[instance])] = self.values[first:last]
        known = certain & (ends > starts)
        values[:, known] = self.values[starts[known]]
        return values

    def kept(self, which: Bools, **changes: Any) -> Cells:
        """Return the cells with some of their values."""
        labels = None if self.labels is None else self.labels[which]
        return replace(self, values=self.values[which], labels=labels, **changes)

    def place(self, value: int) -> tuple[int, int]:
        """Return the instance and the algorithm of a value."""
        cell = int(np.searchsorted(np.cumsum(self.counts), value, side="right"))
        instance, algorithm = divmod(cell, len(self.algorithms))
        return instance, algorithm


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The statistic of each algorithm on each instance, and the variance of one run, in units of 2^exponents.

    A statistic is NaN where an algorithm lacks the instance; a variance also where there is one value alone.
    """

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    counts: Counts
    theta: Floats
    variances: Floats
    kurtosis: Floats | None  # n·M4/M2² for the mean; None for other statistics
    skews: Floats | None  # √n·M3/M2^1.5, likewise
    degrees: Floats | None  # degrees of freedom of the variances, for quantiles and trimmed means
    certain: Bools  # of each algorithm: declared deterministic, so its variance is 0 and not estimated
    exponents: Counts  # of each instance; 0 unless its values are extraordinarily large or small
    are_rates: bool = False  # success rates, whose variances follow from the rates
    unbiased: bool = True  # statistics whose logarithms can be corrected for run noise
    exact_logs: bool = False  # geometric means: their logarithms are means, without bias
    log_variances: Floats | None = None  # of one run, of the logarithms of quantiles
    covariances: Floats | None = None  # of the statistics where runs belong together: a matrix per instance

    @property
    def statistics(self) -> Floats:
        """The statistics in their own unit."""
        return self._unscaled(self.theta)

    @property
    def present(self) -> Bools:
        """Whether an algorithm (column) has values on an instance (row)."""
        return np.asarray(self.counts > 0)

    def differences(self, contrasts: Contrasts) -> Floats:
        """Return φ of each pair on each instance; NaN where one of the two lacks it.

        Percent of the grand mean is that of the algorithms which the instance has. Differences within rounding of each
        other are the same.
        """
        phi = self._by_part(contrasts, Blocks._differences)
        with np.errstate(over="ignore", under="ignore"):
            if contrasts.difference != "simple":  # relative to the subtracted statistics, which is 1 for a ratio
                return settled(phi, ROUNDING * (1.0 + np.abs(phi)))
            size = np.abs(self.theta)
            size = np.maximum(size[:, contrasts.first], size[:, contrasts.second])
            return settled(phi, self._unscaled(ROUNDING * size))

    def errors(self, contrasts: Contrasts, *, guard: Guard = "none", edition: CalibrationVersion = 2) -> Floats:
        """Return the standard error of each pair's difference on each instance; NaN where it is not known."""
        return self._by_part(contrasts, partial(Blocks._errors, guard=guard, edition=edition))

    def bends(self, contrasts: Contrasts) -> Floats:
        """Return what dividing by noisy statistics adds to each difference on average; 0 where it is not known."""
        return self.curvature(contrasts) * float(contrasts.formula != "corrected")  # corrected differences have none

    def _by_part(self, contrasts: Contrasts, ask: Callable[[Blocks, Contrasts], Floats]) -> Floats:
        """Differences and variances of every pair on every instance, computed from complete parts."""
        if self.present.all():
            return ask(self, contrasts)
        result = np.full((len(self.instances), len(contrasts.first)), np.nan)
        patterns, pattern_of = np.unique(self.present, axis=0, return_inverse=True)
        for index, pattern in enumerate(patterns):
            rows, pairs = np.flatnonzero(pattern_of.ravel() == index), np.flatnonzero(contrasts.both(pattern))
            if len(pairs):
                result[np.ix_(rows, pairs)] = ask(self._part(rows, np.flatnonzero(pattern)), contrasts.among(pattern))
        return result

    def _part(self, rows: Codes, algorithms: Codes) -> Blocks:
        """Some instances and some algorithms, as if there were no others."""
        both = np.ix_(rows, algorithms)
        by_cell = ("counts", "theta", "variances", "kurtosis", "skews", "degrees", "log_variances")
        tables: dict[str, Any] = {name: None if (own := getattr(self, name)) is None else own[both] for name in by_cell}
        return replace(
            self,
            **tables,
            instances=tuple(self.instances[i] for i in rows),
            algorithms=tuple(self.algorithms[k] for k in algorithms),
            certain=self.certain[algorithms],
            exponents=self.exponents[rows],
            covariances=None if self.covariances is None else self.covariances[np.ix_(rows, algorithms, algorithms)],
        )

    def corrected(self, contrasts: Contrasts) -> Blocks:
        """Return the same, corrected for what run noise adds to ratios and logarithms; all algorithms are present."""
        if not contrasts.corrects(unbiased=self.unbiased):
            return self.in_logs(contrasts)
        check_positive(self, contrasts)
        with np.errstate(all="ignore"):
            shared = None  # covariances with the denominators, if runs are paired
            if self.covariances is not None and contrasts.difference == "percent":
                base = contrasts.reference
                shared = self.covariances.sum(axis=2) if base is None else self.covariances[:, :, base]
            theta, factors = contrasts.corrected(self.theta, self.variances / self.counts, shared)
            return replace(self, theta=theta, variances=self.variances * factors)

    def in_logs(self, contrasts: Contrasts) -> Blocks:
        """Return the same with the variances of logarithms where the delta method does not give them.

        A median that lies on a floor has a logarithm that is known, and a relative error of a million per cent.
        """
        if self.log_variances is None or contrasts.difference != "ratio" or contrasts.formula != "corrected":
            return self
        return replace(self, variances=self.log_variances * self.theta**2)

    def curvature(self, contrasts: Contrasts) -> Floats:
        """Return the bias from run noise of each uncorrected difference."""
        return self._by_part(contrasts, Blocks._curvature)

    def _curvature(self, contrasts: Contrasts) -> Floats:
        with np.errstate(all="ignore"):
            bends = contrasts.curvature(self.theta, self.variances / self.counts)
        return np.where(np.isfinite(bends), bends, 0.0)

    def _differences(self, contrasts: Contrasts) -> Floats:
        check_positive(self, contrasts)
        with np.errstate(all="ignore"):  # values beyond the doubles are refused below
            phi = contrasts.differences(self.corrected(contrasts).theta)
        phi = self._unscaled(phi) if contrasts.difference == "simple" else phi
        if not np.isfinite(phi).all():
            raise InvalidData(
                "the differences must be finite, but some exceed the largest number; scale the values down"
            )
        return phi

    def _errors(self, contrasts: Contrasts, *, guard: Guard, edition: CalibrationVersion) -> Floats:
        check_positive(self, contrasts)
        blocks = self.corrected(contrasts)
        with np.errstate(all="ignore"):  # ratios beyond 1e150 within an instance: the error is not known
            variances = guarded_variances(
                blocks.counts.astype(float),
                blocks.variances,
                blocks.kurtosis,
                degrees=blocks.degrees,
                rates=blocks.theta if blocks.are_rates else None,
                guard=guard,
                reference=contrasts.reference,
                edition=edition,
            )
            variances = np.where(blocks.certain, 0.0, variances)
            errors = np.sqrt(contrasts.squared_errors(blocks.theta, variances / self.counts))
        errors = self._unscaled(errors) if contrasts.difference == "simple" else errors
        return np.where(np.isfinite(errors), errors, np.nan)

    def relative_errors(self) -> Floats:
        """Return the standard error of each statistic as a share of its magnitude."""
        with np.errstate(all="ignore"):
            return np.sqrt(self.variances / self.counts) / np.abs(self.theta)

    def _unscaled(self, values: Floats) -> Floats:
        if not self.exponents.any():
            return values
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(values, self.exponents[:, None])


def gather(runs: Runs, failures: FailurePolicy | WorstObserved | None = None) -> Cells:
    """Sort the values of the runs into cells; failed runs need a policy.

    >>> runs = Runs.from_columns(["i", "i", "i"], ["a", "b", "a"], [1.0, 5.0, 3.0])
    >>> gather(runs).of(0, 0).tolist()
    [1.0, 3.0]
    """
    value, counted = values_under(runs, failures)
    shape = len(runs.instances), len(runs.algorithms)
    cell = runs.instance * shape[1] + runs.algorithm
    used_cells = cell[counted]
    counts = np.bincount(used_cells, minlength=shape[0] * shape[1])
    order = np.flatnonzero(counted)[np.argsort(used_cells, kind="stable")]
    return Cells(
        instances=runs.instances,
        algorithms=runs.algorithms,
        values=value[order],
        labels=None if runs.shared is None else runs.shared[order],
        counts=counts.reshape(shape),
        spent=np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Comparable:
    """Usable cells, and the reasons for the others by instance."""

    cells: Cells
    excluded: Mapping[str, str]  # instances without a usable pair
    incomplete: Mapping[str, str]  # instances with some usable pairs


def comparable(cells: Cells, contrasts: Contrasts, deterministic: Collection[str] | None = None) -> Comparable:
    """Keep the cells with enough values, and the instances that have both cells of some pair.

    With `deterministic`, the names of the algorithms whose value never changes, all others need two values. Without
    it (results people already have) one is enough, unless other runs of the cell failed.
    """
    short = _short(cells, deterministic)
    serves: Bools = np.asarray(contrasts.both(~short).any(axis=1))
    excluded, incomplete = (_reasons(cells, short, rows) for rows in (~serves, serves))
    if short.any():  # cells with too few values are emptied
        enough = np.repeat(~short.ravel(), cells.counts.ravel())
        cells = cells.kept(enough, counts=np.where(short, 0, cells.counts))
    return Comparable(_rows(cells, serves), excluded, incomplete)


def complete(cells: Cells, deterministic: Collection[str] | None = None) -> tuple[Cells, dict[str, str]]:
    """Keep the instances on which every algorithm has enough values; return the others with the reason."""
    short = _short(cells, deterministic)
    is_complete: Bools = np.asarray(~short.any(axis=1))
    return _rows(cells, is_complete), _reasons(cells, short, ~is_complete)


def leading_runs(cells: Cells, most: int) -> Cells:
    """Keep the first values of each cell, at most this many.

    >>> runs = Runs.from_columns(["i"] * 5, ["a", "b", "a", "a", "b"], [1.0, 5.0, 3.0, 8.0, 6.0])
    >>> leading_runs(gather(runs), 2).values.tolist()
    [1.0, 3.0, 5.0, 6.0]
    """
    index = np.arange(len(cells.values)) - np.repeat(cells.starts.ravel(), cells.counts.ravel())
    return cells.kept(index < most, counts=np.minimum(cells.counts, most), spent=np.minimum(cells.spent, most))


def summarise(
    cells: Cells,
    statistic: str | Statistic = "mean",
    *,
    deterministic: Collection[str] | None = None,
    accuracy: bool = True,
) -> Blocks:
    """Reduce every cell to its statistic and, if accuracy matters, the variance of one run.

    >>> runs = Runs.from_columns(["i", "i", "i", "i"], ["a", "b", "a", "b"], [1.0, 5.0, 3.0, 5.0])
    >>> blocks = summarise(gather(runs))
    >>> blocks.theta.tolist(), blocks.variances.tolist()
    ([[2.0, 5.0]], [[2.0, 0.0]])
    """
    summary = summaries.summary_of(statistic)
    exponents = np.zeros(len(cells.instances), np.int64) if isinstance(summary, summaries.Custom) else _exponents(cells)
    scaled = cells
    if exponents.any():
        scaled = replace(cells, values=np.ldexp(cells.values, -np.repeat(exponents, cells.counts.sum(axis=1))))
    kurtosis, skews, log_variances = None, None, None
    if isinstance(summary, summaries.Mean):
        theta, variances, kurtosis, skews = _moments(scaled)
    elif isinstance(summary, summaries.Rate):
        theta, variances = _rates(scaled)
    else:
        theta, variances, log_variances = _summaries(scaled, summary, accuracy=accuracy)
    wrong = np.argwhere((cells.counts > 0) & ~np.isfinite(theta))
    for i, k in wrong[:1]:
        where = f"algorithm {cells.algorithms[k]!r} on instance {cells.instances[i]!r}"
        if isinstance(summary, summaries.GeometricMean):
            raise InvalidData(
                f"a geometric mean needs positive values, got negative ones of {where}; use statistic 'mean' or"
                " 'median', or raise small values to a floor, e.g. 1e-8"
            )
        raise InvalidData(
            f"the statistic must be a finite number, got {theta[i, k]} for {where}; fix the statistic or drop the"
            " instance"
        )
    certain = np.array([name in (deterministic or ()) for name in cells.algorithms])
    return Blocks(
        instances=cells.instances,
        algorithms=cells.algorithms,
        counts=cells.counts,
        theta=theta,
        variances=np.where(certain, 0.0, variances),
        kurtosis=kurtosis,
        skews=skews,
        degrees=summary.degrees(cells.counts.astype(float)),
        certain=certain,
        exponents=exponents,
        are_rates=isinstance(summary, summaries.Rate),
        unbiased=summary.unbiased,
        exact_logs=isinstance(summary, summaries.GeometricMean),
        log_variances=None if log_variances is None else np.where(certain, 0.0, log_variances),
        covariances=None if cells.labels is None else _covariances(scaled, certain),
    )


def check_positive(blocks: Blocks, contrasts: Contrasts) -> None:
    """Percent and ratio differences mean something for positive statistics only."""
    wrong = blocks.present & ~(blocks.theta > 0)
    if contrasts.difference == "simple" or not wrong.any():
        return
    i, k = np.argwhere(wrong)[0]
    raise InvalidData(
        f"{contrasts.difference} differences need positive values: the statistic of algorithm {blocks.algorithms[k]!r}"
        f" on instance {blocks.instances[i]!r} is {blocks.statistics[i, k]:g}; use difference 'simple', or raise"
        " small values to a floor, e.g. 1e-8"
    )


# usable cells ------------------------------------------------------------------------------------------------------


def _short(cells: Cells, deterministic: Collection[str] | None) -> Bools:
    """The cells with too few values."""
    if deterministic is None:
        return np.asarray(cells.counts < np.where(cells.spent > cells.counts, 2, 1))
    return np.asarray(cells.counts < np.array([[1 if name in deterministic else 2 for name in cells.algorithms]]))


def _reasons(cells: Cells, short: Bools, rows: Bools) -> dict[str, str]:
    """Reasons for incomplete instances: the first incomplete algorithm and the number of others."""
    reasons = {}
    for i in np.flatnonzero(short.any(axis=1) & rows):
        algorithm, others = int(np.argmax(short[i])), int(short[i].sum()) - 1
        name, spent = cells.algorithms[algorithm], int(cells.spent[i, algorithm])
        if spent == 0:
            what = f"no run of {name}"
        elif cells.counts[i, algorithm] == 0:
            what = f"no run of {name} gave a value"
        else:
            what = f"only one of {spent} runs of {name} gave a value" if spent > 1 else f"only one run of {name}"
        more = f", and {others} more algorithm{'s' if others > 1 else ''} short" if others else ""
        reasons[cells.instances[i]] = what + more
    return reasons


def _rows(cells: Cells, rows: Bools) -> Cells:
    """The cells of some instances."""
    if rows.all():
        return cells
    return cells.kept(
        np.repeat(rows, cells.counts.sum(axis=1)),
        instances=tuple(name for name, used_cells in zip(cells.instances, rows, strict=True) if used_cells),
        counts=cells.counts[rows],
        spent=cells.spent[rows],
    )


# moments at any magnitude -----------------------------------------------------------------------------------------


def _exponents(cells: Cells) -> Counts:
    """The power of two by which each instance is divided: 0, unless squares would leave the doubles."""
    largest = np.zeros(cells.counts.shape)
    largest[cells.counts > 0] = np.maximum.reduceat(np.abs(cells.values), cells.starts[cells.counts > 0])
    top = np.frexp(largest)[1].astype(np.int64)
    ordinary = (np.abs(top) <= ORDINARY) | (largest == 0)
    return np.where(ordinary.all(axis=1), 0, top.max(axis=1, where=largest > 0, initial=-2000) - ROOM)


def _moments(cells: Cells) -> tuple[Floats, ...]:
    """Mean, variance, kurtosis and skewness of each cell: two passes over the values, shifted by the cell's first."""
    filled = cells.counts > 0
    starts, n = cells.starts[filled], cells.counts[filled]
    first = cells.values[starts]
    rest = cells.values - np.repeat(first, n)  # large offsets cancel exactly here
    mean = np.add.reduceat(rest, starts) / n
    rest -= np.repeat(mean, n)
    slip = np.add.reduceat(rest, starts) / n  # rounding error of the mean
    rest -= np.repeat(slip, n)
    squares = np.add.reduceat(rest * rest, starts)
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = np.where(n > 1, squares / (n - 1), np.nan)
        rest /= np.repeat(np.sqrt(squares), n)
        kurtosis = np.where(squares > 0, n * np.add.reduceat(rest**4, starts), 0.0)
        skews = np.where(squares > 0, np.sqrt(n) * np.add.reduceat(rest**3, starts), 0.0)
    return tuple(_spread(filled, values) for values in (first + (mean + slip), variances, kurtosis, skews))


def _covariances(cells: Cells, certain: Bools) -> Floats:
    """The covariances of the means of each instance, by the runs that algorithms have in common."""
    result = np.full((len(cells.instances), len(cells.algorithms), len(cells.algorithms)), np.nan)
    for i, there in enumerate(cells.counts > 0):
        result[i][np.ix_(there, there)] = mean_covariances(cells.table(i, certain)[:, there])
    return result


def _spread(filled: Bools, values: Floats) -> Floats:
    """The values of the filled cells in place; NaN in the empty ones."""
    result = np.full(filled.shape, np.nan)
    result[filled] = values
    return result


def _rates(cells: Cells) -> tuple[Floats, Floats]:
    """The success rate of each cell, and the variance of one run."""
    strange = np.flatnonzero(~summaries.is_yes_or_no(cells.values))
    if len(strange):
        i, k = cells.place(int(strange[0]))
        raise InvalidData(
            f"{summaries.neither_yes_nor_no(cells.values[strange[0]])} for algorithm {cells.algorithms[k]!r} on"
            f" instance {cells.instances[i]!r}; {summaries.NUMBERS}"
        )
    filled = cells.counts > 0
    n = cells.counts[filled].astype(float)
    rates = np.add.reduceat(cells.values, cells.starts[filled]) / n
    variances = np.where(n > 1, summaries.rate_variances(n, rates), np.nan)
    return _spread(filled, rates), _spread(filled, variances)


def _summaries(cells: Cells, summary: summaries.Summary, *, accuracy: bool) -> tuple[Floats, Floats, Floats | None]:
    """The statistic of each cell, the variance of one run, and that of the logarithm where it differs."""
    shape, filled = cells.counts.shape, cells.counts > 0
    theta, variances = np.full(shape, np.nan), np.full(shape, np.nan)
    logs = np.full(shape, np.nan) if isinstance(summary, summaries.Quantile) and (cells.values > 0).all() else None
    # every statistic of a single value is the value
    if cells.counts.max() == 1 and not isinstance(summary, summaries.Custom):
        theta[filled] = cells.values
        return theta, variances, None
    for i, k in np.argwhere(filled):
        values = cells.of(i, k)
        theta[i, k] = float(summary(values))
        if accuracy and len(values) > 1:
            variances[i, k] = summary.spread(values)
            if logs is not None:
                logs[i, k] = summary.spread(np.log(values))
    return theta, variances, logs
