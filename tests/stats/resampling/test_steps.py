"""Stepping down: the same as testing every intersection, and bars that agree with the p-values."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.resampling.steps import (
    Side,
    both_sides,
    either_side,
    one_side,
    p_values_alone,
    resampled_step_down,
    single_step_bars,
    usable,
)


def side(seed: int, comparisons: int = 4, resamples: int = 39) -> Side:
    rng = np.random.default_rng(seed)
    observed = rng.normal(size=comparisons) + rng.choice([0.0, 2.0], comparisons)
    return Side(observed, rng.normal(size=(resamples, comparisons)), np.ones(comparisons, dtype=bool))


@given(st.integers(0, 10**6))
def test_an_adjusted_p_value_is_the_largest_over_all_families_that_hold_the_comparison(seed):
    one = side(seed)
    found = resampled_step_down([one], one_side, alpha=0.05, tail=0.05).adjusted

    everyone = range(len(one.observed))
    for k in everyone:
        families = [set(others) | {k} for size in everyone for others in combinations(set(everyone) - {k}, size)]
        slow = max(_p_of_largest(one, sorted(family)) for family in families)
        assert found[k] == pytest.approx(slow)


def _p_of_largest(one: Side, family: list[int]) -> float:
    """The p-value of the largest statistic of a family: Romano & Wolf's closure."""
    reached = one.resampled[:, family].max(axis=1) >= one.observed[family].max()
    return (1 + reached.sum()) / (1 + len(reached))


@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.1, 0.25]))
def test_who_is_above_its_bar_is_rejected_and_nobody_else(seed, alpha):
    one = side(seed)
    steps = resampled_step_down([one], one_side, alpha=alpha, tail=alpha)

    assert (steps.rejected == (one.observed > steps.bars[0])).all()
    assert (steps.rejected == (steps.adjusted <= alpha)).all()
    assert sorted(steps.ranks.tolist()) == [1, 2, 3, 4]


@given(st.integers(0, 10**6))
def test_no_bar_of_a_step_is_above_the_one_for_all_at_once(seed):
    one = side(seed)
    steps = resampled_step_down([one], one_side, alpha=0.1, tail=0.1)

    assert (steps.bars[0] <= single_step_bars([one], 0.1)[0]).all()
    assert (steps.adjusted >= p_values_alone(one) - 1e-12).all()


def test_two_sides_are_combined_by_half_the_level_or_by_the_larger():
    p = np.array([[0.01, 0.6], [0.4, 0.7]])

    assert either_side(p).tolist() == [0.02, 1.0]
    assert both_sides(p).tolist() == [0.4, 0.7]
    assert one_side(p).tolist() == [0.01, 0.6]


def test_comparisons_without_spread_in_many_resamples_are_left_out_and_no_others():
    endless = np.zeros((1000, 3), dtype=bool)
    endless[:300, 1] = True
    endless[:4, 2] = True

    assert usable(endless).tolist() == [True, False, True]


def test_what_is_not_usable_is_never_rejected_and_raises_no_bar():
    wild = np.array([[9.0, 0.1], [9.0, 0.2], [9.0, 0.3]])
    one = Side(np.array([99.0, 1.0]), wild, np.array([False, True]))
    steps = resampled_step_down([one], one_side, alpha=0.25, tail=0.25)

    assert steps.rejected.tolist() == [False, True]
    assert steps.bars[0][0] == np.inf
