"""Studies that find their own size, carried out: reference values, the same runs and decision however they are made."""

import json
import math
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cutting import Cut
from flat_study import flat_study
from hypothesis import given
from hypothesis import strategies as st

from ampler import Study, analyse, read_results, write_report
from ampler.core.errors import AmplerError, StoreUnusable
from ampler.core.plan import Continue, EndStudy, Question
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.detect import Detect
from ampler.study.evidence import pilot_report_of
from ampler.study.plan import make_plan
from ampler.study.run_inputs import in_order, run_seed
from ampler.study.status import status_of
from ampler.study.store import open_store
from ampler.study.text import decisions_taken
from ampler.testing import MemoryStore, SerialExecutor

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "detect.json").read_text())


def recorded_values(row, names):
    """Functions that give the reference values: the seed of a run says which one it is."""
    instances = [f"i{n:03}" for n in range(len(row["values"]))]
    ordered = [each.name for each in make_plan_of(row, dict.fromkeys(names, min), instances).instances]
    values = {
        run_seed(0, instance, name, index): value
        for instance, cells in zip(ordered, row["values"], strict=True)
        for name, runs in zip(names, cells, strict=True)
        for index, value in enumerate(runs)
    }
    return {name: lambda instance, seed: values[seed] for name in names}, instances


def make_plan_of(row, algorithms, instances):
    wish = dict(row["wish"])
    asked = {name: wish.pop(name) for name in ("power", "alpha") if name in wish}
    wish.pop("available", None)
    wish.pop("costs", None)
    reference = None if row["reference"] is None else [*algorithms][row["reference"]]
    return make_plan(
        question=Question(row["difference"], reference=reference, **{"better": "lower", "formula": "delta"} | asked),
        algorithms=algorithms,
        instances=instances,
        rule=Fixed(runs=wish.get("start", 5)),
        study_rule=Detect(**wish, final_test="growth"),  # the reference values are those of version 0.2
        count="all",
    )


@pytest.mark.parametrize("row", GOLD["replays"], ids=["all go on", "one leaves"])
def test_a_study_of_the_reference_values_ends_with_the_reference_p_values(row):
    names = ("x", "y", "z")
    algorithms, instances = recorded_values(row, names)
    store = MemoryStore()

    run_plan(make_plan_of(row, algorithms, instances), store, executor=SerialExecutor())

    main = store.decisions()[1].decision
    assert [len(main.instances), [main.runs.get(name, 0) for name in names]] == row["actions"][1]
    analysis = analyse(store)
    by_pair = {(each.first, each.second): each.p_holm for each in analysis.comparisons}
    np.testing.assert_allclose([by_pair[pair] for pair in analysis.pairs], row["adjusted"], rtol=1e-7)


# the same however it is made --------------------------------------------------------------------------------------


def solver(shift, spread):
    def solve(instance, seed):
        own = random.Random(f"{instance}/{shift}").gauss(0, 1)
        return 100 + instance % 5 + shift + own + random.Random(seed).gauss(0, spread)

    return solve


ALGORITHMS = {"a": solver(0.0, 1.0), "b": solver(0.5, 2.0), "c": solver(30.0, 1.0)}


def study(**more):
    common = {"difference": "simple", "reference": "a", "detect": 1.0, "pilot": 6, "start": 3, "seed": 4}
    return flat_study(algorithms=ALGORITHMS, instances={f"i{n}": n for n in range(40)}, **common | more)


def kept(store):
    runs = {(seen.key, seen.seed, seen.value) for seen in store.observations()}
    return runs, [(taken.number, taken.digest) for taken in store.decisions()]


@pytest.fixture(scope="module")
def whole():
    store = MemoryStore()
    run_plan(study().plan, store, executor=SerialExecutor())
    return kept(store)


def test_the_study_of_these_tests_decides_something(whole):
    store = MemoryStore()
    run_plan(study().plan, store, executor=SerialExecutor())
    pilot, main, _ = store.decisions()
    assert len(pilot.decision.instances) == 6
    assert main.decision.algorithms == ("a", "b")
    assert 16 <= len(main.decision.instances) <= 40


