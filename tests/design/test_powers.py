"""Powers of a family: the quadrature over ranks against the plain sum, and the rules of the targets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.design.powers import EXACT, PlannedFamily, Terms, power_profile, target_divisor
from ampler.stats.holm import corrected_levels
from ampler.stats.power import paired_power


def all_powers(family, instances, effect):
    """The power of every rank, one by one."""
    levels = corrected_levels(family.comparisons, family.alpha, family.correction)
    return paired_power(instances, effect, levels, alternative=family.alternative)


families = st.builds(
    PlannedFamily,
    comparisons=st.integers(1, 600),
    alpha=st.floats(1e-4, 0.6),
    alternative=st.sampled_from(["two-sided", "less", "greater"]),
    correction=st.sampled_from(["holm", "bonferroni"]),
)


@given(families, st.integers(2, 400), st.floats(0.02, 3.0))
def test_the_profile_is_that_of_all_powers_computed_one_by_one(family, instances, effect):
    profile, powers = power_profile(family, instances, effect), all_powers(family, instances, effect)

    assert profile["mean_power"] == pytest.approx(powers.mean(), abs=2e-10)
    assert profile["median_power"] == pytest.approx(np.median(powers), abs=1e-14)
    assert profile["worst_power"] == pytest.approx(powers.min(), abs=1e-14)
    assert profile["best_power"] == pytest.approx(powers.max(), abs=1e-14)


@pytest.mark.parametrize(
    "comparisons", [2 * EXACT, 2 * EXACT + 1, 5_000, pytest.param(100_000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("instances", "effect"), [(57, 0.5), (200, 0.25), (12, 1.5)])
def test_the_quadrature_sums_very_many_powers(comparisons, instances, effect):
    family = PlannedFamily(comparisons, 0.05, "two-sided", "holm")

    assert Terms(family, "mean", "t").t_power(instances, effect) == pytest.approx(
        all_powers(family, instances, effect).mean(), abs=2e-11
    )


@given(st.integers(1, 200), st.data())
def test_an_integer_target_is_the_power_that_so_many_tests_have(comparisons, data):
    k = data.draw(st.integers(1, comparisons))
    family = PlannedFamily(comparisons, 0.05, "two-sided", "holm")

    power = Terms(family, k, "t").t_power(30, 0.5)

    assert (all_powers(family, 30, 0.5) >= power - 1e-15).sum() == k


@pytest.mark.parametrize(("comparisons", "divisor"), [(1, 1), (2, 2), (3, 2), (4, 3), (21, 11), (22, 12)])
def test_the_median_target_follows_the_paper(comparisons, divisor):
    assert target_divisor("median", comparisons) == divisor


@pytest.mark.parametrize("target", ["mean", "median", "worst", "best", 3])
def test_under_bonferroni_every_target_is_the_strictest_test(target):
    family = PlannedFamily(7, 0.05, "two-sided", "bonferroni")

    power = Terms(family, target, "t").t_power(30, 0.5)
    assert power == pytest.approx(float(paired_power(30, 0.5, 0.05 / 7)), abs=1e-15)
