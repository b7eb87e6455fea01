"""Words of figures: the finding above, how to read it below, in lines that fit."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from ampler.report.figures.style import LETTERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


HARD = "\N{NO-BREAK SPACE}"
WORDS = 0.165  # inches that a line of words takes
LETTER, BOLD_LETTER = 0.063, 0.071  # inches that a letter of a sentence takes, about
BESIDE = ("axes fraction", "data")  # the coordinates of what stands at the right of a row


def text_width(text: str, *, bold: bool = False) -> float:
    """Return the inches that a text takes at our size of letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=LETTERS, weight="bold" if bold else "normal")
    shown = text.replace(r"\$", "$")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a box stands for what our letters lack
        return float(text_to_path.get_text_width_height_descent(shown, font, ismath=False)[0]) / 72


def entitle(ax: Axes, finding: str) -> None:
    """Write above a figure what it shows, in lines that fit; above the axes alone, if the figure has others."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    alone = figure.axes == [ax] and figure.get_layout_engine() is not None
    words = "\n".join(in_lines(finding, _room(ax), bold=True))
    if alone:
        figure.suptitle(words, x=0.01, ha="left")
    else:
        ax.set_title(words, loc="left", fontweight="bold")


def explain(ax: Axes, *lines: str) -> None:
    """Write below the axes what they show and how to read them, in lines that fit the figure.

    Lines end where the axes end: what stands beside the axes is taken from their room, so write that first.
    """
    room = _room(ax) - _beside(ax)
    parts = [part for line in lines if line for part in in_lines(line, room)]
    ax.set_xlabel("\n".join(parts), loc="right")


def _beside(ax: Axes) -> float:
    """The inches that texts take at the right of the axes."""
    from matplotlib.text import Annotation

    notes = [note for note in ax.texts if isinstance(note, Annotation) and note.xycoords == BESIDE]
    return max((note.xyann[0] / 72 + text_width(note.get_text()) for note in notes), default=0.0)


def _room(ax: Axes) -> float:
    """The inches that a line of words has."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    columns = ax.get_subplotspec()
    return float(figure.get_size_inches()[0]) / (1 if columns is None else columns.get_gridspec().ncols) - 0.2


def in_lines(text: str, inches: float, *, bold: bool = False) -> list[str]:
    """Return the words of a text in lines that fit."""
    words, lines = text.replace(" %", f"{HARD}%").split(" "), list[str]()
    while words:
        count = _fitting(words, inches, bold=bold)
        line = " ".join(words[:count]) if count > 1 else _cut_to(words[0], inches, bold=bold)
        lines.append(line.replace(HARD, " "))
        del words[:count]
    return lines


def _fitting(words: list[str], inches: float, *, bold: bool) -> int:
    """How many words a line holds, one at least: a guess by the number of letters, mended by measuring."""

    def fit(count: int) -> bool:
        return text_width(" ".join(words[:count]), bold=bold) <= inches

    ends = list(accumulate(len(word) + 1 for word in words))
    count = max(1, bisect_right(ends, inches / (BOLD_LETTER if bold else LETTER)))
    while count < len(words) and fit(count + 1):
        count += 1
    while count > 1 and not fit(count):
        count -= 1
    return count


def _cut_to(word: str, inches: float, *, bold: bool) -> str:
    """A word that fits a line by itself."""
    while len(word) > 1 and text_width(word, bold=bold) > inches:
        word = f"{word[: int(0.9 * len(word)) - 1]}…"
    return word
