"""Growing a study: what is said beforehand, what is run, and what is no longer used."""

import random
from dataclasses import replace

import pytest

from ampler.api import analyse
from ampler.core.errors import PlanMismatch
from ampler.core.failures import Penalty
from ampler.core.plan import Function, Limits, Question
from ampler.running import run_plan
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.changes import plan_change
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.study.status import status_of
from ampler.study.store import open_store, read_store
from ampler.testing import MemoryStore, SerialExecutor

SERIAL = SerialExecutor()
NAMES = [f"i{number}" for number in range(60)]


def noisy(mean, sd):
    return lambda instance, seed: mean + sd * random.Random(seed).gauss(0, 1)


ALGORITHMS = {"full": noisy(10, 1), "a": noisy(11, 2), "b": noisy(12, 0.5), "X": noisy(10, 1.5)}


def make(algorithms=("full", "a", "b"), *, instances=NAMES, effect=0.6, se=0.5, rule=None, reference="full", **fields):
    question = Question("simple", reference, effect=effect, **{"better": "lower"} | fields.pop("question", {}))
    rule = rule or Accuracy(se=se, difference="simple", reference=reference, start=3, budget=60, batch=5)
    return make_plan(
        algorithms={name: ALGORITHMS[name] for name in algorithms},
        instances=instances,
        question=question,
        rule=rule,
        seed=7,
        **fields,
    )


def said(before, now):
    return str(plan_change(record(before), record(now)))


def kept(store):
    return {(seen.key, seen.seed, seen.value) for seen in store.observations()}


# What is said


def test_a_further_algorithm_brings_comparisons_instances_and_runs():
    two, three = make(("full", "a", "b")), make(("full", "a", "b", "X"))
    before, now = len(two.instances), len(three.instances)

    assert before < now
    assert said(two, three) == (
        f"+1 algorithm: 2 → 3 comparisons, {before} → {now} instances: {now - before} new instances for all, new runs"
        f" of X on {now}, more runs of the reference; the levels change, so earlier decisions may."
    )


def test_more_instances_alone_change_no_decision():
    assert said(make(count=20), make(count=25)) == "20 → 25 instances: 5 new instances for all."


def test_a_smaller_se_takes_decisions_again_and_needs_no_run_less():
    assert said(make(), make(se=0.25)) == (
        "se 0.5 → 0.25: decisions are made again, with recorded runs where possible."
    )


def test_a_larger_se_may_leave_runs_unused():
    assert said(make(), make(se=0.8)).endswith("runs outside the new plan stay unused.")


def test_algorithms_that_go_leave_their_runs_unused():
    sentence = said(make(count=20), make(("full", "a"), count=20))

    assert sentence.startswith("−1 algorithm: 2 → 1 comparison: ")
    assert "the runs of b stay unused" in sentence
    assert sentence.endswith("; the levels change, so earlier decisions may.")


def test_an_algorithm_in_place_of_another_keeps_the_comparisons():
    sentence = said(make(count=20), make(("full", "a", "X"), count=20))

    assert sentence.startswith("+1 and −1 algorithms: 2 comparisons: new runs of X on 20")
    assert "levels" not in sentence


def test_without_a_reference_all_others_may_get_more_runs():
    before, now = (make(names, reference=None, count=20) for names in (("full", "a"), ("full", "a", "X")))

    assert "1 → 3 comparisons: new runs of X on 20, more runs of other algorithms; the levels change" in said(
        before, now
    )


def test_fixed_runs_are_not_added_to_the_others():
    before, now = (make(names, rule=Fixed(runs=3), count=20) for names in (("full", "a"), ("full", "a", "X")))

    assert "some more" not in said(before, now)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limits": Limits(timeout=60)}, "timeout none → 60: recorded runs are used as they are."),
        ({"policy": Penalty(99.0)}, "on-failure stop → penalty 99: "),
        ({"retries": 2}, "retries 0 → 2: recorded runs are used as they are."),
        (
            {"question": {"alpha": 0.01}, "count": 20},
            "alpha 0.05 → 0.01: recorded runs are used as they are; the levels",
        ),
        ({"effect": 0.7, "count": 20}, "effect 0.6 → 0.7: recorded runs are used as they are."),
    ],
)
def test_settings_are_named_with_what_they_were(changes, words):
    assert said(make(count=20), make(**{"count": 20, **changes})).startswith(words)


def test_nothing_is_said_of_a_plan_that_is_the_same():
    assert plan_change(record(make()), record(make())) is None


def test_the_sentence_comes_before_anything_starts_and_only_when_there_are_runs():
    events = []

    class Watching(SerialExecutor):
        def submit(self, call, /, *arguments):
            events.append("run")
            return super().submit(call, *arguments)

    store = MemoryStore()
    run_plan(make(count=3), store, executor=SERIAL, announce=events.append)
    run_plan(make(count=3), store, executor=SERIAL, announce=events.append)
    run_plan(make(count=4), store, executor=Watching(), announce=events.append)

    assert str(events[0]) == "3 → 4 instances: 1 new instance for all."
    assert set(events[1:]) == {"run"}


