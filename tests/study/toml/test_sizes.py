"""`detect` and `looks` in study.toml, and what goes with them."""

import pytest

from ampler.core.errors import InvalidPlan
from ampler.study.detect import Detect
from ampler.study.interim import Looking
from ampler.study.toml import read_study_file

STUDY = """better = "lower"
difference = "percent"
reference = "a"
{top}
[rule]
{rule}
[[algorithm]]
name = "a"
command = "solve {{instance}} {{seed}}"
[[algorithm]]
name = "b"
command = "solve --quick {{instance}} {{seed}}"
cost = 2.5
[instances]
names = [{names}]
{instances}
"""


def read(folder, top="detect = 0.02", rule="", instances="", number=60):
    names = ", ".join(f'"i{n}"' for n in range(number))
    file = folder / "study.toml"
    file.write_text(STUDY.format(top=top, rule=rule, instances=instances, names=names))
    return read_study_file(file).plan


def test_detect_alone_is_enough(tmp_path):
    plan = read(tmp_path)
    assert plan.study_rule == Detect(detect=0.02)
    assert len(plan.instances) == 60
    assert plan.rule.runs == 5


def test_everything_that_goes_with_it_is_read(tmp_path):
    plan = read(tmp_path, "detect = 0.02\ninstance-cost = 100\navailable = 50", "pilot = 15\nstart = 4")
    assert plan.study_rule == Detect(detect=0.02, instance_cost=100.0, pilot=15, start=4)
    assert (len(plan.instances), len(plan.untouched)) == (50, 10)
    assert plan.study_rule.goal(plan).costs == (1.0, 2.5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"top": "detect = 0.02\nse = 0.05"}, "line 5: se must be left out with detect"),
        ({"top": "detect = 0.02\neffect = 0.5"}, "line 5: effect must be left out with detect"),
        ({"instances": "use = 57"}, "use must be left out with detect"),
        ({"instances": 'use = "all"'}, "use must be left out with detect"),
        ({"rule": "budget = 100"}, "line 6: budget has no meaning with detect"),
        ({"rule": 'allocation = "fixed"\nruns = 30'}, "allocation has no meaning with detect"),
        ({"rule": 'guard = "all"'}, "guard has no meaning with detect"),
        ({"top": "detect = 0.02\nlooks = 4"}, "line 5: looks must be left out with detect"),
        ({"top": "detect = 0"}, "line 4: detect must be a positive number, got 0"),
        ({"top": "detect = -0.02"}, "line 4: detect must be a positive number"),
        ({"top": 'detect = "2 %"'}, "line 4: detect must be a positive number"),
        ({"top": "detect = true"}, "line 4: detect must be a positive number"),
        ({"top": "detect = 0.02\ninstance-cost = -1"}, "line 5: instance-cost must not be negative"),
        ({"top": "detect = 0.02\navailable = 2"}, "line 5: available must be a whole number of 3 or more"),
        ({"rule": "pilot = 2"}, "line 6: pilot must be a whole number of 3 or more"),
        ({"rule": "start = 1"}, "line 6: start must be a whole number of 2 or more"),
        ({"top": 'detect = 0.02\ntest = "wilcoxon"'}, "line 4: detect needs test = 't'"),
        ({"top": "detect = 0.02\ntarget = 3"}, "omit target"),
        ({"number": 2}, "detect needs 3 or more instances"),
        ({"top": "se = 0.05\neffect = 0.5\navailable = 20"}, "line 6: available has a meaning with detect only"),
        ({"top": "se = 0.05\neffect = 0.5\ninstance-cost = 2"}, "instance-cost has a meaning with detect only"),
        ({"top": "se = 0.05\neffect = 0.5", "rule": "pilot = 12"}, "pilot has a meaning with detect only"),
    ],
)
def test_what_does_not_go_with_it_is_refused_in_a_sentence(tmp_path, given, sentence):
    with pytest.raises(InvalidPlan, match=sentence):
        read(tmp_path, **given)


# looks


@pytest.mark.parametrize("looks", ["4", "[0.4, 0.6, 0.8, 1.0]"])
def test_looks_are_a_number_or_shares(tmp_path, looks):
    plan = read(tmp_path, f"effect = 0.5\nse = 0.02\nlooks = {looks}")
    assert plan.study_rule == Looking(looks=4)
    assert (len(plan.instances), plan.needed) == (35, 35)
    assert plan.rule.se == 0.02


def test_one_look_is_a_study_as_ever(tmp_path):
    plan = read(tmp_path, "effect = 0.5\nse = 0.02\nlooks = 1")
    assert plan.study_rule is None
    assert plan.needed == 34


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"top": "effect = 0.5\nse = 0.02\nlooks = 0"}, "line 6: looks must"),
        ({"top": 'effect = 0.5\nse = 0.02\nlooks = "4"'}, "line 6: looks must"),
        ({"top": "effect = 0.5\nse = 0.02\nlooks = [0.5]"}, "must rise from above 0 to 1"),
        ({"top": "effect = 0.5\nse = 0.02\nlooks = 4", "number": 9}, "at least 3 new instances"),
        ({"top": "effect = 0.5\nse = 0.02\nlooks = 4\nmargin = 0.1"}, "omit margin"),
        ({"top": "detect = 0.02\nlooks = 4"}, "line 5: looks must be left out with detect"),
        ({"top": 'effect = 0.5\nse = 0.02\nlooks = 4\ntest = "sign-flip"'}, "are for the tests t, wilcoxon"),
    ],
)
def test_what_has_no_looks_is_refused_in_a_sentence_that_points_at_it(tmp_path, given, sentence):
    with pytest.raises(InvalidPlan, match=sentence):
        read(tmp_path, **given)
