"""One instance on its way: the same rounds in whatever order runs end, and wherever they were broken off."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidRule, InvalidSamples, RunFailed
from ampler.core.failures import Drop, Penalty, StopStudy
from ampler.core.plan import Function, Question, Sample, Stop
from ampler.core.runs import Observation, RunKey
from ampler.running.instance import InstanceRun
from ampler.running.work import Task
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.plan import make_plan
from ampler.study.run_inputs import run_seed

RULE = Accuracy(se=0.4, difference="simple", start=3, budget=60, batch=4)


def make(rule=RULE, policy=None, retries=0, algorithms="abc", deterministic=()):
    return make_plan(
        question=Question(getattr(rule, "difference", "simple"), getattr(rule, "reference", None), better="lower"),
        algorithms=[Function(name, print, f"x:{name}", deterministic=name in deterministic) for name in algorithms],
        instances=["i1", "i2"],
        rule=rule,
        seed=5,
        count="all",
        policy=policy or StopStudy(),
        retries=retries,
    )


def observe(task, **changes):
    """What a run gives: a value that hangs on its seed alone."""
    seed = run_seed(5, task.key.instance, task.key.algorithm, task.key.index)
    value = ord(task.key.algorithm) + random.Random(seed).gauss(0, 1)
    return replace(Observation(task.key, value, 0.1, seed=seed, attempt=task.attempt, round=task.round), **changes)


def failing(task, status="failed"):
    return observe(task, value=None, status=status, message="no")


def carry_out(course, rng=None, most=10**9, run=observe):
    """Make runs in the order asked for, or in any order, until the end or until so many are made."""
    wanted, seen = course.begin(), []
    while wanted and len(seen) < most:
        task = wanted.pop(rng.randrange(len(wanted)) if rng else 0)
        seen.append(run(task))
        wanted += course.take(seen[-1])
    return seen


def test_the_first_round_is_asked_for_and_later_rounds_follow_from_complete_ones():
    course = InstanceRun(make(), "i1", "d")

    first = course.begin()
    between = [course.take(observe(task)) for task in first[:-1]]
    second = course.take(observe(first[-1]))

    assert [(task.key.algorithm, task.key.index, task.round) for task in first] == [
        (name, index, 0) for name in "abc" for index in range(3)
    ]
    assert between == [[]] * 8
    assert len(second) == 4
    assert {task.round for task in second} == {1}
    assert {task.attempt for task in first + second} == {0}


def test_at_the_end_it_says_why_and_how_many_runs_were_asked_for():
    course = InstanceRun(make(), "i1", "digest")

    seen = carry_out(course)

    assert course.done is not None
    assert (course.done.instance, course.done.decisions, course.done.reason) == ("i1", "digest", "accuracy reached")
    assert sum(course.done.counts.values()) == len(seen)
    assert course.done.rounds == max(each.round for each in seen) + 1
    assert 0 < course.done.error <= 0.4
    assert course.begin() == []


@given(st.integers(0, 2**32), st.integers(0, 60), st.sampled_from([RULE, Fixed(runs=5), replace(RULE, budget=20)]))
def test_order_of_arrival_and_interruptions_change_nothing(seed, most, rule):
    rng = random.Random(seed)
    plan = make(rule)
    whole = InstanceRun(plan, "i1", "d")
    straight = {(each.key, each.value, each.round) for each in carry_out(whole)}

    before = carry_out(InstanceRun(plan, "i1", "d"), rng, most)
    rng.shuffle(before)
    resumed = InstanceRun(plan, "i1", "d", before)
    after = carry_out(resumed, rng)

    assert {(each.key, each.value, each.round) for each in before + after} == straight
    assert len(before) + len(after) == len(straight)
    assert resumed.done == whole.done


def test_recorded_runs_nobody_asks_for_are_left_alone():
    plan = make(Fixed(runs=2))
    recorded = [observe(Task(RunKey("i1", name, index))) for name in "abc" for index in range(9)]

    course = InstanceRun(plan, "i1", "d", recorded)

    assert course.begin() == []
    assert course.done.counts == {"a": 2, "b": 2, "c": 2}


def test_under_the_policy_to_stop_a_failure_raises_and_names_the_run():
    course = InstanceRun(make(), "i1", "d")
    task = course.begin()[4]

    with pytest.raises(RunFailed, match=r"run 1 of 'b' on 'i1' \(seed \d+\) failed: no; fix it and run again"):
        course.take(failing(task))


def test_a_failed_run_is_tried_again_as_often_as_asked_with_the_next_attempt():
    course = InstanceRun(make(retries=2), "i1", "d")
    task = course.begin()[0]

    (second,) = course.take(failing(task))
    (third,) = course.take(failing(second, "timeout"))

    assert [task.attempt, second.attempt, third.attempt] == [0, 1, 2]
    assert second.key == third.key == task.key
    with pytest.raises(RunFailed):
        course.take(failing(third))


def test_a_dropped_run_keeps_its_index_counts_towards_the_budget_and_is_asked_for_again():
    course = InstanceRun(make(policy=Drop()), "i1", "d")
    first = course.begin()

    more = [task for place, task in enumerate(first) for task in course.take((failing if place < 2 else observe)(task))]

    assert [(task.key.algorithm, task.key.index, task.round) for task in more] == [("a", 3, 1), ("a", 4, 1)]
    assert course.samples.counts.tolist() == [1, 3, 3]
    assert course.samples.spent.tolist() == [3, 3, 3]


def test_a_penalty_is_a_value():
    course = InstanceRun(make(Fixed(runs=2), policy=Penalty(1e6)), "i1", "d")
    first = course.begin()

    for place, task in enumerate(first):
        course.take((failing if place == 0 else observe)(task))

    assert course.samples.values("a")[0] == 1e6
    assert course.done.reason == "runs done"


def test_an_algorithm_that_always_fails_spends_the_budget_and_ends():
    def run(task):
        return (failing if task.key.algorithm == "a" else observe)(task)

    course = InstanceRun(make(policy=Drop()), "i1", "d")
    seen = carry_out(course, run=run)

    assert course.done.reason == "budget spent"
    assert len(seen) == 60
    assert course.done.error is None


@pytest.mark.parametrize(
    ("policy", "again", "tried"),
    [(StopStudy(), False, True), (Drop(), False, False), (Penalty(9.0), False, False), (Drop(), True, True)],
)
def test_failures_of_earlier_sessions_are_final_unless_the_policy_or_the_user_says_otherwise(policy, again, tried):
    plan = make(Fixed(runs=2), policy=policy)
    tasks = [Task(RunKey("i1", name, index)) for name in "abc" for index in range(2)]
    recorded = [failing(tasks[0]), *map(observe, tasks[1:])]

    course = InstanceRun(plan, "i1", "d", recorded, again=again)

    assert course.begin() == ([Task(tasks[0].key, attempt=1)] if tried else [])
    assert (course.done is None) == tried


def test_retries_that_were_broken_off_are_taken_up_again():
    plan = make(Fixed(runs=1), policy=Drop(), retries=2)
    task = Task(RunKey("i1", "a", 0))

    course = InstanceRun(plan, "i1", "d", [failing(task), failing(task._replace(attempt=1))])

    assert course.begin()[0] == task._replace(attempt=2)


def test_a_lost_run_is_tried_three_times_alone_and_then_failed():
    course = InstanceRun(make(policy=Drop()), "i1", "d")
    task, statuses = course.begin()[0], []

    while task is not None:
        seen = course.lost(task, "it was ended by SIGKILL")
        statuses.append((seen.attempt, seen.status))
        task = next(iter(course.take(seen)), None)
        assert task is None or task.alone

    assert statuses == [(0, "lost"), (1, "lost"), (2, "failed")]
    assert seen.message == "the worker was lost while making this run 3 times: it was ended by SIGKILL"
    assert seen.seed == run_seed(5, "i1", "a", 0)


def test_only_losses_in_a_row_make_a_run_fail():
    course = InstanceRun(make(retries=1, policy=Drop()), "i1", "d")
    task, statuses = course.begin()[0], []

    for ending in ("lost", "lost", "failed", "lost", "lost", "lost"):
        seen = course.lost(task, "it died") if ending == "lost" else failing(task)
        statuses.append(seen.status)
        task = next(iter(course.take(seen)), None)

    assert statuses == ["lost", "lost", "failed", "lost", "lost", "failed"]
    assert task is None


def test_a_loss_does_not_give_a_failing_run_its_retries_back():
    course = InstanceRun(make(retries=1, policy=Drop()), "i1", "d")
    (task,) = course.take(failing(course.begin()[0]))

    (task,) = course.take(course.lost(task, "it died"))

    assert course.take(failing(task)) == []


def test_a_lost_run_remembers_the_round_that_asked_for_it():
    course = InstanceRun(make(), "i1", "d")
    second = [task for first in course.begin() for task in course.take(observe(first))]

    seen = course.lost(second[0], "it died")

    assert (second[0].round, seen.round) == (1, 1)


def test_lost_runs_of_earlier_sessions_are_always_tried_again():
    task = Task(RunKey("i1", "a", 0))
    for policy in (StopStudy(), Drop()):
        course = InstanceRun(make(policy=policy), "i1", "d", [failing(task, "lost")])
        assert course.begin()[0].attempt == 1


def test_a_value_after_failures_counts():
    task = Task(RunKey("i1", "a", 0))
    recorded = [failing(task), observe(task._replace(attempt=1))]

    course = InstanceRun(make(Fixed(runs=1), policy=Drop()), "i1", "d", recorded)
    carry_out(course)

    assert course.samples.values("a").tolist() == [recorded[1].value]


def test_a_deterministic_algorithm_runs_once():
    course = InstanceRun(make(deterministic="a"), "i1", "d")

    carry_out(course)

    assert course.done.counts["a"] == 1


def test_problems_with_values_name_the_instance():
    plan = make(replace(RULE, difference="percent", reference="a"))
    course = InstanceRun(plan, "i1", "d")

    with pytest.raises(InvalidSamples, match="on instance 'i1': "):
        carry_out(course, run=lambda task: observe(task, value=-1.0))


@pytest.mark.parametrize("wish", [Sample({}), Sample({"a": 0}), Sample({"z": 1})])
def test_a_rule_that_asks_for_nothing_or_for_a_stranger_is_refused(wish):
    with pytest.raises(InvalidRule, match="a rule must request runs of a, b, c, or stop, got Sample"):
        InstanceRun(make(lambda samples: wish), "i1", "d").begin()


def test_what_is_still_expected_is_asked_of_the_rule():
    course = InstanceRun(make(), "i1", "d")
    tasks = course.begin()
    assert course.expected() == {"a": 3, "b": 3, "c": 3}
    assert course.error() is None

    for task in tasks:
        course.take(observe(task))

    assert course.expected() == RULE.predict(course.samples)
    assert course.error() > 0.4


def test_runs_under_way_are_expected_even_if_the_rule_no_longer_foresees_them():
    class Forgetful:
        def __call__(self, samples):
            return Stop("runs done") if samples.counts.all() else Sample({"a": 2, "b": 1, "c": 1})

        def predict(self, samples):
            return {"a": 0, "b": 5, "c": 0}

    course = InstanceRun(make(Forgetful()), "i1", "d")
    course.begin()

    assert course.expected() == {"a": 2, "b": 5, "c": 1}


def test_a_rule_may_be_a_mere_function():
    course = InstanceRun(
        make(lambda samples: Stop("runs done") if samples.counts.all() else Sample({"a": 1, "b": 1, "c": 1})), "i1", "d"
    )

    assert len(course.begin()) == 3
    assert course.expected() == {"a": 1, "b": 1, "c": 1}
    assert carry_out(course)
    assert (course.done.reason, course.done.error) == ("runs done", None)
