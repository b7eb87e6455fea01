"""Code that has changed is noticed before anything runs, and what becomes of the old runs is the user's to say."""

import random
import signal
import sys

import pytest

from ampler.api import FixedSize, Study, analyse
from ampler.core.errors import InvalidInput, PlanMismatch, RunFailed
from ampler.core.failures import Drop
from ampler.core.plan import Function, Question
from ampler.running import driver, run_plan
from ampler.running.check import inspect_plan
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.plan import make_plan, part_of
from ampler.study.store import merge_stores, open_store, read_store
from ampler.study.store.transfer import rescue_store
from ampler.testing import MemoryStore, SerialExecutor

SERIAL = SerialExecutor()


CALLS = []  # of the module: what a function remembers by itself is copied before each run


class Version:
    """The code of algorithm "mine" in a test: what it adds, under a hash of its own."""

    def __init__(self, monkeypatch):
        self.shift = 0
        CALLS.clear()
        monkeypatch.setattr(
            driver.codes, "codes_of", lambda algorithms: {each.name: self.files(each) for each in algorithms}
        )

    @property
    def calls(self):
        return CALLS

    def files(self, algorithm):
        return {"solver.py": str(self.shift)} if algorithm.name == "mine" else {"other.py": "0"}

    def plan(self, rule=None, instances=3, **fields):
        def mine(instance, seed):
            self.calls.append(seed)
            return random.Random(seed).random() + self.shift

        def other(instance, seed):
            return random.Random(seed).random()

        given = {
            "question": Question("simple", better="lower"),
            "rule": rule or Fixed(runs=4),
            "seed": 3,
            "count": "all",
            **fields,
        }
        calls = [Function("mine", mine, "m:mine"), Function("other", other, "m:other")]
        return make_plan(algorithms=calls, instances=[f"i{number}" for number in range(instances)], **given)

    def run(self, store, plan=None, **given):
        return run_plan(plan or self.plan(), store, executor=SERIAL, **given)


@pytest.fixture
def version(monkeypatch):
    return Version(monkeypatch)


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryStore()
    else:
        with open_store(tmp_path / "study.db") as opened:
            yield opened


def values(store, name="mine"):
    return [seen.value for seen in store.observations() if seen.key.algorithm == name]


def test_changed_code_stops_before_anything_runs_and_says_what_and_how_many(version, store):
    version.run(store)
    sessions, version.shift = len(store.sessions()), 1
    version.calls.clear()

    asked = r"'mine' has changed since its 12 recorded runs were made \(solver.py\).*=.keep.*=.rerun"
    with pytest.raises(PlanMismatch, match=asked):
        version.run(store)

    assert version.calls == []
    assert len(store.sessions()) == sessions, "nothing was begun"


def test_the_same_is_remembered_and_old_and_new_runs_count_together(version, store):
    version.run(store)
    version.shift = 1
    version.run(store, version.plan(instances=4), same=True)
    version.run(store, version.plan(instances=4))

    assert sum(value > 1 for value in values(store)) == 4
    assert len(values(store)) == 16
    (note,) = [each.sentence for each in analyse(store).warnings if each.kind == "code"]
    assert "mine (solver.py)" in note


def test_again_makes_those_runs_anew_and_no_others(version, store):
    version.run(store)
    version.shift = 1
    progress = version.run(store, again=True)

    assert len(values(store)) == 12
    assert min(values(store)) > 1
    assert progress.new == 12, "none of the other algorithm"
    assert progress.runs == 24
    assert len(list(store.superseded())) == 12
    assert {seen.value < 1 for seen in store.superseded()} == {True}
    assert analyse(store).comparisons[0].estimate == pytest.approx(
        sum(values(store)) / 12 - sum(values(store, "other")) / 12
    )
    version.run(store)  # and nothing is asked any more