def test_workers_and_threads_make_the_same_runs_and_take_the_same_decision(whole, tmp_path):
    for name, how in (("two", {"workers": 2}), ("threads", {"executor": ThreadPoolExecutor(3)})):
        with open_store(tmp_path / f"{name}.db") as store:
            run_plan(study().plan, store, **how)
            assert kept(store) == whole


def test_a_dask_cluster_makes_the_same_runs_and_takes_the_same_decision(whole):
    distributed = pytest.importorskip("distributed")
    store = MemoryStore()
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        run_plan(study().plan, store, executor=client)
    assert kept(store) == whole


@given(st.lists(st.integers(0, 8), max_size=6))
def test_interruptions_wherever_they_come_change_nothing(whole, cuts):
    plan, store = study().plan, MemoryStore()
    for after in cuts:
        with suppress(KeyboardInterrupt):
            run_plan(plan, store, executor=Cut(after))
    run_plan(plan, store, executor=SerialExecutor())
    assert kept(store) == whole


def test_new_decisions_are_told_once(tmp_path):
    told = []
    for _ in range(2):
        study().run(tmp_path / "study.db", executor=SerialExecutor(), progress=told.append)
    told = [each for each in told if isinstance(each, Continue | EndStudy)]
    assert [type(each) for each in told[:2]] == [Continue, Continue]
    assert len(told) == 3
    assert told[0].reason.startswith("Pilot: 3 runs of each algorithm on 6 of 40 instances.")


def test_status_shows_what_was_decided():
    store = MemoryStore()
    run_plan(study().plan, store, executor=SerialExecutor())
    status = status_of(store)
    said = list(decisions_taken(status))
    assert len(status.instances) == len(store.decisions()[1].decision.instances)
    assert any("c gets no more runs" in sentence for sentence in said)
    assert status.decisions[1].details["detect"] == 1.0


def test_a_study_that_is_clear_after_its_pilot_is_kept_read_and_analysed(tmp_path):
    far = {"a": solver(0.0, 1.0), "b": solver(40.0, 2.0), "c": solver(-30.0, 1.0)}
    path = tmp_path / "study.db"

    analysis = replace(study(), algorithms=far).run(path, executor=SerialExecutor())

    assert analysis.course.planned == 6
    assert math.isnan(analysis.course.mean_power)
    assert math.isnan(analysis.course.se)
    assert all(each.rejected and each.instances == 6 for each in analysis.comparisons)
    again = analyse(path)
    assert [each.verdict for each in again.comparisons] == [each.verdict for each in analysis.comparisons]


def test_an_unfinished_study_says_that_nothing_can_be_claimed_yet():
    store = MemoryStore()
    while len(store.decisions()) < 2:
        with suppress(KeyboardInterrupt):
            run_plan(study().plan, store, executor=Cut(1))
    assert len(store.decisions()) == 2
    analysis = analyse(store)
    assert analysis.course is None
    assert analysis.unfinished
    assert not any(each.claimed for each in analysis.comparisons)
    anyway = analyse(read_results(store, unplanned=True))
    assert [each.kind for each in anyway.warnings][:1] == ["unplanned"]
    assert [each.kind for each in anyway.warnings].count("course") == 1


def test_an_analysis_of_another_question_says_that_its_level_is_not_assured(tmp_path):
    path = tmp_path / "study.db"
    assert study().run(path, executor=SerialExecutor()).course is not None
    other = analyse(path, test="wilcoxon")
    (said,) = (each.sentence for each in other.warnings if each.kind == "course")
    assert "(test changed here)" in said
    assert other.course is None


def test_instances_are_in_the_order_of_the_seed_and_not_of_the_user():
    names = [instance.name for instance in study().plan.instances]
    assert names == [each.name for each in in_order(4, study().plan.instances)] != sorted(names)


