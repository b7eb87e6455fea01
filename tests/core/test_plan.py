"""The small arithmetic that values know."""

import dataclasses

import pytest

from ampler.core import plan, runs
from ampler.core.plan import Fingerprint, Instance, Limits, PlanRecord, Question, Reading, Sample


def test_every_value_is_frozen():
    kinds = [
        kind
        for module in (plan, runs)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    ]
    assert len(kinds) > 10
    assert [kind.__name__ for kind in kinds if not kind.__dataclass_params__.frozen] == []


def test_a_wish_counts_its_runs():
    assert Sample({"a": 3, "b": 0, "c": 4}).total == 7
    assert Sample({}).total == 0


@pytest.mark.parametrize(
    ("reading", "text", "is_time"),
    [
        (Reading(), "", False),
        (Reading("pattern", "cost (.*)"), "cost (.*)", False),
        (Reading("json", "cost"), "json:cost", False),
        (Reading("seconds"), "seconds", True),
        (Reading("cpu-seconds"), "cpu-seconds", True),
    ],
)
def test_a_reading_is_written_as_in_a_study_file(reading, text, is_time):
    assert (reading.text, reading.is_time) == (text, is_time)


def test_a_command_gets_the_path_of_an_instance_or_its_name():
    assert Instance("i1", path="/data/i1.txt").text == "/data/i1.txt"
    assert Instance("i1").text == "i1"


def test_the_instances_of_a_part_are_those_that_are_not_elsewhere():
    kept = PlanRecord(
        name="study", question=Question("simple"), limits=Limits(), policy=plan.StopStudy(), retries=0,
        fingerprint=Fingerprint(1, {"a": {}, "b": {}}, dict.fromkeys("xyz", "")), elsewhere=("y",),
        untouched=(), features={}, rule={}, needed=None, power=None, deterministic=(), timed=(), decisions="",
    )  # fmt: skip
    assert (kept.algorithms, kept.instances) == (("a", "b"), ("x", "z"))
    assert dataclasses.replace(kept, elsewhere=()).instances == ("x", "y", "z")
