from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ampler
from ampler import plots
from ampler.core.errors import InvalidInput
from ampler.core.text import named
from ampler.plots import draw_ranks, ranks_data
from ampler.report.figures.ranks import Ranks, groups_within
from ampler.stats.groups import cliques
from ampler.stats.omnibus import reference_difference


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

    bars = [line for line in draw_ranks(data).lines if line.get_linewidth() > 2 and line.get_linestyle() == "-"]

    for one, other in itertools.combinations(bars, 2):
        apart = one.get_xdata()[1] < other.get_xdata()[0] or other.get_xdata()[1] < one.get_xdata()[0]
        assert apart or one.get_ydata()[0] != other.get_ydata()[0]


@pytest.mark.parametrize("size", [2, 3, 60])
def test_names_do_not_touch_each_other(study_of, size):
    names = [f"algorithm {k}" for k in range(size)]
    ax = draw_ranks(ranks_data(study_of(names, reference=names[0], runs=2)))  # all are ranked, whoever is compared
    ax.figure.draw_without_rendering()

    boxes = [
        text.get_window_extent() for text in ax.texts if "algorithm" in text.get_text() and "  " in text.get_text()
    ]
    assert len(boxes) == size
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


@pytest.fixture(scope="module")
def six(study_of):
    return study_of([f"a{k}" for k in range(6)], instances=20)


def test_bonferroni_and_dunns_distance_is_that_of_demsar():
    assert [round(reference_difference(k, 1) / math.sqrt(k * (k + 1) / 6), 3) for k in range(2, 11)] == [
        *(1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.734, 2.773)  # Table 5(b), α = 0.05
    ]


def test_around_a_reference_the_bar_covers_those_within_the_distance(six):
    data = ranks_data(six, groups="bonferroni-dunn", reference="a2")
    centre = data.mean_ranks[data.algorithms.index("a2")]
    near = [place for place, rank in enumerate(data.mean_ranks) if abs(rank - centre) <= data.critical_difference]

    assert data.groups == ((near[0], near[-1]),)
    assert (data.by, data.algorithms[data.reference]) == ("Bonferroni–Dunn", "a2")
    assert data.critical_difference < ranks_data(six).critical_difference
    assert f"{len(near) - 1} of 5 others do not differ significantly from a2" in data.finding


def test_the_reference_of_the_analysis_is_taken_if_none_is_named(study_of):
    data = ranks_data(study_of(["full", "one", "two"], reference="one"), groups="bonferroni-dunn")

    assert data.algorithms[data.reference] == "one"


def test_a_reference_must_be_named_and_there(six):
    with pytest.raises(InvalidInput, match="needs a reference"):
        ranks_data(six, groups="bonferroni-dunn")
    with pytest.raises(InvalidInput, match=r"reference must be one of the algorithms, such as 'a\d', got 'b'"):
        ranks_data(six, groups="bonferroni-dunn", reference="b")
    with pytest.raises(InvalidInput, match="highlight must be one of the algorithms"):
        ranks_data(six, highlight="b")


def test_decisions_make_groups_in_which_no_pair_was_told_apart(six):
    data = ranks_data(six, groups="decisions")
    place = {name: at for at, name in enumerate(data.algorithms)}
    kept = {frozenset((place[each.first], place[each.second])) for each in six.comparisons if not each.rejected}
    slow = [
        group
        for size in range(2, 7)
        for group in itertools.combinations(range(6), size)
        if all(frozenset(pair) in kept for pair in itertools.combinations(group, 2))
    ]
    maximal = {group for group in slow if not any(set(group) < set(other) for other in slow)}

    assert set(data.members) == maximal
    assert data.groups == tuple((group[0], group[-1]) for group in data.members)
    assert math.isnan(data.critical_difference)
    assert data.by == "Holm"


@given(st.integers(2, 7), st.data())
def test_cliques_are_exactly_the_maximal_groups(size, data):
    pairs = [frozenset(pair) for pair in itertools.combinations(range(size), 2)]
    alike = set(data.draw(st.lists(st.sampled_from(pairs))))
    groups = [
        set(group)
        for number in range(2, size + 1)
        for group in itertools.combinations(range(size), number)
        if all(frozenset(pair) in alike for pair in itertools.combinations(group, 2))
    ]

    assert sorted(cliques(size, alike)) == sorted(
        tuple(sorted(group)) for group in groups if not any(group < other for other in groups)
    )


def test_decisions_against_a_reference_make_one_group_around_it(study_of):
    analysis = study_of([f"a{k}" for k in range(5)], reference="a1", instances=20)
    data = ranks_data(analysis, groups="decisions")
    kept = {each.second for each in analysis.comparisons if not each.rejected}

    assert {data.algorithms[place] for group in data.members for place in group} == kept | {"a1"}


def test_too_many_groups_are_refused(study_of, monkeypatch):
    monkeypatch.setattr("ampler.report.figures.ranks.MOST_GROUPS", 1)

    with pytest.raises(InvalidInput, match="more than 1 groups; draw Nemenyi's groups"):
        ranks_data(study_of([f"a{k}" for k in range(20)]), groups="decisions")


def test_a_bar_that_passes_others_marks_its_members():
    data = Ranks(("a", "b", "c"), (1.0, 2.0, 3.0), math.nan, ((0, 2),), 0.05, 9, "Holm", ((0, 2),))

    marks = [line for line in draw_ranks(data).lines if line.get_markersize() == 5]

    assert [len(line.get_xdata()) for line in marks] == [2]


def test_the_highlighted_algorithm_is_bold(six):
    ax = draw_ranks(ranks_data(six, highlight="a3"))

    assert ["a3" in text.get_text() for text in ax.texts if text.get_fontweight() == "bold"][:1] == [True]


def test_all_names_stand_at_one_side_when_asked_for(six):
    ax = draw_ranks(ranks_data(six), one_sided=True)
    names = [text for text in ax.texts if text.get_text().startswith("a") and "  " in text.get_text()]

    assert len({text.get_position()[0] for text in names}) == 1
    assert [text.get_text()[:2] for text in sorted(names, key=lambda text: text.get_position()[1])] == list(
        ranks_data(six).algorithms
    )


def test_the_title_says_who_ranks_best_and_who_is_near(six):
    data = ranks_data(six)
    near = [rank - data.mean_ranks[0] <= data.critical_difference for rank in data.mean_ranks]
    first = [name for name, is_near in zip(data.algorithms, near, strict=True) if is_near]

    assert data.finding == f"{named(first)} share the best rank"


def test_the_ranks_of_a_table_are_those_of_its_analysis():
    rng = np.random.default_rng(6)
    table = pd.DataFrame(rng.normal(0, 1, (20, 5)).round(1) + np.arange(5), columns=list("abcde"))
    table.insert(0, "dataset", [f"d{k}" for k in range(20)])
    analysis = ampler.analyse(table, difference="simple", better="higher")

    assert plots.table_ranks(table, better="higher") == plots.ranks_data(analysis)
    around = plots.table_ranks(table, better="higher", reference="c", highlight="c")
    assert around == plots.ranks_data(analysis, groups="bonferroni-dunn", reference="c", highlight="c")


def test_a_table_without_two_columns_of_numbers_or_rows_is_refused():
    with pytest.raises(InvalidInput, match="two columns of numbers and two complete rows"):
        plots.table_ranks({"a": [1.0, 2.0], "b": ["x", "y"]}, better="lower")
    with pytest.raises(InvalidInput, match="1 complete rows"):
        plots.table_ranks({"a": [1.0, 2.0], "b": [1.0, float("nan")]}, better="lower")
