from __future__ import annotations

import numpy as np
import pytest

from ampler.core.errors import InvalidInput
from ampler.report.figures import best_data, draw_best


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
