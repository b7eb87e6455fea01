"""A program that is edited while the study runs: the study stops, and no run of another program is recorded."""

from __future__ import annotations

import sys

import pytest

from ampler.core.errors import PlanMismatch, RunFailed
from ampler.core.plan import Command, Limits, Question
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.store import open_store

SOLVER = "from helper import VALUE\nprint(VALUE)\n"
EDITOR = """
import os, sys
from pathlib import Path
if sys.argv[1] == {instance!r}:
    new = Path({file!r} + str(os.getpid()))
    new.write_text({text!r})
    new.replace({file!r})  # as editors save: at no moment half of it is there
print(7)
"""
EDITS = {"the program": ("solver.py", "print(999)\n"), "a module": ("helper.py", "VALUE = 999\n")}


def plan_of(folder, edited, text, limits=Limits()):  # noqa: B008 - it is frozen
    (folder / "solver.py").write_text(SOLVER)
    (folder / "helper.py").write_text("VALUE = 1\n")
    names = [f"i{number}" for number in range(6)]
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms=[
            Command("mine", (sys.executable, "solver.py", "{instance}", "{seed}"), folder=str(folder)),
            Command("editor", (sys.executable, "editor.txt", "{instance}", "{seed}"), folder=str(folder)),
        ],
        instances=names,
        rule=Fixed(runs=2),
        count="all",
        limits=limits,
    )
    words = {"instance": plan.instances[2].name, "file": str(folder / edited), "text": text}
    (folder / "editor.txt").write_text(EDITOR.format(**words))
    return plan


def recorded(store, name="mine"):
    return [seen.value for seen in store.observations() if seen.key.algorithm == name]


@pytest.mark.parametrize(
    ("workers", "limits"), [(1, Limits()), (2, Limits(timeout=60.0)), (2, Limits(memory=2 * 10**9)), (3, Limits())]
)
@pytest.mark.parametrize("what", EDITS)
def test_a_study_stops_when_its_code_is_edited_and_asks_when_it_is_run_again(tmp_path, what, workers, limits):
    edited, text = EDITS[what]
    plan = plan_of(tmp_path, edited, text, limits)
    with open_store(tmp_path / "study.db") as store:
        with pytest.raises(RunFailed, match=rf"the code of 'mine' \({edited}\)"):
            run_plan(plan, store, workers=workers)
        before = recorded(store)

        assert set(before) == {1.0}
        with pytest.raises(PlanMismatch, match="code of algorithm 'mine' has changed since"):
            run_plan(plan, store, workers=workers)
        (tmp_path / "editor.txt").write_text("print(7)\n")  # it edits no more, and is another program itself
        run_plan(plan, store, workers=workers, again=True)

        assert recorded(store) == [999.0] * 12
        assert recorded(store, "editor") == [7.0] * 12


def test_a_file_that_is_only_touched_stops_nothing(tmp_path):
    plan = plan_of(tmp_path, "solver.py", SOLVER)

    with open_store(tmp_path / "study.db") as store:
        assert run_plan(plan, store, workers=2).new == 24
        assert set(recorded(store)) == {1.0}
