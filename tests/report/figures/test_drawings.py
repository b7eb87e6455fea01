"""What every drawing keeps: it fits its figure whatever the names, goes onto given axes, and into every format."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ampler import plots
from ampler.core.errors import MissingDependency
from ampler.report.figures.style import COLUMN, PAGE


def drawings(analysis):
    first, second = analysis.pairs[-1]
    instance = analysis.accuracy[0].instance
    return {
        "intervals": lambda ax=None: plots.draw_intervals(plots.intervals_data(analysis), ax, interval="both"),
        "accuracy": lambda ax=None: plots.draw_accuracy(plots.accuracy_data(analysis), ax, guarded=True),
        "runs": lambda ax=None: plots.draw_runs(plots.runs_data(analysis), ax),
        "instance": lambda ax=None: plots.draw_instance_differences(
            plots.instance_differences_data(analysis, instance), ax
        ),
        "pair": lambda ax=None: plots.draw_pair_differences(plots.pair_differences_data(analysis, first, second), ax),
        "quantiles": lambda ax=None: plots.draw_quantiles(plots.quantiles_data(analysis, first, second), ax),
        "bootstrap": lambda ax=None: plots.draw_bootstrap(plots.bootstrap_data(analysis, first, second), ax),
        "ranks": lambda ax=None: plots.draw_ranks(plots.ranks_data(analysis), ax),
        "subgroups": lambda ax=None: plots.draw_subgroups(plots.subgroups_data(analysis), ax),
    }


NAMES = ["intervals", "accuracy", "runs", "instance", "pair", "quantiles", "bootstrap", "ranks", "subgroups"]


@pytest.fixture(scope="module")
def nasty(study_of, nasty_names):
    features = {r"size $\frac{$": ["small", "big & <b>", "$huge$"]}
    return drawings(study_of(nasty_names, reference=nasty_names[3], features=features, se=0.8, budget=54))


@pytest.fixture(scope="module")
def many(study_of):
    names = [f"algorithm number {k}" for k in range(60)]
    return drawings(study_of(names, runs=2, features={"size": ["small", "large"]}))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_off_with_nasty_names(nasty, name):
    assert_inside(nasty[name]())


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_off_with_sixty_algorithms(many, name):
    assert_inside(many[name]())


def assert_inside(ax):
    figure = ax.figure
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    box = figure.get_tightbbox()

    assert width in (COLUMN, PAGE)
    assert min(box.x0, box.y0) >= -0.02
    assert max(box.x1 - width, box.y1 - height) <= 0.02
    assert ax.get_position().width * width > 0.9  # inches: labels leave room for what they are labels of


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_goes_onto_the_axes_it_is_given(nasty, name):
    from matplotlib.figure import Figure

    ax = Figure().subplots()

    assert nasty[name](ax) is ax


@pytest.mark.parametrize("name", NAMES)
def test_names_are_never_read_as_mathematics(nasty, name):
    from matplotlib.text import Text

    ax = nasty[name]()
    ax.figure.draw_without_rendering()
    texts = [text for text in ax.figure.findobj(Text) if "$" in text.get_text()]

    assert not any(text._preprocess_math(text.get_text())[1] for text in texts)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_nasty_names_reach_every_format(nasty, tmp_path, kind):
    file = tmp_path / f"figure.{kind}"

    plots.save(nasty["intervals"](), file)

    assert file.stat().st_size > 1000


@pytest.mark.parametrize("name", ["intervals", "accuracy", "subgroups"])
def test_a_pgf_figure_with_nasty_names_compiles_in_latex(nasty, name, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("LaTeX is not installed")
    plots.save(nasty[name](), tmp_path / "figure.pgf")
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


def test_powers_on_a_logarithmic_axis_stay_mathematics_in_pgf(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("LaTeX is not installed")
    from ampler.report.figures.style import canvas

    with canvas(None) as ax:
        ax.plot([1, 1000], [1, 1000])
        ax.set_yscale("log")
    plots.save(ax, tmp_path / "figure.pgf")

    assert r"\mathdefault{10^{2}}" in (tmp_path / "figure.pgf").read_text(encoding="utf-8")


def test_saving_as_pgf_leaves_the_texts_of_the_figure_alone(nasty, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("LaTeX is not installed")
    ax = nasty["intervals"]()
    before = [label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel()

    plots.save(ax, tmp_path / "figure.pgf")

    assert ([label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel()) == before


def test_without_latex_a_pgf_file_is_refused_in_one_sentence(nasty, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(MissingDependency, match=r"a pgf file needs pdflatex .* write pdf"):
        plots.save(nasty["ranks"](), tmp_path / "figure.pgf")
