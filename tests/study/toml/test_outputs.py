"""What counts as solved in study.toml, and what is refused before the first run."""

import pytest

from ampler.core.errors import InvalidPlan
from ampler.core.plan import Outputs
from ampler.study.record import identity
from ampler.study.toml import read_study_file

STUDY = """difference = "simple"
better = "lower"
rule = {{ allocation = "fixed", runs = 2 }}
instances = {{ names = ["i1", "i2"], use = "all"{features} }}
[defaults]
value = "seconds"
{defaults}
[[algorithm]]
name = "a"
command = "a {{instance}}"
{own}
[[algorithm]]
name = "b"
command = "b {{instance}}"
"""


@pytest.fixture
def study(tmp_path):
    def read(defaults="", own="", features=""):
        if features:
            (tmp_path / "features.csv").write_text(features)
        with_features = ', features = "features.csv"' if features else ""
        text = STUDY.format(defaults=defaults, own=own, features=with_features)
        (tmp_path / "study.toml").write_text(text)
        return read_study_file(tmp_path / "study.toml")

    return read


def test_defaults_hold_for_all_and_an_algorithm_may_differ(study):
    plan = study("solved = '^s '\nanswer = '^s (.*)'\nmeasures = { n = 'n (.*)' }", "solved = ['ok', 0, 3]").plan
    first, second = plan.algorithms

    assert (first.outputs, first.success) == (Outputs("ok", "^s (.*)", {"n": "n (.*)"}), (0, 3))
    assert (second.outputs, second.success) == (Outputs("^s ", "^s (.*)", {"n": "n (.*)"}), ())


def test_what_nobody_asks_for_leaves_the_identity_of_an_algorithm_as_it_was(study):
    first, second = study(own="solved = [10, 20]").plan.algorithms

    assert identity(first) == {**identity(second), "command": ["a", "{instance}"], "success": [10, 20]}
    assert set(identity(second)) == {"command", "parameters", "value"}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"own": "solved = '('"}, r"line 11: solved must be a regular expression"),
        ({"own": "solved = ['a', 'b']"}, "solved must be a regular expression, exit codes, or a list"),
        ({"own": "solved = 300"}, "solved must be an exit code from 0 to 255"),
        ({"own": "solved = true"}, "solved must be"),
        ({"own": "solved = 'a'\nsuccess = 1"}, "remove success"),
        ({"defaults": "measures = { n = '[' }"}, "measures.n must be a regular expression"),
        ({"features": "instance,expected\ni1,1\ni2,2\ni3,3\n"}, "'i3', which is no instance here"),
        ({"features": "instance,expected,tolerance\ni1,1,a\ni2,2,\n"}, "tolerance of an expected answer must be"),
        ({"features": "instance,expected,tolerance\ni1,1,-1\ni2,2,\n"}, "0 or more, got '-1' on instance 'i1'"),
    ],
)
def test_contradictory_settings_get_one_sentence(study, settings, sentence):
    with pytest.raises(InvalidPlan, match=sentence) as problem:
        study(**settings)
    assert "\n" not in str(problem.value)


def test_expected_answers_that_no_algorithm_gives_are_noted(study):
    features = "instance,expected\ni1,sat\ni2,unsat\n"

    assert any("no algorithm has `answer`" in note for note in study(features=features).notes)
    assert not study("answer = '^s (.*)'", features=features).notes
