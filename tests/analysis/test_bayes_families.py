"""The posteriors of all comparisons together: what is fitted where cells are missing."""

import numpy as np
import pytest

from ampler.analysis.bayes import family_of, largest_block
from ampler.stats.bayes.shared import shared_posteriors

PAIRS = (("a", "b"), ("a", "c"), ("a", "d"))
ALL = (*PAIRS, ("b", "c"), ("b", "d"), ("c", "d"))


def made(rows=12, seed=3):
    """The values of four algorithms, and the differences of the first to the others."""
    values = np.random.default_rng(seed).normal([0.0, 0.3, 0.5, -0.2], 0.4, (rows, 4))
    return values, values[:, :1] - values[:, 1:]


def all_with_all(values):
    places = {name: k for k, name in enumerate("abcd")}
    return np.column_stack([values[:, places[i]] - values[:, places[j]] for i, j in ALL])


def test_with_a_reference_and_no_gaps_it_is_the_fit_of_the_whole_table():
    _, differences = made()

    family = family_of(differences, PAIRS, reference="a", margin=0.1, level=0.95)

    whole = shared_posteriors(differences, margin=0.1)
    assert tuple(family.comparisons[pair] for pair in PAIRS) == whole.comparisons
    assert (family.omega, family.instances, family.problem) == (whole.omega, 12, "")


def test_all_with_all_turning_a_pair_round_turns_its_posterior():
    values, _ = made()

    family = family_of(all_with_all(values), ALL, reference=None, margin=0.1, level=0.95)
    turned = family_of(-all_with_all(values), ALL, reference=None, margin=0.1, level=0.95)

    assert set(family.comparisons) == set(ALL)
    for pair in ALL:
        one, other = family.comparisons[pair], turned.comparisons[pair]
        assert one.mean == pytest.approx(-other.mean, abs=1e-9)
        assert one.areas.less == pytest.approx(other.areas.more, abs=1e-9)


def test_a_gap_leaves_out_instances_or_the_algorithm_that_lacks_most():
    values, differences = made()
    few = differences.copy()
    few[0, 0] = np.nan
    many = all_with_all(np.where(np.arange(4) == 3, np.where(np.arange(12)[:, None] < 9, np.nan, values), values))

    assert family_of(few, PAIRS, reference="a", margin=0.1, level=0.95).instances == 11
    family = family_of(many, ALL, reference=None, margin=0.1, level=0.95)
    assert set(family.comparisons) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert family.instances == 12


def test_the_largest_block_has_no_gap_and_is_never_smaller_than_a_full_column():
    rng = np.random.default_rng(5)
    for _ in range(50):
        present = rng.random((9, 5)) < 0.8
        rows, columns = largest_block(present)
        assert present[np.ix_(rows, columns)].all()
        fullest = present.sum(axis=0).max()
        assert fullest < 4 or len(rows) * len(columns) >= fullest


def test_algorithms_that_are_always_the_same_are_fitted_by_what_tells_them_from_others():
    values, _ = made()
    values[:, 1] = values[:, 0]

    family = family_of(all_with_all(values), ALL, reference=None, margin=0.1, level=0.95)

    assert set(family.comparisons) == set(ALL)
    same = family.comparisons["a", "b"]
    assert same.mean == pytest.approx(0.0, abs=1e-9)
    assert np.isfinite(same.interval).all()


@pytest.mark.parametrize(
    "differences",
    [np.zeros((8, 3)), made(rows=3)[1], np.full((8, 3), np.nan)],
    ids=["never varying", "three instances", "nothing there"],
)
def test_what_cannot_be_fitted_is_a_sentence(differences):
    family = family_of(differences, PAIRS, reference="a", margin=0.1, level=0.95)

    assert family.comparisons == {}
    assert "a shared prior needs" in family.problem


@pytest.mark.parametrize("unit", [1e-200, 1e-300, 1e200])
def test_the_unit_does_not_matter_however_small_or_large(unit):
    _, differences = made()

    plain = family_of(differences, PAIRS, reference="a", margin=0.1, level=0.95)
    scaled = family_of(unit * differences, PAIRS, reference="a", margin=unit * 0.1, level=0.95)

    for pair in PAIRS:
        assert scaled.comparisons[pair].areas.less == pytest.approx(plain.comparisons[pair].areas.less, abs=1e-9)
