"""Study files of the first version, as users have them: read, shown, analysed and gone on with as if they were new.

`old/python` is a finished study of functions, `old/command` one of programs whose driver was killed in the middle, and
`old/demo` the study of `ampler demo`, made smaller and killed too; its functions have moved since. All were made by
version 0.1.0 (commit 77a3086), as were the analyses, `old/demo/analysis.json` from a run that was not killed.
`old/detect` was made by version 0.2.0.
"""

import importlib
import json
import math
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import ampler as am
from ampler.core.serialization import jsonable
from ampler.study.run_inputs import run_seed
from ampler.study.store import open_store, read_store
from ampler.study.store.access import MIGRATIONS
from ampler.testing import SerialExecutor

OLD = Path(__file__).parent / "old"
HERE = Path(sys.executable).parent


@pytest.fixture(scope="module")
def gone_on(tmp_path_factory, shell):
    """`gone_on(name, fresh=…)`: the folder of a study that was run to its end, each of them once.

    Programs are started by `python3`, which is `programs` if given.
    """

    @cache
    def run(name, programs=HERE, *, fresh=False):
        place = copied(tmp_path_factory.mktemp("gone-on"), name, fresh=fresh)
        path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
        ran = shell("run", "study.toml", cwd=place, env=os.environ | {"PATH": path})
        assert ran.code == 0, ran.err
        return place

    return run


# Answers what solver.py of the old study answers, which was called for it; else it calls that.
PYTHON3 = """#!/bin/sh
if { read -r answer < "ANSWERS/${2##*/} $4 $6"; } 2>/dev/null
then echo "$answer"
else exec PYTHON "$@"
fi
"""


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A folder with a `python3` that knows most answers of the solver of the old study: it need not load Python."""
    answers, programs = (tmp_path_factory.mktemp(name) for name in ("answers", "programs"))
    solver: dict[str, Any] = {}
    exec((OLD / "command" / "solver.py").read_text().partition("parser =")[0], solver)
    with read_store(OLD / "command" / "study.db") as store:
        names = store.plans()[-1].instances
    algorithms = {"one long": 1, "four short": 4}
    for name, (algorithm, restarts), index in product(names, algorithms.items(), range(20)):
        seed, file = run_seed(2019, name, algorithm, index), OLD / "command" / name
        told = f"makespan {solver['solve'](file, seed, restarts)}\n"
        (answers / f"{file.name} {seed} {restarts}").write_text(told)
    program = programs / "python3"
    program.write_text(PYTHON3.replace("ANSWERS", str(answers)).replace("PYTHON", sys.executable))
    program.chmod(0o755)
    return programs


BEGUN = """
import sys
from ampler.running import run_plan
from ampler.study.store import open_store
from ampler.study.toml import read_study_file

class Left:
    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    def add(self, observations, finished=()):
        self._store.add(observations, finished)
        sys.exit(130)

with open_store("study.db") as store:
    run_plan(read_study_file("study.toml").plan, Left(store), workers=2)