def test_what_was_interrupted_in_the_middle_mixes_nothing(version, store):
    version.run(store)
    version.shift = 1

    plan = version.plan()
    original, last = plan.algorithms[0].call, plan.instances[-1].name

    def stops(instance, seed):
        if instance == last:
            signal.raise_signal(signal.SIGINT)
        return original(instance, seed)

    cut = make_plan(
        algorithms=[Function("mine", stops, "m:mine"), plan.algorithms[1]],
        instances=[each.name for each in plan.instances],
        question=plan.question,
        rule=plan.rule,
        seed=3,
        count="all",
    )
    with pytest.raises(KeyboardInterrupt):
        version.run(store, cut, again=True)
    assert all(value > 1 for value in values(store)), "what is not made yet is not there"

    version.run(store)
    assert len(values(store)) == 12
    assert min(values(store)) > 1


def test_code_that_returns_brings_its_runs_back(version, store):
    version.run(store)
    first = values(store)
    for version.shift in (1, 0):
        version.run(store, again=True)

    assert values(store) == first


def test_rules_decide_by_the_new_values(version, store):
    rule = Accuracy(se=0.2, difference="simple", start=3, budget=30)
    version.run(store, version.plan(rule))
    version.shift = 1
    version.run(store, version.plan(rule), again=True)
    fresh = MemoryStore()
    version.run(fresh, version.plan(rule))

    assert values(store)[: len(values(fresh))] == values(fresh)
    assert analyse(store).comparisons == analyse(fresh).comparisons


def test_an_algorithm_that_only_failed_may_be_mended_without_a_word(version, store):
    def broken(instance, seed):
        raise ValueError("not yet")

    other = version.plan().algorithms[1]
    plan = make_plan(
        algorithms=[Function("mine", broken, "m:mine"), other],
        instances=["i0", "i1", "i2"],
        question=Question("simple", better="lower"),
        rule=Fixed(runs=4),
        seed=3,
        count="all",
    )
    with pytest.raises(RunFailed):
        version.run(store, plan)
    version.shift = 1
    version.run(store)

    assert len(values(store)) == 12


def test_failed_runs_that_count_are_asked_about(version, store):
    version.run(store, version.plan(policy=Drop()))
    version.shift = 1

    with pytest.raises(PlanMismatch, match="12 recorded runs"):
        version.run(store, version.plan(policy=Drop()))


def test_same_and_again_contradict_each_other(version, store):
    with pytest.raises(InvalidInput, match="got both"):
        version.run(store, same=True, again=True)


