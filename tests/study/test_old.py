"""Study files of the first version, as users have them: read, shown, analysed and gone on with as if they were new.

`old/python` is a finished study of functions, `old/command` one of programs whose driver was killed in the middle, and
`old/demo` the study of `ampler demo`, made smaller and killed too; its functions have moved since. All were made by
version 0.1.0 (commit 77a3086), as were the analyses, `old/demo/analysis.json` from a run that was not killed.
"""

import json
import math
import shutil
import sqlite3
import sys
from contextlib import closing
from functools import cache, partial
from pathlib import Path

import pytest

from ampler.core.plain import jsonable
from ampler.study.store import open_store, read_store
from ampler.study.store.schema import MIGRATIONS

OLD = Path(__file__).parent / "old"


@pytest.fixture(scope="module")
def gone_on(tmp_path_factory, warm):
    """`gone_on(name, fresh=…)`: the folder of a study that was run to its end, each of them once."""

    @cache
    def run(name, *, fresh=False):
        place = copied(tmp_path_factory.mktemp("gone-on"), name, fresh=fresh)
        ran = warm.run("run", "study.toml", cwd=place)
        assert ran.returncode == 0, ran.stderr
        return place

    return run


def copied(where, name, *, fresh=False):
    place = where / ("fresh" if fresh else "old") / name
    shutil.copytree(OLD / name, place)
    if fresh:
        (place / "study.db").unlink()
        toml = place / "study.toml"
        toml.write_text(toml.read_text().replace("[rule]", "[rule]\nguard-edition = 1\n#", 1))
    return place


@pytest.fixture
def folder(tmp_path):
    """`folder(name)`: a copy of an old study to work in; `fresh=True`: without what was run, its guard that of its day.

    The guard has become safer since. An old study file says by itself which edition it has, a fresh one must be told.
    """

    return partial(copied, tmp_path)


@pytest.fixture
def ampler(forked):
    """`ampler("status", "study.db", where=folder)`: what a command that must succeed prints."""

    def run(*words, where):
        ran = forked(*words, cwd=where)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


def runs(path):
    with read_store(path) as store:
        return {(seen.key, seen.seed, seen.value, seen.status, seen.round) for seen in store.observations()}


def finished(path):
    with read_store(path) as store:
        return store.finished(store.plans()[-1].decisions)


def version(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def same(before, now):
    """Whether all that an old document says is said now; numbers may differ in their last digits."""
    if isinstance(before, dict):
        return all(name in now and same(value, now[name]) for name, value in before.items())
    if isinstance(before, list):
        return len(before) == len(now) and all(map(same, before, now))
    if isinstance(before, float) and isinstance(now, float):
        return math.isclose(before, now, rel_tol=1e-12)
    return before == now


def analysed_as_then(place, ampler):
    """The analysis of all runs as they are, as it was then; what is told today of their bias is new."""
    now = json.loads(ampler("analyse", "study.db", "--json", "--estimate", "all-runs", where=place))
    return now | {"warnings": [caution for caution in now["warnings"] if caution["kind"] not in ("bias", "biased")]}


@pytest.mark.parametrize(("name", "recorded"), [("python", 80), ("command", 41), ("demo", 20)])
def test_an_old_study_file_is_read_and_left_as_it_is(folder, name, recorded, ampler):
    path = folder(name) / "study.db"
    before = path.read_bytes()
    assert version(path) == 1

    with read_store(path) as store:
        assert sum(each.runs for each in store.tally()) == recorded
        assert (store.decisions(), store.progress()) == ((), None)
    told = json.loads(ampler("status", "study.db", "--json", where=path.parent))

    assert told["runs"] == recorded
    assert told["finished"] == sum(instance["state"] == "finished" for instance in told["instances"])
    assert path.read_bytes() == before


def test_an_old_study_is_analysed_to_the_numbers_of_its_day(folder, ampler):
    place = folder("python")

    now = analysed_as_then(place, ampler)

    assert same(json.loads((place / "analysis.json").read_text()), now)


def test_a_finished_old_study_needs_nothing_and_stays_one_plan(folder, ampler):
    place = folder("python")
    before = runs(place / "study.db")

    told = ampler("run", "study.toml", where=place)

    assert "80 runs are recorded in study.db, 0 of them new" in " ".join(told.split())
    assert runs(place / "study.db") == before
    assert version(place / "study.db") == len(MIGRATIONS)
    with read_store(place / "study.db") as store:
        assert len(store.plans()) == 1
        assert len(store.sessions()) == 2
        assert [each.number for each in store.decisions()] == [0, 1]
        assert store.progress().finished == 6


SUMS_ARE_OTHERS = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="sum() is more exact from Python 3.12 on: what 3.11 ran, it runs otherwise"
)


