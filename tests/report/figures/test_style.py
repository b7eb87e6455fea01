from __future__ import annotations

import itertools
from functools import cache

import pytest

from ampler.core.errors import InvalidInput
from ampler.report.figures import save
from ampler.report.figures.colours import PROPERTIES, SERIES, VERDICTS
from ampler.report.figures.style import COLUMN, canvas, figure_format

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
