"""Holm's step-down against the reference families and against its definition, one step at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.holm import corrected_levels, holm_levels, reject_families, step_down

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)
alphas = st.floats(1e-6, 0.5)


def by_definition(p, alpha):
    """Holm (1979) as told in words: smallest first, stop at the first that fails."""
    rejected = [False] * len(p)
    for step, test in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        if p[test] > alpha / (len(p) - step):
            break
        rejected[test] = True
    return rejected


@given(p_values, alphas)
def test_rejections_are_those_of_the_definition(p, alpha):
    assert step_down(p, alpha).rejected.tolist() == by_definition(p, alpha)


def test_a_p_value_equal_to_its_level_is_rejected():
    assert step_down([0.025, 0.05], alpha=0.05).rejected.tolist() == [True, True]


def test_a_gap_ends_the_rejections_though_a_later_p_value_would_pass_its_own_level():
    verdict = step_down([0.001, 0.03, 0.04], alpha=0.05)
    assert verdict.levels.tolist() == holm_levels(3, 0.05).tolist()
    assert verdict.rejected.tolist() == [True, False, False]


@given(p_values)
def test_equal_p_values_keep_the_order_in_which_they_came(p):
    ranks = step_down(p, 0.05).ranks
    assert sorted(ranks.tolist()) == list(range(1, len(p) + 1))
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            if p[i] == p[j]:
                assert ranks[i] < ranks[j]


def test_adjusted_p_values_never_fall_from_one_rank_to_the_next():
    assert step_down([0.01, 0.012, 0.9, 0.8], alpha=0.05).adjusted.tolist() == [0.04, 0.04, 1.0, 1.0]


@given(p_values, alphas)
def test_an_adjusted_p_value_tells_the_level_at_which_its_test_is_rejected(p, alpha):
    verdict = step_down(p, alpha)
    near = np.isclose(verdict.adjusted, alpha, rtol=1e-9)
    assert ((verdict.adjusted <= alpha) == verdict.rejected)[~near].all()


@given(st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5), min_size=1, max_size=8), alphas)
def test_many_families_at_once_are_rejected_as_one_by_one(p, alpha):
    rejected = reject_families(-np.array(p), -holm_levels(5, alpha))

    assert rejected.tolist() == [by_definition(family, alpha) for family in p]


def test_in_many_families_too_what_just_reaches_its_threshold_is_rejected():
    assert reject_families(np.array([[3.0, 2.0, 1.0]]), np.array([3.0, 2.0, 1.5])).tolist() == [[True, True, False]]


def test_bonferroni_has_one_level_and_holm_as_many_as_tests():
    assert corrected_levels(3, 0.06, "bonferroni").tolist() == [0.02, 0.02, 0.02]
    assert corrected_levels(3, 0.06, "holm").tolist() == holm_levels(3, 0.06).tolist()
