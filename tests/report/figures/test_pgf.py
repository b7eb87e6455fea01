from __future__ import annotations

import shutil
import subprocess

import pytest

from ampler import plots
from ampler.core.errors import MissingDependency
from ampler.report.figures.pgf import figure_text
from ampler.report.figures.style import canvas

needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 50 %", r"a\_b \& 50 \%"),
        (r"costs \$5", r"costs \textdollar{}5"),  # matplotlib would take a dollar for its own mathematics
        ("$10^3$", "$10^3$"),  # what an axis writes is mathematics already
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
    ],
)
def test_texts_of_a_figure_are_set_as_they_stand_and_mathematics_stays(text, latex):
    assert figure_text(text) == latex


@pytest.mark.parametrize("name", ["intervals", "accuracy", "subgroups"])
@needs_latex
def test_a_pgf_figure_with_nasty_names_compiles_in_latex(nasty_drawings, name, tmp_path):
    plots.save(nasty_drawings[name](), tmp_path / "figure.pgf")
    text = (tmp_path / "figure.pgf").read_text(encoding="utf-8")
    assert r"\input{x}" not in text
    (tmp_path / "main.tex").write_text(
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{lmodern}\usepackage{textcomp}\usepackage{pgf}"
        r"\begin{document}\input{figure.pgf}\end{document}",
        encoding="utf-8",
    )

    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)

    assert outcome.returncode == 0, outcome.stdout[-2000:]


@needs_latex
def test_powers_on_a_logarithmic_axis_stay_mathematics_in_pgf(tmp_path):
    with canvas(None) as ax:
        ax.plot([1, 1000], [1, 1000])
        ax.set_yscale("log")
    plots.save(ax, tmp_path / "figure.pgf")

    assert r"\mathdefault{10^{2}}" in (tmp_path / "figure.pgf").read_text(encoding="utf-8")


@needs_latex
def test_saving_as_pgf_leaves_the_texts_of_the_figure_alone(nasty_drawings, tmp_path):
    ax = nasty_drawings["intervals"]()
    before = [label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel()

    plots.save(ax, tmp_path / "figure.pgf")

    assert ([label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel()) == before


def test_without_latex_a_pgf_file_is_refused_in_one_sentence(nasty_drawings, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(MissingDependency, match=r"a pgf file needs pdflatex .* write pdf"):
        plots.save(nasty_drawings["ranks"](), tmp_path / "figure.pgf")
