"""Studies cut into parts and merged: the same study as one that was not cut, or one sentence that says why not."""

import os
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import small_plans
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from small_plans import SERIAL, noisy

from ampler.api import analyse
from ampler.core.errors import InvalidData, PlanMismatch, StoreBusy, StoreUnusable
from ampler.core.failures import Drop
from ampler.core.plan import Instance, Limits, Question
from ampler.core.runs import Observation, RunKey
from ampler.running import run_plan
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.plan import part_of
from ampler.study.record import as_begun, record
from ampler.study.run_inputs import run_seed
from ampler.study.status import status_of
from ampler.study.store import environment, merge_stores, open_store, read_store
from ampler.testing import MemoryStore


def whole(plan):
    """The record of the whole study from that of one of its parts; without a date."""
    return replace(plan, part="", elsewhere=(), created="")


def make(algorithms=None, instances=6, **fields):
    names = [Instance(f"i{number}", features={"size": str(number % 2)}) for number in range(instances)]
    return small_plans.make(algorithms or {"a": noisy(10, 1), "b": noisy(11, 2)}, names, **fields)


def carried_out(plan, path):
    with open_store(path) as store:
        run_plan(plan, store, executor=SERIAL)
    return path


def in_parts(plan, folder, parts):
    folder.mkdir(exist_ok=True)
    return [carried_out(part_of(plan, part, parts), folder / f"part-{part}.db") for part in range(1, parts + 1)]


@cache
def usual_parts(parts):
    """The files of the usual study in so many parts, as they are on the disk: many tests begin with them."""
    with TemporaryDirectory() as folder:
        return tuple((file.name, file.read_bytes()) for file in in_parts(make(), Path(folder), parts))


def in_usual_parts(folder, parts):
    for name, content in usual_parts(parts):
        (folder / name).write_bytes(content)
    return [folder / name for name, _ in usual_parts(parts)]


def kept(path):
    """All that a study file says of runs, decisions and plans, but for times and dates."""
    with read_store(path) as store:
        plans = store.plans()
        runs = [replace(seen, seconds=0.0, cpu=None, started=None) for seen in store.observations(superseded=True)]
        return runs, store.finished(plans[-1].decisions), [whole(plan) for plan in plans], plans[-1].part


