"""The study rule that finds its own size: what it asks for, what it decides, what it refuses."""

import random
from dataclasses import fields, replace

import numpy as np
import pytest

from ampler.core.arrays import Runs
from ampler.core.contracts import FinishedGroup
from ampler.core.errors import InvalidData, InvalidDesign, InvalidPlan
from ampler.core.failures import Drop
from ampler.core.plan import Continue, EndStudy, Function, Question
from ampler.design.detect import DetectGoal, PilotReport, needed_instances
from ampler.sampling.rules import Fixed
from ampler.study.detect import Detect
from ampler.study.plan import make_plan, part_of
from ampler.study.stopping import decided, from_data, to_data

NAMES = ("a", "b", "c")


def plan_of(rule, *, instances=200, question=None, deterministic=(), **more):
    return make_plan(
        question=question or Question("simple", reference="a", better="lower"),
        algorithms=[Function(name, min, "builtins:min", deterministic=name in deterministic) for name in NAMES],
        instances=[f"i{n}" for n in range(instances)],
        rule=Fixed(runs=rule.start),
        study_rule=rule,
        count="all",
        **more,
    )


def group(asked, seed=1, effects=(0.0, 0.0, 0.0), scale=1.0, noise=2.0):
    """Values for everything that was asked for: those of a run hang on its instance, algorithm and index alone."""
    rows = []
    for instance in asked.instances:
        level = random.Random(f"{seed}/{instance}").gauss(100, 5)
        for place, name in enumerate(NAMES):
            if name in asked.runs:
                rng = random.Random(f"{seed}/{instance}/{name}")
                own = level + rng.gauss(0, 1.5) + effects[place]
                rows += [(instance, name, scale * (own + rng.gauss(0, noise))) for _ in range(asked.runs[name])]
    return FinishedGroup(asked, (), lambda: Runs.from_columns(*zip(*rows, strict=True)))


def course(plan, **values):
    """The decisions of a whole study."""
    taken, groups = [], []
    while not taken or isinstance(taken[-1], Continue):
        taken.append(decided(plan, groups))
        if isinstance(taken[-1], Continue):
            groups.append(group(taken[-1], **values))
    return taken


def test_the_defaults_are_those_of_the_goal():
    rule, goal = Detect(detect=1.2), DetectGoal(1.2, stretch=0.0)  # runs are all that a study short of instances buys
    rule = replace(rule, least=0, caution=0.6, slack=0.1, final_test="t")  # which hang on other settings otherwise
    assert {field.name: getattr(rule, field.name) for field in fields(rule)}.items() <= {
        field.name: getattr(goal, field.name) for field in fields(goal)
    }.items()


def test_the_pilot_comes_first_and_says_what_it_takes():
    plan = plan_of(Detect(detect=1.2))
    pilot = decided(plan, ())
    assert pilot.instances == tuple(each.name for each in plan.instances[:20])
    assert pilot.runs == {"a": 5, "b": 5, "c": 5}
    assert pilot.reason == (
        "Pilot: 5 runs of each algorithm on 20 of 200 instances. ampler then computes"
        " the instances and runs that detect a difference of 1.2 with mean power 0.8."
    )


def test_one_decision_fixes_instances_and_runs_and_then_the_study_ends():
    plan = plan_of(Detect(detect=1.2))
    pilot, main, end = course(plan)
    report = PilotReport.from_data(main.details)
    assert main.last
    assert len(main.instances) == report.planned > 30
    assert main.instances[:20] == pilot.instances
    assert min(main.runs.values()) >= 5
    assert report.total == report.planned * sum(main.runs.values())
    assert report.interval[0] < report.planned < report.interval[1]
    assert isinstance(end, EndStudy)


def test_a_comparison_that_is_clear_takes_its_algorithm_away():
    _, main, _ = course(plan_of(Detect(detect=1.2)), effects=(0.0, 0.0, 40.0))
    assert main.algorithms == ("a", "b")
    assert "1 of 2 comparisons significant" in main.reason
    assert "c gets no more runs" in main.reason


def test_of_percentages_of_a_grand_mean_nobody_leaves():
    plan = plan_of(Detect(detect=0.02), question=Question("percent", better="lower"))
    _, main, _ = course(plan, effects=(0.0, 0.0, 40.0))
    assert main.algorithms == NAMES
    assert sum(PilotReport.from_data(main.details).clear) == 2


def test_a_study_that_is_clear_after_the_pilot_ends():
    _, end = course(plan_of(Detect(detect=1.2)), effects=(0.0, 40.0, -40.0))
    assert isinstance(end, EndStudy)
    assert "all 2 comparisons significant" in end.reason
    assert PilotReport.from_data(end.details).total == 300


