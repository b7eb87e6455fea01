"""A figure that is drawn once looks as if matplotlib had drawn it twice."""

import io

import pytest
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from ampler.report.figures.canvas import sheet

FORMATS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def saved(kind_of_figure, kind):
    """The file of a figure with long words on all sides, and how often its mark was drawn."""
    drawn = []

    class Mark(Artist):
        def draw(self, renderer):
            drawn.append(renderer)

    figure = kind_of_figure(figsize=(3.5, 2.4), layout="constrained")
    ax = figure.subplots()
    ax.plot([1, 10, 1000], [1, 2, 4], label="a long name of an algorithm")
    ax.set_yticks([1, 2], ["a very long name of an instance", "short"])
    ax.set(xscale="log", xlabel="two\nlines", title="above")
    ax.legend(loc="best")
    ax.add_artist(Mark())
    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "same"}):
        figure.savefig(file, format=kind, metadata=FORMATS[kind])
    return file.getvalue(), len(drawn)


@pytest.mark.parametrize("kind", FORMATS)
def test_it_is_drawn_once_and_looks_as_if_it_were_drawn_twice(kind):
    ours, draws = saved(sheet, kind)
    theirs, usual = saved(Figure, kind)
    assert ours == theirs
    assert (draws, usual) == (1, 2)


def test_on_a_screen_it_is_drawn_as_ever():
    page = sheet(figsize=(3.5, 2.4), layout="constrained")
    ax = page.subplots()
    before = ax.get_position().bounds
    page.draw_without_rendering()
    assert ax.get_position().bounds != before