def dump(path):
    """Everything in the file."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@st.composite
def studies(draw):
    names = draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=3, unique=True))
    reference = draw(st.sampled_from([None, names[0]]))
    accuracy = Accuracy(
        se=draw(st.sampled_from([0.1, 0.5])), difference="percent", reference=reference, start=3, budget=40, batch=7
    )
    return make(
        {name: noisy(draw(st.floats(5, 20)), draw(st.floats(0, 3))) for name in names},
        draw(st.integers(2, 7)),
        question=Question("percent", reference, effect=draw(st.sampled_from([2.0, 4.0])), better="lower"),
        rule=draw(st.sampled_from([accuracy, Fixed(runs=4)])),
        seed=draw(st.integers(0, 2**31)),
        count=draw(st.sampled_from(["needed", "all", 3])),
    )


@given(studies(), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
def test_a_study_cut_into_parts_and_merged_in_any_order_is_the_study_that_was_not_cut(
    tmp_path_factory, plan, parts, rng
):
    folder = tmp_path_factory.mktemp("study")
    uncut = carried_out(plan, folder / "uncut.db")
    files = in_parts(plan, folder, parts)
    rng.shuffle(files)

    merged = merge_stores(files, folder / "merged.db")

    assert kept(folder / "merged.db") == kept(uncut)
    assert merged.runs == len(kept(uncut)[0])
    assert merged.missing == ()


def test_a_session_says_which_part_it_made(tmp_path):
    files = in_usual_parts(tmp_path, 2)

    for number, file in enumerate(files, 1):
        with read_store(file) as store:
            assert [session.environment["part"] for session in store.sessions()] == [f"{number}/2"]


def test_merging_twice_changes_nothing(tmp_path):
    files = in_usual_parts(tmp_path, 3)
    merge_stores(files, tmp_path / "study.db")
    once = dump(tmp_path / "study.db")

    merge_stores(files, tmp_path / "study.db")
    twice = dump(tmp_path / "study.db")
    merge_stores([*tmp_path.glob("*.db")], tmp_path / "study.db")  # the glob names the target too

    assert once == twice == dump(tmp_path / "study.db")


def test_the_merged_study_is_analysed_as_the_uncut_one_and_needs_no_further_run(tmp_path):
    plan = make()
    carried_out(plan, tmp_path / "uncut.db")
    merge_stores(in_parts(plan, tmp_path, 3), tmp_path / "merged.db")

    assert analyse(tmp_path / "merged.db").comparisons == analyse(tmp_path / "uncut.db").comparisons
    with open_store(tmp_path / "merged.db") as store:
        assert run_plan(plan, store, executor=SERIAL).new == 0


def test_a_part_knows_what_it_is_and_says_so_when_it_is_analysed(tmp_path):
    first, *_ = in_usual_parts(tmp_path, 2)

    with read_store(first) as store:
        found = status_of(store)
        sessions = store.sessions()
    assert (found.part, len(found.instances), found.finished) == ("1/2", 3, 3)
    assert [session.environment["part"] for session in sessions] == ["1/2"]
    assert "part" in {warning.kind for warning in analyse(first).warnings}


def test_parts_without_instances_are_legal(tmp_path):
    plan = make(instances=2)
    carried_out(plan, tmp_path / "uncut.db")

    merge_stores(in_parts(plan, tmp_path, 4), tmp_path / "merged.db")

    assert kept(tmp_path / "merged.db") == kept(tmp_path / "uncut.db")


def test_missing_parts_are_named_and_the_merged_study_goes_on_from_there(tmp_path):
    plan = make()
    carried_out(plan, tmp_path / "uncut.db")
    first, _, third = in_parts(plan, tmp_path, 3)

    merged = merge_stores([first, third], tmp_path / "merged.db")
    with read_store(tmp_path / "merged.db") as store:
        states = [instance.state for instance in status_of(store).instances]
    with open_store(tmp_path / "merged.db") as store:
        run_plan(plan, store, executor=SERIAL)

    assert merged.missing == ("2/3",)
    assert sorted(states) == ["finished"] * 4 + ["waiting"] * 2
    assert kept(tmp_path / "merged.db") == kept(tmp_path / "uncut.db")


def test_a_part_added_later_completes_the_merged_study(tmp_path):
    plan = make()
    carried_out(plan, tmp_path / "uncut.db")
    first, second, third = in_parts(plan, tmp_path, 3)
    merge_stores([first, second], tmp_path / "merged.db")

    merged = merge_stores([third], tmp_path / "merged.db")

    assert kept(tmp_path / "merged.db") == kept(tmp_path / "uncut.db")
    assert merged.runs == len(kept(tmp_path / "uncut.db")[0])


def test_grown_parts_merge_into_the_grown_study_with_every_plan_and_its_date(tmp_path):
    small = make()
    large = make({"a": noisy(10, 1), "b": noisy(11, 2), "c": noisy(12, 1)}, 8)
    carried_out(small, tmp_path / "uncut.db")
    merge_stores(in_parts(small, tmp_path, 2), tmp_path / "merged.db")
    carried_out(large, tmp_path / "fresh.db")

    merge_stores(in_parts(large, tmp_path, 2), tmp_path / "merged.db")

    runs, finished, plans, _ = kept(tmp_path / "merged.db")
    asked = {
        seen
        for seen in map(_key_and_value, runs)
        if seen[0].index < finished[seen[0].instance].counts[seen[0].algorithm]
    }
    assert asked == set(map(_key_and_value, kept(tmp_path / "fresh.db")[0]))
    assert plans == [whole(record(as_begun(plan))) for plan in (small, large)]
    with read_store(tmp_path / "merged.db") as store:
        assert all(plan.created for plan in store.plans())
        assert len(store.sessions()) == 4


def _key_and_value(seen):
    return seen.key, seen.seed, seen.value


# Refusals


def test_parts_of_different_plans_are_refused_with_the_field_named(tmp_path):
    rule = Accuracy(se=0.25, difference="simple", start=3, budget=60, batch=5)
    one = carried_out(part_of(make(), 1, 2), tmp_path / "one.db")
    two = carried_out(part_of(make(rule=rule), 2, 2), tmp_path / "two.db")

    with pytest.raises(PlanMismatch, match=r"se is 0\.5 in one\.db and 0\.25 in two\.db; run all parts with the same"):
        merge_stores([one, two], tmp_path / "study.db")

    assert not [path for path in tmp_path.iterdir() if not path.name.startswith(("one.db", "two.db"))]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"seed": 8}, r"two\.db is no part of the study in one\.db: seed of the study is recorded as 7, planned as 8"),
        ({"instances": 7}, r"instances is 6 of them in one\.db and 7 of them in two\.db"),
        ({"limits": Limits(timeout=60.0)}, r"timeout is None in one\.db and 60\.0 in two\.db"),
        ({"algorithms": {"a": noisy(10, 1), "b": max}}, "python of algorithm 'b' is recorded as"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(tmp_path, other, words):
    one = carried_out(part_of(make(), 1, 2), tmp_path / "one.db")
    with open_store(tmp_path / "two.db") as store:
        store.begin(record(part_of(make(**other), 2, 2)), environment())

    with pytest.raises(PlanMismatch, match=words):
        merge_stores([one, tmp_path / "two.db"], tmp_path / "study.db")


def test_a_target_of_another_plan_stays_as_it_is(tmp_path):
    files = in_usual_parts(tmp_path, 2)
    target = carried_out(make(rule=Fixed(runs=3)), tmp_path / "study.db")
    before = dump(target)

    with pytest.raises(PlanMismatch, match=r"study\.db was run with another plan than the parts"):
        merge_stores(files, target)

    assert dump(target) == before


def recorded(path, plan, *attempts, instance="i0", finish=False):
    """A study file with one run, by the value (or failed status) of each of its attempts."""
    with open_store(path) as store:
        kept_plan = record(plan)
        store.begin(kept_plan, environment())
        key = RunKey(instance, "a", 0)
        for number, gave in enumerate(attempts):
            value, status = (None, gave) if isinstance(gave, str) else (gave, "ok")
            seed = run_seed(plan.seed, instance, "a", 0)
            store.add([Observation(key, value, status=status, seed=seed, attempt=number)])
    return path


def test_the_same_run_with_two_values_is_refused(tmp_path):
    one = recorded(tmp_path / "one.db", make(), 1.0)
    two = recorded(tmp_path / "two.db", make(), 2.0)

    with pytest.raises(
        PlanMismatch, match=r"run 0 of 'a' on 'i0' is 1\.0 in one\.db and 2\.0 in two\.db, with the same seed"
    ):
        merge_stores([one, two], tmp_path / "study.db")

    assert not (tmp_path / "study.db").exists()


def test_a_dropped_run_that_has_a_value_elsewhere_is_refused(tmp_path):
    one = recorded(tmp_path / "one.db", make(policy=Drop()), "failed")
    two = recorded(tmp_path / "two.db", make(policy=Drop()), 2.0)

    with pytest.raises(PlanMismatch, match=r"is failed in one\.db and 2\.0 in two\.db"):
        merge_stores([one, two], tmp_path / "study.db")


@pytest.mark.parametrize(
    ("one", "two", "holds"),
    [
        ((1.0,), (1.0,), [1.0]),
        (("failed",), ("failed", 1.0), ["failed", 1.0]),  # the same story, told further
        (("failed",), (1.0,), [1.0]),  # the first would be tried again
        (("lost", 1.0), (1.0,), ["lost", 1.0]),  # the same end
        (("lost",), ("failed",), ["failed"]),
        (("failed", "failed"), ("timeout", 1.0), ["timeout", 1.0]),
    ],
)
def test_overlaps_that_agree_are_merged(tmp_path, one, two, holds):
    files = [recorded(tmp_path / "one.db", make(), *one), recorded(tmp_path / "two.db", make(), *two)]

    for order in (files, files[::-1]):
        merge_stores(order, tmp_path / f"{order[0].name}-study.db")
        with read_store(tmp_path / f"{order[0].name}-study.db") as store:
            found = [seen.value if seen.status == "ok" else seen.status for seen in store.observations(superseded=True)]
        assert found[-1] == holds[-1]
        assert order is not files or found == holds


def test_what_was_finished_with_a_run_that_gave_way_is_open_again(tmp_path):
    """A dropped run was tried again in a copy of the part; the old account of the instance's end no longer holds."""
    broken = True

    def failing(instance, seed):
        if broken and instance == "i0":
            raise ValueError("no")
        return random.Random(seed).random()

    plan = make({"a": noisy(1, 1), "b": failing}, 2, rule=Fixed(runs=2), policy=Drop())
    old = carried_out(plan, tmp_path / "old.db")
    new = tmp_path / "new.db"
    new.write_bytes(old.read_bytes())
    broken = False
    with open_store(new) as store:
        run_plan(plan, store, executor=SERIAL, retry_failed=True)

    merge_stores([old, new], tmp_path / "study.db")

    assert kept(tmp_path / "study.db") == kept(new)


