"""A study that finds its own size: reference replays, resuming, leavers, and how often it errs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from detect_replay import DetectOutcome, RunUntil, conclude, next_step

from ampler.core.errors import InvalidData
from ampler.design.detect import DetectGoal
from ampler.stats.contrasts import contrasts_among
from ampler.study.detect import decide_after_pilot

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "detect.json").read_text())


@pytest.mark.parametrize("row", GOLD["replays"], ids=["all go on", "one leaves"])
def test_replays_are_the_reference_ones(row):
    goal = DetectGoal(**{"least": 10, "final_test": "growth"} | row["wish"])
    contrasts = contrasts_among(3, difference=row["difference"], reference=row["reference"])
    pilot, main = (RunUntil(instances, tuple(runs)) for instances, runs in row["actions"])

    assert next_step([], contrasts, goal) == pilot
    assert next_step(row["values"][:12], contrasts, goal) == main
    finished = next_step(row["values"], contrasts, goal)

    assert isinstance(finished, DetectOutcome)
    np.testing.assert_allclose(finished.conclusions.adjusted, row["adjusted"], rtol=1e-7)


def drawn(seed, instances, algorithms=3, runs=12, effects=0.0):
    rng = np.random.default_rng(seed)
    level = 100 + rng.normal(0, 5, (instances, 1)) + rng.normal(0, 1.5, (instances, algorithms)) + effects
    return (level[:, :, None] + rng.normal(0, 2, (instances, algorithms, runs))).tolist()


GOAL = DetectGoal(1.2, pilot=12, start=4)
SIMPLE = contrasts_among(3, difference="simple", reference=0)


def test_runs_beyond_those_that_were_asked_for_change_nothing():
    values = drawn(1, 12)
    short = [[runs[:4] for runs in row] for row in values]
    assert next_step(short, SIMPLE, GOAL) == next_step(values, SIMPLE, GOAL)


def test_a_pilot_with_a_run_missing_is_asked_for_again():
    values = drawn(1, 12)
    values[3][1] = values[3][1][:3]
    assert next_step(values, SIMPLE, GOAL) == RunUntil(12, (4, 4, 4))


def test_what_was_run_before_a_kill_leads_to_the_same_decision_and_the_same_end():
    values = drawn(2, 200, runs=40)
    decided = next_step(values[:12], SIMPLE, GOAL)
    for instances in (13, 20, decided.instances - 1):
        assert next_step(values[:instances], SIMPLE, GOAL) == decided
    first, again = (next_step(values[: decided.instances + extra], SIMPLE, GOAL) for extra in (0, 7))
    np.testing.assert_array_equal(first.conclusions.adjusted, again.conclusions.adjusted)


def test_everything_clear_after_the_pilot_ends_the_study():
    values = drawn(3, 12, effects=np.array([0.0, 30.0, -30.0]))
    finished = next_step(values, SIMPLE, GOAL)
    assert finished.decision.plan is None
    assert (finished.conclusions.adjusted < 0.05).all()
    assert finished.conclusions.intervals[0][1] < 0 < finished.conclusions.intervals[1][0]


def test_a_clear_algorithm_leaves_and_the_others_go_on():
    values = drawn(4, 200, runs=30, effects=np.array([0.0, 0.0, 30.0]))
    step = next_step(values[:12], SIMPLE, GOAL)
    assert step.runs[2] == 0
    assert step.runs[0] > 0
    left = [[row[0], row[1], row[2][:4]] for row in values]
    finished = next_step(left, SIMPLE, GOAL)
    assert finished.conclusions.clear.tolist() == [False, True]
    assert finished.conclusions.adjusted[1] < 0.05


def test_under_percent_of_the_grand_mean_nobody_leaves():
    contrasts = contrasts_among(3, difference="percent")
    step = next_step(drawn(5, 12, effects=np.array([0.0, 0.0, 60.0])), contrasts, DetectGoal(0.012, pilot=12, start=4))
    assert isinstance(step, RunUntil)
    assert min(step.runs) >= 4


def test_where_too_few_instances_are_there_all_are_taken_and_tested_as_usual():
    goal = replace(GOAL, available=15)
    values = drawn(6, 15, runs=60)
    step = next_step(values[:12], SIMPLE, goal)
    assert step.instances == 15
    finished = next_step(values, SIMPLE, goal)
    assert not finished.conclusions.clear.any()
    assert finished.conclusions.end.freedom.tolist() == [14, 14]


def test_a_pilot_may_be_all_there_is():
    goal = replace(GOAL, available=8)
    assert next_step([], SIMPLE, goal) == RunUntil(8, (4, 4, 4))
    finished = next_step(drawn(7, 8, runs=99), SIMPLE, goal)
    assert finished.decision.plan.instances == 8
    assert finished.conclusions.end.freedom.tolist() == [7, 7]


def test_a_comparison_without_a_pilot_is_refused():
    theta, variances = np.full((12, 3), 10.0), np.ones((12, 3))
    theta[2:, 1] = np.nan
    with pytest.raises(InvalidData, match="every comparison needs at least 3 instances of the pilot, got 2"):
        decide_after_pilot(theta, variances, SIMPLE, GOAL)


# --- how often it errs ------------------------------------------------------------------------------------------------


def simulated(goal, contrasts, effects, spread, noise, studies, seed):
    """Adjusted p-values and sizes of studies; `spread` between instances and `noise` of a run, of a difference."""
    rng = np.random.default_rng(seed)
    size, adjusted, instances = contrasts.size, [], []
    for _ in range(studies):

        def cells(count, effects=effects):
            """True levels on new instances: half of a difference's variance comes from each algorithm."""
            return effects + rng.normal(0, spread / np.sqrt(2), (count, size))

        level = cells(goal.pilot)
        one_run = noise / np.sqrt(2)
        theta = level + rng.normal(0, one_run / np.sqrt(goal.start), level.shape)
        variances = one_run**2 * rng.chisquare(goal.start - 1, level.shape) / (goal.start - 1)
        decision = decide_after_pilot(theta, variances, contrasts, goal)
        if decision.plan is not None:
            runs = np.array([n or np.nan for n in decision.plan.runs], dtype=float)
            more = runs - goal.start
            topped = (goal.start * theta + more * level + rng.normal(0, one_run, level.shape) * np.sqrt(more)) / runs
            fresh = cells(decision.plan.instances - goal.pilot)
            fresh = fresh + rng.normal(0, one_run, fresh.shape) / np.sqrt(runs)
            theta = np.concatenate([topped, fresh])
        adjusted.append(conclude(theta, decision, contrasts, goal).adjusted)
        instances.append(len(theta))
    return np.array(adjusted), np.array(instances)


