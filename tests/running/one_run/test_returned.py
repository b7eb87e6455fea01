"""The value in what a function returned, and the reason when it has none."""

import numpy as np
import pytest

from ampler.core.plan import Function, Reading
from ampler.running.one_run.readings import NoValue, described, raised, result_of


def function(**fields):
    return Function("f", None, "tests:f", **fields)


def test_a_float_of_another_kind_counts_as_what_it_is_not_as_what_it_says():
    class Liar(float):
        def __float__(self):
            return 99.0

    assert result_of(Liar(3.5), function()).value == 3.5
    assert type(result_of(np.float64(3.5), function()).value) is float


@pytest.mark.parametrize(
    "value", [np.str_("5"), np.array("5"), np.datetime64("2024"), np.complex128(1), b"5"], ids=repr
)
def test_what_only_turns_into_a_float_is_no_number(value):
    with pytest.raises(NoValue, match="must be returned, got"):
        result_of(value, function())


def test_nothing_is_the_value_of_a_run_whose_value_is_its_time():
    assert result_of(None, function(reading=Reading("seconds"))).value == 0.0


def test_a_million_things_are_described_by_the_first_few():
    assert described([7] * 1_000_000) == "list [7, 7, 7, 7, 7, 7, ...]"
    assert len(described("x" * 1_000_000)) < 100


def test_what_cannot_be_printed_was_raised_all_the_same():
    class Unprintable(Exception):
        def __str__(self):
            raise ValueError

    assert raised(Unprintable()) == "it raised Unprintable: it cannot be printed"
