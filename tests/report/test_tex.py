from __future__ import annotations

import shutil
import subprocess

import pytest

from ampler.report import render
from ampler.report.subject import Subject
from ampler.report.tex import algorithms_tabular, statistics_tabular


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
    analysis = study_of(["one", "two", "three_3"], instances=50, difference="log-ratio")

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