def test_a_study_that_is_being_run_is_not_replaced(tmp_path):
    files = in_usual_parts(tmp_path, 2)

    with open_store(tmp_path / "study.db"), pytest.raises(StoreBusy):
        merge_stores(files, tmp_path / "study.db")


def test_a_part_that_is_being_run_is_merged_as_it_stands(tmp_path):
    plan = make()
    with open_store(tmp_path / "one.db") as store:
        run_plan(part_of(plan, 1, 2), store, executor=SERIAL)
        merged = merge_stores([tmp_path / "one.db"], tmp_path / "study.db")

    assert merged.missing == ("2/2",)
    assert merged.runs == len(kept(tmp_path / "one.db")[0])


@pytest.mark.parametrize("content", [b"", b"no study file"])
def test_files_that_are_no_studies_are_named(tmp_path, content):
    first, *_ = in_usual_parts(tmp_path, 2)
    (tmp_path / "other.db").write_bytes(content)

    with pytest.raises(StoreUnusable, match=r"other\.db"):
        merge_stores([first, tmp_path / "other.db"], tmp_path / "study.db")

    assert not (tmp_path / "study.db").exists()


def test_nothing_to_merge_is_said(tmp_path):
    with pytest.raises(InvalidData, match="nothing to merge"):
        merge_stores([tmp_path / "study.db"], tmp_path / "study.db")


