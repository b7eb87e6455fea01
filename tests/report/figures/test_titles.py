"""Words of figures fit the room they have."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ampler.report.figures.rows import beside
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import HARD, entitle, explain, in_lines, text_width


def test_a_title_stands_above_all_and_fits_the_width():
    with canvas(None) as ax:
        entitle(ax, "full beats no-TSK and no-SWP on most of the instances that were used, three are not told apart")
    ax.figure.draw_without_rendering()
    box = ax.figure._suptitle.get_window_extent()

    assert 0 <= box.x0 < box.x1 <= ax.figure.bbox.x1
    assert box.y0 >= ax.get_window_extent().y1


def test_a_title_in_a_figure_with_other_axes_belongs_to_its_own():
    from matplotlib.figure import Figure

    left, _ = Figure().subplots(1, 2)
    entitle(left, "one beats two")

    assert left.get_title("left") == "one beats two"


def test_lines_hold_all_words_and_none_is_too_long():
    text = "Thick: Holm level; thin: joint 95 %; the axis is split where one difference would dwarf all others"
    lines = in_lines(text, 2.0)

    assert " ".join(lines) == text
    assert len(lines) > 1
    assert all(text_width(line) <= 2.0 for line in lines)


def test_a_word_that_fits_no_line_is_cut():
    line = in_lines("x" * 500, 1.0)

    assert len(line) == 1
    assert line[0].endswith("…")
    assert text_width(line[0]) <= 1.0


def test_what_explains_a_figure_stands_below_it():
    with canvas(None) as ax:
        explain(ax, "Percent difference", "", "joint 95 % intervals")

    assert ax.get_xlabel() == "Percent difference\njoint 95 % intervals"


def test_lines_below_the_axes_leave_room_for_what_stands_at_their_right():
    with canvas(None) as ax:
        beside(ax, 0, "−12.345 %")
        explain(ax, "Percent difference, (the one that was there before − other) / the one that was there before")

    widest = max(map(text_width, ax.get_xlabel().split("\n")))
    assert widest <= ax.get_figure(root=True).get_size_inches()[0] - text_width("−12.345 %") - 0.2


@given(st.lists(st.text("iMe %", min_size=1, max_size=9), min_size=1, max_size=40), st.sampled_from([1.5, 3.3]))
@example(["M", "%MM", "%MM", "%MMMMM"], 1.5)  # no line may end before a percent sign, so this one is cut
@settings(max_examples=25)
def test_a_line_holds_what_fits_when_word_after_word_is_added(words, inches):
    text, lines = " ".join(words), []
    for word in text.replace(" %", f"{HARD}%").split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer) <= inches:
            lines[-1] = longer
        else:
            lines.append(word)
    for found, line in zip(in_lines(text, inches), lines, strict=True):
        whole = line.replace(HARD, " ")
        if text_width(whole) > inches:
            assert (found[-1], whole.startswith(found[:-1]), text_width(found) <= inches) == ("…", True, True)
        else:
            assert found == whole
