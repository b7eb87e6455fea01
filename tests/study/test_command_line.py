"""The arguments of a command."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidPlan
from ampler.core.plan import Around, Command, Function, Instance, Question, Reading
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.run_inputs import arguments, as_text, check_around, commands_around, places


def a_plan(**changes):
    given = {
        "question": Question("simple", better="lower"),
        "instances": [f"i{n}" for n in range(60)],
        "rule": Fixed(runs=3),
        "seed": 7,
        "count": "all",
    }
    return make_plan(**given | changes)


def second(instance, seed, *, cooling=0.9):
    return 2.0


def filled(*argv, instance="i", seed=7, **parameters):
    return arguments(Command("x", argv, parameters), Instance(instance), seed)


def test_places_are_filled_in_wherever_they_stand():
    assert filled("s", "{instance}", "--seed={seed}", "{k}{k}", k=3) == ("s", "i", "--seed=7", "33")


def test_doubled_braces_and_other_braces_are_text():
    assert filled("awk", "{{print}}", '{"a": {"b": 1}}', "{}", "{ seed }", "{1}") == (
        *("awk", "{print}", '{"a": {"b": 1}}', "{}", "{ seed }", "{1}"),
    )


def test_a_value_that_looks_like_a_place_is_left_alone():
    assert filled("{instance}", "{k}", instance="{seed}", k="{instance}") == ("{seed}", "{instance}")


def test_a_file_is_given_by_its_path():
    command = Command("x", ("s", "{instance}"))
    assert arguments(command, Instance("i/1.txt", "/data/i/1.txt"), 1) == ("s", "/data/i/1.txt")


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false"), (1, "1"), (0.1, "0.1"), ("a b", "a b")])
def test_values_are_written_as_programs_expect_them(value, text):
    assert as_text(value) == text


def test_an_irace_runner_gets_ids_seed_instance_and_switches():
    command = Command("x", ("./target-runner", "-v"), {"alpha": 0.5, "--beta": "b c"}, protocol="irace")
    program, option, configuration, instance_id, *rest = arguments(command, Instance("i", "/i"), 9)
    assert (program, option, rest) == ("./target-runner", "-v", ["9", "/i", "--alpha", "0.5", "--beta", "b c"])
    assert configuration.isalnum()
    assert instance_id.isalnum()
    assert arguments(command, Instance("j", "/j"), 9)[3] != instance_id
    assert arguments(replace(command, name="y"), Instance("i", "/i"), 9)[2] != configuration


def test_a_switch_that_ends_in_an_equals_sign_is_joined_with_its_value():
    command = Command("x", ("r",), {"--rho=": 0.5, "-k": 3, "verbose": True}, protocol="irace")
    assert arguments(command, Instance("i"), 9)[5:] == ("--rho=0.5", "-k", "3", "--verbose", "true")


@pytest.mark.parametrize(("fields", "sentence"), [
    ({"argv": ("w", "{instance}")}, "the worker of algorithm 'x' starts once for many runs and cannot have {instance}"),
    ({"argv": ("w", "{k}"), "parameters": {"k": 1}}, "cannot have {k}"),
    ({"argv": ()}, "must name a program"),
    ({"argv": ("w",), "reading": Reading("pattern", "x")}, "algorithm 'x' is a worker with JSON answers"),
])  # fmt: skip
def test_a_worker_is_told_of_its_runs_by_requests(fields, sentence):
    with pytest.raises(InvalidPlan, match=re.escape(sentence)):
        a_plan(algorithms=[Command("x", protocol="worker", **fields), Command("y", ("y", "{seed}", "{instance}"))])


def test_a_worker_may_have_braces_and_structured_parameters_and_dashes_in_names():
    worker = Command("x", ("w", "{other}"), {"steps": [1, 2]}, protocol="worker")
    plan = a_plan(algorithms=[worker, replace(worker, name="y")], instances=["-i", "j"])
    assert not [warning for warning in plan.warnings if "seed" in warning]


@given(st.lists(st.text(), min_size=1), st.dictionaries(st.from_regex(r"[a-z]{1,4}", fullmatch=True), st.text()))
def test_words_without_places_pass_unchanged_and_the_number_of_words_never_changes(argv, parameters):
    values = {"instance": "i", "seed": "7"} | parameters
    if places(argv) <= values.keys():
        got = filled(*argv, **{name: value for name, value in parameters.items() if name not in ("instance", "seed")})
        assert len(got) == len(argv)
        assert all(before == after for before, after in zip(argv, got, strict=True) if "{" not in before)


@pytest.mark.parametrize(("argv", "parameters", "message"), [
    ((), {}, "must name a program"),
    (("solve",), {}, "must say where the instance goes"),
    (("solve", "{instance}", "{sed}"), {}, r"has the placeholder \{sed\}"),
    (("solve", "{instance}"), {"k": 1}, "parameter 'k' of algorithm 'x' is not used"),
    (("solve", "{instance}", "{k}"), {"k": [1]}, "parameter 'k' of algorithm 'x' must be a text, a number"),
    (("solve", "{instance}", "{seed}"), {"seed": 1}, "must not be called 'seed'"),
])  # fmt: skip
def test_a_command_that_cannot_be_filled_in_is_refused(argv, parameters, message):
    with pytest.raises(InvalidPlan, match=message):
        a_plan(algorithms={"x": Command("x", argv, parameters), "b": second})


def test_a_command_that_gets_no_seed_is_a_warning_unless_it_is_deterministic():
    command = Command("x", ("solve", "{instance}"))
    assert "does not use {seed}" in a_plan(algorithms={"x": command, "b": second}).warnings[0]
    assert not a_plan(algorithms={"x": replace(command, deterministic=True), "b": second}).warnings
    assert not a_plan(algorithms={"x": replace(command, protocol="irace"), "b": second}).warnings


def test_an_instance_that_looks_like_an_option_is_refused_where_it_would_be_taken_for_one():
    instances = [Instance("-rf"), Instance("b")]
    bare, guarded = (
        Command("x", ("solve", "{seed}", "{instance}")),
        Command("x", ("solve", "{seed}", "--", "{instance}")),
    )
    with pytest.raises(
        InvalidPlan, match=r"instance '-rf' begins with '-' and algorithm 'x' would take it for an option"
    ):
        a_plan(algorithms={"x": bare, "y": second}, instances=instances)
    with pytest.raises(InvalidPlan, match="begins with '-'"):
        a_plan(algorithms={"x": Command("x", ("runner",), protocol="irace"), "y": second}, instances=instances)
    for fine in (guarded, Command("x", ("solve", "{seed}", "--file={instance}"))):
        a_plan(algorithms={"x": fine, "y": second}, instances=instances)
    a_plan(algorithms={"x": bare, "y": second}, instances=[Instance("-rf", path="/data/-rf"), Instance("b")])


@pytest.mark.parametrize(
    ("around", "words"),
    [
        (Around(prepare=("touch", "{other}")), r"prepare of algorithm 'mine' must be words .* got a place \{other\}"),
        (Around(warmup=-1), "warmup of algorithm 'mine' must be a command, or a number of runs of 0 or more, got -1"),
        (Around(cleanup=("rm", 3)), "cleanup of algorithm 'mine' must be words"),
        (Around(prepare="make clean"), "prepare of algorithm 'mine' must be words .* got 'make clean'"),
    ],
)
def test_commands_around_a_run_must_be_such_that_they_can_be_filled_in(around, words):
    with pytest.raises(InvalidPlan, match=words):
        check_around(Command("mine", ("solve", "{instance}"), around=around))


def test_a_function_has_commands_around_it_too():
    function = Function("mine", len, "builtins:len", {"k": 2}, around=Around(warmup=("cat", "{instance}"), folder="/x"))

    assert commands_around(function)["warmup"].argv == ("cat", "{instance}")
    assert commands_around(function)["warmup"].folder == "/x"
