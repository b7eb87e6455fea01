"""The study rule that is looked at on the way: what it asks for, decides and refuses, and that the analysis agrees."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from ampler import Precision, Study
from ampler.analysis.interim import replayed
from ampler.core.arrays import Runs
from ampler.core.contracts import FinishedGroup
from ampler.core.errors import InvalidDesign, InvalidPlan
from ampler.core.failures import Drop
from ampler.core.plan import Continue, EndStudy, Function, Question
from ampler.core.settings import Settings
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.interim import Looking, looking
from ampler.study.plan import begun_first, make_plan, part_of
from ampler.study.record import record, settings_of
from ampler.study.stopping import decided, from_data, to_data
from ampler.testing import SerialExecutor

NAMES = ("a", "b", "c", "d")


def plan_of(looks=4, *, instances=40, question=None, rule=None, names=NAMES, count="all", **more):
    return make_plan(
        question=question or Question("simple", reference="a", effect=0.5, better="lower"),
        algorithms=[Function(name, min, "builtins:min") for name in names],
        instances=[f"i{n}" for n in range(instances)],
        rule=rule or Fixed(runs=2),
        study_rule=Looking(looks=looks),
        count=count,
        **more,
    )


def group(asked, shifts, seed=1, failing=()):
    """Two runs of everything that was asked for; those on instances that fail give no value."""
    rows = []
    for instance in asked.instances:
        level = random.Random(f"{seed}/{instance}").gauss(100, 5)
        for name in asked.algorithms:
            rng = random.Random(f"{seed}/{instance}/{name}")
            own = level + rng.gauss(0, 1) + shifts.get(name, 0.0)
            for _ in range(2):
                lost = (instance, name) in failing
                rows.append((instance, name, np.nan if lost else own + rng.gauss(0, 0.1), "failed" if lost else "ok"))
    return FinishedGroup(asked, (), lambda: Runs.from_columns(*zip(*rows, strict=True)))


def course(plan, shifts, **how):
    """The decisions of a whole study, and the groups they saw."""
    taken, groups = [], []
    while not taken or isinstance(taken[-1], Continue):
        taken.append(decided(plan, groups))
        if isinstance(taken[-1], Continue):
            groups.append(group(taken[-1], shifts, **how))
    return taken, groups


def test_the_groups_are_the_looks_in_the_order_of_the_seed():
    plan = plan_of()
    names = [instance.name for instance in plan.instances]
    assert Looking(looks=4).groups(plan) == [names[:16], names[16:24], names[24:32], names[32:]]
    assert decided(plan, ()).reason == (
        "Interim analyses follow after 16, 24, 32, 40 instances. Comparisons that are significant or equivalent within"
        " d = 0.5 stop there, and algorithms without a remaining comparison are dropped."
    )


def test_what_is_decided_gets_no_more_runs_and_it_is_told_after_each_look():
    taken, _ = course(plan_of(), {"c": 8.0, "d": 1.0})
    asked = [each.algorithms for each in taken if isinstance(each, Continue)]
    assert asked[0] == NAMES
    assert "c" not in asked[1]
    assert taken[1].reason.startswith(
        "Interim analysis 1 of 4, 16 instances: 1 significant, 0 equivalent, 2 continuing."
    )
    assert "1 algorithm is dropped (c)." in taken[1].reason
    assert isinstance(taken[-1], EndStudy)
    assert all(before.count("continue") >= after.count("continue") for before, after in _pairs_of_verdicts(taken))


def _pairs_of_verdicts(taken):
    verdicts = [each.details["verdicts"] for each in taken[1:]]
    return itertools.pairwise(verdicts)


def test_a_study_in_which_everything_is_clear_ends_at_its_first_look():
    taken, _ = course(plan_of(), {"b": 8.0, "c": -8.0, "d": 9.0})
    assert len(taken) == 2
    assert taken[-1].details["verdicts"] == ["different"] * 3
    assert taken[-1].reason == (
        "Interim analysis 1 of 4, 16 instances: 3 significant, 0 equivalent, 0 continuing. The study stops early, after"
        " 16 of at most 40 instances."
    )


def test_without_an_effect_nothing_stops_for_being_small():
    plan = plan_of(question=Question("simple", reference="a", better="lower"))
    taken, _ = course(plan, {"c": 8.0})
    assert taken[-1].details["verdicts"].count("no relevant difference") == 0
    assert len(taken) == 5
    assert "2 inconclusive" in taken[-1].reason


TESTED = [*(("t", way) for way in ("two-sided", "less", "greater")), ("wilcoxon", "less"), ("sign", "greater")]
TESTED_TOO = [("wilcoxon", "two-sided"), ("wilcoxon", "greater"), ("sign", "two-sided"), ("sign", "less")]


@pytest.mark.parametrize(
    ("test", "alternative"), [*TESTED, *(pytest.param(*each, marks=pytest.mark.slow) for each in TESTED_TOO)]
)
def test_the_tests_with_looks_have_them_in_every_direction(test, alternative):
    plan = plan_of(
        question=Question("simple", reference="a", effect=0.5, test=test, alternative=alternative, better="lower")
    )
    up, _ = course(plan, {"b": 8.0, "c": -8.0})
    verdict = dict(zip("bcd", up[-1].details["verdicts"], strict=True))
    found = {name for name in "bc" if verdict[name] == "different"}
    assert found == {"two-sided": {"b", "c"}, "less": {"b"}, "greater": {"c"}}[alternative]


def test_a_decision_is_kept_as_plain_data():
    for decision in course(plan_of(), {"c": 8.0})[0]:
        assert from_data(to_data(decision)) == decision


# decision and analysis --------------------------------------------------------------------------------------------


def solver(shift, *, heavy=False):
    def solve(instance, seed):
        own = random.Random(f"{instance}/{shift}").gauss(0, 1)
        noise = random.Random(seed).expovariate(1) if heavy else random.Random(seed).gauss(0, 1)
        return 100 + instance % 7 + shift + own + noise

    return solve


@pytest.mark.parametrize(
    ("difference", "heavy"),
    [
        *(("simple", False), ("simple", True), ("percent", True), ("ratio", True)),
        *(pytest.param(difference, False, marks=pytest.mark.slow) for difference in ("percent", "ratio")),
    ],
)
def test_decisions_see_the_estimates_of_the_analysis(tmp_path, difference, heavy):
    """With a rule that the values end, and skewed runs, the correction is large: a second home would be seen.

    Simple differences of runs with equal tails are not corrected.
    """
    study = Study(
        algorithms={"a": solver(0.0, heavy=heavy), "b": solver(0.4), "c": solver(2.0, heavy=heavy), "d": solver(0.1)},
        instances={f"i{n}": n for n in range(15)},
        difference=difference,
        reference="a",
        design=Precision(
            effect=0.8,
            se={"simple": 0.4}.get(difference, 0.004),
            start=4,
            budget=60,
            interim=[0.4, 0.7, 1.0],
            instances="all",
        ),
        seed=3,
        better="lower",
    )
    told = []
    analysis = study.run(tmp_path / "study.db", executor=SerialExecutor(), progress=told.append)
    last = [each for each in told if isinstance(each, Continue | EndStudy)][-1].details
    assert analysis.looks.history[-1] == tuple(last["verdicts"])
    assert [list(pair) for pair in analysis.looks.pairs] == last["pairs"]
    assert [each.look for each in analysis.looks.standings] == last["decided_at"]
    by_all_runs = study_differences_by_all_runs(tmp_path / "study.db")
    there = ~np.isnan(analysis.differences)
    alike = np.allclose(analysis.differences[there], by_all_runs[there])
    assert alike == (difference == "simple" and not heavy)


def study_differences_by_all_runs(path):
    from ampler import Settings, analyse, read_results

    return analyse(read_results(path, ignore_looks=True), settings=Settings(estimate="all-runs")).differences


def test_the_replay_of_a_decision_is_the_replay_of_the_analysis_to_the_last_bit():
    plan = plan_of(rule=Accuracy(se=0.2, difference="simple", reference="a", start=2, guard_edition=2))
    taken, groups = course(plan, {"b": 0.4, "c": 8.0})
    looked = Looking(looks=4).analyses(plan, groups)
    runs = Runs.from_columns(
        [part.runs.instances[i] for part in groups for i in part.runs.instance],
        [part.runs.algorithms[k] for part in groups for k in part.runs.algorithm],
        np.concatenate([part.runs.value for part in groups]),
    )
    settings = Settings(**settings_of(record(plan)))
    again = replayed(runs, looked.course, settings, (), plan.rule).result
    assert repr(again) == repr(looked)
    assert again.history[-1] == tuple(taken[-1].details["verdicts"])


def test_failed_runs_leave_a_comparison_fewer_instances_and_it_is_decided_all_the_same():
    names = [instance.name for instance in plan_of(policy=Drop()).instances]
    failing = {(name, "b") for name in names[:6]} | {(name, "d") for name in names[14:24]}
    taken, groups = course(plan_of(policy=Drop()), {"b": 8.0}, failing=failing)
    looked = Looking(looks=4).analyses(plan_of(policy=Drop()), groups)
    assert looked.standing(("a", "b")).verdict == "different"
    assert looked.standing(("a", "b")).instances == 10
    assert taken[-1].details["verdicts"][0] == "different"


# refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            Question("percent", effect=0.5, better="lower"),
            "percent differences of all pairs",
        ),
        (
            Question("simple", effect=0.5, test="bootstrap-t", better="lower"),
            "are for the tests t, wilcoxon and sign, got",
        ),
        (Question("simple", effect=0.5, margin=0.1, better="lower"), "omit margin"),
    ],
)
def test_what_has_no_form_over_looks_is_refused_in_a_sentence(asked, words):
    for count in ("all", "needed"):
        with pytest.raises(InvalidPlan, match=words):
            plan_of(question=asked, count=count)


def test_two_algorithms_may_be_compared_in_percent_as_nobody_leaves_early():
    plan = plan_of(question=Question("percent", effect=0.5, better="lower"), names=("a", "b"))
    assert len(Looking(looks=4).groups(plan)) == 4


@pytest.mark.parametrize(("looks", "instances"), [(4, 11), ([0.1, 1.0], 20), ([0.5, 0.6, 1.0], 20), (4, 1)])
def test_each_look_needs_three_new_instances(looks, instances):
    with pytest.raises(InvalidDesign, match="at least 3 new instances, got them after"):
        plan_of(looks, instances=instances)


@pytest.mark.parametrize("looks", [0, -1, 21, 2.5, "4", True, [], [0.5], [0.6, 0.4, 1.0], [0.5, "1"]])
def test_looks_that_are_none_are_refused(looks):
    with pytest.raises(InvalidDesign):
        Looking(looks=looks)


def test_an_order_made_by_hand_is_refused():
    plan = plan_of()
    by_hand = replace(plan, instances=tuple(sorted(plan.instances, key=lambda each: int(each.name[1:]))))
    with pytest.raises(InvalidPlan, match="in the random order of the seed"):
        Looking(looks=4).check(by_hand)
    chosen = replace(plan, instances=plan.instances[1:], untouched=plan.instances[:1])
    with pytest.raises(InvalidPlan, match="random order of the seed"):
        Looking(looks=4).check(chosen)


def test_instances_that_were_begun_do_not_come_first():
    plan = plan_of(count=30)
    assert begun_first(plan, {instance.name for instance in plan.untouched}) == plan


def test_parts_do_not_know_of_each_other():
    with pytest.raises(InvalidPlan, match="cannot be cut into parts"):
        part_of(plan_of(), 1, 2)


def test_one_look_at_all_instances_is_a_study_as_ever():
    assert looking(None) is None
    assert looking(1) is None
    assert looking([1.0]) is None
    assert looking(3).shares == (1 / 3, 2 / 3, 1.0)


# the size ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithms", "needed"), [(2, 35), (8, 48), (22, 58)])
def test_the_plan_takes_the_instances_that_looks_need(algorithms, needed):
    names = [f"a{n}" for n in range(algorithms)]
    asked = Question("simple", reference="a0", effect=0.5, better="lower")
    plan = plan_of(question=asked, names=names, instances=80, count="needed")
    assert (plan.needed, len(plan.instances)) == (needed, needed)
    assert plan.power == pytest.approx(0.8, abs=0.012)
    assert plan.power >= 0.8
    assert not plan.warnings


def test_too_few_instances_are_told():
    (warning,) = plan_of(instances=30, count="needed").warnings
    assert warning.startswith("41 instances are needed for power 0.8 at effect 0.5; 30 are used: mean power 0.6")