def settled(effects, contrasts):
    return effects[contrasts.first] == effects[contrasts.second]


@pytest.mark.parametrize(
    ("spread", "noise", "studies"),
    [
        *((1.5, 0.45, 250), (3.0, 6.0, 60)),
        *(pytest.param(1.5, 0.45, 500, marks=pytest.mark.slow), pytest.param(3.0, 6.0, 120, marks=pytest.mark.slow)),
    ],
)
def test_false_differences_are_rare_and_true_ones_found_in_a_small_simulation(spread, noise, studies):
    contrasts = contrasts_among(2, difference="simple", reference=0)
    null, _ = simulated(DetectGoal(1.0), contrasts, np.zeros(2), spread, noise, studies, seed=21)
    real, _ = simulated(DetectGoal(1.0), contrasts, np.array([1.0, 0.0]), spread, noise, studies, seed=22)
    assert (null <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)
    assert (real <= 0.05).mean() >= 0.78 - 3 * np.sqrt(0.8 * 0.2 / studies)


FAMILIES = {
    "one comparison": (contrasts_among(2, difference="simple", reference=0), 6000),
    "5 with a reference": (contrasts_among(6, difference="simple", reference=0), 2000),
    "21 with a reference": (contrasts_among(22, difference="simple", reference=0), 1000),
    "all pairs of 5": (contrasts_among(5, difference="simple"), 2000),
}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("spread", "noise"), [(0.7, 0.2), (1.5, 3.0), (3.0, 0.9), (6.0, 1.8)])
def test_the_family_wise_error_is_kept(family, spread, noise):
    contrasts, studies = FAMILIES[family]
    studies = studies // 4 if spread == 6 else studies  # hundreds of instances each
    adjusted, _ = simulated(DetectGoal(1.0), contrasts, np.zeros(contrasts.size), spread, noise, studies, seed=23)
    error = (adjusted <= 0.05).any(axis=1).mean()
    assert error <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", ["half of them real", "most leave after the pilot"])
def test_the_family_wise_error_is_kept_where_some_differences_are_real(kind):
    contrasts = contrasts_among(22, difference="simple", reference=0)
    effects = np.zeros(22)
    effects[11:] = 1.0
    if kind == "most leave after the pilot":
        effects[2:] = 3.0
    adjusted, _ = simulated(DetectGoal(1.0), contrasts, effects, 3.0, 0.9, 1500, seed=24)
    error = (adjusted[:, settled(effects, contrasts)] <= 0.05).any(axis=1).mean()
    assert error <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("family", "reached"), [("one comparison", 0.78), ("21 with a reference", 0.83)])
def test_the_wanted_power_is_reached(family, reached):
    contrasts, _ = FAMILIES[family]
    effects = np.zeros(contrasts.size)
    effects[0] = 1.0
    adjusted, instances = simulated(DetectGoal(1.0), contrasts, effects, 3.0, 0.9, 1000, seed=25)
    found = (adjusted <= 0.05).mean(axis=1)
    assert found.mean() >= reached - 3 * found.std() / np.sqrt(1000)
    oracle = {"one comparison": 73, "21 with a reference": 127}[family]
    assert instances.mean() <= 1.25 * oracle
