"""An instance file that is changed or removed while a study runs: no run is recorded under the old one."""

from __future__ import annotations

import os

import pytest

from ampler.core.errors import RunFailed
from ampler.core.values import Instance, Observation, RunKey
from ampler.running import run_plan
from ampler.running.instance_files import change_of, is_spoiled, spoiled, unless_changed
from ampler.running.one_run import Outcome
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


def test_a_file_that_is_as_planned_has_no_change_however_often_it_is_touched(instance):
    assert change_of(instance) is None
    os.utime(instance.path)
    assert change_of(instance) is None
    assert unless_changed(instance, Outcome(3.0, 1.0)) == Outcome(3.0, 1.0)
    assert change_of(Instance("a name")) is None


def test_a_file_that_was_changed_or_removed_spoils_the_run(instance, tmp_path):
    (tmp_path / "1.txt").write_text("2")
    outcome = unless_changed(instance, Outcome(3.0, 1.0, measures={"gap": 1.0}))

    assert (outcome.value, outcome.measures, outcome.seconds) == (None, None, 1.0)
    assert "was changed while the study ran" in outcome.message
    (tmp_path / "1.txt").unlink()
    assert "cannot be read any more (No such file or directory)" in change_of(instance)
    cause = spoiled(change_of(instance)).cause
    assert is_spoiled(Observation(RunKey("i", "a", 0), None, status="failed", message="in any words", cause=cause))
    assert not is_spoiled(Observation(RunKey("i", "a", 0), None, status="failed", message="it broke"))


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
        pytest.raises(RunFailed, match=r"'2\.txt' .* put the old content back"),
    ):
        run_plan(plan, store, workers=1)

    with read_store(tmp_path / "study.db") as store:
        recorded = [(seen.key.instance, seen.value) for seen in store.observations()]
        by_changer = [seen for seen in store.observations("2.txt") if seen.key.algorithm == "b"]
    assert all(value == float(name[0]) for name, value in recorded)
    assert by_changer == []
