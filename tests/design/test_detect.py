"""The plan after a pilot: reference plans, a search by steps of one, laws, and what it says when little is there."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, nct, t

from ampler.core.errors import InvalidDesign
from ampler.design.detect import (
    DetectGoal,
    PilotFigures,
    detectable_difference,
    differing_together,
    instances_interval,
    least_power,
    mean_power,
    needed_instances,
    plan_after_pilot,
    resampled_factors,
    usual_growth,
)
from ampler.sampling.bias import CommonRuns
from ampler.stats.internal_pilot import nominal_levels

GROWTH = {"least": 10, "final_test": "growth"}  # the reference values are those of studies begun before version 0.3
GOLD = json.loads((Path(__file__).parents[1] / "gold" / "detect.json").read_text())


def goal_of(row):
    """Base 1 is a study that takes all instances there are: the whole level, and all but one degree of freedom."""
    if row["base"] == 1:
        return DetectGoal(row["detect"], power=row["power"], available=5)
    return DetectGoal(row["detect"], power=row["power"], pilot=row["base"], **GROWTH)


@pytest.mark.parametrize("row", GOLD["needed"], ids=lambda row: f"{len(row['variances'])}-{row['answer']}")
def test_needed_instances_are_the_reference_ones(row):
    goal, variances = goal_of(row), np.array(row["variances"])
    assert needed_instances(goal, variances) == row["answer"]
    assert mean_power(goal, variances, 50) == pytest.approx(row["power_at_50"], abs=1e-7)


def pilot_of(row):
    pairs, run_variances = np.array(row["pairs"]), np.array(row["run_variances"])
    noise = np.zeros((len(pairs), len(run_variances)))
    for one in pairs.T:
        noise[np.arange(len(pairs)), one] = run_variances[one]
    figures = PilotFigures(
        variances=np.array(row["S2"]),
        noise=noise,
        counts=np.array(row["counts"], dtype=float),
        freedom=np.full(len(pairs), row["n"] - 1.0),
        in_play=np.ones(len(run_variances), dtype=bool),
    )
    return figures, CommonRuns(noise, pairs[:, 0], pairs[:, 1], 0 if (pairs[:, 0] == 0).all() else None)


@pytest.mark.parametrize("row", GOLD["plans"], ids=lambda row: f"{len(row['pairs'])} comparisons")
def test_plans_are_the_reference_ones(row):
    figures, runs = pilot_of(row)
    expected = row["answer"]

    plan = plan_after_pilot(figures, DetectGoal(**GROWTH | row["wish"]), runs.fewest)

    slack = 0 if runs.reference == 0 else 1
    np.testing.assert_allclose(figures.squared_errors, row["w"], rtol=1e-9)
    np.testing.assert_allclose(plan.runs, expected["runs"], atol=slack, rtol=0)
    assert plan.instances == expected["instances"]
    assert plan.enough == expected["enough"]
    assert plan.cost == pytest.approx(expected["cost"], rel=0.01 * slack)
    np.testing.assert_allclose(plan.noise_share, expected["noise_share"], atol=1e-6)
    assert plan.se == pytest.approx(expected["se"], rel=1e-6)


def by_steps_of_one(goal, variances):
    """The mean power told comparison by comparison, and the number of instances counted up."""
    n, growth = goal.pilot + goal.least, goal.final_test == "growth"
    while True:
        powers, freedom = [], n - (goal.pilot if growth else 1)
        for rank, variance in enumerate(sorted(variances)):
            level = (1 - goal.share) * goal.alpha / (len(variances) - rank)
            if not growth:
                level = nominal_levels(level, n, goal.pilot, 10**9, goal.alternative)
            critical = t.isf(level / (2 if goal.alternative == "two-sided" else 1), freedom)
            powers.append(nct.sf(critical, freedom, goal.detect * math.sqrt(n / variance)))
        if np.mean(powers) >= goal.power:
            return n
        n += 1


variances = st.lists(st.floats(0.3, 4.0), min_size=1, max_size=6)


@settings(max_examples=settings().max_examples // 5)
@given(variances, st.sampled_from([0.5, 0.8, 0.95]), st.sampled_from(["two-sided", "less"]), st.booleans())
def test_needed_instances_are_those_found_by_steps_of_one(variances, power, alternative, growth):
    goal = DetectGoal(0.6, power=power, pilot=12, alternative=alternative, **(GROWTH if growth else {}))
    assert needed_instances(goal, np.array(variances)) == by_steps_of_one(goal, variances)


@given(variances, st.floats(1.01, 3.0))
def test_a_larger_difference_needs_no_more_instances_and_more_variation_no_fewer(variances, factor):
    goal, own = DetectGoal(0.4), np.array(variances)
    assert needed_instances(replace(goal, detect=factor * 0.4), own) <= needed_instances(goal, own)
    assert needed_instances(goal, factor * own) >= needed_instances(goal, own)


@given(variances, st.floats(1e-150, 1e150))
def test_the_unit_of_the_differences_does_not_matter(variances, unit):
    own = np.array(variances)
    assert needed_instances(DetectGoal(0.4 * unit), own * unit**2) == needed_instances(DetectGoal(0.4), own)


@given(variances, st.integers(30, 200))
def test_the_detectable_difference_has_the_wanted_power(variances, instances):
    goal, own = DetectGoal(0.4), np.array(variances)
    found = detectable_difference(goal, own, instances)
    assert mean_power(replace(goal, detect=found), own, instances) == pytest.approx(0.8, abs=1e-6)


def test_where_few_comparisons_differ_together_the_laxer_levels_are_not_counted_on():
    own, goal = np.full(10, 1.5), DetectGoal(0.5)
    counted = [needed_instances(replace(goal, together=number), own) for number in (1, 4, 6, 10)]
    assert counted == sorted(counted, reverse=True)
    assert counted[-1] == needed_instances(goal, own) < counted[0]
    strictest = DetectGoal(0.5, alpha=goal.alpha / 10)
    assert mean_power(replace(goal, together=1), own, 60) == pytest.approx(mean_power(strictest, own[:1], 60))


@pytest.mark.parametrize(
    ("algorithms", "comparisons", "together"), [(2, 1, 1), (3, 3, 2), (4, 6, 4), (5, 10, 6), (5, 1, 1)]
)
def test_all_with_all_two_halves_can_lie_apart(algorithms, comparisons, together):
    assert differing_together(algorithms, comparisons) == together


@pytest.mark.parametrize("pilot", [3, 12, 15, 20, 30])
def test_after_a_pilot_five_to_ten_new_instances_follow_at_least(pilot):
    assert 5 <= usual_growth(pilot) <= 10
    assert pilot + usual_growth(pilot) >= min(25, pilot + 10)


def test_a_study_short_of_ten_instances_beyond_the_pilot_has_nothing_to_choose_whatever_the_least_growth():
    assert DetectGoal(1.0, least=5, available=29).is_fixed
    assert not DetectGoal(1.0, least=5, available=30).is_fixed
    assert DetectGoal(1.0, least=12, available=31).is_fixed


def test_the_least_power_is_that_of_the_comparison_that_varies_most_or_is_tested_hardest():
    goal, own = DetectGoal(0.5), np.array([1.0, 2.0, 9.0])
    assert least_power(goal, own, 60) < mean_power(goal, own, 60)


def test_the_variance_between_instances_is_planned_with_caution():
    figures = PilotFigures(np.array([2.0]), np.array([[1.0, 1.0]]), np.full(2, 5.0), np.array([19.0]), np.ones(2, bool))
    assert figures.between(0.6)[0] == pytest.approx(2.0 * 19 / chi2.ppf(0.4, 19) - 0.4)
    assert figures.between(0.9)[0] == pytest.approx(2.0 * 19 / chi2.ppf(0.1, 19) - 0.4)


def noisy_pilot(variance=2.0, run_variance=4.0, algorithms=3):
    noise = np.zeros((algorithms - 1, algorithms))
    noise[:, 0] = run_variance
    noise[np.arange(algorithms - 1), np.arange(1, algorithms)] = run_variance
    counts = np.full(algorithms, 5.0)
    figures = PilotFigures(
        np.full(algorithms - 1, variance + 2 * run_variance / 5),
        noise,
        counts,
        np.full(algorithms - 1, 19.0),
        np.ones(algorithms, bool),
    )
    runs = CommonRuns(noise, np.zeros(algorithms - 1, int), np.arange(1, algorithms), 0)
    return figures, runs


def test_dear_instances_are_saved_by_more_runs():
    figures, runs = noisy_pilot()
    cheap, dear = (plan_after_pilot(figures, DetectGoal(0.4, instance_cost=cost), runs.fewest) for cost in (0, 500))
    assert dear.instances < cheap.instances
    assert sum(dear.runs) > sum(cheap.runs)


def test_an_algorithm_that_left_gets_no_runs_and_costs_nothing():
    figures, runs = noisy_pilot()
    left = replace(figures, in_play=np.array([True, True, False]))
    plan = plan_after_pilot(left, DetectGoal(0.4), runs.fewest)
    assert plan.runs[2] == 0
    assert plan.cost == plan.needed * sum(plan.runs)


def test_too_few_instances_are_all_taken_and_said_to_be_too_few():
    figures, runs = noisy_pilot()
    plan = plan_after_pilot(figures, DetectGoal(0.4, available=50), runs.fewest)
    assert plan.instances == 50
    assert plan.needed > 50
    assert not plan.enough
    assert mean_power(DetectGoal(0.4), np.array(plan.variances), 50) < 0.8


def test_where_the_number_of_instances_cannot_be_chosen_the_cheapest_runs_that_suffice_are_taken():
    figures, runs = noisy_pilot()
    goal = DetectGoal(1.2, available=28)
    plan = plan_after_pilot(figures, goal, runs.fewest)
    assert goal.is_fixed
    assert plan.instances == 28
    assert plan.enough
    assert plan.runs == (5, 5, 5)


def test_without_any_variation_the_fewest_instances_do():
    figures, runs = noisy_pilot(variance=0.0, run_variance=0.0)
    for fewest, how in ((20, {}), (30, GROWTH)):
        plan = plan_after_pilot(figures, DetectGoal(0.4, **how), runs.fewest)
        assert plan.instances == fewest
    assert plan.noise_share == (0.0, 0.0)


@given(st.floats(0.2, 3.0), st.floats(0.1, 20.0), st.floats(0, 300))
def test_a_plan_is_never_much_dearer_than_keeping_the_pilots_runs(variance, run_variance, instance_cost):
    figures, runs = noisy_pilot(variance, run_variance)
    goal = DetectGoal(0.5, instance_cost=instance_cost)
    plan = plan_after_pilot(figures, goal, runs.fewest)
    kept = needed_instances(goal, figures.between(goal.caution) + figures.squared_errors) * (instance_cost + 15)
    assert plan.cost <= 1.1 * kept + 1e-9
    assert plan.instances >= 20


def test_a_variance_that_one_instance_carries_is_planned_with_its_bound():
    figures, runs = noisy_pilot()
    normal = np.random.default_rng(3).normal(size=(20, 2))
    far = normal.copy()
    far[4, 1] = 12.0
    plain, tailed = (replace(figures, differences=each) for each in (normal, far))
    np.testing.assert_array_equal(plain.between(0.6), figures.between(0.6))
    assert tailed.between(0.6)[0] == figures.between(0.6)[0]
    assert tailed.between(0.6)[1] > 2 * figures.between(0.6)[1]
    goal = DetectGoal(0.4)
    one, other = (plan_after_pilot(each, goal, runs.fewest) for each in (plain, tailed))
    assert other.needed > one.needed
    intervals = [instances_interval(each, goal, plan) for each, plan in ((plain, one), (tailed, other))]
    assert intervals[0][0] < one.needed < intervals[0][1]
    assert intervals[1][1] / intervals[1][0] > intervals[0][1] / intervals[0][0]


@pytest.mark.parametrize("n", [12, 20, 40])
def test_the_interval_by_resampling_holds_the_variance_of_normal_differences_about_as_often_as_it_says(n):
    rng = np.random.default_rng(20261120)
    samples = rng.normal(size=(400, n, 1))
    factors = np.array([resampled_factors(each) for each in samples])
    true = 1 / samples.var(axis=1, ddof=1)[:, 0]
    assert np.mean((factors[:, 0] <= true) & (true <= factors[:, 1])) > 0.8


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"detect": 0.0}, "detect must be a positive number, got 0.0: give the smallest difference that matters"),
        ({"detect": float("nan")}, "detect must be a positive number"),
        ({"detect": 1, "power": 1.0}, "power must lie strictly between 0 and 1, got 1.0"),
        ({"detect": 1, "power": 0.04}, "power must be larger than alpha, got 0.04 and 0.05"),
        ({"detect": 1, "pilot": 2}, "pilot must be a whole number from 3 to"),
        ({"detect": 1, "start": 1}, "start must be a whole number of 2 or more, got 1"),
        ({"detect": 1, "instance_cost": -1.0}, "instance_cost must not be negative, got -1.0"),
        ({"detect": 1, "available": 1}, "available must be a whole number from 2 to"),
        ({"detect": 1, "share": 0.0}, "share must lie strictly between 0 and 1"),
    ],
)
def test_a_goal_that_cannot_be_is_refused_in_a_sentence(wrong, sentence):
    with pytest.raises(InvalidDesign, match=sentence):
        DetectGoal(**wrong)


def test_a_difference_nobody_can_find_is_refused():
    with pytest.raises(InvalidDesign, match=r"no reachable number of instances finds a difference of 1e-09: so much"):
        needed_instances(DetectGoal(1e-9), np.array([1.0]))
