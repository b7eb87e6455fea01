"""The study that would find a difference, learnt from earlier results."""

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_advise

import ampler as am
from ampler.analysis.advice import advise_runs
from ampler.analysis.advice_text import needed_alone, planned_study
from ampler.analysis.cost_curve import PowerGoal
from ampler.core.arrays import Runs
from ampler.core.settings import Settings


def table(runs, instances=20, noise=1.0, seed=3):
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(instances):
        for shift, name in enumerate(("old", "new", "odd")):
            own = 100 + number + shift * 0.3 + rng.normal(0, 1.5)
            rows += [(f"i{number}", name, own + rng.normal(0, noise)) for _ in range(runs)]
    return pd.DataFrame(rows, columns=["instance", "algorithm", "cost"])


def advised(frame, **more):
    return flat_advise(
        frame, **{"better": "lower"} | {"difference": "simple", "reference": "old", "detect": 1.0} | more
    )


def test_the_plan_has_instances_runs_and_both_powers():
    plan = advised(table(4)).plan
    assert set(plan.runs) == {"old", "new", "odd"}
    assert plan.total == plan.instances * sum(plan.runs.values())
    assert plan.mean_power >= 0.8 > plan.least_power - 0.2
    assert plan.least_power <= plan.mean_power
    assert plan.detectable <= 1.0


def test_the_plan_is_that_of_ordinary_tests_with_the_variances_that_were_seen():
    plan = advised(table(6, instances=400, noise=0.1)).plan
    spread = 2 * 1.5**2
    wanted = am.required_instances(comparisons=2, effect=1.0 / np.sqrt(spread), power=0.8).instances
    assert plan.instances == pytest.approx(wanted, rel=0.12)


def test_costly_instances_get_more_runs():
    cheap, costly = (advised(table(5, noise=4.0), instance_cost=cost).plan for cost in (0.0, 300.0))
    assert costly.instances < cheap.instances
    assert sum(costly.runs.values()) > sum(cheap.runs.values())


def test_too_few_instances_are_told_with_what_they_find():
    advice = advised(table(1), available=12)
    said = planned_study(advice)
    assert said.startswith(
        f"A difference of 1 in {advice.measure} needs {advice.plan.needed} instances; 12 are available."
    )
    assert f"with mean power 0.8 they detect {advice.plan.detectable:.3g} in {advice.measure}." in said


def test_the_plan_is_told_with_both_powers():
    said = planned_study(advised(table(4)))
    assert said.startswith("A new study of ")
    assert " (smallest 0." in said


def test_one_value_in_a_cell_tells_the_instances_and_not_the_noise():
    advice = advised(table(1))
    assert not advice.is_exact
    assert set(advice.plan.runs.values()) == {1}
    assert np.isnan(advice.plan.noise_share)
    assert np.isnan(advice.parts[0].within)
    assert advice.instances_interval[0] < advice.plan.instances < advice.instances_interval[1]
    assert any("run noise cannot be estimated" in each for each in advice.warnings)


def test_another_target_or_test_has_no_such_plan():
    assert advised(table(4), target="worst").plan is None
    assert advised(table(4), test="wilcoxon").plan is None


def test_the_power_names_which_it_is():
    assert "is the mean over the comparisons; the smallest power of a comparison is" in str(advised(table(4)))
    assert "is the smallest of the comparisons." in str(advised(table(4), target="worst"))
    assert "is reached in 1 of 2 comparisons" in str(advised(table(4), target=1))


def test_a_unit_of_simple_differences_does_not_matter():
    frame = table(4)
    scaled = frame.assign(cost=frame["cost"] * 2.0**80)
    one, other = advised(frame).plan, advised(scaled, detect=2.0**80).plan
    assert (one.instances, one.runs) == (other.instances, other.runs)
    assert other.detectable / 2.0**80 == pytest.approx(one.detectable)


def single_values(instances=25):
    rng = np.random.default_rng(3)
    rows = [(f"i{i}", name, 50 + rng.normal(0, 2)) for i in range(instances) for name in "abc"]
    return Runs.from_columns(*zip(*rows, strict=True))


@pytest.mark.parametrize(
    "asked",
    [{"test": "bootstrap-t"}, {"test": "sign-flip"}, {"test": "wilcoxon"}, {"test": "sign"}, {"target": "worst"}],
)
def test_single_values_answer_for_the_test_and_the_target_that_were_asked_for(asked):
    settings = Settings(difference="simple", test=asked.get("test", "t"))
    target = asked.get("target", "mean")
    advice = advise_runs(single_values(), settings, detect=2.0, deterministic=None, target=target)
    variances = np.array([part.total for part in advice.parts])
    goal = PowerGoal(settings, 2.0, target)

    assert advice.plan is None
    assert advice.best.instances == advice.needed == goal.instances(variances)
    assert advice.best.power == pytest.approx(goal.reached(advice.needed, variances))
    assert advice.target == target
    assert f"{advice.needed} instances" in needed_alone(advice)


def test_too_few_instances_are_not_said_to_be_enough_where_cells_have_one_value():
    settings = Settings(difference="simple")
    for target in ("mean", "worst"):
        advice = advise_runs(single_values(), settings, detect=1.0, deterministic=None, target=target, available=12)
        assert advice.answer.startswith("You need more instances")
        assert advice.best.instances == 12 < advice.needed
