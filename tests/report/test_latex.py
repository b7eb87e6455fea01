"""LaTeX that compiles: every special character is escaped, tables are booktabs."""

import string

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.front import analyse
from ampler.report.latex import booktabs, escaped, holm_table, tex_number


@pytest.mark.parametrize(
    ("plain", "latex"),
    [
        ("no-TSK", "no-TSK"),
        ("a_b", r"a\_b"),
        ("50% & $3 #1", r"50\% \& \$3 \#1"),
        ("{x}^2 ~ y", r"\{x\}\textasciicircum{}2 \textasciitilde{} y"),
        ("C:\\runs", r"C:\textbackslash{}runs"),
        ("a<b|c>", r"a\textless{}b\textbar{}c\textgreater{}"),
        ("(μ+λ) ES", r"(\ensuremath{\mu}+\ensuremath{\lambda}) ES"),
        ("two\nlines", "two lines"),
    ],
)
def test_names_are_set_as_they_stand(plain, latex):
    assert escaped(plain) == latex


@given(st.text(string.printable, max_size=30))
def test_no_special_character_is_left_bare(text):
    commands = (
        r"\textbackslash{} \textasciicircum{} \textasciitilde{} \textless{} \textgreater{} \textbar{} \textquotedbl{}"
    )
    rest = escaped(text)
    for command in commands.split():
        rest = rest.replace(command, "")
    for pair in (r"\{", r"\}", r"\$", r"\&", r"\#", r"\_", r"\%"):
        rest = rest.replace(pair, "")
    assert not set(rest) & set('\\{}$&#_%^~<>|"')


@pytest.mark.parametrize(
    ("value", "digits", "latex"),
    [
        (0.0, 2, "$0.0$"),
        (0.05, 2, "$0.050$"),
        (-12.34, 3, "$-12.3$"),
        (99.96, 3, "$100$"),
        (1e-4, 2, "$0.00010$"),
        (9.99e-5, 2, "$0.00010$"),
        (9.9e-5, 2, r"$9.9\times10^{-5}$"),
        (1.5e7, 2, r"$1.5\times10^{7}$"),
        (float("-inf"), 2, r"$-\infty$"),
        (float("nan"), 2, "--"),
    ],
)
def test_numbers_have_their_digits(value, digits, latex):
    assert tex_number(value, digits) == latex


def test_empty_groups_leave_no_rule():
    assert booktabs(["a"], [], [["1"]], align="r").count(r"\midrule") == 1


def test_the_holm_table_has_a_rule_where_rejecting_stops_and_escapes_the_names():
    frame = pd.DataFrame({"dataset": range(8), "a_1": [5, 6, 7, 8, 9, 5, 6, 7], "b%": [1, 2, 2, 4, 4, 1, 2, 2]})
    frame["c"] = frame["a_1"] + [1, -1, 1, -1, 1, -1, 1, -1]
    lines = holm_table(analyse(frame, difference="simple")).splitlines()
    rejected = next(place for place, line in enumerate(lines) if r"a\_1 $\times$ b\%" in line)
    kept = next(place for place, line in enumerate(lines) if r"a\_1 $\times$ c" in line)
    assert r"\midrule" in lines[rejected + 1 : kept]
    assert all(line.count(" & ") == 6 and line.endswith(r" \\") for line in lines if "times$" in line)
