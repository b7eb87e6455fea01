from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ampler import analyse
from ampler.report.drawings import drawings, figures_of, hardest_pair, telling_pairs


def test_the_pairs_shown_in_detail_are_those_that_tell_most(paper):
    pairs = telling_pairs(paper)

    assert {other for _, other, _ in pairs} == {"Full"}
    assert [(first, why) for first, _, why in pairs] == [
        ("no-SWP.no-TSK", "the smallest p-value"),
        ("no-DSW.no-SWT", "the last rejected"),
        ("no-SHF.no-DSW", "the first not rejected"),
        ("no-TSK", "the most skewed differences"),
    ]


def test_pairs_without_two_instances_are_not_shown_in_detail(gappy):
    drawn = list(figures_of(gappy))

    assert all("four" not in pair for pair in telling_pairs(gappy))
    assert {"intervals", "accuracy", "power", "runs", "subgroups-1", "pair-1"} <= {drawing.name for drawing in drawn}
    assert "ranks" not in {drawing.name for drawing in drawn}
    assert "4 instances, the fewest of a comparison," in next(d.caption for d in drawn if d.name == "power")


def test_figures_are_drawn_one_at_a_time_and_only_when_asked_for(nasty, monkeypatch):
    drawn = []
    monkeypatch.setattr("matplotlib.figure.Figure.__init__", lambda *_, **__: drawn.append(1))
    names = [drawing.name for drawing in drawings(nasty)]

    assert len(set(names)) == len(names)
    assert "subgroups-1" in names
    assert drawn == []


def test_a_margin_adds_the_figures_of_what_is_probable(study_of):
    judged = study_of(["one", "two", "three"], margin=0.5)

    names = {drawing.name: drawing.section for drawing in drawings(judged)}

    assert {name for name, section in names.items() if section == "probable"} == {"probable", "best", "simplex"}
    assert not {"probable", "simplex"} & {drawing.name for drawing in drawings(study_of(["one", "two", "three"]))}


def test_the_triangle_is_drawn_of_the_pair_that_is_hardest_to_decide(study_of):
    bayes = study_of(["one", "two", "three", "four", "five"], margin=0.5).bayes

    chosen = hardest_pair(bayes)

    undecided = [each for each in bayes.comparisons if each.verdict == "inconclusive"]
    assert chosen in undecided
    certain = [max(each.chances.worse, each.chances.equivalent, each.chances.better) for each in undecided]
    assert max(chosen.chances.worse, chosen.chances.equivalent, chosen.chances.better) == max(certain)
    assert hardest_pair(study_of(["one", "two"], instances=2, margin=0.5).bayes) is None


@pytest.mark.parametrize("statistic", [np.ptp, np.median], ids=lambda function: function.__name__)
def test_a_report_of_a_function_as_statistic_draws_everything_but_the_errors_of_first_runs(statistic):
    rng = np.random.default_rng(6)
    runs = pd.DataFrame(
        [(i, name, rng.normal(20, 1)) for i in "wxyz" for name in "ab" for _ in range(8)],
        columns=["instance", "algorithm", "value"],
    )

    analysis = analyse(runs, difference="simple", better="lower", statistic=statistic)
    drawn = {drawing.name: drawing.draw() for drawing in figures_of(analysis)}

    assert "intervals" in drawn
    assert "convergence" not in drawn
