"""Who is best by rankings alone, with ties and missing cells."""

import numpy as np
import pytest

from ampler.analysis.bayes import ranking_of
from ampler.core.errors import InvalidData
from ampler.stats.bayes.rankings import rank_posterior

NAMES = ("one", "two", "three")
VALUES = np.random.default_rng(1).normal([1.0, 0.0, 2.0], 1.0, (20, 3))


def test_the_best_comes_first_and_every_number_moves_with_its_name():
    ranking = ranking_of(NAMES, VALUES, better="lower")

    plain = rank_posterior(VALUES, better="lower")
    assert ranking.algorithms == ("two", "one", "three")
    order = [NAMES.index(name) for name in ranking.algorithms]
    assert ranking.win.tolist() == plain.win[order].tolist()
    assert ranking.better.tolist() == plain.better[np.ix_(order, order)].tolist()
    assert ranking.best.sum() == pytest.approx(1.0)
    assert np.allclose(ranking.pair + ranking.pair.T, 1.0)
    assert ranking.instances == 20
    assert ranking.effective > 1000


def test_values_that_differ_by_rounding_alone_are_tied():
    table = np.array([[0.1 + 0.2, 0.3]] * 12)

    ranking = ranking_of(("a", "b"), table, better="lower")

    assert ranking.win.tolist() == pytest.approx([0.5, 0.5], abs=0.02)


def test_missing_cells_leave_the_rest_and_an_algorithm_without_any_is_left_out():
    gappy = np.column_stack([VALUES, np.full(20, np.nan)])
    gappy[:5, 0] = np.nan
    gappy[5, :2] = np.nan  # one algorithm alone ranks nobody

    ranking = ranking_of((*NAMES, "never"), gappy, better="lower")

    assert set(ranking.algorithms) == set(NAMES)
    assert ranking.instances == 19


def test_nothing_to_rank_is_refused_in_a_sentence():
    with pytest.raises(InvalidData, match="two or more algorithms have values"):
        ranking_of(("a", "b"), np.array([[1.0, np.nan], [np.nan, 2.0]]), better="lower")
