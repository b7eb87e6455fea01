"""An instance file that is changed or removed while a study runs: no run is recorded under the old one."""

from __future__ import annotations

import os

import pytest

from ampler.core.errors import RunFailed
from ampler.core.plan import Function, Instance, Limits
from ampler.running import run_plan
from ampler.running.work import CHANGED_INSTANCE, Work, change_of
from ampler.study.store import open_store, read_store
from ampler.study.toml import read_study_file
from ampler.study.toml.instances import file_instance

STUDY = """better = "lower"
difference = "simple"
[rule]
allocation = "fixed"
runs = 3
[run]
{policy}
[[algorithm]]
name = "a"
command = "sh solver.sh {{instance}} {{seed}}"
[[algorithm]]
name = "b"
command = "sh solver.sh {{instance}} {{seed}} b"
[instances]
files = "*.txt"
use = "all"
"""
SOLVER = """
size=$(cat "$1") || exit 1
case "$1 $3" in *"2.txt b") {deed};; esac
echo "$size"
"""
DEEDS = {
    "changed": 'echo 7 > "$1"',
    "removed": 'rm -f "$1"',
    "replaced": 'echo 7 > new; mv new "$1"',
}


@pytest.fixture
def instance(tmp_path):
    (tmp_path / "1.txt").write_text("1")
    return file_instance(tmp_path / "1.txt", "1.txt")


def outcome_of(instance, function):
    work = Work({"a": Function("a", function, "x:a")}, {instance.name: instance}, 1, Limits())
    return {name: column[0] for name, column in work.run([(instance.name, "a", 0)]).columns.items()}


def test_a_file_that_is_as_planned_has_no_change_however_often_it_is_touched(instance):
    assert change_of(instance) is None
    os.utime(instance.path)
    assert change_of(instance) is None
    assert outcome_of(instance, lambda path, seed: 3.0)["value"] == 3.0
    assert change_of(Instance("a name")) is None


def test_a_file_that_was_changed_or_removed_spoils_the_run(instance, tmp_path):
    def change(path, seed):
        path.write_text("2")
        return {"cost": 3.0, "gap": 1.0}

    during, before = (outcome_of(instance, change) for _ in range(2))

    for outcome in (during, before):
        assert (outcome["value"], outcome["measures"], outcome["cause"]) == (None, None, CHANGED_INSTANCE)
        assert "was changed while the study ran" in outcome["message"]
    assert during["seconds"] > before["seconds"] == 0.0, "it is not made on a file that is another one"
    (tmp_path / "1.txt").unlink()
    assert "cannot be read any more (No such file or directory)" in change_of(instance)


@pytest.mark.parametrize("policy", ["", 'on-failure = "drop"'])
@pytest.mark.parametrize("deed", DEEDS)
def test_a_study_stops_and_records_nothing_that_was_made_on_another_file(tmp_path, deed, policy):
    for number in (1, 2, 3):
        (tmp_path / f"{number}.txt").write_text(f"{number}")
    (tmp_path / "solver.sh").write_text(SOLVER.format(deed=DEEDS[deed]))
    (tmp_path / "study.toml").write_text(STUDY.format(policy=policy))
    plan = read_study_file(tmp_path / "study.toml").plan

    with (
        open_store(tmp_path / "study.db") as store,
        pytest.raises(RunFailed, match=r"'2\.txt' .* restore the old content"),
    ):
        run_plan(plan, store, workers=1)

    with read_store(tmp_path / "study.db") as store:
        recorded = [(seen.key.instance, seen.value) for seen in store.observations()]
        by_changer = [seen for seen in store.observations("2.txt") if seen.key.algorithm == "b"]
    assert all(value == float(name[0]) for name, value in recorded)
    assert by_changer == []
