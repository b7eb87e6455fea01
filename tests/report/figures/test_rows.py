"""Named rows: the first on top, and figures as high as they need."""

from ampler.report.figures.rows import TALLEST, beside, fit_rows, lay_rows, legend_above, row_height
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle


def test_the_first_row_is_on_top():
    with canvas(None) as ax:
        lay_rows(ax, ["first", "second", "third"])

    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second", "third"]
    bottom, top = ax.get_ylim()
    assert bottom > top  # counted downward


def test_more_rows_are_higher_up_to_what_a_file_can_hold():
    heights = [row_height(rows) for rows in (5, 20, 100, 10**6)]

    assert heights == sorted(heights)
    assert heights[-1] == TALLEST
    assert row_height(10, labels=["two\nlines"]) > row_height(10, labels=["one line"])


def test_our_own_figure_grows_with_its_rows_and_its_words():
    with canvas(None) as ax:
        lay_rows(ax, [str(number) for number in range(30)])
        fit_rows(ax, 30)
    plain = ax.figure.get_figheight()
    entitle(ax, "a beats b")
    fit_rows(ax, 30)

    assert ax.figure.get_figheight() > plain > 4


def test_a_figure_of_the_callers_keeps_its_height():
    from matplotlib.figure import Figure

    mine = Figure(figsize=(4, 3)).subplots()
    fit_rows(mine, 100)

    assert mine.figure.get_figheight() == 3


def test_notes_stand_outside_the_axes_at_their_row():
    with canvas(None) as ax:
        lay_rows(ax, ["a", "b"])
        beside(ax, 1, "0.04")
    ax.figure.draw_without_rendering()

    assert ax.texts[0].get_window_extent().x0 >= ax.get_window_extent().x1


def test_a_legend_stands_above_the_axes():
    with canvas(None) as ax:
        ax.plot([0, 1], [0, 1], label="power")
        legend_above(ax, columns=1)
    ax.figure.draw_without_rendering()

    assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1 - 1
