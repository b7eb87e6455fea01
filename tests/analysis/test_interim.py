"""The looks of a study replayed: the worked examples, whatever runs there are after a comparison stopped."""

import math

import numpy as np
import pytest
from interim_studies import EXAMPLES, course_of, replay_of, small_analysis

from ampler.analysis.interim import interim_limits
from ampler.stats.sequential.decisions import Standing

STEPS = [(name, step["look"]) for name, example in EXAMPLES.items() for step in example["steps"]]


@pytest.mark.parametrize(("name", "look"), STEPS)
def test_worked_examples_end_as_the_reference_says_without_what_comes_after_a_stop(name, look):
    example = EXAMPLES[name]
    step = example["steps"][look - 1]
    replay = replay_of(example, look)
    assert list(replay.history[-1]) == step["verdicts"]
    assert [list(each) for each in replay.history[:-1]] == [each["verdicts"] for each in example["steps"][: look - 1]]
    for k, (standing, row) in enumerate(zip(replay.standings, step["comparisons"], strict=True)):
        used = replay.differences[:, k]
        assert standing.instances == row["instances"] == (~np.isnan(used)).sum()
        assert standing.p_sequential == pytest.approx(row["p_sequential"], rel=1e-3, abs=1e-12)
        assert np.nanmean(used) == pytest.approx(row["mean"], rel=1e-6)


def test_a_comparison_that_left_keeps_its_boundaries_at_the_end():
    """Its instances end where it stopped; to take that for the last look would let it spend the whole level there."""
    name = next(name for name, _ in STEPS if len(EXAMPLES[name]["pairs"]) == 21)
    replays = [replay_of(EXAMPLES[name], look) for look in (1, 4)]
    first, last = (replay.standings for replay in replays)
    stopped = [k for k, each in enumerate(first) if each.verdict != "continue"]
    assert stopped
    assert all((first[k].verdict, first[k].look) == (last[k].verdict, last[k].look) for k in stopped)
    assert all(first[k].p_sequential == pytest.approx(last[k].p_sequential, rel=1e-9) for k in stopped)


def test_statistics_and_skewness_are_told_up_to_the_look_of_the_stop():
    looked = small_analysis().looks
    for k, standing in enumerate(looked.standings):
        path = [row[k] for row in looked.statistics]
        assert [math.isnan(each) for each in path] == [look > standing.look for look in (1, 2, 3)]
        assert [math.isnan(row[k]) for row in looked.skewness] == [math.isnan(each) for each in path]
    assert isinstance(looked.standing(("a", "c")), Standing)
    assert looked.number("different") + looked.number("no relevant difference") + looked.number("undecided") == 3


def test_a_difference_crosses_its_limit_where_it_is_called_different():
    looked = small_analysis().looks
    look = looked.standing(("a", "c")).look
    place = looked.pairs.index(("a", "c"))
    assert looked.standings[place].verdict == "different"
    assert abs(looked.statistics[look - 1][place]) >= looked.limits[look - 1].mildest


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_other_tests_are_told_by_normal_scores_of_their_p_values(test):
    looked = small_analysis(test=test).looks
    assert looked.limits[-1].strictest > looked.limits[-1].mildest > 1.9
    assert all(math.isnan(each.equivalent) for each in looked.limits)
    assert looked.statistics[0][looked.pairs.index(("a", "c"))] < -2


def test_limits_fall_with_the_looks_and_with_the_level():
    limits = interim_limits(course_of((24, 35, 47, 58)), 21)
    assert [round(each.mildest, 3) for each in limits] == [3.773, 2.85, 2.358, 2.089]
    assert all(each.strictest > each.mildest for each in limits)
    assert limits[0].strictest > limits[-1].strictest
    assert limits[-1].equivalent > 0
    assert all(math.isnan(each.equivalent) for each in interim_limits(course_of((24, 58), effect=None), 21))


def test_one_that_fails_to_vary_is_not_decided_and_one_that_is_always_zero_is_equal():
    from ampler.analysis.interim import Replay

    tables = tuple(np.column_stack([np.full(n, 2.0), np.zeros(n)]) for n in (12, 20))
    replay = Replay(course_of((12, 20)), (("a", "b"), ("a", "c")), tables)
    assert [each.verdict for each in replay.standings] == ["undecided", "no relevant difference"]
