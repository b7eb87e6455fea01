"""What is done before and after a run is not measured, and whatever fails there is a failed run with its reason."""

import time

import pytest

from ampler.core.plan import Around, Command, Function, Instance, Limits, Reading
from ampler.running.one_run.execution import run_once


@pytest.fixture
def made(tmp_path):
    """`made(around, kind)`: the outcome of a run in a folder, and what the folder's log says."""

    def run(kind="command", limits=Limits(), script="echo run >> log; echo 5", **around):  # noqa: B008
        shell = {name: ("sh", "-c", each) if isinstance(each, str) else each for name, each in around.items()}
        given = Around(**shell, folder=str(tmp_path))
        if kind == "command":
            argv = ("sh", "-c", script, "{instance}", "{seed}")
            algorithm = Command("mine", argv, folder=str(tmp_path), around=given, reading=Reading("pattern", "[0-9]+"))
        else:
            algorithm = Function("mine", lambda instance, seed: logged(tmp_path), "tests:mine", around=given)
        outcome = run_once(algorithm, Instance("i1"), 7, limits)
        log = tmp_path / "log"
        return outcome, log.read_text().split() if log.exists() else []

    return run


def logged(folder):
    with (folder / "log").open("a") as file:
        file.write("run\n")
    return 5


@pytest.mark.parametrize("kind", ["command", "function"])
def test_preparing_warming_up_and_cleaning_up_come_in_this_order(made, kind):
    outcome, log = made(kind, prepare="echo prepare >> log", warmup="echo warmup >> log", cleanup="echo cleanup >> log")

    assert (outcome.status, outcome.value) == ("ok", 5.0)
    assert log == ["prepare", "warmup", "run", "cleanup"]


@pytest.mark.parametrize("kind", ["command", "function"])
def test_a_number_of_runs_warms_up_each_prepared_as_the_one_that_counts(made, kind):
    outcome, log = made(kind, prepare="echo prepare >> log", warmup=2, cleanup="echo cleanup >> log")

    assert outcome.value == 5.0
    assert log == ["prepare", "run"] * 3 + ["cleanup"]


def test_what_is_around_a_run_is_not_in_its_times_nor_in_its_limits(made):
    began = time.time()
    outcome, _ = made(prepare="sleep 0.8", warmup="sleep 0.8", cleanup="sleep 0.8", limits=Limits(timeout=2.3))
    ended = time.time()

    assert outcome.status == "ok"
    assert outcome.seconds <= ended - began - 2.4
    assert began + 1.6 <= outcome.started <= ended - 0.8


@pytest.mark.parametrize("name", ["prepare", "warmup", "cleanup"])
def test_a_command_that_fails_makes_the_run_a_failed_one_with_its_reason(made, name):
    outcome, log = made(**{"cleanup": "echo cleaned >> log", name: "echo no disk >&2; exit 3"})

    assert (outcome.status, outcome.value) == ("failed", None)
    assert outcome.message.startswith(f"its {name} command failed: it ended with exit code 3")
    assert "no disk" in outcome.message
    assert ("run" in log) == (name == "cleanup"), "nothing is run that is not ready"
    assert ("cleaned" in log) == (name != "cleanup")


def test_a_command_that_does_not_end_is_no_time_out_of_the_algorithm(made):
    outcome, _ = made(prepare="sleep 60", limits=Limits(timeout=0.3))

    assert outcome.status == "failed"
    assert outcome.message == "its prepare command failed: it ran longer than 0.3 s and was ended"


def test_a_program_that_is_not_there_is_named(made):
    outcome, _ = made(prepare=("no-such-program",))

    assert outcome.message.startswith("its prepare command failed: the command 'no-such-program' was not found")


def test_the_reason_of_the_run_itself_comes_before_that_of_cleaning_up(made):
    outcome, log = made(script="echo run >> log; exit 4", cleanup="echo cleanup >> log; exit 5")

    assert "exit code 4" in outcome.message
    assert log == ["run", "cleanup"]


def test_a_run_to_warm_up_that_fails_says_so(made):
    outcome, log = made(script="echo run >> log; exit 4", warmup=2)

    assert outcome.message.startswith("in a run to warm up, it ended with exit code 4")
    assert log == ["run"]


def test_places_are_filled_in(tmp_path):
    around = Around(prepare=("touch", "{instance}-{seed}-{k}"), folder=str(tmp_path))
    command = Command("mine", ("echo", "{instance}", "{seed}", "{k}"), {"k": 3}, around=around)

    assert run_once(command, Instance("i1"), 7, Limits()).value == 3.0
    assert (tmp_path / "i1-7-3").exists()
