"""The algorithms side by side, and a word where their numbers point different ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse

from ampler import Settings, analyse
from ampler.analysis.standings import AGREE, Wins, disagreements, few_that_decide, side_by_side


@pytest.fixture(scope="module")
def paper(public_data):
    return analyse(
        public_data / "paper_experiment1_runs.csv",
        reference="Full",
        difference="percent",
        better="lower",
        settings=Settings(se=0.05),
    )


def asked(columns, **options):
    frame = pd.DataFrame({"instance": [f"i{k}" for k in range(len(next(iter(columns.values()))))], **columns})
    return flat_analyse(frame, **{"difference": "simple", "better": "lower", **options})


def test_mean_and_sd_are_those_of_the_values_over_the_instances(study_of):
    analysis = study_of(["one", "two", "three"])
    rows = {row.algorithm: row for row in side_by_side(analysis)}

    assert rows["two"].mean == pytest.approx(np.mean(analysis.statistics[:, 1]))
    assert rows["two"].sd == pytest.approx(np.std(analysis.statistics[:, 1], ddof=1))


def test_wins_are_counted_from_the_side_of_each(study_of):
    analysis = study_of(["one", "two"])
    one, two = sorted(side_by_side(analysis), key=lambda row: row.algorithm)

    assert one.wins == two.wins.turned
    assert one.wins.instances == 12


def test_decided_comparisons_are_counted_for_winner_and_loser(paper):
    rows = {row.algorithm: row for row in side_by_side(paper)}

    assert (rows["Full"].beats, rows["Full"].loses) == (12, 0)
    assert sum(row.loses for row in rows.values()) == 12
    assert rows["no-TSK"].comparison is not None
    assert rows["Full"].comparison is None


def test_the_best_mean_rank_that_the_comparisons_do_not_confirm_is_explained(paper):
    (said,) = disagreements(paper)

    assert said.startswith(
        "no-SWP has the best mean rank (6.36; Full 6.99), but it is not significantly different from Full"
    )


def test_few_instances_that_decide_the_mean_are_named():
    ours = [10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7, 10.8, 10.9, 11.0, 11.1, 11.2]
    other = [value - 0.1 for value in ours[:-1]] + [21.2]
    analysis = asked({"ours": ours, "other": other}, reference="ours")

    assert few_that_decide(analysis, ("ours", "other")) == ("i11",)
    assert any(
        "other is ahead on 11 of 12 instances, but ours is better on average" in said
        and "without i11 it would favour the other" in said
        for said in disagreements(analysis)
    )
    assert side_by_side(analysis)[0].wins == Wins(11, 0, 1)


def test_where_all_point_the_same_way_that_is_said():
    ours = [1.05, 2.1, 3.2, 4.3, 5.4, 6.5]
    analysis = asked({"ours": ours, "other": [value + 1 + value / 50 for value in ours]}, reference="ours")

    assert disagreements(analysis) == (AGREE,)


def test_missing_cells_are_left_out_of_means_and_wins(study_of):
    analysis = study_of(["one", "two", "three"], lacking={(i, 2) for i in range(4, 12)})
    row = next(row for row in side_by_side(analysis) if row.algorithm == "three")

    assert row.mean == pytest.approx(np.nanmean(analysis.statistics[:, 2]))
    assert row.wins.instances == 8  # four with each of the two others
