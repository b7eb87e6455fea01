"""Costs written into a study file change nothing else in it."""

import tomllib

import pytest

from ampler.core.errors import InvalidPlan
from ampler.study.toml.reading import with_costs

STUDY = """\
# my study
seed = 1 # as always
[[algorithm]]  # the first
  name = 'full'   # its name
  command = '''
solve [[algorithm]]
name = "x"'''
[[algorithm]]
cost = 7   # measured by hand
name = "quick"
parameters = { cost = 5 }
[instances]
names = ["a", "b"]
"""


def test_each_algorithm_gets_its_cost_and_comments_stay():
    changed = with_costs(STUDY, {"full": 3.2, "quick": 1.0})
    meant = tomllib.loads(STUDY)
    meant["algorithm"][0]["cost"], meant["algorithm"][1]["cost"] = 3.2, 1.0

    assert tomllib.loads(changed) == meant
    assert "# my study\nseed = 1 # as always\n[[algorithm]]  # the first\n  name = 'full'   # its name\n" in changed
    assert with_costs(changed, {"full": 3.2, "quick": 1.0}) == changed


@pytest.mark.parametrize(
    "text",
    [
        'algorithm = [{ name = "full" }, { name = "quick" }]',
        '[[algorithm]]\nname = "full"\n[[algorithm]]\nname = """\nquick"""\n',
    ],
)
def test_where_a_line_cannot_be_added_the_costs_are_told(text):
    with pytest.raises(InvalidPlan, match=r"do it by hand \(full: cost = 3.2, quick: cost = 1\)"):
        with_costs(text, {"full": 3.2, "quick": 1.0})


def test_marks_line_ends_and_other_spellings_of_names_stay():
    text = "\ufeff" + STUDY.replace("full", "cafe\N{COMBINING ACUTE ACCENT}").replace("\n", "\r\n")
    changed = with_costs(text, {"caf\N{LATIN SMALL LETTER E WITH ACUTE}": 3.2, "quick": 1.0})

    assert changed.startswith("\ufeff")
    assert changed.count("\n") == changed.count("\r\n") >= text.count("\n")
    assert "cafe\N{COMBINING ACUTE ACCENT}" in changed