def test_a_bad_bargain_is_said_before_the_pilot_is_paid_for():
    def notes(instances=200, **more):
        plan = plan_of(Detect(detect=1.2, **more), instances=instances)
        return " ".join(decided(plan, ()).notes)

    assert not notes()
    assert not notes(instances=40)
    assert "the pilot takes 20 of 35 instances" in notes(instances=35)
    assert not notes(instances=29), "there it is said that all are taken"
    assert not notes(instance_cost=15.0)
    assert "20 instances cost as much as 320 runs" in notes(instance_cost=16.0)


def test_few_new_instances_do_where_few_are_needed():
    for fewest, how in ((20, "t"), (25, "growth")):
        _, main, _ = course(plan_of(Detect(detect=3.5, early=0, final_test=how)), noise=0.5)
        assert len(main.instances) == fewest


def test_where_its_first_half_shows_that_few_are_needed_the_pilot_is_all():
    pilot, main, end = course(plan_of(Detect(detect=3.5, final_test="growth")), noise=0.5)
    report = PilotReport.from_data(main.details)
    assert main.instances == pilot.instances
    assert main.runs == pilot.runs
    assert report.seen == 10
    assert report.since == pilot.instances[:10]
    assert "the pilot's 20 instances with 5 runs of each algorithm (300 runs in total)" in main.reason
    assert "The first 10 instances of the pilot determined the size" in main.reason
    assert "after the pilot's first 10" in end.reason


def test_the_first_half_is_that_of_the_order_of_the_plan_and_not_of_the_runs():
    plan = plan_of(Detect(detect=3.5, final_test="growth"))
    asked = decided(plan, ())
    runs = group(asked).runs
    mixed = Runs.from_columns(
        *(list(reversed(each)) for each in (
            [runs.instances[row] for row in runs.instance], [runs.algorithms[row] for row in runs.algorithm], runs.value
        ))
    )  # fmt: skip
    one, other = (decided(plan, (FinishedGroup(asked, (), lambda each=each: each),)) for each in (runs, mixed))
    assert PilotReport.from_data(other.details).since == asked.instances[:10]
    assert (one.instances, one.runs) == (other.instances, other.runs)


def test_who_says_what_an_instance_costs_gets_the_cheapest_plan():
    slacks = [Detect(detect=1.2, instance_cost=cost).goal(plan_of(Detect(detect=1.2))).slack for cost in (0.0, 30.0)]
    assert slacks == [0.1, 0.0]


def test_all_with_all_more_instances_are_planned_than_if_every_pair_could_differ():
    alone = Question("simple", better="lower")
    _, main, _ = course(plan_of(Detect(detect=1.2), question=alone))
    goal = Detect(detect=1.2).goal(plan_of(Detect(detect=1.2), question=alone))
    report = PilotReport.from_data(main.details)
    assert goal.caution == 0.55
    assert report.mean_power >= 0.8 > report.least_power
    expected = np.array([report.deviations[place] ** 2 for place in report.continuing])
    every = needed_instances(goal, expected)
    assert every < needed_instances(replace(goal, together=2), expected)


@pytest.mark.parametrize("instances", [3, 16, 20, 29])
def test_too_few_to_choose_among_are_all_taken(instances):
    plan = plan_of(Detect(detect=1.2), instances=instances)
    pilot, main, end = course(plan, noise=6.0)
    report = PilotReport.from_data(main.details)
    assert len(pilot.instances) == min(20, instances)
    assert len(main.instances) == instances
    assert report.is_fixed
    assert not any(report.clear)
    assert "Plan: all" in main.reason
    assert isinstance(end, EndStudy)


def test_too_few_for_the_power_go_on_and_it_is_said_what_they_find():
    _, main, _ = course(plan_of(Detect(detect=0.5), instances=57))
    report = PilotReport.from_data(main.details)
    assert report.planned == 57 < report.needed
    assert report.mean_power < 0.8
    assert report.detectable > 0.5
    assert f"0.5 needs {report.needed:,} instances; 57 are available." in main.reason
    assert f"power 0.8 they detect {report.detectable:.3g}" in main.reason


def test_differences_that_vary_without_end_still_go_on():
    _, main, _ = course(plan_of(Detect(detect=1e-6), instances=40))
    assert len(main.instances) == 40


def test_a_deterministic_algorithm_is_run_once():
    plan = plan_of(Detect(detect=1.2), deterministic=("b",))
    pilot, main, _ = course(plan)
    assert pilot.runs["b"] == main.runs["b"] == 1


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**400])
def test_the_unit_of_simple_differences_does_not_matter(scale):
    plain, scaled = (
        course(plan_of(Detect(detect=1.2 * unit)), scale=unit, effects=(0.0, 0.0, 30.0))[1] for unit in (1.0, scale)
    )
    assert (plain.runs, plain.instances) == (scaled.runs, scaled.instances)
    one, other = (PilotReport.from_data(each.details) for each in (plain, scaled))
    np.testing.assert_allclose(np.array(other.means) / scale, one.means, rtol=1e-12)


