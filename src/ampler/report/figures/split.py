"""An axis of a figure that is split where some values would dwarf the others: two scales side by side, and a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ampler.core.arrays import Floats
from ampler.report.axis import Axis
from ampler.report.figures.colours import MUTED, PAPER
from ampler.report.figures.numbers import remember_unit, write_in_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def write_axis(ax: Axes, axis: Axis, difference: str) -> None:
    """Write the numbers of the horizontal axis in their unit, in as many scales as it has."""
    if axis.is_split:
        _split(ax, axis)
        remember_unit(ax.xaxis, difference)
    else:
        write_in_unit(ax.xaxis, difference)


def split_words(axis: Axis) -> str:
    """Return what a reader of a split axis must be told; nothing for one scale."""
    return "The axis is split: ╱╱ parts two scales" if axis.is_split else ""


def _split(ax: Axes, axis: Axis) -> None:
    """Give each panel of the axis its share of the width; what lies between them is pressed together."""
    values = [end for panel in axis.panels for end in (panel.low, panel.high)]
    places = [end for panel in axis.panels for end in (panel.left, panel.right)]
    span = values[-1] - values[0]
    values = [value + 1e-12 * span * place for value, place in zip(values, places, strict=True)]  # ever increasing
    ax.set_xscale("function", functions=(_through(values, places), _through(places, values)))
    ax.set_xlim(values[0], values[-1])
    marks = [mark for panel in axis.panels for mark in panel.marks]
    back = _through(places, values)
    ax.set_xticks([float(back(np.array([mark.at]))[0]) for mark in marks], [mark.text for mark in marks])
    for at in axis.breaks:
        ax.text(at / 100, 0.0, "╱╱", transform=ax.transAxes, ha="center", va="center", color=MUTED)
        ax.axvspan(*back(np.array([at - 1.4, at + 1.4])), color=PAPER, linewidth=0, zorder=2.5)


def _through(x: Sequence[float], y: Sequence[float]) -> Callable[[Floats], Floats]:
    """The line from point to point, which goes on at both ends."""

    def line(values: Floats) -> Floats:
        values = np.asarray(values, float)
        low = y[0] + (values - x[0]) * (y[1] - y[0]) / (x[1] - x[0])
        high = y[-1] + (values - x[-1]) * (y[-1] - y[-2]) / (x[-1] - x[-2])
        return np.where(values < x[0], low, np.where(values > x[-1], high, np.interp(values, x, y)))

    return line
