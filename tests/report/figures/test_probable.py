from __future__ import annotations

import numpy as np
import pytest

from ampler.core.errors import InvalidInput
from ampler.report.figures import draw_probable, probable_data


@pytest.fixture(scope="module")
def judged(study_of):
    return study_of(["one", "two", "three", "four", "five"], reference="one", margin=0.5, instances=20)


def test_every_row_is_a_comparison_with_its_posterior_in_holms_order(judged):
    data = probable_data(judged)

    for row, each in zip(data.rows, judged.bayes.comparisons, strict=True):
        assert (row.label, row.mean, row.interval) == (each.second, each.posterior.mean, each.posterior.interval)
        assert row.new_interval == each.posterior.new_interval
        assert row.kind == each.verdict
    assert (data.margin, data.level, data.left_out) == (0.5, 0.95, 0)
    assert data.sides == ("worse", "equivalent", "better")


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
