from __future__ import annotations

import itertools
import shutil
import subprocess
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ampler import plots
from ampler.core.errors import InvalidInput, MissingDependency
from ampler.plots import save
from ampler.report.figures.canvas import (
    COLUMN,
    HARD,
    TALLEST,
    beside,
    canvas,
    describe,
    figure_format,
    figure_text,
    fit_rows,
    in_lines,
    lay_rows,
    legend_above,
    row_height,
    text_width,
)
from ampler.report.theme import PROPERTIES, SERIES, VERDICTS

FIRST_BYTES = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}


def drawn():
    with canvas(None) as ax:
        ax.plot([0, 1], [0, 1], label="power")
        ax.set_xlabel("Effect, d")
    return ax


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """`saved(kind)`: what is in the file of a figure of this kind."""

    def write(kind):
        file = tmp_path_factory.mktemp(kind) / f"power.{kind}"
        save(drawn(), file)
        return file.read_bytes()

    return cache(write)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_a_figure_is_saved_in_the_format_of_its_name(saved, kind):
    assert saved(kind).startswith(FIRST_BYTES[kind])


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_figure_gives_the_same_file(saved, tmp_path, kind):
    save(drawn(), tmp_path / f"again.{kind}")

    assert (tmp_path / f"again.{kind}").read_bytes() == saved(kind)


@pytest.mark.parametrize("name", ["power", "power.jpg", "power.svg.gz", ".svg"])
def test_another_format_is_refused_in_one_sentence(name):
    with pytest.raises(InvalidInput, match=r"a figure's file must end in \.svg, .* got"):
        figure_format(name)


def test_pdf_fonts_are_ones_that_journals_accept(saved):
    assert b"/Type3" not in saved("pdf")


def test_new_axes_have_the_width_of_a_journal_column():
    with canvas(None) as ax:
        assert ax.figure.get_size_inches()[0] == COLUMN


def test_drawing_leaves_the_users_matplotlib_settings_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    drawn()

    assert dict(matplotlib.rcParams) == before


def luminance(color: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("color", SERIES)
def test_lines_stand_out_from_white_paper(color):
    assert 1.05 / (luminance(color) + 0.05) >= 3  # WCAG 1.4.11, graphical objects


# Viénot, Brettel & Mollon (1999): what a person without long- or middle-wave cones sees, in linear RGB.
BLINDNESS = {
    "protan": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deutan": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_colours_of_lines_differ_for_colour_blind_readers(kind):
    def seen(color: str) -> list[float]:
        linear = [(int(color[start : start + 2], 16) / 255) ** 2.2 for start in (1, 3, 5)]
        return [sum(w * value for w, value in zip(row, linear, strict=True)) for row in BLINDNESS[kind]]

    for one, other in itertools.combinations(SERIES, 2):
        gap = sum((a - b) ** 2 for a, b in zip(seen(one), seen(other), strict=True)) ** 0.5
        assert gap > 0.1


def test_every_colour_of_a_figure_is_one_of_the_page():
    assert {*SERIES, *(color for color, _ in VERDICTS.values())} <= PROPERTIES.keys()


def test_verdicts_differ_in_their_marks_too():
    assert len({marker for _, marker in VERDICTS.values()}) == len(VERDICTS)


# Words of figures fit the room they have.


def test_a_title_stands_above_all_and_fits_the_width():
    with canvas(None) as ax:
        describe(ax, "full beats no-TSK and no-SWP on most of the instances that were used, three are not told apart")
    ax.figure.draw_without_rendering()
    box = ax.figure._suptitle.get_window_extent()

    assert 0 <= box.x0 < box.x1 <= ax.figure.bbox.x1
    assert box.y0 >= ax.get_window_extent().y1


def test_a_title_in_a_figure_with_other_axes_belongs_to_its_own():
    from matplotlib.figure import Figure

    left, _ = Figure().subplots(1, 2)
    describe(left, "one beats two")

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
        describe(ax, "", "Percent difference", "", "joint 95 % intervals")

    assert ax.get_xlabel() == "Percent difference\njoint 95 % intervals"


def test_lines_below_the_axes_leave_room_for_what_stands_at_their_right():
    with canvas(None) as ax:
        beside(ax, 0, "−12.345 %")
        describe(ax, "", "Percent difference, (the one that was there before − other) / the one that was there before")

    widest = max(map(text_width, ax.get_xlabel().split("\n")))
    assert widest <= ax.get_figure(root=True).get_size_inches()[0] - text_width("−12.345 %") - 0.2


@given(st.lists(st.text("iMe %", min_size=1, max_size=9), min_size=1, max_size=40), st.sampled_from([1.5, 3.3]))
@example(["M", "%MM", "%MM", "%MMMMM"], 1.5)  # no line may end before a percent sign, so this one is cut
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


# Named rows: the first on top, and figures as high as they need.


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
    describe(ax, "a beats b")
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
