"""What is said between ampler and a resident program, line by line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.plan import Command, Instance, Reading
from ampler.running.one_run.execution import (
    LONGEST_LINE,
    LONGEST_REQUEST,
    Lines,
    OutOfStep,
    check_greeting,
    check_seed,
    request_of,
    result_in,
)
from ampler.running.one_run.readings import NoValue

COMMAND = Command("full", ("./solver",), {"k": 3}, protocol="worker")


@given(st.lists(st.integers(0, 10**6), max_size=5), st.data())
def test_lines_arrive_whole_however_they_are_cut(numbers, data):
    text = b"".join(b'noise\n  {"seed": %d}\n' % number for number in numbers)
    lines, taken = Lines(), []
    while text:
        size = data.draw(st.integers(1, len(text)))
        lines.feed(text[:size])
        text = text[size:]
        while lines:
            taken.append(lines.next()["seed"])

    assert taken == numbers


def test_a_line_without_end_and_a_line_that_is_no_json_are_out_of_step():
    with pytest.raises(OutOfStep, match="at most"):
        Lines().feed(b"{" + b"x" * LONGEST_LINE)
    broken = Lines()
    broken.feed(b'{"seed": \n')
    with pytest.raises(OutOfStep):
        broken.next()


def test_a_request_is_one_line_with_seed_instance_and_parameters_and_has_a_largest_size():
    line = request_of(COMMAND, Instance("i\n1"), 42)

    assert line.count(b"\n") == 1
    assert json.loads(line) == {"seed": 42, "instance": "i\n1", "parameters": {"k": 3}}
    with pytest.raises(ValueError, match="at most 60000 bytes"):
        request_of(COMMAND, Instance("x" * LONGEST_REQUEST), 42)


def test_an_answer_to_another_request_and_a_strange_greeting_are_out_of_step():
    check_seed({"seed": 7}, 7)
    check_greeting({"ampler": 1})

    with pytest.raises(OutOfStep):
        check_seed({"seed": 8}, 7)
    with pytest.raises(OutOfStep):
        check_greeting({"ampler": 2})


def test_an_answer_gives_its_value_and_its_other_numbers():
    found = result_in({"seed": 1, "value": 3, "steps": 20, "name": "x"}, Reading())

    assert found.value == 3.0
    assert found.measures == {"value": 3.0, "steps": 20.0}
    assert result_in({"seed": 1, "cost": {"best": 2.5}}, Reading("json", "cost.best")).value == 2.5


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"error": "no memory"}, "it answered with the error 'no memory'"),
        ({"seed": 1}, "an answer must have the field 'value'"),
        ({"value": "3"}, "must hold a number"),
        ({"value": True}, "must hold a number"),
    ],
)
def test_an_answer_without_a_value_says_why(answer, sentence):
    with pytest.raises(NoValue, match=sentence):
        result_in(answer, Reading())


def test_where_the_time_is_the_value_an_answer_needs_none():
    found = result_in({"seed": 1, "steps": 20, "restarts": 2}, Reading("seconds"))

    assert found.measures == {"steps": 20.0, "restarts": 2.0}