"""


@pytest.fixture
def begin(process):
    """`begin(folder)`: have the study there begun by another process, which leaves when some runs are recorded."""

    def begin(place):
        left = process("-c", BEGUN, cwd=place, program=(sys.executable,))
        assert left.returncode == 130, left.stderr
        return runs(place / "study.db")

    return begin


def copied(where, name, *, fresh=False):
    place = where / ("fresh" if fresh else "old") / name
    shutil.copytree(OLD / name, place)
    if fresh:
        (place / "study.db").unlink()
        toml = place / "study.toml"
        text = toml.read_text().replace("[rule]", '[rule]\nguard-edition = 1\nformula = "delta"\n#', 1)
        toml.write_text(text if "\nbetter" in text else f'better = "lower"\n{text}')
    return place


@pytest.fixture
def folder(tmp_path):
    """`folder(name)`: a copy of an old study to work in; `fresh=True`: without what was run, its guard that of its day.

    The guard has become safer since. An old study file says by itself which edition it has, a fresh one must be told.
    """

    return partial(copied, tmp_path)


@pytest.fixture
def ampler(shell):
    """`ampler("status", "study.db", where=folder)`: what a command that must succeed prints."""

    def run(*words, where):
        ran = shell(*words, cwd=where)
        assert ran.code == 0, ran.err
        return ran.out

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


SENTENCES = ("sentence", "verdict")  # of warnings and of comparisons


def same(before, now):
    """Whether all that an old document says is said now; numbers may differ in last digits, sentences in words."""
    if isinstance(before, dict):
        return all(name in now and (name in SENTENCES or same(value, now[name])) for name, value in before.items())
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

    assert same(json.loads((place / "analysis.json").read_text().replace("log-ratio", "ratio")), now)
    assert [each["verdict"] for each in now["comparisons"]] == [
        "Inconclusive: four short against one long, +1.44 % (simultaneous 95 % CI −0.17 to 3.04 %);"
        " this study had 80 % power for d ≥ 1.43"
    ]


def test_a_finished_old_study_needs_nothing_and_stays_one_plan(folder, ampler):
    place = folder("python")
    before = runs(place / "study.db")

    told = ampler("run", "study.toml", where=place)

    assert "80 runs recorded in study.db (0 new)" in " ".join(told.split())
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


@pytest.mark.parametrize(
    ("name", "programs"),
    [
        ("command", "quick"),
        pytest.param("command", "all", marks=pytest.mark.slow),
        pytest.param("demo", "none", marks=SUMS_ARE_OTHERS),
    ],
)
def test_an_old_study_that_was_killed_goes_on_to_the_runs_of_a_fresh_one(folder, gone_on, quick, name, programs):
    killed = folder(name)
    before, done = runs(killed / "study.db"), finished(killed / "study.db")
    assert done

    by = quick if programs == "quick" else HERE
    old, fresh = gone_on(name, by), gone_on(name, by, fresh=True)

    assert before < runs(old / "study.db") == runs(fresh / "study.db")
    assert done.items() <= finished(old / "study.db").items()
    assert same(*(jsonable(finished(place / "study.db")) for place in (old, fresh)))
    with read_store(old / "study.db") as store:
        assert len(store.plans()) == 1, "the plan is the old one"


def test_the_demonstration_of_earlier_days_ends_with_the_numbers_it_would_have_had(gone_on, ampler):
    place = gone_on("demo", HERE)
    assert "ampler.demo:anneal" in (place / "study.toml").read_text()

    now = analysed_as_then(place, ampler)

    assert same(json.loads((place / "analysis.json").read_text().replace("log-ratio", "ratio")), now)
    assert [each["verdict"] for each in now["comparisons"]] == [
        "insertions is worse than both: +29.7 % (simultaneous 97.5 % CI 10.4 to 48.9 %)",
        "Inconclusive: reversals against both, +3.7 % (simultaneous 97.5 % CI −8.2 to 15.6 %);"
        " this study had 80 % power for d ≥ 3.10",
    ]
    with read_store(place / "study.db") as store:
        identities = store.plans()[-1].fingerprint.algorithms.values()
    assert {identity["python"] for identity in identities} == {"ampler.demo:anneal"}


def test_an_old_study_file_and_one_of_today_can_be_merged(folder, ampler, begin):
    old, fresh = folder("python"), folder("python", fresh=True)
    assert set() < begin(fresh) < runs(old / "study.db")

    ampler("merge", str(old / "study.db"), str(fresh / "study.db"), "-o", str(fresh / "both.db"), where=fresh)

    assert runs(fresh / "both.db") == runs(old / "study.db")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "guard-edition = 1",
            "guard-edition is 1 in study.db and 2 in study.db; set guard-edition = 1 in [rule] of study.toml",
        ),
        (
            'formula = "delta"',
            "formula is 'delta' in study.db and 'corrected' in study.db; say formula = \"delta\" in study.toml",
        ),
    ],
)
def test_an_old_part_and_one_of_a_later_edition_are_not_merged_and_the_way_out_is_named(
    folder, begin, shell, line, told
):
    old, today = folder("python"), folder("python", fresh=True)
    toml = today / "study.toml"
    toml.write_text(toml.read_text().replace(line, ""))
    assert begin(today)

    refused = shell("merge", old / "study.db", "study.db", "-o", "both.db", cwd=today)

    assert refused.code == 1
    assert told in " ".join(refused.err.split())


def test_an_old_study_moves_to_the_newest_edition_when_it_is_told_to(folder, ampler):
    place = folder("demo")
    before = runs(place / "study.db")
    toml = place / "study.toml"
    toml.write_text(toml.read_text().replace("[rule]", "[rule]\nguard-edition = 2\n#", 1))

    ampler("run", "study.toml", where=place)

    assert before < runs(place / "study.db")
    with read_store(place / "study.db") as store:
        assert [plan.rule["guard_edition"] for plan in store.plans()] == [1, 2]


def test_writing_brings_an_old_file_up_to_date_without_touching_its_runs(folder):
    path = folder("command") / "study.db"
    before = runs(path)
    open_store(path).close()

    assert version(path) == len(MIGRATIONS)
    assert runs(path) == before


@pytest.fixture
def with_detect(monkeypatch):
    """The definition of `old/detect`, a study with `detect` begun by version 0.2.0.

    `study.db` is its finished file, with what was concluded in `analysis.json`; the driver of `begun.db` was killed
    after the decision on the size.
    """
    monkeypatch.syspath_prepend(str(OLD / "detect"))
    solvers = importlib.import_module("detect_solvers")
    return am.Study(
        algorithms={name: getattr(solvers, name) for name in ("alpha", "beta", "gamma")},
        instances={f"i{n}": n for n in range(60)},
        difference="simple",
        reference="alpha",
        detect=0.8,
        margin=0.5,
        seed=5,
        better="lower",
    )


def test_an_old_study_with_detect_keeps_its_final_test_and_its_numbers(with_detect, tmp_path):
    before = json.loads((OLD / "detect" / "analysis.json").read_text())
    for name in ("study.db", "begun.db"):
        path = shutil.copy(OLD / "detect" / name, tmp_path)
        now = with_detect.run(path, executor=SerialExecutor(), progress=False)
        assert now.course.final_test == "growth"
        told = {"comparisons": now.comparisons, "diagnoses": now.diagnoses, "course": now.course.to_data()}
        assert same(before, jsonable(told))
        assert [each.verdict for each in now.comparisons] == [
            "gamma is worse than alpha: +8.93 (simultaneous 97.5 % CI 8.41 to 9.46); significant at the pilot stage",
            "Inconclusive: beta against alpha, +0.223 (simultaneous 97.5 % CI −0.627 to 1.072);"
            " this study had 61 % power for a difference of 0.8, as planned after the pilot",
        ]
        with read_store(path) as store:
            assert len(store.plans()) == 1, "the plan is the old one"
            assert store.plans()[0].study_rule["final_test"] == "growth"
            assert len(list(store.all_decisions())) == 3, "no decision was taken again"


def test_a_study_with_detect_begun_today_names_its_final_test(with_detect, tmp_path):
    path = tmp_path / "study.db"
    assert with_detect.run(path, executor=SerialExecutor(), progress=False).course.final_test == "t"
    with read_store(path) as store:
        assert store.plans()[0].study_rule["final_test"] == "t"
