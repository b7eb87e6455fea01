"""One instance is a study too: its runs are the sample, and what they show holds for this instance only. Pure.

cells, blocks ─► Welch or Mann–Whitney of every pair ─► Holm ─► comparisons, equivalence, what the other test says
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from ampler.analysis.blocks import Blocks, Cells, check_positive
from ampler.analysis.compare import Comparison, Equivalence, established
from ampler.analysis.estimates import Estimates
from ampler.analysis.exploration import Conclusion, Signs
from ampler.core.arrays import Codes, Floats, Pair
from ampler.core.choices import Test
from ampler.core.errors import InvalidDesign
from ampler.core.settings import AnalysisSettings
from ampler.core.spoken import parameter
from ampler.core.values import Caution
from ampler.stats.contrasts import Contrasts
from ampler.stats.holm import StepDown, step_down
from ampler.stats.paired import Bounds
from ampler.stats.summaries import summary_of
from ampler.stats.two_samples import MannWhitney, RunComparison, RunTest, Welch, run_test, welch_comparisons

SKEWED = 1.0  # of the runs: exponential values have 2, with which Welch's test errs in 12 % of the families
UNKNOWN = Bounds(-math.inf, math.inf, 1.0)


@dataclass(frozen=True, eq=False)
class RunFamily:
    """The comparisons of the runs of one instance, judged together; None where one of a pair lacks values."""

    settings: AnalysisSettings
    pairs: Sequence[Pair]
    test: RunTest
    judged: tuple[RunComparison | None, ...]
    effects: Floats  # standardised differences, in the order of the pairs

    @cached_property
    def steps(self) -> StepDown:
        """Holm's verdict on all of them."""
        p = [1.0 if each is None else each.p_value(self.settings.alternative) for each in self.judged]
        return step_down(p, self.settings.family_alpha)

    @property
    def signs(self) -> Signs:
        """The direction found for each pair: 1, −1, or 0 for none."""
        leaning = [0.0 if each is None else np.sign(each.estimate) for each in self.judged]
        return np.where(self.steps.rejected, leaning, 0).astype(np.int8)

    def comparisons(self) -> tuple[Comparison, ...]:
        """Return the comparisons in the order of the pairs, without their verdicts."""
        return tuple(self._comparison(k) for k in range(len(self.pairs)))

    def equivalence(self, margin: float, alpha: float) -> tuple[Equivalence, ...]:
        """Return whether each difference certainly lies within ±margin: two one-sided tests, under Holm."""
        p = np.array([1.0 if each is None else _outside(each, margin) for each in self.judged])
        return established(p, step_down(p, alpha), margin)

    @property
    def _estimate_of(self) -> str:
        plain = self.test != "t" or self.settings.are_rates or self.settings.statistic == "mean"
        return run_test(self.test).estimate_of if plain else "difference"

    def _comparison(self, k: int) -> Comparison:
        settings, steps, own = self.settings, self.steps, self.judged[k]
        level, joint = float(steps.levels[k]), settings.family_alpha / len(self.pairs)
        bounds, together = (
            UNKNOWN if own is None else own.interval(settings.alternative, alpha) for alpha in (level, joint)
        )
        return Comparison(
            *self.pairs[k],
            estimate=math.nan if own is None else own.estimate,
            estimate_of=self._estimate_of,
            interval=(bounds.lower, bounds.upper),
            level=bounds.level,
            joint_interval=(together.lower, together.upper),
            p_value=1.0 if own is None else own.p_value(settings.alternative),
            p_holm=float(steps.adjusted[k]),
            alpha=level,
            rank=int(steps.ranks[k]),
            rejected=bool(steps.rejected[k]),
            effect_size=float(self.effects[k]),
            effect_interval=(math.nan, math.nan),
            instances=int(own is not None),
        )


def run_family(
    estimates: Estimates, contrasts: Contrasts, pairs: Sequence[Pair], settings: AnalysisSettings, test: Test
) -> RunFamily:
    """Compare the runs of every pair on the one instance there is."""
    kind = checked_test(test, settings)
    estimates = estimates.of_first_runs() if settings.estimate == "first-runs" else estimates
    blocks = estimates.blocks
    check_positive(blocks, contrasts)
    there = contrasts.both(blocks.present)[0]
    judged: list[RunComparison | None] = [None] * len(pairs)
    for k, own in zip(np.flatnonzero(there), _judged(estimates, contrasts, settings, kind), strict=True):
        judged[k] = own
    return RunFamily(settings, pairs, kind, tuple(judged), _effects(blocks, contrasts))


