"""Stepping down: the same as testing every intersection, bars that agree with the p-values, and the balance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.resampling import Side, both_sides, either_side, one_side, p_values_alone, resampled_step_down, usable


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


@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.1, 0.25]), st.booleans())
def test_who_is_above_its_bar_is_rejected_and_nobody_else(seed, alpha, balanced):
    one = side(seed)
    steps = resampled_step_down([one], one_side, alpha=alpha, tail=alpha, balanced=balanced)

    assert (steps.rejected == (one.observed > steps.bars[0])).all()
    assert (steps.rejected == (steps.adjusted <= alpha)).all()
    assert sorted(steps.ranks.tolist()) == [1, 2, 3, 4]


@given(st.integers(0, 10**6), st.booleans())
def test_no_bar_of_a_step_is_above_the_one_for_all_at_once(seed, balanced):
    one = side(seed)
    steps = resampled_step_down([one], one_side, alpha=0.1, tail=0.1, balanced=balanced)

    assert (steps.bars[0] <= steps.joint_bars[0]).all()
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


def heavy_and_light(resamples: int = 4999) -> Side:
    """One comparison whose resampled statistics are ten times as large as those of five others."""
    wild = np.random.default_rng(3).normal(size=(resamples, 6))
    wild[:, 0] *= 10
    return Side(np.array([3.0, 3.0, 0.0, 0.0, 0.0, 0.0]), wild, np.ones(6, dtype=bool))


def test_balanced_statistics_are_judged_by_their_own_resamples():
    one = heavy_and_light()
    plain, balanced = (
        resampled_step_down([one], one_side, alpha=0.05, tail=0.05, balanced=choice) for choice in (False, True)
    )

    assert plain.adjusted[1] > 0.3
    assert balanced.adjusted[1] < 0.02  # six times 0.00135
    assert balanced.adjusted[0] > 0.3


def test_balanced_bars_are_exceeded_equally_often_by_chance():
    one = heavy_and_light()
    bars = resampled_step_down([one], one_side, alpha=0.05, tail=0.05, balanced=True).joint_bars[0]

    alone = (one.resampled > bars).mean(axis=0)
    assert alone == pytest.approx(np.full(6, 1 - 0.95 ** (1 / 6)), abs=0.004)
    assert (one.resampled > bars).any(axis=1).mean() == pytest.approx(0.05, abs=1e-3)


def test_balanced_p_values_are_as_small_as_those_of_a_single_comparison():
    wild = np.random.default_rng(4).normal(size=(999, 200))
    one = Side(np.full(200, 9.0), wild, np.ones(200, dtype=bool))

    steps = resampled_step_down([one], one_side, alpha=0.05, tail=0.05, balanced=True)

    assert steps.adjusted.tolist() == [0.001] * 200
    assert np.isfinite(steps.joint_bars).all()


def test_balanced_p_values_are_nearly_those_of_the_smallest_marginal_rank():
    one = side(11, comparisons=5, resamples=1999)
    ranks = (one.resampled[None] >= one.resampled[:, None]).mean(axis=1)
    smallest = np.sort(ranks.min(axis=1))
    marginal = (one.resampled >= one.observed).mean(axis=0)

    found = resampled_step_down([one], one_side, alpha=0.05, tail=0.05, balanced=True).adjusted
    first = int(np.argmin(marginal))

    assert found[first] == pytest.approx((smallest <= marginal[first]).mean(), abs=0.02)


def test_a_tail_lighter_than_most_is_not_believed_where_most_are_heavy():
    wild = np.random.default_rng(5).normal(size=(1999, 6)) * [1, 10, 10, 10, 10, 10]
    one = Side(np.array([4.0, 0, 0, 0, 0, 0]), wild, np.ones(6, dtype=bool))

    assert not resampled_step_down([one], one_side, alpha=0.05, tail=0.05, balanced=True).rejected.any()
