"""Curves that rise by a step at each value, each named at its end: what profiles and cactus plots share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.core.arrays import Floats
from ampler.report.figures.colours import SERIES, STYLES
from ampler.report.figures.rows import beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

APART = 0.075  # of the height of the axes: two names closer than this would touch


@dataclass(frozen=True, slots=True, eq=False)
class Staircase:
    """A name, and the values at which its curve rises, smallest first; those that are infinite never come."""

    name: str
    values: Floats
    counted: bool = False  # the curve counts, instead of telling shares

    def heights(self) -> Floats:
        """Return the height after each finite value."""
        reached = np.arange(1, int(np.isfinite(self.values).sum()) + 1, dtype=float)
        return reached if self.counted else reached / max(len(self.values), 1)


def draw_steps(ax: Axes, curves: Sequence[Staircase], *, end: float) -> None:
    """Draw the curves up to the end of the axis, told apart by colour and line style, with their names at the right."""
    tops = []
    for k, curve in enumerate(curves):
        color, style = SERIES[k % len(SERIES)], STYLES[(k + k // len(SERIES)) % len(STYLES)]
        reached = curve.heights()
        values = curve.values[: len(reached)]
        inside = values <= end
        top = float(reached[inside][-1]) if inside.any() else 0.0
        x, y = np.append(values[inside], end), np.append(reached[inside], top)
        first = ax.get_xlim()[0]
        ax.step(np.insert(x, 0, first), np.insert(y, 0, 0.0), where="post", color=color, linestyle=style)
        tops.append((top, curve.name, color))
    _name_ends(ax, tops)


def _name_ends(ax: Axes, tops: list[tuple[float, str, str]]) -> None:
    """Names at the right of the axes, moved apart where curves end close to each other."""
    highest = max(top for top, _, _ in tops) or 1.0
    order = sorted(range(len(tops)), key=lambda k: tops[k][0])
    places: list[float] = []
    for k in order:
        wanted = tops[k][0] / highest
        places.append(max(wanted, places[-1] + APART) if places else wanted)
    over = max(0.0, (places[-1] if places else 0.0) - 1.0)
    for k, place in zip(order, _pressed(places, over), strict=True):
        _, name, color = tops[k]
        beside(ax, place * highest, name, color=color)


def _pressed(places: list[float], over: float) -> list[float]:
    """Places moved down so that the last is at the top and none touches the next."""
    if not over:
        return places
    moved = [*places[:-1], places[-1] - over]
    for k in range(len(moved) - 2, -1, -1):
        moved[k] = min(moved[k], moved[k + 1] - APART)
    return moved
