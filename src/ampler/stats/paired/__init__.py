"""One paired test on the differences of one pair over the instances: t, Wilcoxon signed-rank, sign. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ampler.core.arrays import Floats
from ampler.core.values import Alternative, Test
from ampler.stats.location import is_constant, location
from ampler.stats.paired import sign, student, wilcoxon
from ampler.stats.paired.bounds import Bounds
from ampler.stats.paired.student import t_statistic

__all__ = ["Bounds", "PairedTest", "is_constant", "location", "paired_test", "t_statistic"]


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired test as questions to the differences."""

    estimate_of: str
    p_value: Callable[[Floats, Alternative], float]
    estimate: Callable[[Floats], float]
    interval: Callable[[Floats, Alternative, float], Bounds]  # the last argument is alpha
    leaning: Callable[[Floats], float]  # positive where the differences speak for "greater"; quicker than the estimate


def paired_test(test: Test) -> PairedTest:
    """Return the test of this name.

    >>> wilcoxon = paired_test("wilcoxon")
    >>> wilcoxon.p_value(np.array([1.1, -0.4, 2.0, 3.2, 0.7]), "two-sided")
    0.125
    """
    return _TESTS[test]


_TESTS: dict[Test, PairedTest] = {
    "t": PairedTest("mean", student.p_value, student.estimate, student.interval, student.estimate),
    "wilcoxon": PairedTest("pseudomedian", wilcoxon.p_value, wilcoxon.estimate, wilcoxon.interval, wilcoxon.leaning),
    "sign": PairedTest("P(φ>0)", sign.p_value, sign.estimate, sign.interval, sign.leaning),
}
