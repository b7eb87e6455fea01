"""The tests of a study with looks: repeated intervals, adjusted p-values, and decisions that agree with them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interim_studies import EXAMPLES, course_of, replay_of, small_analysis

from ampler.analysis import analyse_runs
from ampler.analysis.interim import Replay, interim_family
from ampler.core.arrays import Runs
from ampler.core.settings import Settings


@pytest.mark.parametrize("name", EXAMPLES)
def test_intervals_and_p_values_are_those_of_the_reference(name):
    example = EXAMPLES[name]
    step = example["steps"][-1]
    family = interim_family(replay_of(example, step["look"]))
    for k, (bounds, row) in enumerate(zip(family.intervals, step["comparisons"], strict=True)):
        half = (row["high"] - row["low"]) / 2
        assert (bounds.lower, bounds.upper) == pytest.approx((row["low"], row["high"]), rel=1e-6, abs=1e-5 * half)
        assert family.p_values[k] == pytest.approx(row["p_sequential"], rel=1e-3, abs=1e-12)
        if step["verdicts"][k] != "undecided":
            assert family.steps.adjusted[k] == pytest.approx(row["p_adjusted"], rel=1e-3, abs=1e-12)


@given(seed=st.integers(0, 100_000), done=st.integers(1, 3))
def test_what_is_rejected_agrees_with_the_verdicts_and_with_its_interval(seed, done):
    rng = np.random.default_rng(seed)
    x = rng.normal(rng.choice([0.0, 0.2, 0.5, 1.0], 6), 1.0, (28, 6))
    replay = Replay(
        course_of((12, 20, 28), done=done), tuple(("a", b) for b in "bcdefg"), tuple(x[:n] for n in (12, 20, 28)[:done])
    )
    family = interim_family(replay)
    steps = family.steps
    for k, standing in enumerate(replay.standings):
        assert steps.rejected[k] == (steps.adjusted[k] <= 0.05)
        assert steps.rejected[k] or standing.verdict != "different"
        assert not (steps.rejected[k] and standing.verdict in ("continue", "undecided"))
        joint, own = family.joint_intervals[k], family.intervals[k]
        assert joint.lower <= own.lower <= np.nanmean(replay.differences[:, k]) <= own.upper <= joint.upper
        if standing.verdict == "different" and family.p_values[k] == replay_p_at(replay, k):
            assert not own.lower <= 0 <= own.upper
    assert sorted(steps.ranks) == [1, 2, 3, 4, 5, 6]
    by_rank = steps.rejected[np.argsort(steps.ranks)]
    assert (np.diff(by_rank.astype(int)) <= 0).all()


def replay_p_at(replay, k):
    """The p-value of the look at which a comparison stopped; that of an earlier one may be smaller."""
    from ampler.stats.sequential.decisions import repeated_p_values

    look = replay.standings[k].look
    return repeated_p_values(replay.course.schedule, replay.evidence.p_values[:look, k])[-1]


def with_t(t, n, offset=0):
    """So many differences whose t statistic this is."""
    scores = np.sin(np.arange(n) + offset)
    scores = (scores - scores.mean()) / scores.std(ddof=1)
    return scores + t / np.sqrt(n)


def test_a_real_difference_may_be_too_small_to_matter():
    """One stops as small at the first look; later all others are found different, and its level is alpha then."""
    half = 120
    first = np.column_stack([with_t(3.05, half), *(with_t(3.6, half, k) for k in range(1, 5))])
    second = np.vstack([first, np.column_stack([np.full(half, np.nan), *(with_t(9.0, half, k) for k in range(5, 9))])])
    names = "bcdef"
    rows = [(f"i{i}", "a", 100.0) for i in range(2 * half)]
    rows += [
        (f"i{i}", name, 100 - x) for i, row in enumerate(second) for name, x in zip(names, row, strict=True) if x == x
    ]
    course = course_of((half, 2 * half), names=("a", *names))
    settings = Settings(difference="simple", reference="a", effect=0.5)

    analysis = analyse_runs(Runs.from_columns(*zip(*rows, strict=True)), settings, looks=course)

    assert analysis.looks.history[0] == ("no relevant difference", *["continue"] * 4)
    assert analysis.looks.history[1] == ("no relevant difference", *["different"] * 4)
    (small,) = (each for each in analysis.comparisons if each.second == "b")
    assert small.rejected
    assert small.p_holm <= 0.05
    assert small.verdict.startswith("b is better than a: −0.278 ")
    assert "equivalent within d = 0.5" in small.verdict


def test_nothing_is_known_of_a_comparison_with_too_few_instances():
    table = np.column_stack([np.random.default_rng(1).normal(2, 1, 12), np.full(12, np.nan)])
    family = interim_family(Replay(course_of((12, 20), done=1), (("a", "b"), ("a", "c")), (table,)))
    assert family.intervals[1][:2] == (-math.inf, math.inf)
    assert family.steps.rejected.tolist() == [True, False]


def test_an_analysis_takes_its_comparisons_from_the_looks():
    analysis = small_analysis()
    by_pair = {(each.first, each.second): each for each in analysis.comparisons}
    for pair, standing in zip(analysis.looks.pairs, analysis.looks.standings, strict=True):
        comparison = by_pair[pair]
        assert comparison.instances == standing.instances
        assert comparison.p_value == standing.p_sequential
        assert comparison.rejected or standing.verdict != "different"
    assert [each.rank for each in analysis.comparisons] == [1, 2, 3]
    assert {"decision", "look"} <= {*analysis.table().columns}
