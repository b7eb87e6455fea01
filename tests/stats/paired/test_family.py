"""A family of comparisons: held together by Holm, or by what the test itself brings."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from ampler.analysis.compare import compare
from ampler.analysis.exploration import decisions
from ampler.stats import paired
from ampler.stats.holm import StepDown, step_down
from ampler.stats.paired import TESTS, Bounds, family_verdict, paired_test

DIFFERENCES = np.random.default_rng(4).normal([0.9, 0.1, -0.6], 1.0, (14, 3))


def family(test="t", alternative="two-sided", alpha=0.05, differences=DIFFERENCES):
    return family_verdict(differences, test=test, alternative=alternative, alpha=alpha)


@pytest.mark.parametrize("test", [name for name, row in TESTS.items() if row.family is None])
def test_without_a_procedure_of_its_own_a_test_is_held_together_by_holm(test):
    row, found = paired_test(test), family(test)
    p = [row.p_value(column, "two-sided") for column in DIFFERENCES.T]
    assert found.p_values.tolist() == p
    assert found.steps.adjusted.tolist() == step_down(p, 0.05).adjusted.tolist()
    for column, level, bounds, joint in zip(
        DIFFERENCES.T, found.steps.levels, found.intervals, found.joint_intervals, strict=True
    ):
        assert bounds == row.interval(column, "two-sided", level)
        assert joint == row.interval(column, "two-sided", 0.05 / 3)


@pytest.mark.parametrize("test", TESTS)
def test_the_order_of_the_comparisons_does_not_matter(test):
    there, back = family(test), family(test, differences=DIFFERENCES[:, ::-1])
    assert there.p_values.tolist() == back.p_values[::-1].tolist()
    assert there.steps.adjusted.tolist() == back.steps.adjusted[::-1].tolist()
    assert there.joint_intervals == back.joint_intervals[::-1]


def test_a_joint_level_that_cannot_be_reached_gives_the_whole_line():
    few = DIFFERENCES[:5]  # five differences: at best 1 − 2·2⁻⁵
    assert family("wilcoxon", differences=few).joint_intervals == (Bounds(-np.inf, np.inf, 1.0),) * 3
    assert all(np.isfinite(bounds.lower) for bounds in family("wilcoxon", differences=few).intervals)


@dataclass(frozen=True)
class Largest:
    """Rejects the comparison with the largest mean and no other."""

    differences: np.ndarray
    alternative: str
    alpha: float

    @property
    def p_values(self):
        return np.full(self.differences.shape[1], 0.5)

    @property
    def steps(self):
        size = self.differences.shape[1]
        rejected = np.arange(size) == self.differences.mean(axis=0).argmax()
        return StepDown(np.arange(1, size + 1), np.full(size, self.alpha), np.where(rejected, 0.01, 1.0), rejected)

    @property
    def intervals(self):
        return (Bounds(-1.0, 1.0, 0.95),) * self.differences.shape[1]

    @property
    def joint_intervals(self):
        return (Bounds(-2.0, 2.0, 0.95),) * self.differences.shape[1]


def test_a_test_with_a_procedure_of_its_own_is_asked_for_the_whole_family(monkeypatch):
    monkeypatch.setattr(paired, "TESTS", {**TESTS, "t": replace(paired_test("t"), family=Largest)})

    results = compare(DIFFERENCES, [("a", "b"), ("a", "c"), ("a", "d")], test="t", alpha=0.1)

    assert [result.rejected for result in results] == [True, False, False]
    assert [result.p_holm for result in results] == [0.01, 1.0, 1.0]
    assert {result.p_value for result in results} == {0.5}
    assert {result.interval for result in results} == {(-1.0, 1.0)}
    assert {result.joint_interval for result in results} == {(-2.0, 2.0)}
    assert [result.estimate for result in results] == pytest.approx(DIFFERENCES.mean(axis=0).tolist())
    assert decisions(DIFFERENCES, test="t", alternative="two-sided", alpha=0.1).tolist() == [1, 0, 0]
