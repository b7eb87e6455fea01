from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ampler
from ampler.report.figures import draw_ranks, ranks_data
from ampler.report.figures.ranks import groups_within


def test_the_published_example_of_demsar_has_its_ranks_and_distance(public_data):
    table = pd.read_csv(public_data / "demsar2006_table6.csv", index_col=0)
    table.loc["voting", "C4.5+cf"] = 0.9754  # printed as 0.975, a tie that the paper's ranks do not have
    analysis = ampler.analyse(table.reset_index(), difference="simple", better="higher")

    data = ranks_data(analysis)

    assert data.mean_ranks == pytest.approx((1.964, 2.0, 2.893, 3.143), abs=5e-4)
    assert data.critical_difference == pytest.approx(1.25, abs=0.005)


@given(st.lists(st.floats(1, 20), min_size=2, max_size=15), st.floats(0.1, 10))
def test_groups_are_exactly_the_maximal_sets_within_the_distance(ranks, distance):
    ranks = tuple(sorted(ranks))
    within = {
        (first, last)
        for first, last in itertools.combinations(range(len(ranks)), 2)
        if ranks[last] - ranks[first] <= distance
    }
    maximal = {
        (first, last)
        for first, last in within
        if not any(a <= first and last <= b and (a, b) != (first, last) for a, b in within)
    }

    assert set(groups_within(ranks, distance)) == maximal


def test_the_drawing_names_every_algorithm_with_its_rank(study_of):
    data = ranks_data(study_of([f"a{k}" for k in range(7)]))

    texts = [text.get_text() for text in draw_ranks(data, digits=1).texts]

    for name, rank in zip(data.algorithms, data.mean_ranks, strict=True):
        assert f"{name}  {rank:.1f}" in texts or f"{rank:.1f}  {name}" in texts


def test_bars_that_overlap_are_drawn_at_different_heights(study_of):
    data = ranks_data(study_of([f"a{k}" for k in range(20)]))
    assert len(data.groups) > 2

    bars = [line for line in draw_ranks(data).lines if line.get_linewidth() > 2]

    for one, other in itertools.combinations(bars, 2):
        apart = one.get_xdata()[1] < other.get_xdata()[0] or other.get_xdata()[1] < one.get_xdata()[0]
        assert apart or one.get_ydata()[0] != other.get_ydata()[0]


@pytest.mark.parametrize("size", [2, 3, 60])
def test_names_do_not_touch_each_other(study_of, size):
    ax = draw_ranks(ranks_data(study_of([f"algorithm {k}" for k in range(size)], runs=2)))
    ax.figure.draw_without_rendering()

    boxes = [text.get_window_extent() for text in ax.texts if "algorithm" in text.get_text()]
    assert len(boxes) == size
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
