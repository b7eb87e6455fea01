"""What is said of a study: its plan, what it will take, where it stands."""

from dataclasses import replace

import pytest

from ampler.core.plan import Question
from ampler.design.text import powers_left
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.detect import Detect
from ampler.study.forecast import Forecast
from ampler.study.plan import design_of, make_plan
from ampler.study.status import InstanceStatus, StudyStatus
from ampler.study.text import expected, noise_allowed, plan_warnings, planned, standing, standing_columns

TOLD = Forecast(3, 2, least_runs=60, most_runs=1500, least_seconds=120.0, most_seconds=39_000.0)
STATUS = StudyStatus(
    name="mine",
    reference=None,
    algorithms=("a", "b"),
    runs=31,
    failures=0,
    seconds=8.0,
    sessions=2,
    untouched=0,
    part="",
    unused=0,
    instances=(
        InstanceStatus("i1", "finished", "budget reached", 0.0523, {"a": 10, "b": 20}, 0),
        InstanceStatus("i2", "waiting", None, None, {"a": 1, "b": 0}, 1),
    ),
)


def plan(count="all", **asked):
    return make_plan(
        question=Question("simple", **{"better": "lower"} | asked),
        algorithms={"a": min, "b": max, "c": sum},
        instances=[f"i{k}" for k in range(20)],
        rule=Fixed(runs=4),
        count=count,
    )


def test_a_plan_says_what_is_compared_and_on_how_many_instances():
    assert planned(plan()) == "3 algorithms, all pairs, simple differences, on 20 instances"
    assert planned(plan(count=5, reference="a", effect=2.0)).startswith(
        "3 algorithms, all vs a, simple differences, on 5 of 20 instances, power 0."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "60 to 1,500 runs, 60 seconds to 5.4 hours with 2 workers (2 minutes to 11 hours of computing)."),
        ({"workers": 1}, "60 to 1,500 runs, 2 minutes to 11 hours with 1 worker."),
        ({"most_runs": None}, "The study takes at least 60 runs."),
        ({"most_runs": 60, "most_seconds": None}, "60 runs. The time is unknown until every algorithm gives a value."),
        ({"least_seconds": 0.1, "most_seconds": 0.2}, "60 to 1,500 runs, less than a second with 2 workers"),
        ({"least_seconds": 0.1, "most_seconds": 8.0, "workers": 1}, "runs, less than a second to 8 seconds with"),
        ({"least_seconds": 8.0, "most_seconds": 8.0, "workers": 1}, "runs, 8 seconds with 1 worker."),
    ],
)
def test_what_a_study_will_take_is_said_as_far_as_it_is_known(changes, words):
    assert words in expected(replace(TOLD, **changes))


def test_where_a_study_stands_names_only_what_there_is():
    assert standing(STATUS) == ("mine: 1 of 2 instances finished. 31 runs, 8 s of computing in 2 sessions.")
    odd = standing(replace(STATUS, failures=1, untouched=4, unused=7, part="1/3"))
    assert odd.startswith("mine (part 1/3): 1 of 2")
    assert "31 runs (1 failed), 8 s" in odd
    assert odd.endswith(" 4 more instances not needed. 7 runs outside the plan unused.")


def test_one_of_a_thing_is_one():
    one = replace(STATUS, sessions=1, runs=1, untouched=1, unused=1, instances=STATUS.instances[:1])
    said = standing(one)
    assert "1 of 1 instance finished. 1 run," in said
    assert "in 1 session." in said
    assert "1 more instance not needed." in said
    assert "1 run outside the plan unused." in said


def test_each_instance_has_a_row_with_a_cell_for_every_column():
    columns = standing_columns(STATUS).columns
    rows = [list(row) for row in zip(*(column.cells for column in columns), strict=True)]
    assert rows == [["i1", "10", "20", "0", "0.0523", "budget reached"], ["i2", "1", "0", "1", "", "waiting"]]
    assert [column.head for column in columns] == ["instance", "a", "b", "failed", "largest SE", "state"]


def test_the_power_of_a_plan_says_how_much_noise_of_runs_it_allows_for():
    """An accuracy that nobody can live with no longer stands beside a fine power without a word."""
    coarse = replace(plan(effect=1.2), rule=Accuracy(se=5.0, difference="simple"))
    told = noise_allowed(coarse)

    assert "effect = 1.2 includes run noise" in told
    _, half, whole = powers_left(design_of(coarse))
    assert f"{half.power:.2f} if the between-instance SD is 10 and {whole.power:.2f} if it is 5." in told


def test_without_an_accuracy_the_noise_is_told_in_deviations_and_without_an_effect_not_at_all():
    assert "if se is half the between-instance SD" in noise_allowed(plan(effect=1.2))
    assert noise_allowed(plan()) is None


@pytest.mark.parametrize(
    ("question", "how", "said"),
    [
        (Question("percent", reference="a", effect=0.5, better="lower"), {}, True),
        (Question("percent", reference="a", better="lower"), {"study_rule": Detect(detect=0.02)}, True),
        (Question("percent", effect=0.5, better="lower"), {}, False),
        (Question("ratio", reference="a", effect=0.5, better="lower"), {}, False),
        (Question("simple", reference="a", better="lower"), {"study_rule": Detect(detect=0.02)}, False),
        (Question("percent", reference="a", better="lower"), {}, False),
    ],
)
def test_planned_studies_say_that_percent_favours_the_reference(question, how, said):
    made = make_plan(
        question=replace(question, better="lower"),
        algorithms={"a": min, "b": max},
        instances=[f"i{k}" for k in range(40)],
        rule=Fixed(runs=4),
        count="all",
        **how,
    )
    told = [warning for warning in plan_warnings(made) if "percent differences favour the reference" in warning]
    assert bool(told) == said
    assert all('difference = "ratio"' in warning for warning in told)
