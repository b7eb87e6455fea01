"""`ampler status`: where a study stands, per instance and algorithm."""

import pytest

from ampler.core.failures import Drop
from ampler.core.plan import Question
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.study.store import environment, open_store
from ampler.testing import SerialExecutor


def failing(instance, seed):
    raise ValueError


@pytest.fixture
def study(tmp_path):
    """`study(run=…)`: the path of a study, begun or carried out."""

    def make(*, run):
        plan = make_plan(
            question=Question("simple", better="lower"),
            algorithms={"good": lambda instance, seed: seed, "bad": failing},
            instances=["i1", "i2", "i3"],
            rule=Fixed(runs=2),
            count=2,
            policy=Drop(),
            name="small",
        )
        with open_store(tmp_path / "study.db") as store:
            store.begin(record(plan), environment())
            if run:
                run_plan(plan, store, executor=SerialExecutor())
        return tmp_path / "study.db"

    return make


def test_a_finished_study_is_shown_per_instance_and_algorithm(study, shell):
    answer = shell("status", study(run=True))

    assert answer.code == 0
    assert "small: 2 of 2 instances finished. 8 runs (4 failed)" in answer.words
    assert "1 more instance not needed" in answer.words
    rows = [line.split() for line in answer.out.splitlines() if line.strip().startswith("i")]
    assert rows[0] == ["instance", "good", "bad", "failed", "largest", "SE", "state"]
    assert sorted(row[1:] for row in rows[1:]) == [["2", "2", "2", "complete"]] * 2


def test_a_study_that_has_only_begun_is_waiting(study, shell):
    answer = shell("status", study(run=False), "--json")

    assert answer.code == 0
    assert answer.json["finished"] == 0
    assert [instance["state"] for instance in answer.json["instances"]] == ["waiting", "waiting"]


def test_json_holds_all_of_it(study, shell):
    document = shell("status", study(run=True), "--json").json

    assert document["name"] == "small"
    assert document["algorithms"] == ["good", "bad"]
    assert (document["finished"], document["runs"], document["failures"], document["untouched"]) == (2, 8, 4, 1)
    assert document["instances"][0]["runs"] == {"good": 2, "bad": 2}
    assert document["instances"][0]["reason"] == "runs done"
    assert document["instances"][0]["error"] is None


def test_a_study_can_be_looked_at_while_it_runs(study, shell):
    path = study(run=True)
    with open_store(path):
        assert shell("status", path).code == 0


def test_a_file_that_is_not_there_is_told(shell, tmp_path):
    answer = shell("status", tmp_path / "nothing.db")

    assert answer.code == 1
    assert "there is no results file" in answer.err


def test_the_commonest_failure_is_named(study, shell):
    answer = shell("status", study(run=True))

    assert "Runs failed every time: it raised ValueError" in answer.words
    document = shell("status", study(run=True), "--json").json
    assert document["failure"]["times"] == 4
