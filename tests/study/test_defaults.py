"""What nobody chose is recorded with its value, and a study that was begun keeps it."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from flat_study import flat_study

import ampler as am
from ampler.core.errors import InvalidData
from ampler.design import detect as planning
from ampler.running import run_plan
from ampler.sampling import rules
from ampler.study import detect
from ampler.study.record import as_begun, from_json, record, resolved, to_json, undated
from ampler.study.store import open_store, read_store
from ampler.study.toml import read_study_file
from ampler.testing import SerialExecutor

OLD = Path(__file__).parent / "old"
SETTINGS = {"study_rule", "rule", "analysis"}


@pytest.fixture(params=["fixed", "se", "sized", "looks"])
def old(request, tmp_path):
    """A copy of a finished study of version 0.2.0 (commit 9addfb1)."""
    shutil.copytree(OLD / request.param, tmp_path / "study")
    return tmp_path / "study"


def resumed(folder):
    plan = read_study_file(folder / "study.toml").plan
    with open_store(folder / "study.db") as store:
        return run_plan(plan, store, executor=SerialExecutor())


def nulls(value):
    if isinstance(value, dict):
        return [name for name, each in value.items() if each is None or nulls(each)]
    return []


def test_a_study_of_version_0_2_is_resumed_without_a_run_and_has_its_conclusions(old):
    with read_store(old / "study.db") as store:
        before = store.decisions()

    assert resumed(old).new == 0

    with read_store(old / "study.db") as store:
        assert len(store.plans()) == 1
        assert store.decisions() == before
    then, now = json.loads((old / "analysis.json").read_text()), am.analyse(old / "study.db").as_dict()
    for one, other in zip(then["comparisons"], now["comparisons"], strict=True):
        for name in ("estimate", "p_value", "p_holm", "effect_size"):
            assert other[name] == pytest.approx(one[name], rel=1e-9), name
        (low, high), (lower, higher) = one["joint_interval"], other["joint_interval"]
        assert lower <= low + 1e-9, "run noise may have widened it"
        assert higher >= high - 1e-9
        assert other["rejected"] == one["rejected"]


def test_a_record_has_a_value_for_each_setting(old):
    plan = read_study_file(old / "study.toml").plan
    document = json.loads(to_json(record(plan)))

    assert [name for part in SETTINGS & set(document) for name in nulls(document[part]) if name != "reference"] in (
        [],
        ["budget_each"],
    )
    with read_store(old / "study.db") as store:
        recorded = store.plans()[0]
    assert undated(record(as_begun(plan, recorded))) == undated(recorded) == undated(from_json(to_json(recorded)))


def noisy(instance, seed, *, gain=0.0):
    return 10 + gain * instance + random.Random(f"{instance}").random() + random.Random(seed).random()


def study(**given):
    return flat_study(
        algorithms={"a": noisy, "b": am.Function("b", noisy, "m:noisy", {"gain": 0.02})},
        instances={f"i{number}": number for number in range(40)},
        difference="simple",
        better="lower",
        **given,
    )


def test_a_changed_default_changes_no_study_of_today(tmp_path, monkeypatch):
    path = tmp_path / "study.db"
    study(se=0.3, use=6).run(path, executor=SerialExecutor(), progress=False)

    monkeypatch.setattr(rules, "RUNS_PER_ALGORITHM", 3)
    with open_store(path) as store:
        assert run_plan(study(se=0.3, use=6).plan, store, executor=SerialExecutor()).new == 0
        assert (store.plans()[-1].rule["budget"], len(store.plans())) == (100, 1)
    assert resolved(study(se=0.3, use=6, start=2).plan).rule.budget == 6, "a new study has the new default"


def test_an_explicit_setting_is_no_default_and_leaving_it_out_is_a_change(tmp_path):
    before = record(study(se=0.3, use=6, budget=80).plan)

    assert as_begun(study(se=0.3, use=6).plan, before).rule.budget == 100
    assert as_begun(study(se=0.3, use=6, budget=80).plan, before).rule.budget == 80


def test_the_default_budget_is_one_for_each_algorithm_whoever_joins_or_leaves():
    plan = resolved(study(se=0.3, use=6).plan)
    third = replace(plan.algorithms[1], name="c")
    more = replace(study(se=0.3, use=6).plan, algorithms=(*plan.algorithms, third))

    assert (plan.rule.budget, plan.rule.among(["a"]).budget) == (100, 50)
    assert as_begun(more, record(plan)).rule.budget == 150


@pytest.mark.parametrize("finished", [True, False])
def test_a_decision_on_record_is_not_taken_again(tmp_path, monkeypatch, finished):
    """A constant of the planning is another one: the study keeps its size, and run and analyse say the same."""
    path, whole = tmp_path / "study.db", tmp_path / "whole.db"
    asked = {"detect": 0.25, "pilot": 16, "start": 3}
    study(**asked).run(whole, executor=SerialExecutor(), progress=False)
    with open_store(path) as store:
        stop = None if finished else lambda decision: (_ for _ in ()).throw(KeyboardInterrupt)
        seen = []

        def decided(decision):
            seen.append(decision)
            if stop is not None and len(seen) == 2:
                stop(decision)

        try:
            run_plan(study(**asked).plan, store, executor=SerialExecutor(), decided=decided)
        except KeyboardInterrupt:
            assert not finished

    monkeypatch.setattr(planning, "usual_caution", lambda *family: 0.999)
    monkeypatch.setattr(detect, "decide_after_pilot", None)  # it must not even be asked
    analysis = study(**asked).run(path, executor=SerialExecutor(), progress=False)

    with read_store(path) as store, read_store(whole) as other:
        assert [each.decision for each in store.decisions()] == [each.decision for each in other.decisions()]
        assert list(store.runs().value) == pytest.approx(list(other.runs().value), nan_ok=True)
    assert analysis.as_dict()["comparisons"] == am.analyse(whole).as_dict()["comparisons"]


def test_a_replay_of_looks_that_differs_names_both_verdicts(tmp_path):
    shutil.copytree(OLD / "looks", tmp_path / "looks")
    with closing(sqlite3.connect(tmp_path / "looks" / "study.db")) as connection, connection:
        (text,) = connection.execute("SELECT decision FROM decision WHERE number = 2").fetchone()
        connection.execute(
            "UPDATE decision SET decision = ? WHERE number = 2",
            (text.replace('"verdicts":["different"', '"verdicts":["no relevant difference"'),),
        )

    with pytest.raises(
        InvalidData, match=r"'no relevant difference' for plain and tuned at interim analysis 2.*'different'"
    ):
        am.analyse(tmp_path / "looks" / "study.db")
