"""What a study file says besides its runs."""

from __future__ import annotations

import random

import pytest
from flat_study import flat_study

from ampler.core.errors import InvalidData, StoreUnusable
from ampler.core.failures import Drop
from ampler.core.plan import Command, Instance, Question
from ampler.core.runs import Finished, Observation, RunKey
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.evidence import evidence_of_study, origin_of_study
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.study.store import open_store
from ampler.testing import MemoryStore, SerialExecutor

COMMANDS = {name: Command(name, ("solve", name, "{seed}", "{instance}")) for name in "ab"}


def plan_of(**changes):
    """A plan of two instances with a feature, under a rule of accuracy."""
    question = changes.pop("question", Question("simple", alpha=0.01, better="lower"))
    rule = Accuracy(se=0.5, difference="simple", guard="all")
    instances = [Instance(name, features={"size": size}) for name, size in (("i1", "small"), ("i2", "large"))]
    given = {"algorithms": COMMANDS, "instances": instances, "rule": rule, "count": "all"} | changes
    return record(make_plan(question=question, **given))


def filled(store, plan, *instances, runs=2):
    """A store with so many runs of each algorithm on instances that are finished with two."""
    store.begin(plan, {"python": "3"})
    names = [(instance, name, index) for instance in instances for name in "ab" for index in range(runs)]
    done = [Finished(name, plan.decisions, "accuracy reached", {"a": 2, "b": 2}, 1) for name in instances]
    store.add([Observation(RunKey(*key), float(len(key[0]))) for key in names], done)
    return store


def kinds(evidence):
    return [note.kind for note in evidence.notes]


def test_question_rule_and_policy_are_settings_of_the_analysis():
    found = evidence_of_study(filled(MemoryStore(), plan_of(policy=Drop()), "i1", "i2")).settings

    assert (found["difference"], found["alpha"]) == ("simple", 0.01)
    assert (found["se"], found["guard"], found["budget"]) == (0.5, "all", 100)
    assert found["failures"] == Drop()


def test_errors_are_judged_by_the_edition_of_the_guard_under_which_the_study_was_run():
    for edition in (1, 2):
        rule = Accuracy(se=0.5, difference="simple", guard_edition=edition)
        found = evidence_of_study(filled(MemoryStore(), plan_of(rule=rule), "i1"))
        assert found.settings["guard_edition"] == edition


def test_what_stops_a_study_says_nothing_of_failed_runs():
    assert "failures" not in evidence_of_study(filled(MemoryStore(), plan_of(), "i1")).settings


def test_features_come_by_feature():
    found = evidence_of_study(filled(MemoryStore(), plan_of(), "i1", "i2"))

    assert found.features == {"size": {"i1": "small", "i2": "large"}}
    assert kinds(found) == []
    assert len(found.runs) == 8


def test_unfinished_instances_and_runs_that_nobody_asked_for_are_left_out_and_said():
    found = evidence_of_study(filled(MemoryStore(), plan_of(), "i1", runs=3))

    assert kinds(found) == ["unfinished", "unused"]
    assert found.notes[0].sentence.startswith("1 of 2 planned instances are not finished")
    assert found.notes[1].sentence.startswith("2 recorded runs are outside the plan")
    assert len(found.runs) == 4


def test_a_plan_that_changed_after_looking_is_said():
    store = filled(MemoryStore(), plan_of(), "i1")
    store.begin(plan_of(question=Question("simple", alpha=0.1, better="lower")), {})
    filled(store, plan_of(question=Question("simple", alpha=0.1, better="lower")), "i2")

    found = evidence_of_study(store)

    assert "alpha was changed" in found.notes[-1].sentence
    assert found.settings["alpha"] == 0.1


def test_nothing_planned_and_nothing_finished_are_told_apart():
    empty, begun = MemoryStore(), MemoryStore()
    begun.begin(plan_of(), {})

    with pytest.raises(StoreUnusable, match="holds no plan yet"):
        evidence_of_study(empty)
    with pytest.raises(InvalidData, match="no instance of the study is finished yet"):
        evidence_of_study(begun)


def test_the_origin_of_runs_is_the_last_plan_the_first_date_and_the_last_environment(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        assert origin_of_study(path) is None
        filled(store, plan_of(), "i1")
        store.begin(plan_of(question=Question("simple", alpha=0.1, better="lower")), {"python": "4"})
        first = store.plans()[0].created
    found = origin_of_study(path)

    assert found.plan.question.alpha == 0.1
    assert (found.begun, found.environment["python"]) == (first, "4")


def noisy(instance, seed):
    """Runs that differ far more than instances do."""
    return 100 + instance % 3 + random.Random(seed).gauss(0, 5)


@pytest.mark.parametrize("how", ["detect", "fixed", "accuracy"])
def test_what_a_plan_chose_on_purpose_is_not_warned_of(tmp_path, how):
    """Few or uneven runs: of rules that looked at the values, the noise is told and the bias corrected."""
    settings = {
        "detect": {"detect": 3.0, "instance_cost": 30.0},
        "fixed": {"rule": Fixed(runs=3), "use": "all"},
        "accuracy": {"se": 4.0, "start": 3, "use": "all"},
    }[how]
    algorithms = {"a": noisy, "b": noisy, "far": lambda instance, seed: noisy(instance, seed) + 50}
    study = flat_study(
        algorithms=algorithms, instances={f"i{k}": k for k in range(40)}, difference="simple", reference="a", seed=3,
        **settings, better="lower",
    )  # fmt: skip
    kinds = {each.kind for each in study.run(tmp_path / "study.db", executor=SerialExecutor(), progress=False).warnings}
    assert bool(kinds & {"bias", "run-noise"}) == (how == "accuracy")