def test_a_target_left_by_a_killed_run_loses_nothing(tmp_path, elsewhere):
    """The journal beside the target holds runs that are not in the file itself yet."""
    files = in_usual_parts(tmp_path, 2)
    target = tmp_path / "study.db"
    code = f"""
sys.path.insert(0, {str(tmp_path)!r})
merge_stores({[str(file) for file in files]!r}, {str(target)!r})
store = open_store({str(target)!r})
plan = store.plans()[-1]
store.begin(plan, environment())
store.add([Observation(RunKey("i0", "a", 1000), 4.5)])
os._exit(0)
"""
    assert elsewhere(code).returncode == 0
    assert os.path.getsize(tmp_path / "study.db-wal") > 0

    merge_stores(files, target)

    with read_store(target) as store:
        assert 4.5 in {seen.value for seen in store.observations("i0")}
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_the_store_of_a_part_can_be_in_memory():
    plan = make()
    stores = [MemoryStore() for _ in range(2)]
    for number, store in enumerate(stores, 1):
        run_plan(part_of(plan, number, 2), store, executor=SERIAL)
    uncut = MemoryStore()
    run_plan(plan, uncut, executor=SERIAL)

    together = [{_key_and_value(seen) for seen in store.observations()} for store in stores]
    assert together[0] | together[1] == {_key_and_value(seen) for seen in uncut.observations()}
    assert not together[0] & together[1]
