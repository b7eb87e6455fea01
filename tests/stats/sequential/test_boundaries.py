"""Normal-theory levels: the reference boundaries, an independent integral, and their laws."""

import json
from math import exp, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr
from tests.helpers.sequential import normal_levels

from ampler.core.errors import InvalidDesign
from ampler.stats.sequential.boundaries import critical_values, equivalence_levels, named_spending

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "sequential.json").read_text())
NAMES = ("OF", "P", "KD2", "KD3", "HSD-2", "HSD1")
LOOKS = ((0.5, 1.0), (0.4, 0.6, 0.8, 1.0), (0.2, 0.4, 0.6, 0.8, 1.0), (0.1, 0.15, 1.0))


@pytest.mark.parametrize("row", GOLD["z_boundaries"], ids=lambda row: f"{row['kind']}-{row['comparisons']}")
def test_boundaries_are_the_reference_ones(row):
    levels = normal_levels(named_spending(row["kind"]), row["level"], row["fractions"])
    np.testing.assert_allclose(critical_values(levels), row["z"], atol=1e-6, rtol=0)
    np.testing.assert_allclose(levels, row["nominal_p"], rtol=1e-6)


@pytest.mark.parametrize("row", GOLD["equivalence"], ids=lambda row: str(row["instances"]))
def test_equivalence_levels_are_the_reference_ones(row):
    fractions = [n / row["instances"][-1] for n in row["instances"]]
    levels = equivalence_levels(named_spending(row["kind"]), row["level"], fractions)
    np.testing.assert_allclose(levels, row["nominal_one_sided"], rtol=1e-6)


def stopped_second(first, second, fraction, sides):
    """The probability to pass the first look and to stop at the second, as one integral over the first score."""
    step, root = sqrt(1 - fraction), sqrt(fraction)

    def beyond(x):
        upper = ndtr((root * x - second) / step)
        return exp(-x * x / 2) / sqrt(2 * pi) * (upper + (ndtr((-second - root * x) / step) if sides == 2 else 0))

    return quad(beyond, -first if sides == 2 else -12, first, epsabs=0, epsrel=1e-11, limit=400)[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("level", [0.05, 0.05 / 21, 1e-6])
@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.9])
def test_two_looks_stop_as_often_as_an_independent_integral_says(name, sides, level, fraction):
    spending = named_spending(name)
    levels = normal_levels(spending, level, (fraction, 1.0), sides=sides)
    first, second = critical_values(levels, sides=sides)
    allowed = spending.spent(2 / sides * level, np.array([fraction, 1.0])) * sides / 2
    assert levels[0] == pytest.approx(allowed[0], rel=1e-12)
    assert stopped_second(first, second, fraction, sides) == pytest.approx(allowed[1] - allowed[0], rel=1e-7)


def test_paths_of_normal_scores_err_as_often_as_the_level_says():
    looks, level, paths = (0.3, 0.5, 0.7, 1.0), 0.1, 200_000
    limits = critical_values(normal_levels(named_spending("KD2"), level, looks))
    steps = np.random.default_rng(1).normal(size=(paths, 4)) * np.sqrt(np.diff(looks, prepend=0))
    z = steps.cumsum(axis=1) / np.sqrt(looks)
    error = (np.abs(z) >= limits).any(axis=1).mean()
    assert abs(error - level) < 4 * np.sqrt(level * (1 - level) / paths)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("looks", LOOKS)
@given(level=st.floats(1e-8, 0.4), sides=st.sampled_from([1, 2]))
def test_a_larger_level_lowers_every_limit(name, looks, level, sides):
    less, more = (normal_levels(named_spending(name), part, looks, sides=sides) for part in (level, 1.2 * level))
    assert all(a < b or a == b == 0 for a, b in zip(less, more, strict=True))


@given(level=st.floats(1e-9, 1.0))
def test_one_look_has_the_whole_level(level):
    assert normal_levels(named_spending("OF"), level, [1.0])[0] == pytest.approx(level, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_later_look_does_not_change_the_earlier_ones(name):
    early = normal_levels(named_spending(name), 0.05, (0.3, 0.6, 1.0))
    late = normal_levels(named_spending(name), 0.05, (0.3, 0.6, 0.9, 1.0))
    assert early[:2] == pytest.approx(late[:2], rel=1e-9)


def test_many_looks_close_together_keep_the_level():
    looks = tuple(np.arange(1, 51) / 50)
    limits = critical_values(normal_levels(named_spending("P"), 0.05, looks))
    steps = np.random.default_rng(2).normal(size=(100_000, 50)) / np.sqrt(50)
    z = steps.cumsum(axis=1) / np.sqrt(looks)
    assert abs((np.abs(z) >= limits).any(axis=1).mean() - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 100_000)


def test_a_look_that_may_spend_next_to_nothing_never_stops():
    levels = normal_levels(named_spending("OF"), 1e-6, (0.02, 0.5, 1.0))
    assert levels[0] == 0
    assert critical_values(levels)[0] == np.inf


@pytest.mark.parametrize("looks", [(), (0.5,), (0.5, 0.4, 1.0), (0.0, 1.0), (0.5, 1.0, 1.2), (0.5, 0.5, 1.0)])
def test_looks_that_do_not_rise_to_one_are_refused(looks):
    with pytest.raises(InvalidDesign, match=r"must rise from above 0 to 1, got"):
        normal_levels(named_spending("OF"), 0.05, looks)


@pytest.mark.parametrize(("level", "sides"), [(0.0, 2), (-0.1, 2), (1.1, 2), (float("nan"), 2), (0.6, 1)])
def test_a_level_that_is_none_is_refused(level, sides):
    with pytest.raises(InvalidDesign, match=r"the level must lie above 0 and at most at .*, got .*: 0.05 is usual"):
        normal_levels(named_spending("OF"), level, (0.5, 1.0), sides=sides)
