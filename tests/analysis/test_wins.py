from __future__ import annotations

import numpy as np
import pytest

from ampler.analysis.standings import Wins, wins_of


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_wins_are_counted_in_the_values_of_each_instance(study_of, better):
    analysis = study_of(["one", "two", "three"], better=better)
    one, two, _ = analysis.statistics.T

    ahead = int((one < two).sum() if better == "lower" else (one > two).sum())

    assert wins_of(analysis)["one", "two"] == Wins(ahead, 0, 12 - ahead)


def test_equal_values_are_ties():
    from ampler import analyse
    from ampler.core.arrays import Runs

    runs = Runs.from_columns(["p", "q", "r"] * 2, ["a"] * 3 + ["b"] * 3, [5.0, 5.0, 5.0, 5.0, 6.0, 4.0])

    assert wins_of(analyse(runs, difference="simple", better="lower"))["a", "b"] == Wins(1, 1, 1)


def test_instances_that_a_pair_lacks_are_not_counted(study_of):
    gappy = study_of(["one", "two", "three"], lacking={(i, 2) for i in range(4, 12)})
    wins = wins_of(gappy)

    assert wins["one", "two"].instances == 12
    assert wins["one", "three"].instances == 4
    assert np.isnan(gappy.differences).any()
