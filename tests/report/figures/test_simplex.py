from __future__ import annotations

import numpy as np
import pytest

from ampler.core.errors import InvalidInput
from ampler.report.figures import draw_simplex, simplex_data
from ampler.stats.bayes import signed_rank


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
    with pytest.raises(InvalidInput, match="'two' and 'one' are not compared, in this order"):
        simplex_data(study_of(["one", "two"], margin=1.0), "two", "one")
