"""What a family of comparisons shows: paired tests under Holm, intervals, effect sizes, equivalence. Pure.

Differences come as an array with instances in rows and pairs in columns, NaN where a pair lacks an instance; each pair
is tested on the instances it has. Comparisons are in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ampler.core.arrays import Floats, Interval, Pair
from ampler.core.choices import Alternative, Test
from ampler.core.errors import InvalidData
from ampler.core.spoken import parameter
from ampler.stats.effect_size import effect_intervals, effect_size
from ampler.stats.holm import StepDown, step_down
from ampler.stats.paired import (
    FEWEST,
    Bounds,
    FamilyVerdict,
    PairedTest,
    family_verdict,
    paired_test,
    present_columns,
    sample_estimate,
    sample_p_value,
)

DoubtKind = Literal["roles", "shape", "noise", "noise-width", "failures"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a significant difference is not claimed: the cause, and a clause that continues "but …"."""

    kind: DoubtKind
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One pair, with the decision of the test. φ is first minus second, in the chosen kind of difference.

    A comparison is claimed if the test rejects and nothing casts doubt on it.
    """

    first: str
    second: str
    estimate: float
    estimate_of: str  # "mean" (t), "pseudomedian" (Wilcoxon) or "P(φ>0)" (sign)
    interval: Interval  # at `level`: the Holm level of this rank, not joint
    level: float  # 1 − alpha; below it where so few instances cannot reach it (Wilcoxon)
    joint_interval: Interval  # all of these together cover the true values with probability ≥ 1 − level of the family
    p_value: float
    p_holm: float
    alpha: float  # Holm's level of this rank
    rank: int  # from 1, in Holm's order
    rejected: bool
    effect_size: float  # d = mean/sd of the differences
    effect_interval: Interval  # 95 %, not adjusted for the family
    instances: int  # those on which both algorithms have values
    verdict: str = ""  # in words, which know more of the analysis than its numbers
    doubts: tuple[Doubt, ...] = ()  # what speaks against claiming a significant difference
    claimed: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "claimed", self.rejected and not self.doubts)

    @property
    def in_doubt(self) -> bool:
        """Whether the test rejects, and the difference is not claimed all the same."""
        return self.rejected and not self.claimed


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Is the difference within ±margin? Two one-sided tests, in a Holm family of their own.

    For t this speaks of the mean difference, for Wilcoxon of the pseudomedian, for the sign test of the median.
    """

    margin: float
    p_value: float  # the larger of the two one-sided ones
    p_holm: float
    alpha: float
    rank: int
    established: bool


MOST_COMPARISONS = 50_000  # some 300 algorithms all with all; beyond it nobody reads them, and they take minutes


def check_number(algorithms: int, reference: str | None) -> None:
    """Refuse comparisons beyond what anyone reads, before they take minutes.

    >>> check_number(300, None)
    """
    pairs = algorithms * (algorithms - 1) // 2
    if reference is None and pairs > MOST_COMPARISONS:
        raise InvalidData(
            f"{algorithms:,} algorithms compared all with all are {pairs:,} comparisons, more than the"
            f" {MOST_COMPARISONS:,} that are made; name a reference, or choose with {parameter('algorithms')}"
        )


def compare(
    differences: Floats,
    pairs: Sequence[Pair],
    *,
    test: Test = "t",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    family: FamilyVerdict | None = None,
) -> tuple[Comparison, ...]:
    """Test every column and hold the family-wise error at alpha by a step-down procedure, Holm's if the test has none.

    `family` is what tests them, where it is not the test alone that does.

    >>> differences = np.array([[1.2, 0.1], [0.8, -0.3], [1.9, 0.4], [1.4, -0.1], [0.7, 0.2]])
    >>> [(c.second, c.rank, c.rejected, round(c.p_holm, 4)) for c in compare(differences, [("a", "b"), ("a", "c")])]
    [('b', 1, True, 0.0104), ('c', 2, False, 0.6455)]
    """
    family = family or family_verdict(differences, test=test, alternative=alternative, alpha=alpha)
    intervals = zip(family.intervals, family.joint_intervals, effect_intervals(differences), strict=True)
    samples = present_columns(differences)
    return tuple(
        _comparison(pairs[k], samples[k], k, paired_test(test), family, *each) for k, each in enumerate(intervals)
    )


def smallest_sample(comparisons: Sequence[Comparison]) -> int:
    """Return the instances of the comparison that has the fewest, of those that can be tested at all."""
    return min(each.instances for each in comparisons if each.instances >= FEWEST)


def p_values(differences: Floats, *, test: Test, alternative: Alternative = "two-sided") -> Floats:
    """Return the p-value of each column, unadjusted."""
    method = paired_test(test)
    return np.array([sample_p_value(method, sample, alternative) for sample in present_columns(differences)])


def equivalence(
    differences: Floats, *, margin: float, test: Test = "t", alpha: float = 0.05
) -> tuple[Equivalence, ...]:
    """Test for every column whether it certainly lies within ±margin (two one-sided tests), as a family of its own.

    >>> equivalence(np.array([[0.1], [-0.2], [0.15], [0.0], [-0.05]]), margin=1.0)[0].established
    True
    """
    p, verdict = _equivalence(differences, margin, paired_test(test), alpha)
    return established(p, verdict, margin)


def established(p: Floats, verdict: StepDown, margin: float) -> tuple[Equivalence, ...]:
    """Return what is established, from the p-value of each column by itself and what the family says."""
    return tuple(
        Equivalence(
            margin=margin,
            p_value=float(p[k]),
            p_holm=float(verdict.adjusted[k]),
            alpha=float(verdict.levels[k]),
            rank=int(verdict.ranks[k]),
            established=bool(verdict.rejected[k]),
        )
        for k in range(len(p))
    )


def _equivalence(differences: Floats, margin: float, method: PairedTest, alpha: float) -> tuple[Floats, StepDown]:
    """The p-value of each column by itself, and what the family establishes."""
    if method.equivalence is not None:
        return method.equivalence(differences, margin, alpha)
    below = p_values(differences + margin, test=method.name, alternative="greater")
    above = p_values(differences - margin, test=method.name, alternative="less")
    p = np.maximum(below, above)
    return p, step_down(p, alpha)


def _comparison(
    pair: Pair,
    sample: Floats,
    k: int,
    method: PairedTest,
    family: FamilyVerdict,
    bounds: Bounds,
    joint: Bounds,
    effect_interval: Interval,
) -> Comparison:
    steps = family.steps
    return Comparison(
        *pair,
        estimate=sample_estimate(method, sample),
        estimate_of=method.estimate_of,
        interval=(bounds.lower, bounds.upper),
        level=bounds.level,
        joint_interval=(joint.lower, joint.upper),
        p_value=float(family.p_values[k]),
        p_holm=float(steps.adjusted[k]),
        alpha=float(steps.levels[k]),
        rank=int(steps.ranks[k]),
        rejected=bool(steps.rejected[k]),
        effect_size=effect_size(sample),
        effect_interval=effect_interval,
        instances=len(sample),
    )
