"""Simulated families against exact powers and each other; then designs run for real: what is promised and warned of.

Seeds were fixed beforehand.
"""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import stats

from ampler.core.errors import InvalidDesign
from ampler.design import achieved_power, effect_from, required_instances
from ampler.design.simulate import Scenario, families_for, simulate_design, simulate_families
from ampler.stats.holm import holm_levels
from ampler.stats.power import paired_power

SEED = 2019
ALPHA = 0.05
PAPER = Scenario(instances=57, comparisons=21, real=21, effect=0.5, alpha=0.05)


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
    scenario = replace(PAPER, instances=instances, comparisons=comparisons, real=comparisons)

    counts = simulate_families(scenario, families=40_000, seed=11)

    exact = holm_mean_power(instances, comparisons, 0.5, 0.05)
    assert abs(counts.mean_power - exact) < 4 * counts.error


def test_holm_really_run_is_as_powerful_as_the_method_says():
    assert holm_mean_power(57, 21, 0.5, 0.05) == pytest.approx(0.895, abs=0.005)  # all real; the convention says 0.804
    assert holm_mean_power(50, 21, 0.5, 0.05) > 0.8 > holm_mean_power(49, 21, 0.5, 0.05)


def test_bonferroni_has_the_power_of_its_one_level_and_independent_tests_their_family_wise_error():
    bonferroni = replace(PAPER, correction="bonferroni", real=11)
    counts = simulate_families(bonferroni, families=40_000, seed=12)

    power = float(paired_power(57, 0.5, 0.05 / 21))
    error = 1 - (1 - 0.05 / 21) ** 10
    assert abs(counts.mean_power - power) < 4 * counts.error
    assert abs(counts.with_false / 40_000 - error) < 4 * np.sqrt(error / 40_000)
    assert abs(counts.with_any / 40_000 - (1 - (1 - power) ** 11)) < 1e-3
    assert abs(counts.with_all / 40_000 - power**11) < 4 * np.sqrt(power**11 / 40_000)


@pytest.mark.parametrize("instances", [20, 54])
def test_a_sign_test_has_the_power_of_the_binomial_distribution(instances):
    counts = np.arange(instances + 1)
    rejected = [count > instances / 2 and stats.binomtest(count, instances).pvalue <= 0.05 for count in counts]
    power = stats.binom.pmf(counts, instances, stats.norm.cdf(0.5)) @ rejected

    counts = simulate_families(
        replace(PAPER, instances=instances, comparisons=1, real=1, test="sign"), families=20_000, seed=13
    )

    assert abs(counts.mean_power - power) < 4 * counts.error


