"""The power of one paired test against numerical integration, and the exact arithmetic of the efficiencies."""

from itertools import pairwise
from math import exp, lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from ampler.core.errors import InvalidDesign
from ampler.stats.power import instances_for, paired_power, t_instances

PERCENT = {"t": (1, 1), "wilcoxon": (86, 100), "sign": (637, 1000)}
tests = st.sampled_from(sorted(PERCENT))


def power_by_integration(instances, effect, tail):
    """P(Z + d·√N > q·√(V/ν)) with V ~ χ²(ν), integrated over the distribution of √(V/ν); no noncentral t involved."""
    df, shift, critical = instances - 1, effect * np.sqrt(instances), stats.t.isf(tail, instances - 1)
    constant = log(2) + df / 2 * log(df / 2) - lgamma(df / 2)

    def integrand(scale):
        density = exp(constant + (df - 1) * log(scale) - df * scale * scale / 2)  # of √(V/ν)
        return special.ndtr(shift - critical * scale) * density

    # where either factor changes: the normal one around shift/critical, the chi one around 1
    steps = [(shift + z) / critical for z in range(-9, 10, 3)] + [1 + z / np.sqrt(2 * df) for z in range(-9, 16, 3)]
    edges = sorted({0.0, *(edge for edge in steps if edge > 0)})
    return sum(integrate.quad(integrand, a, b, epsabs=1e-14, limit=200)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize("instances", [2, 3, 10, 57, 200, 3000])
@pytest.mark.parametrize("noncentrality", [0.05, 1.0, 3.8, 12.0])
@pytest.mark.parametrize("tail", [0.4, 0.025, 0.05 / 42, 1e-6])
def test_the_power_is_that_of_the_definition(instances, noncentrality, tail):
    effect = noncentrality / np.sqrt(instances)

    power = paired_power(instances, effect, tail, alternative="greater")

    assert power == pytest.approx(power_by_integration(instances, effect, tail), abs=1e-10)


def test_a_large_sample_has_the_power_of_the_normal_distribution():
    effect = 3.0 / np.sqrt(10**9)

    assert paired_power(10**9, effect, 0.05) == pytest.approx(stats.norm.sf(stats.norm.isf(0.025) - 3.0), abs=1e-8)


@given(st.integers(2, 10**9), st.floats(1e-9, 1000.0), st.floats(1e-107, 0.999))
def test_the_power_is_a_probability_wherever_we_ask(instances, effect, level):
    power = float(paired_power(instances, effect, level))

    assert 0 <= power <= 1


@given(st.integers(2, 500), st.floats(0.01, 3.0), st.floats(1e-6, 0.9))
def test_a_two_sided_test_has_the_power_of_a_one_sided_one_at_half_the_level(instances, effect, level):
    two_sided = paired_power(instances, effect, level)

    assert two_sided == paired_power(instances, effect, level / 2, alternative="greater")
    assert two_sided == paired_power(instances, effect, level / 2, alternative="less")


@given(st.integers(2, 10**9), tests)
def test_the_instances_of_another_test_are_the_fewest_that_are_worth_as_many_for_t(needed, test):
    numerator, denominator = PERCENT[test]

    instances = instances_for(needed, test)

    assert instances * numerator // denominator >= needed > (instances - 1) * numerator // denominator
    assert t_instances(instances, test) == needed


@pytest.mark.parametrize(("needed", "instances"), [(215, 250), (430, 500), (860, 1000), (57, 67)])
def test_instances_for_wilcoxon_do_not_suffer_from_rounding(needed, instances):
    assert instances_for(needed, "wilcoxon") == instances


@given(st.integers(5, 500), tests)
def test_power_of_another_test_is_that_of_t_on_the_instances_it_is_worth(instances, test):
    power = paired_power(instances, 0.4, 0.05, test=test)

    assert power == paired_power(t_instances(instances, test), 0.4, 0.05)


@pytest.mark.parametrize(("instances", "test", "enough"), [(1, "t", 2), (2, "wilcoxon", 3), (3, "sign", 4)])
def test_fewer_than_two_instances_worth_of_a_t_test_are_refused(instances, test, enough):
    with pytest.raises(InvalidDesign, match=f"on {instances} instances .* use at least {enough} instances"):
        paired_power(instances, 0.5, 0.05, test=test)
    assert t_instances(enough, test) == 2
