"""From runs to the tested differences; decisions and conclusions share this code. Pure.

Runs that share a fold or a seed are compared run by run, because a common effect cancels in their difference. After
adaptive sampling (`sampling.bias`) there are three estimates: from all runs, from all runs with a correction for
stopping (the default, right to first order), and from the first runs alone (unbiased, but less exact).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ampler.analysis.blocks import Blocks, Cells, Comparable, comparable, gather, leading_runs, summarise
from ampler.core.arrays import Floats, Pair, Runs, adjusted_runs, at_rows
from ampler.core.contracts import Statistic
from ampler.core.errors import InvalidData
from ampler.core.failures import FailurePolicy, WorstObserved, values_under
from ampler.core.settings import CalibrationVersion, Estimate, Guard, Settings
from ampler.core.text import listed, parameter
from ampler.sampling.bias import stopping_bias
from ampler.sampling.rules import Accuracy
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.dependence import guarded_noise, noise_errors, shared_noise
from ampler.stats.paired import FEWEST
from ampler.stats.shape import pooled_skewness
from ampler.stats.summaries import summary_of

MOST_COMPARISONS = 50_000  # maximum number of pairs: all pairs of some 300 algorithms
TELLING = 5  # minimum number of different values: fewer are in order by chance
SORTED = 0.9  # of the instances
EQUAL = 0.9  # share of the most runs: rounds may be incomplete, and failed runs have no value
MAX_REASONS = 3  # instances in an error


@dataclass(frozen=True, eq=False)
class Estimates:
    """The statistics of one kind, and the differences they make; `rule` decided on the runs, None: no values did."""

    cells: Cells
    blocks: Blocks
    statistic: str | Statistic
    rule: Accuracy | None

    def differences(self, contrasts: Contrasts, estimate: Estimate = "corrected") -> Floats:
        """Return φ of each pair on each instance by this estimator; without a rule all estimators agree."""
        if self.rule is None or estimate == "all-runs":
            return self.blocks.differences(contrasts)
        if estimate == "first-runs":
            return self._first.differences(contrasts) - self._first.bends(contrasts)
        return replace(self.blocks, theta=self._unbiased).differences(contrasts) - self.blocks.bends(contrasts)

    def of_first_runs(self) -> Estimates:
        """Return the blocks of the first runs, which did not depend on results."""
        if self.rule is None:
            return self
        return Estimates(leading_runs(self.cells, self.rule.start), self._first, self.statistic, None)

    @cached_property
    def _first(self) -> Blocks:
        assert self.rule is not None
        return summarise(leading_runs(self.cells, self.rule.start), self.statistic)

    @cached_property
    def _unbiased(self) -> Floats:
        """The statistics less the bias that stopping gave them; what would change its sign is left alone.

        There is none where the rule looked at another statistic, or its se is in a unit of its own. Where runs share
        seeds and are equally many, all algorithms stopped by the same differences.
        """
        blocks, rule = self.blocks, self.rule
        own_unit = rule is not None and blocks.exponents.any() and rule.difference == "simple"
        if rule is None or summary_of(rule.statistic) != summary_of(self.statistic) or own_unit:
            return blocks.theta
        there = blocks.counts > 0  # an empty cell counts as known without error, and is no denominator
        typical = np.nanmean(blocks.theta, axis=1, keepdims=True)
        bias = stopping_bias(
            rule,
            rule.check(blocks.algorithms),
            counts=np.where(there, blocks.counts, 1.0),
            theta=np.where(there, blocks.theta, typical),
            variances=np.where(there, blocks.variances, 0.0),
            kurtosis=None if blocks.kurtosis is None else np.where(there, blocks.kurtosis, 0.0),
            skewness=self._skewness(supported=rule.formula in (None, "corrected")),
            certain=blocks.certain | ~there,
        )
        counted = there & ~blocks.certain
        most = np.where(counted, blocks.counts, 0).max(axis=1, keepdims=True)
        unequal = (counted & (blocks.counts < EQUAL * most)).any(axis=1, keepdims=True)
        unbiased = blocks.theta - (bias if rule.seeds == "own" else np.where(unequal, bias, 0.0))
        with np.errstate(invalid="ignore"):
            unbiased = np.clip(unbiased, 0.0, 1.0) if blocks.are_rates else unbiased
            return np.where(unbiased * blocks.theta > 0, unbiased, blocks.theta)

    @cached_property
    def skewness(self) -> Floats:
        """The skewness of the runs of each algorithm; 0 for statistics other than the mean, which it hardly moves."""
        return self._skewness(supported=False)

    def _skewness(self, *, supported: bool) -> Floats:
        blocks = self.blocks
        if blocks.skews is None:
            return np.zeros(len(blocks.algorithms))
        return pooled_skewness(blocks.counts.astype(float), blocks.variances, blocks.skews, supported=supported)

    @property
    def largest_skewness(self) -> float:
        """The largest bias in absolute value."""
        return float(np.abs(self.skewness).max())


@dataclass(frozen=True, eq=False)
class Observed:
    """Differences of each pair on each instance, and the excluded instances."""

    runs: Runs  # with values raised to the floor
    contrasts: Contrasts
    estimates: Estimates
    excluded: Mapping[str, str]
    incomplete: Mapping[str, str]
    test_over_train: float = 0.0  # of folds, which share training data (Nadeau and Bengio 2003)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The compared algorithms, by name."""
        names, contrasts = self.runs.algorithms, self.contrasts
        return tuple((names[i], names[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True))

    def errors(self, guard: Guard = "none", edition: CalibrationVersion = 2) -> Floats:
        """Return the standard error of each pair's difference on each instance with conservative variance bounds."""
        cells, blocks = self.estimates.cells, self.estimates.blocks
        if self.runs.shared is None:
            return blocks.errors(self.contrasts, guard=guard, edition=edition)
        errors = np.full((len(cells.instances), len(self.contrasts.first)), np.nan)
        is_simple = self.contrasts.difference == "simple"
        for i, there in enumerate(blocks.present):
            if cells.counts[i].max() > 1 and there.sum() > 1:
                values = np.ldexp(cells.table(i, blocks.certain)[:, there], -blocks.exponents[i])
                gradient = self.contrasts.among(there).gradient(blocks.theta[i, there])
                counts = (~np.isnan(values)).sum(axis=0).astype(float)
                with np.errstate(over="ignore", invalid="ignore"):
                    noise = shared_noise(gradient, values)
                    if guard != "none":
                        noise = guarded_noise(noise, gradient, values, guard=guard, edition=edition)
                    of_pairs = noise_errors(noise, counts) * (1 + len(values) * self.test_over_train)
                    of_pairs = np.sqrt(np.maximum(of_pairs, 0.0))
                    of_pairs = np.ldexp(of_pairs, blocks.exponents[i]) if is_simple else of_pairs
                errors[i, self.contrasts.both(there)] = of_pairs
        return errors


def observe(
    runs: Runs,
    settings: Settings,
    deterministic: Collection[str] | None,
    rule: Accuracy | None,
    added: Collection[str] = (),
) -> Observed:
    """Return what runs say; InvalidInput tells what does not fit. `rule` decided on them by their values, if any.

    Where some algorithms were `added` later, only pairs with one of these are compared.
    """
    if len(runs.algorithms) < 2:
        raise InvalidData(
            f"there must be at least two algorithms to compare, got {runs.algorithms[0]!r} alone;"
            " ampler.describe estimates its mean"
        )
    pairs = len(runs.algorithms) * (len(runs.algorithms) - 1) // 2
    if settings.reference is None and pairs > MOST_COMPARISONS:  # too many pairs to compute and read
        raise InvalidData(
            f"{len(runs.algorithms):,} algorithms compared all with all are {pairs:,} comparisons, more than the"
            f" {MOST_COMPARISONS:,} that are made; name a reference, or choose with {parameter('algorithms')}"
        )
    paired = runs.shared is not None
    if paired and settings.statistic_name != "mean":
        if settings.test_over_train is not None or settings.crossed is not None:
            raise InvalidData(f"paired runs are compared by their mean, got statistic {settings.statistic_name!r}")
        # their errors are too large where runs are alike, never too small
        runs, paired = replace(runs, shared=None), False
    if settings.nested is not None and settings.statistic_name != "mean":
        raise InvalidData(f"nested runs are compared by the means of their groups, got {settings.statistic_name!r}")
    if paired and rule is not None and rule.seeds == "own":
        raise InvalidData("paired runs cannot have adaptive sampling: omit start, or the pairing")
    runs = adjusted_runs(runs, settings.floor, settings.shift)
    contrasts = contrasts_of(
        runs.algorithms, difference=settings.difference, reference=settings.reference, formula=settings.formula
    )
    contrasts = contrasts.involving(np.isin(runs.algorithms, list(added))) if added else contrasts
    are_folds = settings.test_over_train is not None
    usable = usable_cells(runs, settings.failures, contrasts, deterministic, complete=are_folds)
    if paired:
        refuse_sorted(usable.cells, settings.paired or "what they share")
    blocks = summarise(usable.cells, settings.statistic, deterministic=deterministic)
    estimates = Estimates(usable.cells, blocks, settings.statistic, rule)
    excluded, incomplete = usable.excluded, usable.incomplete
    return Observed(runs, contrasts, estimates, excluded, incomplete, settings.test_over_train or 0.0)


def refuse_sorted(cells: Cells, by: str) -> None:
    """Raise InvalidData if the values of two algorithms rise or fall along what pairs their runs: they were sorted."""
    names = []
    for k, name in enumerate(cells.algorithms):
        own = [cells.of(i, k) for i in range(len(cells.instances))]
        steps = [np.diff(values) for values in own if len(np.unique(values)) >= TELLING]
        ordered = [bool((step >= 0).all() or (step <= 0).all()) for step in steps]
        names += [name] if ordered and np.mean(ordered) >= SORTED else []
    if len(names) > 1:
        raise InvalidData(
            f"the runs of {listed(list(map(repr, names)), MAX_REASONS)} are sorted by their values along {by}, so runs"
            f" with the same {by} do not belong together; omit {parameter('paired')}"
        )


def placed(differences: Floats, instances: Sequence[str], among: Sequence[str]) -> Floats:
    """Return the differences on some instances (rows) where these stand among others; NaN on the rest."""
    rows = {name: row for row, name in enumerate(among)}
    table = np.full((len(among), differences.shape[1]), np.nan)
    table[[rows[name] for name in instances]] = differences
    return table


def usable_cells(
    runs: Runs,
    policy: FailurePolicy | WorstObserved | None,
    contrasts: Contrasts,
    deterministic: Collection[str] | None,
    *,
    complete: bool = False,
) -> Comparable:
    """The usable cells; InvalidData if no pair has two instances."""
    single = len(runs.instances) == 1
    cells = gather(matched(runs, policy, complete=complete), policy)
    usable = comparable(cells, contrasts, (deterministic or ()) if single else deterministic)
    common = contrasts.both(usable.cells.counts > 0).sum(axis=0)
    if common.max() >= (1 if single else FEWEST):
        return usable
    left_out = {**usable.excluded, **usable.incomplete}
    why = listed([f"{name} ({reason})" for name, reason in left_out.items()], MAX_REASONS)
    if single:
        raise InvalidData(
            "at least two instances are needed, or one with two values or more of at least two algorithms;"
            f" dropped: {why}"
        )
    raise InvalidData(
        "at least two instances need values of both algorithms of a pair, because the sample size is the"
        f" number of instances; got {common.max()} of {len(runs.instances)}" + (f"; left out: {why}" if why else "")
    )


# paired runs --------------------------------------------------------------------------------------------------------


def matched(runs: Runs, failures: FailurePolicy | WorstObserved | None, *, complete: bool = True) -> Runs:
    """Return the runs in the order of their shared labels; with `complete` only those paired in every algorithm.

    Runs that share nothing are returned as they are. A label that lacks the value of some algorithm is left out.
    """
    if runs.shared is None:
        return runs
    _, counted = values_under(runs, failures)
    group = runs.instance * (int(runs.shared.max()) + 1) + runs.shared
    keys = group * len(runs.algorithms) + runs.algorithm
    order = np.argsort(keys, kind="stable")
    for row in order[1:][np.diff(keys[order]) == 0][:1]:
        raise InvalidData(
            f"runs are paired one by one, but {runs.algorithms[runs.algorithm[row]]!r} has two of the same pair on"
            f" {runs.instances[runs.instance[row]]!r}; add columns that distinguish them, such as repeat and fold"
        )
    partners = np.bincount(group[counted], minlength=int(group.max()) + 1)
    there = np.zeros((len(runs.instances), len(runs.algorithms)), dtype=np.intp)
    there[runs.instance, runs.algorithm] = 1
    rows = np.flatnonzero(counted & (partners[group] == there.sum(axis=1)[runs.instance]))
    if not (len(rows) if complete else (partners > 1).any()):
        raise InvalidData(
            "no runs of all algorithms on an instance form a pair; check the column that pairs them, or omit it"
        )
    rows = rows if complete else np.arange(len(runs))
    return at_rows(runs, rows[np.argsort(runs.shared[rows], kind="stable")])
