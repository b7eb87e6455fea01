"""What the noise of runs takes from a power, beside tests run on simulated noisy differences."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest
from scipy import stats

from ampler.design import achieved_power, required_instances
from ampler.design.text import RATIOS, powers_left


def simulated_power(design, ratio, replications, *, seed):
    """The share of t-tests that find a mean of d standard deviations between instances through noisy measurements."""
    rng = np.random.default_rng(seed)
    true = rng.normal(design.effect, 1.0, (replications, design.instances))
    measured = true + ratio * rng.standard_normal(true.shape)
    return np.mean(stats.ttest_1samp(measured, 0.0, axis=1).pvalue <= design.alpha)


@pytest.mark.parametrize("ratio", RATIOS)
def test_what_is_left_is_what_tests_find_in_noisy_differences(ratio):
    design = required_instances(comparisons=1, effect=0.5, power=0.8)
    (left,) = powers_left(design, (ratio,))
    found = simulated_power(design, ratio, 4000, seed=[1508, round(100 * ratio)])
    assert found == pytest.approx(left.power, abs=3 * np.sqrt(0.25 / 4000))


@pytest.mark.slow
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("effect", [0.3, 0.8, 1.2])
def test_what_is_left_is_right_to_half_a_percent(ratio, effect):
    design = required_instances(comparisons=1, effect=effect, power=0.8)
    (left,) = powers_left(design, (ratio,))
    found = simulated_power(design, ratio, 100_000, seed=[1509, round(100 * ratio), round(10 * effect)])
    assert found == pytest.approx(left.power, abs=3 * np.sqrt(0.25 / 100_000))


def test_without_noise_all_of_the_power_is_left_and_more_noise_leaves_less():
    design = required_instances(comparisons=21, effect=0.5, power=0.8)
    none, *some = powers_left(design, (0.0, *RATIOS, 5.0))
    assert none.power == pytest.approx(design.reached)
    powers = [none.power, *(each.power for each in some)]
    assert powers == sorted(powers, reverse=True)


def test_the_share_of_noise_is_that_of_the_variance():
    design = required_instances(comparisons=1, effect=0.5, power=0.8)
    assert [each.share for each in powers_left(design)] == pytest.approx([0.1, 0.2, 0.5])


@pytest.mark.parametrize(
    "terms", [{"test": "wilcoxon"}, {"alternative": "less"}, {"target": "worst"}, {"correction": "bonferroni"}]
)
def test_the_terms_of_the_design_stay(terms):
    design = required_instances(comparisons=4, effect=0.6, power=0.9, alpha=0.1, **terms)
    same = achieved_power(instances=design.instances, comparisons=4, effect=0.6 / hypot(1, 0.5), alpha=0.1, **terms)
    assert powers_left(design, (0.5,))[0].power == pytest.approx(same.power)


def test_a_simulated_target_is_told_by_the_mean_of_the_marginal_powers():
    design = required_instances(comparisons=3, effect=0.8, target="simulated")
    mean = achieved_power(instances=design.instances, comparisons=3, effect=0.8 / hypot(1, 1))
    assert powers_left(design, (1.0,))[0].power == pytest.approx(mean.power)