@pytest.mark.parametrize("name", ["command", pytest.param("demo", marks=SUMS_ARE_OTHERS)])
def test_an_old_study_that_was_killed_goes_on_to_the_runs_of_a_fresh_one(folder, gone_on, name):
    killed = folder(name)
    before, done = runs(killed / "study.db"), finished(killed / "study.db")
    assert done

    old, fresh = gone_on(name), gone_on(name, fresh=True)

    assert before < runs(old / "study.db") == runs(fresh / "study.db")
    assert done.items() <= finished(old / "study.db").items()
    assert same(*(jsonable(finished(place / "study.db")) for place in (old, fresh)))
    with read_store(old / "study.db") as store:
        assert len(store.plans()) == 1, "the plan is the old one"


def test_the_demonstration_of_earlier_days_ends_with_the_numbers_it_would_have_had(gone_on, ampler):
    place = gone_on("demo")
    assert "ampler.demo:anneal" in (place / "study.toml").read_text()

    now = analysed_as_then(place, ampler)

    assert same(json.loads((place / "analysis.json").read_text()), now)
    with read_store(place / "study.db") as store:
        identities = store.plans()[-1].fingerprint.algorithms.values()
    assert {identity["python"] for identity in identities} == {"ampler.demo:anneal"}


def test_an_old_study_file_and_one_of_today_can_be_merged(folder, ampler):
    old, fresh = folder("python"), folder("python", fresh=True)
    ampler("run", "study.toml", where=fresh)

    ampler("merge", str(old / "study.db"), str(fresh / "study.db"), "-o", str(fresh / "both.db"), where=fresh)

    assert runs(fresh / "both.db") == runs(old / "study.db")


def test_an_old_part_and_one_of_a_later_edition_are_not_merged_and_the_way_out_is_named(folder, ampler, forked):
    old, today = folder("python"), folder("python", fresh=True)
    toml = today / "study.toml"
    toml.write_text(toml.read_text().replace("guard-edition = 1", ""))
    ampler("run", "study.toml", where=today)

    refused = forked("merge", old / "study.db", "study.db", "-o", "both.db", cwd=today)

    assert refused.returncode == 1
    words = " ".join(refused.stderr.split())
    assert "guard-edition is 1 in study.db and 2 in study.db; say guard-edition = 1 in [rule] of study.toml" in words


def test_an_old_study_moves_to_the_newest_edition_when_it_is_told_to(folder, ampler):
    place = folder("demo")
    before = runs(place / "study.db")
    toml = place / "study.toml"
    toml.write_text(toml.read_text().replace("[rule]", "[rule]\nguard-edition = 2\n#", 1))

    ampler("run", "study.toml", where=place)

    assert before < runs(place / "study.db")
    with read_store(place / "study.db") as store:
        assert [plan.rule.get("guard_edition") for plan in store.plans()] == [None, 2]


def test_writing_brings_an_old_file_up_to_date_without_touching_its_runs(folder):
    path = folder("command") / "study.db"
    before = runs(path)
    open_store(path).close()

    assert version(path) == len(MIGRATIONS)
    assert runs(path) == before
