from __future__ import annotations

import numpy as np
import pytest

from ampler.core.errors import InvalidInput
from ampler.plots import best_data, draw_best, draw_probable, draw_simplex, probable_data, simplex_data
from ampler.stats.bayes.signed_rank import signed_rank


@pytest.fixture(scope="module")
def judged(study_of):
    return study_of(["one", "two", "three", "four", "five"], reference="one", margin=0.5, instances=20)


def test_every_row_is_a_comparison_with_its_posterior_in_holms_order(judged):
    data = probable_data(judged)

    for row, each in zip(data.rows, judged.bayes.comparisons, strict=True):
        (low, high), (new_low, new_high) = each.posterior.interval, each.posterior.new_interval
        assert (row.label, row.mean, row.interval) == (each.second, -each.posterior.mean, (-high, -low))
        assert row.new_interval == (-new_high, -new_low)
        assert row.kind == each.verdict
    assert (data.margin, data.level, data.left_out) == (0.5, 0.95, 0)


def test_only_so_many_rows_are_shown_and_the_rest_is_counted(judged):
    data = probable_data(judged, most=3)

    assert (len(data.rows), data.left_out) == (3, 1)
    assert "1 more comparisons are not shown" in draw_probable(data).get_xlabel()


def test_the_drawing_has_the_margin_and_writes_probabilities_and_verdicts(judged):
    data = probable_data(judged)

    ax = draw_probable(data)

    texts = [text.get_text() for text in ax.texts]
    assert all(row.probabilities in texts and row.verdict in texts for row in data.rows)
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx((-0.5, 0.5))
    assert ax.get_xscale() == "linear"


def test_large_differences_do_not_hide_the_others(study_of, public_data, paper):
    assert probable_data(paper).linear > 0
    assert draw_probable(probable_data(paper)).get_xscale() == "symlog"


def test_without_a_margin_there_is_no_band_and_no_verdict(study_of):
    ax = draw_probable(probable_data(study_of(["one", "two", "three"])))

    assert not ax.patches
    assert "verdict" not in [text.get_text() for text in ax.texts]


def test_a_dollar_in_a_name_is_no_mathematics(nasty):
    ax = draw_probable(probable_data(nasty))

    ax.get_figure().canvas.draw()
    assert len(ax.get_yticklabels()) == 8


def test_two_instances_are_told_in_a_sentence(study_of):
    with pytest.raises(InvalidInput, match="three or more instances"):
        probable_data(study_of(["one", "two"], instances=2, margin=0.5))


def test_an_all_zero_difference_does_not_split_the_axis(study_of):
    data = probable_data(study_of(["one", "two"], margin=0.5))

    assert data.linear is None
    assert np.isfinite([row.interval for row in data.rows]).all()


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_points_are_those_of_the_signed_rank_test_seen_from_the_second(study_of, better):
    analysis = study_of(["one", "two", "three"], margin=0.3, better=better)

    data = simplex_data(analysis, "one", "three", draws=2000)

    test = signed_rank(analysis.differences[:, analysis.pairs.index(("one", "three"))], margin=0.3, draws=2000)
    first_better = 0 if better == "lower" else 2
    assert np.array_equal(data.points[:, 0], test.points[:, first_better])
    assert data.points.sum(axis=1) == pytest.approx(1.0)
    assert data.largest.equivalent == test.areas.equivalent
    assert data.margin == "±0.3"


def test_all_hexagons_lie_in_the_triangle_and_the_corners_are_named(study_of):
    data = simplex_data(study_of(["one", "two", "three"], margin=0.3), "one", "three", draws=2000)

    ax = draw_simplex(data)

    offsets = ax.collections[0].get_offsets()
    assert offsets[:, 1].min() >= -0.03
    assert offsets[:, 1].max() <= 0.9
    texts = " ".join(text.get_text() for text in ax.texts)
    assert "one\nbetter" in texts
    assert "three\nbetter" in texts
    assert "within ±0.3" in texts


def test_it_needs_a_margin_and_a_pair_that_was_compared(study_of):
    with pytest.raises(InvalidInput, match="the triangle needs a margin"):
        simplex_data(study_of(["one", "two"]), "one", "two")
    with pytest.raises(InvalidInput, match="the pair must be one of the analysis"):
        simplex_data(study_of(["one", "two"], margin=1.0), "two", "nobody")


def test_algorithms_come_best_first_with_their_probabilities(study_of):
    analysis = study_of(["one", "two", "three", "four"])

    data = best_data(analysis)

    ranking = analysis.bayes.ranking
    assert data.algorithms == ranking.algorithms
    assert np.array_equal(data.better, ranking.better)
    assert data.best.sum() == pytest.approx(1.0)
    assert (data.left_out, data.instances) == (0, 12)


def test_few_algorithms_have_their_numbers_written_and_many_are_cut(study_of):
    few, many = best_data(study_of(["one", "two", "three"])), best_data(study_of([f"a{k}" for k in range(16)]), most=14)

    texts = [text.get_text() for text in draw_best(few).texts]
    assert f"{few.better[0, 2]:.2f}".removeprefix("0") in texts
    assert f"{few.best[0]:.2f}" in texts
    ax = draw_best(many)
    assert many.left_out == 2
    assert "2 more are not shown" in ax.get_xlabel()
    assert len(ax.collections[0].get_paths()) == 14 * 13


def test_the_surer_the_stronger_the_shade(study_of):
    data = best_data(study_of(["one", "two", "three"]))
    square = draw_best(data).collections[0]

    strengths = square.get_facecolors()[:, 3]
    chances = [data.better[i, j] for i in range(3) for j in range(3) if i != j]
    assert strengths == pytest.approx([0.75 * abs(2 * chance - 1) for chance in chances], abs=1e-6)


def test_without_a_ranking_nothing_is_drawn_and_it_says_why(study_of, monkeypatch):
    import ampler.stats.bayes.rankings as rankings

    monkeypatch.setattr(rankings, "FEWEST_EFFECTIVE", 10**6)

    with pytest.raises(InvalidInput, match="there is no ranking to draw: rankings need"):
        best_data(study_of(["one", "two", "three"]))