def test_a_decision_that_cannot_be_read_is_one_sentence():
    store = MemoryStore()
    run_plan(study().plan, store, executor=SerialExecutor())
    pilot, main, end = store.decisions()
    for spoilt in ({}, {**main.decision.details, "means": None}, {**main.decision.details, "stranger": 1}):
        broken = (pilot, replace(main, decision=replace(main.decision, details=spoilt)), end)
        with pytest.raises(StoreUnusable, match="the decision on the size of the study cannot be read"):
            pilot_report_of(store.plans()[-1], broken)


# from the file to the report ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shifts", "instances", "said"),
    [
        ({"a": 0.0, "b": 50.0}, 40, "a is better"),  # clear after the pilot: nothing goes on, and no power is planned
        ({"a": 0.0, "b": 0.0}, 40, "Inconclusive: "),
        ({"a": 0.0, "b": 50.0, "c": 50.0}, 10, "a is better"),  # too few to choose among
    ],
    ids=["all clear", "all equal", "few"],
)
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_whatever_the_pilot_showed_is_read_analysed_and_reported(shifts, instances, said, noise, tmp_path):
    def solver(shift):
        return lambda instance, seed: 100.0 + instance + shift + noise * random.Random(seed).gauss(0, 1)

    study = Study(
        algorithms={name: solver(shift) for name, shift in shifts.items()},
        instances={f"i{n}": n for n in range(instances)},
        difference="percent",
        detect=0.02,
        seed=3,
        better="lower",
    )
    run = study.run(tmp_path / "study.db", executor=SerialExecutor())
    read = analyse(tmp_path / "study.db")

    assert [each.verdict for each in read.comparisons] == [each.verdict for each in run.comparisons]
    assert said in read.comparisons[0].verdict
    json.dumps(read.as_dict(), allow_nan=False)
    assert said in write_report(read, tmp_path / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"pilot": "6"}, "pilot must be a whole number from 3"),
        ({"pilot": 2.5}, "pilot must be a whole number from 3"),
        ({"start": "5"}, "start must be a whole number of 2 or more"),
        ({"start": 0}, "start must be a whole number of 2 or more"),
        ({"available": 1}, "available must be a whole number of 2 or more"),
        ({"available": "10"}, "available must be a whole number of 2 or more"),
        ({"detect": "2%"}, "detect must be a positive number"),
        ({"power": "0.8"}, "power must lie strictly between 0 and 1"),
        ({"instance_cost": -1}, "instance_cost must not be negative"),
    ],
)
def test_hostile_sizes_are_refused_by_their_name(said, words):
    asked = {"difference": "percent", "better": "lower", "detect": 0.02} | said
    with pytest.raises(AmplerError, match=words):
        flat_study(algorithms={"a": min, "b": max}, instances=[f"i{n}" for n in range(40)], **asked).plan  # noqa: B018


def test_whole_numbers_may_be_said_as_decimals():
    assert Detect(detect=0.02, pilot=6.0).pilot == 6
    assert isinstance(Detect(detect=0.02, pilot=6.0).pilot, int)


def test_an_algorithm_joins_a_finished_study_as_a_later_family_by_a_check_and_a_run(tmp_path):
    def study(**further):
        calls = {n: lambda i, seed, n=n: len(n) + random.Random(i + n).gauss(0, 0.1) + seed % 7 / 50 for n in further}
        names = [f"i{n}" for n in range(30)]
        return Study(algorithms=calls, instances=names, difference="simple", better="lower", detect=0.5)

    study(a=1, bb=1).run(tmp_path / "study.db", workers=1, progress=False)
    grown = study(a=1, bb=1, ccc=1)
    assert "further algorithms can be added as a later family" in repr(grown.check(workers=1))
    assert "Family 2: 'ccc' against the others, 2 comparisons" in repr(grown.check(tmp_path / "study.db", workers=1))
    (family,) = grown.run(tmp_path / "study.db", workers=1, progress=False).families
    assert {item.pair for item in family.analysis.comparisons} == {("a", "ccc"), ("bb", "ccc")}
