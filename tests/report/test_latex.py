"""LaTeX that compiles: every special character is escaped, tables are booktabs, the document holds them all."""

from __future__ import annotations

import shutil
import string
import subprocess

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.api import analyse
from ampler.report import Subject, render
from ampler.report.latex import algorithms_tabular, booktabs, escaped, holm_table, statistics_tabular, tex_number


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
    lines = holm_table(analyse(frame, difference="simple", better="lower")).splitlines()
    rejected = next(place for place, line in enumerate(lines) if r"a\_1 $-$ b\%" in line)
    kept = next(place for place, line in enumerate(lines) if r"a\_1 $-$ c" in line)
    assert r"\midrule" in lines[rejected + 1 : kept]
    assert all(line.count(" & ") == 7 and line.endswith(r" \\") for line in lines if "$-$" in line)


def test_comparisons_that_rest_on_different_instances_say_on_how_many(gappy):
    lines = holm_table(gappy).splitlines()

    assert lines[0] == r"\begin{tabular}{rlrrrrcrl}"
    assert next(line for line in lines if r"one $-$ three" in line).split(" & ")[2] == "$4$"
    assert all(line.count(" & ") == 8 for line in lines if "$-$" in line)


def test_what_an_algorithm_lacks_is_a_dash(gappy):
    assert statistics_tabular(gappy).count("--") == 19
    assert algorithms_tabular(gappy).count("--") == 4


# the document ------------------------------------------------------------------------------------------------------


def compiled(text: str, folder) -> str:
    """What pdflatex says of a document."""
    if shutil.which("pdflatex") is None:
        pytest.skip("LaTeX is not installed")
    (folder / "main.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    for _ in range(2):  # citations are known at the second time
        outcome = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
        assert outcome.returncode == 0, outcome.stdout[-3000:].decode(errors="replace")
    return outcome.stdout.decode(errors="replace")


def test_a_report_with_nasty_names_compiles_and_nothing_runs_over_the_margin(nasty, tmp_path):
    said = compiled(render(Subject(r"<i>$\frac{$</i> & \input{x}", nasty), "tex"), tmp_path)

    assert "Overfull" not in said
    assert "undefined" not in said


def test_a_report_of_sixty_algorithms_compiles_over_several_pages(study_of, tmp_path):
    analysis = study_of([f"algorithm {k}" for k in range(60)], reference="algorithm 0", runs=2)

    text = render(Subject("sixty", analysis), "tex")

    assert r"\begin{longtable}" in text
    assert "Overfull" not in compiled(text, tmp_path)


def test_a_few_algorithms_have_a_table_of_all_values_that_compiles(study_of, tmp_path):
    analysis = study_of(["one", "two", "three_3"], instances=50, difference="ratio")

    assert "Overfull" not in compiled(render(Subject("few", analysis), "tex"), tmp_path)


def test_nothing_of_a_name_is_a_command(nasty):
    text = render(Subject("x", nasty), "tex")

    assert r"\input{x}" not in text
    assert r"\frac" not in text


def test_the_best_are_bold(study_of):
    analysis = study_of(["one", "two", "three"])

    ranks, values = algorithms_tabular(analysis), statistics_tabular(analysis)

    best = min(row.mean_rank for row in analysis.algorithms)
    assert ranks.count(r"\mathbf") == sum(row.mean_rank == best for row in analysis.algorithms)
    assert values.count(r"\mathbf") == 12


def test_too_many_columns_are_left_out(nasty):
    assert statistics_tabular(nasty) is None


def test_the_bibtex_entries_are_there_to_be_copied(paper):
    text = render(Subject("paper", paper), "tex")

    assert text.index(r"\iffalse") < text.index("@article{campelo2020,") < text.rindex(r"\fi")
