"""The simulation engine against what can be computed exactly, and its two ways against each other."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import stats

from ampler.core.errors import InvalidDesign
from ampler.design.simulate import Setting, families_for, rehearse
from ampler.stats.holm import holm_levels
from ampler.stats.power import paired_power

PAPER = Setting(instances=57, comparisons=21, real=21, effect=0.5, alpha=0.05)


def normal(rng, size):
    return rng.standard_normal(size)


def holm_mean_power(instances, comparisons, effect, alpha):
    """The exact mean power of Holm's procedure on independent comparisons that are all real.

    At least j are rejected when, for every i ≤ j, i or more p-values are at most α_i. The number of p-values at or
    below each level is a Markov chain with binomial steps; the chain is followed while it keeps up with the rank.
    """
    reached = paired_power(instances, effect, holm_levels(comparisons, alpha))
    counts = np.zeros(comparisons + 1)
    counts[0], before, expected = 1.0, 0.0, 0.0
    for rank, probability in enumerate(reached, start=1):
        step = (probability - before) / (1 - before)
        moved = np.zeros(comparisons + 1)
        for count, weight in enumerate(counts):
            left = comparisons - count
            moved[count:] += weight * stats.binom.pmf(np.arange(left + 1), left, step)
        moved[:rank] = 0.0
        counts, before, expected = moved, probability, expected + moved.sum()
    return expected / comparisons


@pytest.mark.parametrize(("instances", "comparisons"), [(57, 21), (50, 21), (40, 7), (20, 2)])
def test_independent_families_have_the_exact_mean_power_of_holm(instances, comparisons):
    setting = replace(PAPER, instances=instances, comparisons=comparisons, real=comparisons)

    tally = rehearse(setting, families=40_000, seed=11)

    exact = holm_mean_power(instances, comparisons, 0.5, 0.05)
    assert abs(tally.mean_power - exact) < 4 * tally.error


def test_holm_really_run_is_as_powerful_as_the_method_says():
    assert holm_mean_power(57, 21, 0.5, 0.05) == pytest.approx(0.895, abs=0.005)  # all real; the convention says 0.804
    assert holm_mean_power(50, 21, 0.5, 0.05) > 0.8 > holm_mean_power(49, 21, 0.5, 0.05)


def test_bonferroni_has_the_power_of_its_one_level_and_independent_tests_their_family_wise_error():
    bonferroni = replace(PAPER, correction="bonferroni", real=11)
    tally = rehearse(bonferroni, families=40_000, seed=12)

    power = float(paired_power(57, 0.5, 0.05 / 21))
    error = 1 - (1 - 0.05 / 21) ** 10
    assert abs(tally.mean_power - power) < 4 * tally.error
    assert abs(tally.with_false / 40_000 - error) < 4 * np.sqrt(error / 40_000)
    assert abs(tally.with_any / 40_000 - (1 - (1 - power) ** 11)) < 1e-3
    assert abs(tally.with_all / 40_000 - power**11) < 4 * np.sqrt(power**11 / 40_000)


@pytest.mark.parametrize("instances", [20, 54])
def test_a_sign_test_has_the_power_of_the_binomial_distribution(instances):
    counts = np.arange(instances + 1)
    rejected = [count > instances / 2 and stats.binomtest(count, instances).pvalue <= 0.05 for count in counts]
    power = stats.binom.pmf(counts, instances, stats.norm.cdf(0.5)) @ rejected

    tally = rehearse(replace(PAPER, instances=instances, comparisons=1, real=1, test="sign"), families=20_000, seed=13)

    assert abs(tally.mean_power - power) < 4 * tally.error


@pytest.mark.parametrize("dependence", ["independent", "reference"])
@pytest.mark.parametrize("instances", [2, 3, 8, 40])
def test_statistics_drawn_without_the_data_behave_like_those_of_data(dependence, instances):
    drawn = replace(
        PAPER, instances=instances, comparisons=4, real=2, effect=4 / instances, alpha=0.2, dependence=dependence
    )
    simulated = replace(drawn, distribution=normal)

    moments, data = rehearse(drawn, families=20_000, seed=1), rehearse(simulated, families=20_000, seed=2)

    close = partial(pytest.approx, abs=4 * np.sqrt(0.5 / 20_000))  # four errors of a difference of two rates
    assert moments.mean_power == close(data.mean_power)
    for name in ("with_any", "with_all", "with_false"):
        assert getattr(moments, name) / 20_000 == close(getattr(data, name) / 20_000)


def test_a_shared_reference_makes_comparisons_rise_and_fall_together():
    independent, shared = (
        rehearse(replace(PAPER, dependence=dependence), families=5_000, seed=3)
        for dependence in ("independent", "reference")
    )

    assert shared.error > 1.5 * independent.error
    assert shared.with_all > 1.5 * independent.with_all


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
@pytest.mark.parametrize("dependence", ["independent", "reference"])
def test_more_instances_only_add_to_the_same_random_numbers(test, dependence):
    rising = [
        rehearse(
            replace(PAPER, instances=n, comparisons=5, real=5, test=test, dependence=dependence), families=500, seed=4
        ).mean_power
        for n in (20, 40, 80, 160)
    ]

    assert rising == sorted(rising)
    assert rising[-1] > 0.99


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_one_sided_tests_look_to_the_side_of_the_effect(test):
    skewed = replace(
        PAPER, comparisons=3, real=3, test=test, distribution=lambda rng, size: rng.exponential(size=size) - 1
    )
    mirrored = replace(skewed, distribution=lambda rng, size: 1 - rng.exponential(size=size))

    less = rehearse(replace(skewed, alternative="less"), families=300, seed=5)
    greater = rehearse(replace(mirrored, alternative="greater"), families=300, seed=5)

    assert less.detections.tolist() == greater.detections.tolist()
    assert less.mean_power > 0.7


def test_the_same_seed_gives_the_same_families_and_another_seed_others():
    once, again, other = (rehearse(PAPER, families=1000, seed=seed) for seed in (7, 7, 8))

    assert once.detections.tolist() == again.detections.tolist()
    assert once.detections.tolist() != other.detections.tolist()


def test_the_count_of_families_does_not_depend_on_how_they_are_cut_into_blocks():
    whole = rehearse(replace(PAPER, distribution=normal), families=1001, seed=9)

    assert whole.families == 1001
    assert whole.with_any <= 1001
    assert whole.mean_power == pytest.approx(0.895, abs=0.02)


@pytest.mark.parametrize("draw", [lambda rng, size: rng.standard_normal(3), lambda rng, size: np.full(size, np.nan)])
def test_a_distribution_that_does_not_draw_what_was_asked_is_refused(draw):
    with pytest.raises(InvalidDesign, match="distribution"):
        rehearse(replace(PAPER, distribution=draw), families=10, seed=1)


def test_too_much_work_is_refused_and_a_sensible_amount_proposed():
    huge = replace(PAPER, instances=10**7, test="sign")

    with pytest.raises(
        InvalidDesign, match="10 simulated families of 21 comparisons on 10000000 instances are too many"
    ):
        rehearse(huge, families=10, seed=1)
    assert families_for(huge, least=400) == 400
    assert families_for(PAPER, least=400) == 20_000