def checked_test(test: Test, settings: AnalysisSettings) -> RunTest:
    """Return the test of runs that a word stands for; InvalidDesign where there is none."""
    if test not in get_args(RunTest):
        raise InvalidDesign(
            "on one instance the runs themselves are compared, by Welch's t-test ('t') or Mann and Whitney's"
            f" ('wilcoxon'), got {test!r}; choose one of them, or add instances"
        )
    if test == "wilcoxon" and (settings.are_rates or settings.statistic != "mean"):
        raise InvalidDesign(
            "Mann and Whitney's test compares the runs of one instance whatever their statistic, so that"
            f" {settings.statistic_name!r} is none of its; use test 't', or leave the statistic out"
        )
    return "t" if test == "t" else "wilcoxon"


def other_test(family: RunFamily, rival: RunFamily | None) -> tuple[Conclusion, ...]:
    """Return what either test finds, beside what was found."""
    settings = family.settings
    return tuple(
        Conclusion(
            each.test,
            settings.difference,
            settings.statistic_name,
            tuple(each.signs.tolist()),
            int(np.sum(each.signs == family.signs)),
        )
        for each in (family, rival)
        if each is not None
    )


def this_instance_only(name: str) -> Caution:
    """Say what a comparison of runs is about."""
    return Caution(
        "one-instance",
        f"There is one instance, {name}, so the runs themselves are compared: the conclusion holds for this instance"
        " only, and says nothing of others.",
    )


def skewed_runs(estimates: Estimates, settings: AnalysisSettings) -> Caution | None:
    """Say that Welch's test errs where runs are skewed and their values ended them."""
    ended = estimates.rule is not None and settings.estimate != "first-runs"
    if not ended or settings.test != "t" or estimates.largest_skewness <= SKEWED:
        return None
    return Caution(
        "bias",
        f"The values decided when runs ended, and they are skewed ({estimates.largest_skewness:.1f}; exponential ones"
        " have 2): Welch's test then errs more often than it says (in 12 % instead of 5 % of simulated families of"
        f" exponential runs). Compare by ranks ({parameter('test', 'wilcoxon')}) or by the first runs alone"
        f" ({parameter('estimate', 'first-runs')}), or run every algorithm equally often (runs = 30).",
    )


def _outside(own: RunComparison, margin: float) -> float:
    """The p-value of a difference beyond ±margin: the larger one of two one-sided ones."""
    return max(own.p_value("greater", -margin), own.p_value("less", margin))


def _judged(
    estimates: Estimates, contrasts: Contrasts, settings: AnalysisSettings, test: RunTest
) -> Sequence[RunComparison]:
    """The comparisons of the algorithms that have values."""
    present = estimates.blocks.present[0]
    among = contrasts if present.all() else contrasts.among(present)
    if test == "wilcoxon":
        return _mann_whitney(estimates.cells, estimates.blocks, among, np.flatnonzero(present))
    return _welch(estimates, contrasts, among, settings)


def _welch(
    estimates: Estimates, contrasts: Contrasts, among: Contrasts, settings: AnalysisSettings
) -> tuple[Welch, ...]:
    blocks = estimates.blocks
    present = blocks.present[0]
    counts, exponent = blocks.counts[0, present].astype(float), int(blocks.exponents[0])
    degrees = summary_of(estimates.statistic).degrees(counts)
    found = welch_comparisons(
        among,
        estimates.differences(contrasts, settings.estimate)[0][contrasts.both(blocks.present)[0]],
        blocks.theta[0, present],
        blocks.variances[0, present] / counts,
        np.maximum(counts - 1 if degrees is None else degrees, 1.0),
    )
    if contrasts.difference != "simple" or not exponent:
        return found
    with np.errstate(over="ignore"):
        return tuple(Welch(each.estimate, float(np.ldexp(each.error, exponent)), each.degrees) for each in found)


def _mann_whitney(cells: Cells, blocks: Blocks, among: Contrasts, places: Codes) -> tuple[MannWhitney, ...]:
    """Runs as they are, as logarithms for ratios, or as shares of the reference or the grand mean."""
    runs = [cells.of(0, int(place)) for place in places]
    if among.difference == "ratio":
        runs = [np.log(values) for values in runs]
    unit = 1.0
    if among.difference == "percent":
        theta = blocks.statistics[0, places]
        unit = float(theta.mean() if among.reference is None else theta[among.reference])
    return tuple(
        MannWhitney(tuple(runs[i].tolist()), tuple(runs[j].tolist()), unit)
        for i, j in zip(among.first, among.second, strict=True)
    )


def _effects(blocks: Blocks, contrasts: Contrasts) -> Floats:
    """Cohen's d with the mean of both variances: NaN where neither varies or one is missing."""
    theta, variances = blocks.theta[0], blocks.variances[0]
    spread = (variances[contrasts.first] + variances[contrasts.second]) / 2
    with np.errstate(all="ignore"):
        return np.where(spread > 0, (theta[contrasts.first] - theta[contrasts.second]) / np.sqrt(spread), np.nan)