@pytest.mark.parametrize("dependence", ["independent", "reference"])
@pytest.mark.parametrize("instances", [2, 3, 8, 40])
@pytest.mark.parametrize("families", [5_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_statistics_drawn_without_the_data_behave_like_those_of_data(dependence, instances, families):
    drawn = replace(
        PAPER, instances=instances, comparisons=4, real=2, effect=4 / instances, alpha=0.2, dependence=dependence
    )
    simulated = replace(drawn, distribution=normal)

    moments, data = (
        simulate_families(drawn, families=families, seed=1),
        simulate_families(simulated, families=families, seed=2),
    )

    close = partial(pytest.approx, abs=4 * np.sqrt(0.5 / families))  # four errors of a difference of two rates
    assert moments.mean_power == close(data.mean_power)
    for name in ("with_any", "with_all", "with_false"):
        assert getattr(moments, name) / families == close(getattr(data, name) / families)


def test_a_shared_reference_makes_comparisons_rise_and_fall_together():
    independent, shared = (
        simulate_families(replace(PAPER, dependence=dependence), families=5_000, seed=3)
        for dependence in ("independent", "reference")
    )

    assert shared.error > 1.5 * independent.error
    assert shared.with_all > 1.5 * independent.with_all


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
@pytest.mark.parametrize("dependence", ["independent", "reference"])
def test_more_instances_only_add_to_the_same_random_numbers(test, dependence):
    rising = [
        simulate_families(
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

    less = simulate_families(replace(skewed, alternative="less"), families=300, seed=5)
    greater = simulate_families(replace(mirrored, alternative="greater"), families=300, seed=5)

    assert less.detections.tolist() == greater.detections.tolist()
    assert less.mean_power > 0.7


def test_the_same_seed_gives_the_same_families_and_another_seed_others():
    once, again, other = (simulate_families(PAPER, families=1000, seed=seed) for seed in (7, 7, 8))

    assert once.detections.tolist() == again.detections.tolist()
    assert once.detections.tolist() != other.detections.tolist()


def test_the_count_of_families_does_not_depend_on_how_they_are_cut_into_blocks():
    whole = simulate_families(replace(PAPER, distribution=normal), families=1001, seed=9)

    assert whole.families == 1001
    assert whole.with_any <= 1001
    assert whole.mean_power == pytest.approx(0.895, abs=0.02)


@pytest.mark.parametrize("draw", [lambda rng, size: rng.standard_normal(3), lambda rng, size: np.full(size, np.nan)])
def test_a_distribution_that_does_not_draw_what_was_asked_is_refused(draw):
    with pytest.raises(InvalidDesign, match="distribution"):
        simulate_families(replace(PAPER, distribution=draw), families=10, seed=1)


def test_too_much_work_is_refused_and_a_sensible_amount_proposed():
    huge = replace(PAPER, instances=10**7, test="sign")

    with pytest.raises(
        InvalidDesign, match="10 simulated families of 21 comparisons on 10000000 instances are too many"
    ):
        simulate_families(huge, families=10, seed=1)
    assert families_for(huge, least=400) == 400
    assert families_for(PAPER, least=400) == 20_000


# designs run for real ---------------------------------------------------------------------------------------------


def design(comparisons, **method):
    return required_instances(comparisons=comparisons, effect=0.5, power=0.8, alpha=ALPHA, **method)


def exponential(rng, size):
    return rng.exponential(size=size) - 1


def heavy_tails(rng, size):
    return rng.standard_t(4, size) / np.sqrt(2)


# ── what the method promises ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dependence", ["independent", "reference"])
@pytest.mark.parametrize("comparisons", [1, 7, 21])
def test_when_all_differences_are_real_the_mean_power_is_there(comparisons, dependence):
    planned = design(comparisons)

    check = simulate_design(planned, dependence=dependence, replications=20_000, rng=SEED)

    assert check.mean_power.value >= planned.mean_power - 3 * check.mean_power.error
    assert check.family_wise_error.value == 0


@pytest.mark.parametrize("dependence", ["independent", "reference"])
@pytest.mark.parametrize("comparisons", [1, 7, 21])
def test_the_family_wise_error_stays_below_alpha(comparisons, dependence):
    for null in {comparisons, (comparisons + 1) // 2}:
        check = simulate_design(design(comparisons), null=null, dependence=dependence, replications=20_000, rng=SEED)

        assert check.family_wise_error.value <= ALPHA + 3 * check.family_wise_error.error


def keeps_both_promises(test, dependence, replications):
    planned = design(7, test=test)

    real = simulate_design(planned, dependence=dependence, replications=replications, rng=SEED)
    null = simulate_design(planned, null=7, dependence=dependence, replications=replications, rng=SEED)

    assert real.mean_power.value >= planned.mean_power - 3 * real.mean_power.error
    assert null.family_wise_error.value <= ALPHA + 3 * null.family_wise_error.error


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
@pytest.mark.parametrize("dependence", ["independent", "reference"])
def test_rank_and_sign_tests_keep_both_promises(test, dependence):
    keeps_both_promises(test, dependence, 2_000)


@pytest.mark.parametrize("test", ["bootstrap-t", "sign-flip"])
@pytest.mark.parametrize(
    ("dependence", "replications"),
    [
        ("reference", 100),
        pytest.param("independent", 2_000, marks=pytest.mark.slow),
        pytest.param("reference", 2_000, marks=pytest.mark.slow),
    ],
)
def test_tests_that_resample_keep_both_promises(test, dependence, replications):
    keeps_both_promises(test, dependence, replications)


# The efficiencies are asymptotic, and the sign test cannot use up its level: for one comparison on 54 instances its
# power is exactly 0.800 where the design says 0.808. Holm's gain hides this when there are several comparisons.
SHORTFALL = {"sign": 0.01}


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [{"test": "wilcoxon"}, {"test": "sign"}, {"alternative": "greater"}, {"correction": "bonferroni"}],
    ids=str,
)
@pytest.mark.parametrize("dependence", ["independent", "reference"])
@pytest.mark.parametrize("comparisons", [1, 7, 21])
def test_every_method_keeps_both_promises(method, dependence, comparisons):
    planned = design(comparisons, **method)

    real = simulate_design(planned, dependence=dependence, replications=20_000, rng=SEED)
    null = simulate_design(planned, null=comparisons, dependence=dependence, replications=20_000, rng=SEED)

    shortfall = SHORTFALL.get(planned.test, 0.0)
    assert real.mean_power.value >= planned.mean_power - shortfall - 3 * real.mean_power.error
    assert null.family_wise_error.value <= ALPHA + 3 * null.family_wise_error.error


def test_the_paper_s_case_has_the_powers_that_the_method_names():
    planned = design(21)

    everything = simulate_design(planned, rng=SEED)
    shared = simulate_design(planned, dependence="reference", rng=SEED)
    half = simulate_design(planned, null=10, rng=SEED)

    assert planned.instances == 57
    assert everything.mean_power.value == pytest.approx(0.895, abs=0.01)
    assert shared.mean_power.value == pytest.approx(0.855, abs=0.01)
    assert half.mean_power.value == pytest.approx(0.77, abs=0.015)


@pytest.mark.parametrize(("se", "power"), [(0.0, 0.90), (0.5, 0.74), (1.0, 0.37)])
def test_the_noise_of_the_runs_costs_the_power_that_the_method_names(se, power):
    planned = achieved_power(instances=57, comparisons=21, effect=effect_from(0.5, 1.0, se=se))

    assert simulate_design(planned, rng=SEED).mean_power.value == pytest.approx(power, abs=0.01)


# ── what the method warns of ───────────────────────────────────────────────────────────────────────────────────────


def test_exponential_differences_inflate_the_family_wise_error():
    planned = achieved_power(instances=57, comparisons=21, effect=0.5)

    half = simulate_design(planned, null=10, distribution=exponential, replications=8_000, rng=SEED)
    none = simulate_design(planned, null=21, distribution=exponential, replications=8_000, rng=SEED)

    assert half.family_wise_error.value == pytest.approx(0.12, abs=0.02)
    assert none.family_wise_error.value == pytest.approx(0.177, abs=0.02)  # scipy's ttest_1samp gives 0.177 as well
    assert half.family_wise_error.lower > 2 * ALPHA


def test_heavy_symmetric_tails_are_harmless():
    planned = achieved_power(instances=57, comparisons=21, effect=0.5)

    check = simulate_design(planned, null=21, distribution=heavy_tails, replications=4_000, rng=SEED)

    assert check.family_wise_error.value <= ALPHA + 3 * check.family_wise_error.error


def test_more_instances_mend_the_skewness_slowly():
    few, many = (
        simulate_design(
            achieved_power(instances=n, comparisons=5, effect=0.5),
            null=5, distribution=exponential, replications=4_000, rng=SEED,
        ).family_wise_error.value
        for n in (20, 400)
    )  # fmt: skip

    assert few > 2 * ALPHA
    assert many < 1.6 * ALPHA


# ── the result ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_interval_of_a_rate_holds_the_true_one_in_95_of_100_simulations():
    planned = design(1)

    checks = [simulate_design(planned, replications=400, rng=seed) for seed in range(400)]

    for name in ("mean_power", "worst_power", "any_power", "all_power"):
        rates = [getattr(check, name) for check in checks]
        covered = sum(rate.lower <= planned.mean_power <= rate.upper for rate in rates) / 400
        assert 0.95 - 4 * np.sqrt(0.95 * 0.05 / 400) <= covered


def test_the_interval_of_the_mean_power_knows_that_comparisons_move_together():
    shared = simulate_design(design(21), dependence="reference", replications=2_000, rng=1).mean_power
    single = simulate_design(design(21), replications=2_000, rng=1).mean_power

    assert shared.upper - shared.lower > 1.5 * (single.upper - single.lower)
    for rate in (shared, single):
        assert rate.upper - rate.lower == pytest.approx(2 * 1.96 * rate.error, rel=0.02)


def test_a_rate_at_the_edge_keeps_an_honest_interval():
    sure = simulate_design(achieved_power(instances=500, comparisons=3, effect=1.0), replications=100, rng=1)

    assert sure.mean_power.value == sure.all_power.value == 1.0
    assert 0.9 < sure.mean_power.lower < 1.0 == sure.mean_power.upper


@pytest.mark.parametrize(("instances", "comparisons"), [(2, 1), (10**9, 21), (150, 100_000)])
def test_designs_of_any_size_can_be_checked(instances, comparisons):
    effect = 4 / np.sqrt(instances)

    check = simulate_design(achieved_power(instances=instances, comparisons=comparisons, effect=effect), rng=SEED)

    assert check.mean_power.lower <= check.mean_power.value <= check.mean_power.upper
    assert 0 < check.mean_power.value < 1


def test_the_rates_are_in_their_natural_order():
    check = simulate_design(design(7), null=2, dependence="reference", replications=2_000, rng=3)

    assert check.all_power.value <= check.worst_power.value <= check.mean_power.value <= check.any_power.value
    assert 0 < check.family_wise_error.value < 0.1


def test_without_a_real_difference_there_is_no_power_to_speak_of():
    check = simulate_design(design(3), null=3, replications=500, rng=1)

    assert check.mean_power is check.worst_power is check.any_power is check.all_power is None
    assert json.loads(json.dumps(check.as_dict()))["mean_power"] is None
    assert "0 of 3 differences real" in str(check)
    assert "power" not in str(check)


def test_a_check_reads_as_a_sentence_and_as_json():
    check = simulate_design(design(21), null=10, dependence="reference", replications=500, rng=1)

    document = json.loads(json.dumps(check.as_dict()))

    assert str(check).startswith(
        "57 instances, 11 of 21 differences real (reference), 500 simulated families: mean power 0."
    )
    assert document["mean_power"]["lower"] <= document["mean_power"]["value"] <= document["mean_power"]["upper"]
    assert float(check.mean_power) == document["mean_power"]["value"]


def test_seeds_and_generators_decide_the_outcome():
    planned = design(7)

    assert simulate_design(planned, replications=500, rng=4) == simulate_design(planned, replications=500, rng=4)
    assert simulate_design(planned, replications=500, rng=4) != simulate_design(planned, replications=500, rng=5)
    by_generator = [simulate_design(planned, replications=500, rng=np.random.default_rng(6)) for _ in range(2)]
    assert by_generator[0] == by_generator[1]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"design": "57"}, "needs a Design, got '57': make one"),
        ({"null": 8}, "null must be a whole number from 0 to 7, got 8"),
        ({"null": -1}, "null must be .* got -1"),
        ({"null": "half"}, "null must be .* got 'half'"),
        ({"dependence": "shared"}, "dependence must be one of 'independent', 'reference', got 'shared'"),
        ({"replications": 0}, "replications must be .* got 0"),
        ({"replications": float("nan")}, "replications must be .* got nan"),
        ({"rng": -1}, "rng must be .* got -1: give a seed"),
        ({"rng": "today"}, "rng must be .* got 'today'"),
        ({"distribution": "exponential"}, r"function of \(rng, size\), got 'exponential': write"),
        (
            {"distribution": lambda rng, size: rng.exponential(size=size)},
            r"mean 0 and standard deviation 1, but 20000 draws have mean 0\.993 .*: subtract its mean",
        ),
        (
            {"distribution": lambda rng, size: 5 * rng.standard_normal(size)},
            r"SD 4\.98: ",
        ),
        ({"distribution": lambda rng, size: np.full(size, np.nan)}, "distribution must"),
        ({"replications": 10**9}, "too many to simulate"),
    ],
)
def test_a_wrong_question_is_answered_by_a_sentence(wrong, sentence):
    asked = {"design": design(7)} | wrong

    with pytest.raises(InvalidDesign, match=sentence):
        simulate_design(asked.pop("design"), **asked)