def test_decisions_are_kept_whole():
    for decision in course(plan_of(Detect(detect=1.2))):
        kept = from_data(to_data(decision))
        assert to_data(kept) == to_data(decision)
        if decision.details:
            assert str(PilotReport.from_data(kept.details)) == str(PilotReport.from_data(decision.details))


def test_runs_that_were_dropped_leave_the_pilot_smaller():
    plan = plan_of(Detect(detect=1.2), policy=Drop())
    asked = decided(plan, ())
    runs = group(asked).runs
    lost = (runs.instance < 2) & (runs.algorithm == 1)
    thinned = replace(runs, status=np.where(lost, 1, 0).astype(np.uint8), value=np.where(lost, np.nan, runs.value))
    main = decided(plan, (FinishedGroup(asked, (), lambda: thinned),))
    assert PilotReport.from_data(main.details).freedom == (17.0, 19.0)


def test_strong_skewness_is_warned_of_before_the_runs_are_paid_for():
    plan = plan_of(Detect(detect=12.0))
    asked = decided(plan, ())
    rng = np.random.default_rng(5)
    gap = {name: 100 + 3 * each for name, each in zip(asked.instances, rng.exponential(size=20) ** 2, strict=True)}
    rows = [
        (instance, name, (gap[instance] if name == "b" else 100.0) + rng.normal(0, 0.1))
        for instance in asked.instances
        for name in NAMES
        for _ in range(5)
    ]
    main = decided(plan, (FinishedGroup(asked, (), lambda: Runs.from_columns(*zip(*rows, strict=True))),))
    (note,) = main.notes
    assert "strongly skewed (most: a × b" in note
    assert "ratio" in note


def test_percent_differences_of_values_that_are_not_positive_are_refused():
    plan = plan_of(Detect(detect=0.02), question=Question("percent", reference="a", better="lower"))
    asked = decided(plan, ())
    with pytest.raises(InvalidData, match="need positive values: the statistic of algorithm"):
        decided(plan, (group(asked, scale=-1.0),))


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"effect": 0.5}, "omit effect"),
        ({"test": "wilcoxon"}, "detect needs test = 't'"),
        ({"test": "sign"}, "detect needs test = 't'"),
        ({"target": "worst"}, "detect plans for the mean power of the comparisons; omit target"),
        ({"power": 0.04}, "power must be larger than alpha"),
    ],
)
def test_what_has_no_form_after_a_pilot_is_refused(question, sentence):
    with pytest.raises((InvalidPlan, InvalidDesign), match=sentence):
        plan_of(Detect(detect=1.2), question=Question("simple", reference="a", **{"better": "lower"} | question))


def test_two_instances_are_too_few():
    with pytest.raises(InvalidPlan, match="detect needs 3 or more instances"):
        plan_of(Detect(detect=1.2), instances=2)


def test_parts_are_refused_in_a_sentence():
    for instances in (200, 12):
        with pytest.raises(InvalidPlan, match="cannot be cut into parts"):
            part_of(plan_of(Detect(detect=1.2), instances=instances), 1, 4)


@pytest.mark.parametrize("difference", ["percent", "ratio"])
def test_the_pilot_is_read_by_the_formula_of_the_study(difference):
    """That of equal algorithms finds less to be different where the noise of the runs is corrected for."""
    reports = {}
    for formula in (None, "corrected", "delta", "paper"):
        plan = plan_of(
            Detect(detect=0.05), question=Question(difference, reference="a", formula=formula, better="lower")
        )
        pilot = group(decided(plan, ()), noise=30.0)
        reports[formula] = PilotReport.from_data(decided(plan, (pilot,)).details)
    read = {formula: (report.means, report.noise_shares, report.needed) for formula, report in reports.items()}
    assert read[None] == read["corrected"]
    assert read["delta"] == read["paper"] != read["corrected"]
    runs = pilot.runs
    values = {name: [runs.value[(runs.instance == i) & (runs.algorithm == k)] for i in range(20)]
              for k, name in enumerate(runs.algorithms)}  # fmt: skip
    means = {name: np.array([each.mean() for each in own]) for name, own in values.items()}
    one, other = means["a"], means["b"]
    plain = 1 - other / one if difference == "percent" else np.log(one / other)
    assert reports["delta"].means[0] == pytest.approx(plain.mean(), rel=1e-9)
    u = {name: np.array([each.var(ddof=1) / 5 for each in own]) / means[name] ** 2 for name, own in values.items()}
    bias = -(other / one) * u["a"] if difference == "percent" else (u["b"] - u["a"]) / 2
    moved = reports["corrected"].means[0] - reports["delta"].means[0]
    assert moved == pytest.approx(-bias.mean(), rel=0.15)
