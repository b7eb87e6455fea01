"""What every drawing keeps: it fits its figure whatever the names, goes onto given axes, and into every format."""

from __future__ import annotations

from functools import cache

import pytest

from ampler import plots
from ampler.report.figures.canvas import COLUMN, PAGE

NAMES = [
    *("intervals", "accuracy", "runs", "instance", "pair", "quantiles", "bootstrap", "ranks", "subgroups"),
    *("probable", "best", "simplex", "verdict", "profile", "cactus", "scatter", "cloud", "convergence"),
]


@pytest.fixture(scope="module")
def nasty_laid_out(nasty_drawings):
    """`nasty_laid_out(name)`: a figure full of nasty names, drawn and laid out once; to be looked at only."""
    return cache(lambda name: laid_out(nasty_drawings[name]()))


def laid_out(ax):
    ax.figure.draw_without_rendering()
    return ax


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_off_with_nasty_names(nasty_laid_out, name):
    assert_inside(nasty_laid_out(name))


@pytest.mark.parametrize("reference", ["algorithm number 0", pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_off_with_sixty_algorithms(many_drawings, name, reference):
    ax = many_drawings(reference)[name]()
    if (engine := ax.figure.get_layout_engine()) is not None:
        engine.execute(ax.figure)
    assert_inside(ax)


def assert_inside(ax):
    figure = ax.figure
    width, height = figure.get_size_inches()
    box = figure.get_tightbbox()

    assert width in (COLUMN, PAGE)
    assert min(box.x0, box.y0) >= -0.02
    assert max(box.x1 - width, box.y1 - height) <= 0.02
    assert ax.get_position().width * width > 0.9  # inches: labels leave room for what they are labels of


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_goes_onto_the_axes_it_is_given(nasty_drawings, name):
    from matplotlib.figure import Figure

    ax = Figure().subplots()

    assert nasty_drawings[name](ax) is ax


@pytest.mark.parametrize("name", NAMES)
def test_names_are_never_read_as_mathematics(nasty_laid_out, name):
    from matplotlib.text import Text

    ax = nasty_laid_out(name)
    texts = [text for text in ax.figure.findobj(Text) if "$" in text.get_text()]

    assert not any(text._preprocess_math(text.get_text())[1] for text in texts)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_nasty_names_reach_every_format(nasty_drawings, tmp_path, kind):
    file = tmp_path / f"figure.{kind}"

    plots.save(nasty_drawings["intervals"](), file)

    assert file.stat().st_size > 1000
