"""What is read of a run beside its value: whether it solved its instance, its answer, further numbers, its memory."""

import resource
import sys
from functools import partial

import pytest

from ampler.core.failures import kind_of
from ampler.core.plan import Command, Function, Instance, Limits, Outputs, Reading
from ampler.running.one_run.execution import run_once
from ampler.running.work import judged

SAT = Outputs(r"^s (UN)?SATISFIABLE", r"^s (.*)", {"conflicts": r"^c conflicts (\S+)"})
TIMED = Reading("seconds")


def outcome_of(code, outputs=SAT, success=(), limits=Limits(), reading=TIMED):  # noqa: B008 - frozen
    command = Command("x", (sys.executable, "-c", code), reading=reading, success=success, outputs=outputs)
    return run_once(command, Instance("i"), 1, limits)


def kind(outcome):
    return kind_of(outcome.status, outcome.cause)


def test_a_solved_run_has_its_answer_its_measures_and_its_exit_code():
    outcome = outcome_of("print('c conflicts 12\\nc conflicts 17\\ns SATISFIABLE'); raise SystemExit(10)")

    assert outcome.status == "ok"
    assert outcome.value == outcome.seconds
    assert (outcome.answer, outcome.exit_code, outcome.measures) == ("SATISFIABLE", 10, {"conflicts": 17.0})


@pytest.mark.parametrize(
    ("code", "success", "ending"),
    [
        ("print('s UNKNOWN')", (), "unknown"),  # gives up with exit code 0
        ("print('s SATISFIABLE')", (10,), "unknown"),  # the exit code must agree
        ("raise SystemExit(3)", (), "error"),
        ("print('s SATISFIABLE', flush=True); import os; os.abort()", (), "crash"),
        ("import time; print('s SATISFIABLE', flush=True); time.sleep(60)", (), "timeout"),
    ],
)
def test_anything_else_fails_with_its_kind(code, success, ending):
    outcome = outcome_of(code, success=success, limits=Limits(timeout=2.0))

    assert outcome.value is None
    assert kind(outcome) == ending


def test_a_memory_hog_is_a_memout_and_its_peak_is_recorded():
    hog = outcome_of("x = bytearray(300_000_000); import time; time.sleep(30)", limits=Limits(memory=150_000_000))
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 200_000_000  # a smaller peak is not known
    large = outcome_of(f"x = bytearray({size}); print('s SATISFIABLE')")

    assert kind(hog) == "memout"
    assert hog.memory is None or hog.memory > 150_000_000
    assert size < large.memory < size + 100_000_000


def test_a_run_without_the_answer_that_is_looked_for_is_unknown():
    outcome = outcome_of("print(1)", outputs=Outputs(answer=r"objective (\S+)"), success=(0,), reading=Reading())

    assert kind(outcome) == "unknown"
    assert "no match of 'objective" in outcome.message


def call(returned, instance, seed):
    return returned


@pytest.mark.parametrize(
    ("returned", "value", "answer"),
    [
        ({"nodes": 311, "proved": True, "objective": 17.5}, 311.0, "17.5"),
        ({"nodes": 311, "proved": False, "objective": 17.5}, None, None),
        ({"nodes": 311, "proved": True}, None, None),
        (311, None, None),
    ],
)
def test_functions_say_the_same_by_returned_keys(returned, value, answer):
    solve = Function("x", partial(call, returned), "tests:x", outputs=Outputs("proved", "objective"))
    outcome = run_once(solve, Instance("i"), 1, Limits())

    assert (outcome.value, outcome.answer) == (value, answer)
    assert value is not None or kind(outcome) == "unknown"


def test_a_timed_function_may_return_its_answer_alone():
    solve = Function("x", partial(call, {"status": "UNSAT"}), "tests:x", reading=TIMED, outputs=Outputs("", "status"))

    assert run_once(solve, Instance("i"), 1, Limits()).answer == "UNSAT"


def test_an_answer_that_says_unknown_solves_nothing():
    outcome = judged(outcome_of("print('s UNKNOWN')"), Instance("i"))
    assert (outcome.value, kind(outcome), outcome.answer) == (None, "unknown", "UNKNOWN")


def test_a_wrong_answer_is_a_failure_however_fast_it_was():
    outcome = outcome_of("print('s SATISFIABLE')")
    right, wrong = (judged(outcome, Instance("i", features={"expected": word})) for word in ("sat", "unsat"))

    assert right == outcome == judged(outcome, Instance("i"))
    assert (wrong.value, kind(wrong), wrong.answer) == (None, "wrong", "SATISFIABLE")
    assert wrong.message == "its answer 'SATISFIABLE' is wrong: expected is 'unsat'"