def test_runs_from_before_code_was_recorded_count_until_they_are_made_anew(version, store, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(type(store), "keep_code", lambda self, codes, present: None)
        version.run(store)
    version.run(store, version.plan(instances=4))  # nothing is asked: nobody knows
    version.shift = 1
    with pytest.raises(PlanMismatch, match="16 recorded runs"):
        version.run(store, version.plan(instances=4))
    version.run(store, version.plan(instances=4), again=True)

    assert len(values(store)) == 16
    assert min(values(store)) > 1


def test_a_new_algorithm_asks_nothing_about_the_others(version, store):
    version.run(store)
    grown = version.plan()
    third = Function("third", grown.algorithms[1].call, "m:third")
    version.run(
        store,
        make_plan(
            algorithms=[*grown.algorithms, third],
            instances=["i0", "i1", "i2"],
            question=Question("simple", better="lower"),
            rule=Fixed(runs=4),
            seed=3,
            count="all",
        ),
    )

    assert len(values(store, "third")) == 12


def test_a_look_marks_what_comes_from_the_record_and_records_nothing_of_changed_code(version, store):
    first = inspect_plan(version.plan(), store)
    again = inspect_plan(version.plan(), store)
    version.shift = 1
    changed = inspect_plan(version.plan(), store)

    assert [each.earlier for each in first.findings] == [False, False]
    assert [each.earlier for each in again.findings] == [True, True]
    assert [each.remark.startswith("from the record: ") for each in again.findings] == [True, True]
    mine, other = changed.findings
    assert mine.changed is not None
    assert mine.first.value > 1
    assert not mine.recorded
    assert other.earlier
    assert max(values(store)) < 1
    version.run(store, again=True)
    assert inspect_plan(version.plan(), store).findings[0].first.value > 1


def test_parts_of_different_code_are_merged_only_when_it_is_said(version, tmp_path):
    files = []
    for version.shift, part in ((0, 1), (1, 2)):
        files.append(tmp_path / f"{part}.db")
        with open_store(files[-1]) as store:
            version.run(store, part_of(version.plan(instances=4), part, 2))

    with pytest.raises(PlanMismatch, match="different code"):
        merge_stores(files, tmp_path / "study.db")
    assert merge_stores(files, tmp_path / "study.db", same=True).runs == 32


def test_a_part_that_was_run_again_supersedes_what_was_merged_before(version, tmp_path):
    files = [tmp_path / f"{part}.db" for part in (1, 2)]

    def run_parts(**given):
        for part, file in enumerate(files, 1):
            with open_store(file) as store:
                version.run(store, part_of(version.plan(instances=4), part, 2), **given)

    run_parts()
    merge_stores(files, tmp_path / "study.db")
    version.shift = 1
    run_parts(again=True)
    for _ in range(2):  # merging twice changes nothing
        merge_stores(files, tmp_path / "study.db")
        with read_store(tmp_path / "study.db") as store:
            assert len(values(store)) == 16
            assert min(values(store)) > 1
            assert len(list(store.superseded())) == 16
            assert analyse(store).instances == 4


def test_one_part_that_was_run_again_leaves_the_runs_of_the_other_superseded(version, tmp_path):
    files = [tmp_path / f"{part}.db" for part in (1, 2)]
    for part, file in enumerate(files, 1):
        with open_store(file) as store:
            version.run(store, part_of(version.plan(instances=4), part, 2))
    version.shift = 1
    with open_store(files[0]) as store:
        version.run(store, part_of(version.plan(instances=4), 1, 2), again=True)

    merge_stores(files, tmp_path / "study.db")

    with open_store(tmp_path / "study.db") as store:
        assert len(values(store)) == 8
        assert [each.kind for each in analyse(store).warnings].count("unfinished") == 1
        version.run(store, version.plan(instances=4))
        assert len(values(store)) == 16
        assert min(values(store)) > 1


def test_the_python_door_asks_too_and_sees_the_module_itself(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "ampler_test_solver.py").write_text("def solve(instance, seed): return seed % 7")
    import ampler_test_solver as module

    study = Study(
        algorithms={"mine": module.solve, "other": lambda instance, seed: seed % 5},
        instances=["i0", "i1"],
        difference="simple",
        design=FixedSize(runs=2),
        better="lower",
    )
    study.run(tmp_path / "study.db", executor=SERIAL)
    (tmp_path / "ampler_test_solver.py").write_text("def solve(instance, seed): return seed % 7  # with a remark")
    try:
        with pytest.raises(PlanMismatch, match=r"ampler_test_solver\.py.*on_code_change=.keep"):
            study.run(tmp_path / "study.db", executor=SERIAL)
        study.run(tmp_path / "study.db", executor=SERIAL, on_code_change="keep")
        study.run(tmp_path / "study.db", executor=SERIAL)
    finally:
        del sys.modules["ampler_test_solver"]


def test_what_was_superseded_stays_so_in_a_file_that_was_rescued(version, tmp_path):
    with open_store(tmp_path / "study.db") as store:
        version.run(store)
        version.shift = 1
        version.run(store, again=True)
        kept, old = list(store.observations()), list(store.superseded())

    rescued = rescue_store(tmp_path / "study.db", tmp_path / "rescued.db")

    assert rescued.lost == ()
    with read_store(tmp_path / "rescued.db") as store:
        assert list(store.observations()) == kept
        assert list(store.superseded()) == old
