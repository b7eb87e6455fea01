"""Bootstrap-t and sign flips as rows of the table: they say what the mathematics says, and agree with themselves."""

import math

import numpy as np
import pytest

from ampler.analysis.compare import compare, equivalence
from ampler.stats import resampling
from ampler.stats.paired import family_verdict, paired_test

ROWS = {
    "bootstrap-t": (resampling.bootstrap_t, resampling.bootstrap_t_equivalence),
    "sign-flip": (resampling.sign_flip, resampling.sign_flip_equivalence),
}
SKEWED = np.random.default_rng(7).exponential(1.0, (25, 4)) - [1.0, 0.2, 0.6, 1.5]
PAIRS = [("a", "b"), ("a", "c"), ("a", "d"), ("a", "e")]


def judged(test, differences=SKEWED, alternative="two-sided", alpha=0.05):
    return family_verdict(differences, test=test, alternative=alternative, alpha=alpha)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("test", ROWS)
def test_the_family_says_what_resampling_says(test, alternative):
    found, expected = judged(test, alternative=alternative), ROWS[test][0](SKEWED, alternative=alternative)
    assert found.p_values.tolist() == expected.steps.p_values.tolist()
    assert found.steps.adjusted.tolist() == expected.steps.adjusted.tolist()
    assert found.steps.ranks.tolist() == expected.steps.ranks.tolist()
    assert [bounds[:2] for bounds in found.intervals] == [tuple(row) for row in expected.intervals.tolist()]
    assert [bounds[:2] for bounds in found.joint_intervals] == [tuple(row) for row in expected.joint_intervals.tolist()]


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("test", ROWS)
@pytest.mark.parametrize("families", [10, pytest.param(30, marks=pytest.mark.slow)])
def test_intervals_at_the_level_of_the_step_agree_with_the_decisions(test, alternative, families):
    for seed in range(families):
        data = np.random.default_rng(seed).exponential(1.0, (15, 4)) - np.linspace(0.3, 1.7, 4)
        found = judged(test, data, alternative)
        holds = [bounds.lower <= 0 <= bounds.upper for bounds in found.intervals]
        assert [not each for each in holds] == found.steps.rejected.tolist()


@pytest.mark.parametrize("test", ROWS)
@pytest.mark.parametrize("families", [10, pytest.param(30, marks=pytest.mark.slow)])
def test_what_a_joint_interval_excludes_is_rejected(test, families):
    for seed in range(families):
        data = np.random.default_rng(seed).normal(0.0, 1.0, (15, 4)) + np.linspace(0.0, 1.2, 4)
        found = judged(test, data)
        excluded = np.array([not bounds.lower <= 0 <= bounds.upper for bounds in found.joint_intervals])
        assert test == "sign-flip" or found.steps.rejected[excluded].all()
        assert all(
            joint.lower <= own.lower and own.upper <= joint.upper
            for own, joint in zip(found.intervals, found.joint_intervals, strict=True)
            if test == "bootstrap-t"
        )


@pytest.mark.parametrize("test", ROWS)
def test_the_joint_interval_of_a_single_comparison_agrees_with_its_decision(test):
    for seed in range(30):
        found = judged(test, np.random.default_rng(seed).normal(0.6, 1.0, (12, 1)))
        (joint,) = found.joint_intervals
        assert found.steps.rejected.tolist() == [not joint.lower <= 0 <= joint.upper]


@pytest.mark.parametrize("test", ROWS)
def test_asked_twice_it_says_the_same_whatever_the_order_of_the_instances(test):
    there, again = (compare(data, PAIRS, test=test) for data in (SKEWED, SKEWED[::-1]))
    assert [each.p_holm for each in there] == [each.p_holm for each in again]
    assert [each.joint_interval for each in there] == [pytest.approx(each.joint_interval, rel=1e-9) for each in again]
    assert there == compare(SKEWED, PAIRS, test=test)


@pytest.mark.parametrize("test", ROWS)
def test_levels_are_shares_of_alpha_that_grow_with_the_rank(test):
    steps = judged(test).steps
    ordered = steps.levels[np.argsort(steps.ranks)]
    assert np.all(ordered > 0)
    assert np.all(ordered <= 0.05 + 1e-12)
    assert [each.alpha for each in compare(SKEWED, PAIRS, test=test)] == steps.levels.tolist()


@pytest.mark.parametrize("test", ROWS)
def test_equivalence_is_a_family_judged_by_resampling_too(test):
    close = np.random.default_rng(9).normal([0.0, 0.1, 0.9], 0.5, (30, 3))
    found, steps = equivalence(close, margin=0.6, test=test), ROWS[test][1](close, margin=0.6)
    assert [each.established for each in found] == steps.rejected.tolist() == [True, True, False]
    assert [each.p_holm for each in found] == steps.adjusted.tolist()
    assert [each.p_value for each in found] == steps.p_values.tolist()


@pytest.mark.parametrize("test", ROWS)
def test_many_families_are_judged_one_by_one(test):
    data = np.random.default_rng(3).normal(0.4, 1.0, (5, 3, 20))  # families, comparisons, instances
    found = paired_test(test).families(data, "two-sided")
    alone = [ROWS[test][0](each.T, resamples=499, seed=place).steps.adjusted for place, each in enumerate(data)]
    assert found.p_values.tolist() == np.array(alone).tolist()
    assert found.upward.tolist() == (data.mean(axis=-1) > 0).tolist()


def test_a_shared_reference_is_not_paid_for_as_holm_does():
    rng = np.random.default_rng(12)
    shared = rng.normal(0.45, 1.0, (40, 1)) + rng.normal(0.0, 0.1, (40, 12))
    holm, together = (
        family_verdict(shared, test=test, alternative="two-sided", alpha=0.05) for test in ("t", "sign-flip")
    )
    assert together.steps.adjusted.max() < holm.steps.adjusted.min() / 3


def test_columns_that_hardly_vary_are_not_judged_and_stand_in_nobodys_way():
    rare = np.zeros(30)
    rare[3] = 1.0
    data = np.column_stack([np.random.default_rng(2).normal(1.0, 1.0, 30), rare])
    known, unknown = compare(data, [("a", "b"), ("a", "c")], test="bootstrap-t")
    assert known.rejected
    assert (unknown.rejected, unknown.p_value) == (False, 1.0)
    assert unknown.interval == unknown.joint_interval == (-math.inf, math.inf)