# What happens


STEPS = [
    lambda: make(("full", "a"), count=3),
    lambda: make(("full", "a"), count=5),  # instances
    lambda: make(("full", "a", "X"), count=5),  # an algorithm
    lambda: make(("full", "a", "X"), count=5, se=0.35),  # a smaller se
]


def test_a_study_grown_in_three_steps_equals_the_fresh_one_on_every_run_that_the_final_plan_asks_for(tmp_path):
    final = STEPS[-1]()
    with open_store(tmp_path / "grown.db") as grown, open_store(tmp_path / "fresh.db") as fresh:
        for step in STEPS:
            run_plan(step(), grown, executor=SERIAL)
        run_plan(final, fresh, executor=SERIAL)

        digest = fresh.plans()[-1].decisions
        assert digest == grown.plans()[-1].decisions
        asked = grown.finished(digest)
        assert len(asked) == 5
        assert asked == fresh.finished(digest)
        used = {run for run in kept(grown) if run[0].index < asked[run[0].instance].counts[run[0].algorithm]}
        assert used == kept(fresh)
        assert [len(plan.algorithms) for plan in grown.plans()] == [2, 2, 3, 3]
        assert all(plan.created for plan in grown.plans())
        assert analyse(grown).comparisons == analyse(fresh).comparisons


def test_instances_that_were_begun_come_first_when_new_files_appear():
    store = MemoryStore()
    run_plan(make(instances=NAMES[:30], count=10), store, executor=SERIAL)
    begun = store.begun()
    run_plan(make(instances=NAMES, count=12), store, executor=SERIAL)

    assert begun < store.begun()
    assert len(store.begun()) == 12


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_runs_that_a_smaller_plan_does_not_ask_for_are_counted_and_not_analysed(kind, tmp_path, request):
    store = MemoryStore() if kind == "memory" else open_store(tmp_path / "study.db")
    request.addfinalizer(store.close)
    run_plan(make(("full", "a", "X"), count=6, se=0.35), store, executor=SERIAL)
    before = kept(store)
    small = make(("full", "a"), count=4, se=0.6)
    run_plan(small, store, executor=SERIAL)
    fresh = MemoryStore()
    run_plan(small, fresh, executor=SERIAL)
    recorded = len(kept(store))

    assert kept(store) == before | kept(fresh)
    assert status_of(store).unused == recorded - len(kept(fresh))
    assert analyse(store).comparisons == analyse(fresh).comparisons
    warning = next(each for each in analyse(store).warnings if each.kind == "unused")
    assert str(recorded - len(kept(fresh))) in str(warning)
    assert not [each for each in analyse(fresh).warnings if each.kind == "unused"]


def test_nothing_is_unused_in_a_study_that_was_never_changed():
    store = MemoryStore()
    run_plan(make(count=4), store, executor=SERIAL)

    assert status_of(store).unused == 0


# What is refused


def function(**changes):
    plan = make(count=4)
    changed = replace(Function("b", ALGORITHMS["b"], "m:b"), **changes)
    return replace(plan, algorithms=(*plan.algorithms[:2], changed))


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"parameters": {"k": 2}}, r"parameters of algorithm 'b' is recorded as \{\}, planned as \{\"k\":2\}"),
        ({"origin": "m:other"}, "python of algorithm 'b' is recorded as 'm:b', planned as 'm:other'"),
    ],
)
def test_a_change_of_what_gives_values_under_an_old_name_is_refused_with_its_field(now, words):
    store = MemoryStore()
    run_plan(function(), store, executor=SERIAL)
    announced = []

    with pytest.raises(PlanMismatch, match=words):
        run_plan(function(**now), store, executor=SERIAL, announce=announced.append)

    assert announced == []
    assert len(store.plans()) == 1


def test_a_changed_command_under_an_old_name_is_refused_with_the_field_named(tmp_path):
    from ampler.study.toml import read_study_file

    text = """
        better = "lower"
        difference = "simple"
        [rule]
        allocation = "fixed"
        runs = 2
        [[algorithm]]
        name = "a"
        command = "echo {instance} {seed}"
        [[algorithm]]
        name = "b"
        command = "echo {instance} 1{seed}"
        [instances]
        names = ["i", "j"]
        use = "all"
    """
    file = tmp_path / "study.toml"
    file.write_text(text)
    with open_store(tmp_path / "study.db") as store:
        run_plan(read_study_file(file).plan, store, executor=SERIAL)
        file.write_text(text.replace("echo {instance} 1{seed}", "echo {instance} 2{seed}"))
        with pytest.raises(
            PlanMismatch, match=r"command of algorithm .b. is recorded as .echo \{instance\} 1\{seed\}., planned as"
        ):
            run_plan(read_study_file(file).plan, store, executor=SERIAL)
    with read_store(tmp_path / "study.db") as store:
        assert len(store.plans()) == 1
