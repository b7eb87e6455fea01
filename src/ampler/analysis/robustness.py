"""What claims of a test of means rest on: skewness beyond chance, and whether other tests agree. Pure.

A paired t-test of skewed differences claims too much on the side away from the long tail. So every claim is held
against the skewness that its sample shows in that direction, and where there may be any, against the bootstrap-t test,
which allows for it. The constants were chosen by simulation with one set of seeds and are reported with another
(`benchmarks/bench_robustness.py`). Where a sample shows no skewness nothing is said: one-sided outliers that happen to
be missing in a sample cannot be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ampler.analysis.compare import Doubt
from ampler.core.arrays import Bools, Floats
from ampler.core.choices import Alternative, Test
from ampler.stats.paired import family_verdict, paired_test, present_columns
from ampler.stats.resampling import joint_coverage
from ampler.stats.shape import farthest_difference, skewness_score

SURE = 0.025  # level at which the shape of all comparisons together is beyond chance
SKEWED_CLAIM = 0.05  # level at which the skewness against all claims together is
POSSIBLY = 0.15  # level beyond which nothing speaks for skewness against a claim
FIRM = 0.02  # share of the level below which a p-value of bootstrap-t leaves no doubt
SURER = 1.3  # p-value of the skewness over that of the difference by bootstrap-t, below which a claim is fragile
TOO_OFTEN = 1.6  # times that simultaneous intervals may miss more often than they say: coverage 0.92 instead of 0.95
NAMES: Mapping[Test, str] = {"bootstrap-t": "bootstrap-t", "wilcoxon": "Wilcoxon", "sign": "the sign test"}


@dataclass(frozen=True, slots=True, eq=False)
class Robustness:
    """What the tests of a family rest on, in the order of the comparisons."""

    skewed: Bools  # comparisons whose differences are skewed beyond chance
    far: Bools  # those with one difference too far from the others for chance
    fragile: Bools  # claims that skewness may have made
    doubtful: Bools  # those of them that bootstrap-t does not make, with skewness beyond chance
    agree: tuple[tuple[Test, ...], ...]  # other tests that find the same difference, for each claim
    disagree: tuple[tuple[Test, ...], ...]  # and those that do not; bootstrap-t only where the shape asks for it
    coverage: float  # of the simultaneous t intervals, estimated; NaN where no shape is beyond chance

    def are_optimistic(self, alpha: float) -> bool:
        """Whether the simultaneous intervals are too narrow, whatever is claimed."""
        return self.coverage < 1 - TOO_OFTEN * alpha


def robustness(differences: Floats, claimed: Bools, *, alternative: Alternative, alpha: float) -> Robustness:
    """Hold the claims of a family of t-tests, or sign-flip tests, against the shape of the differences and other tests.

    >>> rng = np.random.default_rng(6)
    >>> differences = -rng.lognormal(size=(40, 1))
    >>> robustness(differences, np.array([True]), alternative="two-sided", alpha=0.05).skewed.tolist()
    [True]
    """
    from scipy.special import ndtr

    columns = present_columns(differences)
    scores = np.array([skewness_score(column) for column in columns])
    means = np.array([paired_test("t").leaning(column) if len(column) else 0.0 for column in columns])
    size = len(columns)
    skewed = skewed_beyond_chance(differences)
    far = np.array([farthest_difference(column).p_value for column in columns]) * size < SURE
    number = (claimed.sum() * size) ** 0.5  # between the claims, which were chosen by the data, and all comparisons
    against = np.where(claimed, ndtr(np.sign(means) * scores) * number, np.nan)

    found: dict[Test, tuple[Bools, Floats]] = {}
    if claimed.any():
        resampled = (against < POSSIBLY).any() or (claimed & (skewed | far)).any()
        for test in NAMES if resampled else ("wilcoxon", "sign"):
            steps = family_verdict(differences, test=test, alternative=alternative, alpha=alpha).steps
            sides = np.array([paired_test(test).leaning(column) if len(column) else 0.0 for column in columns])
            found[test] = steps.rejected & (np.sign(sides) == np.sign(means)), steps.adjusted
    fragile = doubtful = np.zeros(size, dtype=bool)
    if "bootstrap-t" in found:
        confirmed, adjusted = found["bootstrap-t"]
        fragile = (against < np.minimum(POSSIBLY, SURER * 0.05 / alpha * adjusted)) & (adjusted > FIRM * alpha)
        doubtful = ~confirmed & (against < SKEWED_CLAIM)
    return Robustness(
        skewed,
        far,
        fragile | doubtful,
        doubtful,
        tuple(tuple(test for test, (same, _) in found.items() if claim and same[k]) for k, claim in enumerate(claimed)),
        tuple(
            tuple(test for test, (same, _) in found.items() if claim and not same[k]) for k, claim in enumerate(claimed)
        ),
        joint_coverage(differences, alternative=alternative, alpha=alpha) if skewed.any() else np.nan,
    )


def skewed_beyond_chance(differences: Floats) -> Bools:
    """Return which comparisons have skewed differences, allowing for their number; unknown with fewer than eight."""
    from scipy.special import ndtr

    scores = np.array([skewness_score(column) for column in present_columns(differences)])
    return np.asarray(2 * ndtr(-np.abs(scores)) * len(scores) < SURE)


def shape_doubts(found: Robustness) -> list[tuple[Doubt, ...]]:
    """Return what the shape of the differences says against each comparison."""
    return [
        (Doubt("shape", f"the differences are skewed: {agreement(found, k)}"),) if found.doubtful[k] else ()
        for k in range(len(found.doubtful))
    ]


def agreement(found: Robustness, place: int) -> str:
    """Say which other tests find the difference of a claim; nothing where all agree, or the shape is ordinary."""
    no, yes = ([NAMES[test] for test in tests[place]] for tests in (found.disagree, found.agree))
    if not no or not (found.skewed | found.far | found.fragile)[place]:
        return ""
    without = f"{' and '.join(no)} {'do' if len(no) > 1 else 'does'} not find it"
    return f"{without}; {' and '.join(yes)} {'do' if len(yes) > 1 else 'does'}" if yes else without
