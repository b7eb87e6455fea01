"""The figure of what is probable: mean and new instance of every comparison beside the margin, with probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.bayes import Bayes, Probable
from ampler.analysis.bayes.words import sides, three
from ampler.core.arrays import Interval
from ampler.core.errors import InvalidInput
from ampler.report.figures.colours import EQUIVALENT, INK, MUTED, PAPER, VERDICTS
from ampler.report.figures.labels import WIDEST, pair_labels
from ampler.report.figures.numbers import difference_name, unit_of, write_in_unit
from ampler.report.figures.rows import beside, fit_rows, lay_rows
from ampler.report.figures.style import PAGE, canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 60  # rows that can still be told apart on one page
STEP = 70  # points from one column of numbers to the next
DWARFED = 10  # times the median of the ends: beyond, large differences would hide all others


@dataclass(frozen=True, slots=True)
class ProbableRow:
    """One comparison: its label, what is believed of its mean and of a new instance, three probabilities, verdict."""

    label: str
    mean: float
    interval: Interval
    new_interval: Interval
    probabilities: str  # on average; of the two sides and between
    new_probabilities: str
    kind: str  # of the verdict: worse, better, equivalent or undecided; so is one without
    verdict: str  # in a word or two


@dataclass(frozen=True, slots=True)
class ProbableData:
    """The comparisons from top to bottom, `left_out` of them not shown, and what their numbers mean."""

    rows: tuple[ProbableRow, ...]
    left_out: int
    margin: float | None
    level: float
    difference: str
    name: str  # of the axis
    sides: tuple[str, str, str]  # what the three probabilities are called
    linear: float | None  # beyond this the axis is logarithmic; None: nowhere

    @property
    def finding(self) -> str:
        """How many comparisons have a verdict, and which."""
        if self.margin is None:
            return "What is believed of each difference"
        kinds = Counter(row.kind for row in self.rows if row.kind != "undecided")
        if not kinds:
            return f"None of {len(self.rows)} comparisons has a verdict"
        first, same, second = self.sides
        words = {"worse": first, "equivalent": same, "better": second}
        told = ", ".join(f"{number} {words[kind]}" for kind, number in kinds.items())
        return f"{kinds.total()} of {len(self.rows)} comparisons have a verdict: {told}"


def probable_data(analysis: Analysis, *, most: int | None = MOST, widest: int = WIDEST) -> ProbableData:
    """Return the comparisons that have a posterior, in Holm's order; only the first `most` are kept (None: all)."""
    bayes = analysis.bayes
    found = [each for each in bayes.comparisons if each.posterior is not None]
    if not found:
        raise InvalidInput("no comparison has a posterior: three or more instances are needed")
    shown = found[:most]
    texts = pair_labels(analysis, [(each.first, each.second) for each in shown], widest)
    rows = tuple(_row(text, each, bayes) for text, each in zip(texts, shown, strict=True))
    return ProbableData(
        rows=rows,
        left_out=len(found) - len(shown),
        margin=bayes.margin,
        level=bayes.level,
        difference=unit_of(analysis),
        name=difference_name(analysis),
        sides=sides(bayes),
        linear=_linear(rows, bayes.margin),
    )


def draw_probable(data: ProbableData, ax: Axes | None = None) -> Axes:
    """Draw the margin as a band, thick lines for the mean, thin ones for a new instance, probabilities at the right."""
    with canvas(ax, width=PAGE) as ax:
        ax.axvline(0.0, color=MUTED, linewidth=0.9)
        if data.margin is not None:
            ax.axvspan(-data.margin, data.margin, color=EQUIVALENT, alpha=0.12, linewidth=0)
        for place, row in enumerate(data.rows):
            _draw_row(ax, place, row)
        lay_rows(ax, [row.label for row in data.rows])
        _scale(ax, data)
        _write_columns(ax, data)
        _say(ax, data)
        fit_rows(ax, max(len(data.rows), 2.2) + 1.2, labels=[row.label for row in data.rows])
    return ax


def _row(label: str, each: Probable, bayes: Bayes) -> ProbableRow:
    assert each.posterior is not None
    return ProbableRow(
        label=label,
        mean=each.posterior.mean,
        interval=each.posterior.interval,
        new_interval=each.posterior.new_interval,
        probabilities=three(each.chances),
        new_probabilities=three(each.new_chances),
        kind=each.verdict or "undecided",
        verdict=_verdict(each, sides(bayes)),
    )


def _verdict(each: Probable, names: tuple[str, str, str]) -> str:
    """In a word or two: names of algorithms stand at the left already."""
    first, _, second = names
    return {"worse": first, "better": second, None: "–"}.get(each.verdict, str(each.verdict))


def _linear(rows: Sequence[ProbableRow], margin: float | None) -> float | None:
    """Up to where the axis is linear, if some differences would dwarf all others."""
    ends = np.abs([row.interval for row in rows]).max(axis=1)
    typical = float(np.median(ends))
    if not ends.max() > DWARFED * typical or typical == 0:
        return None
    return max(typical, 2 * (margin or 0.0))


def _draw_row(ax: Axes, place: int, row: ProbableRow) -> None:
    color, marker = VERDICTS[row.kind]
    ax.hlines(place, *row.new_interval, color=color, linewidth=0.7)
    ax.hlines(place, *row.interval, color=color, linewidth=2.4)
    ax.plot([row.mean], [place], marker=marker, color=color, markersize=4.6, markeredgecolor=PAPER, markeredgewidth=0.5)


def _scale(ax: Axes, data: ProbableData) -> None:
    if data.linear is None:
        write_in_unit(ax.xaxis, data.difference)
        return
    from matplotlib.ticker import SymmetricalLogLocator

    ax.set_xscale("symlog", linthresh=data.linear, linscale=2.0)
    write_in_unit(ax.xaxis, data.difference)
    ax.xaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=data.linear, subs=[1]))


def _write_columns(ax: Axes, data: ProbableData) -> None:
    """The numbers of each row at its right, each column under its name."""
    columns = [
        ("on average", [row.probabilities for row in data.rows]),
        ("new instance", [row.new_probabilities for row in data.rows]),
        ("verdict", [row.verdict for row in data.rows]),
    ]
    for column, (name, texts) in enumerate(columns[: 3 if data.margin is not None else 2]):
        for place, text in [(-1.0, name), *enumerate(texts)]:
            beside(ax, place, text, points=6 + STEP * column, color=MUTED if place < 0 else INK)


def _say(ax: Axes, data: ProbableData) -> None:
    """Below the axis, in lines that fit it."""
    first, same, second = data.sides
    lines = [
        data.name,
        f"Thick: mean over instances; thin: a new instance ({100 * data.level:g} %)",
        f"Three probabilities: {first}, {same}, {second}",
        *([] if data.linear is None else ["The axis is linear in the middle and logarithmic beyond"]),
        *([f"{data.left_out} more comparisons are not shown"] if data.left_out else []),
    ]
    explain(ax, *lines)
    entitle(ax, data.finding)
