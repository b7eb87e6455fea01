"""Charts as SVG, made here: a frame with scales, ticks and texts; colours are those of the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from ampler.core.wording import digits

if TYPE_CHECKING:
    from markupsafe import Markup

Point = tuple[float, float]
STEPS = (1, 2, 5, 10)  # between ticks, times a power of ten


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high` as places from `begin` to `end`."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a number; one beyond the ends is put there.

        >>> Scale(0, 10, 0, 100)(2.5)
        25.0
        """
        span = self.high - self.low or 1.0
        share = min(1.0, max(0.0, (value - self.low) / span))
        return round(self.begin + share * (self.end - self.begin), 2)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two, at most so many.

    >>> ticks(0, 1.3)
    [0.0, 0.5, 1.0]
    """
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * power for factor in STEPS if span / (factor * power) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(place * step, 12) for place in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True, slots=True)
class Frame:
    """Two axes: what is drawn goes through `x` and `y`."""

    width: int
    height: int
    x: Scale
    y: Scale

    def axes(self, across: str, up: str, *, x_ticks: Sequence[float], y_ticks: Sequence[float]) -> list[str]:
        """Return gridlines, ticks with their numbers, and the names of both axes."""
        left, bottom, right = self.x.begin, self.y.begin, self.x.end
        parts = [line((left, self.y(at)), (right, self.y(at)), "rule") for at in y_ticks]
        parts += [label((left - 8, self.y(at) + 4), digits(at), anchor="end") for at in y_ticks]
        parts += [label((self.x(at), bottom + 18), digits(at), anchor="middle") for at in x_ticks]
        parts.append(line((left, bottom), (right, bottom), "axis"))
        parts.append(label(((left + right) / 2, bottom + 38), across, anchor="middle"))
        return [*parts, label((0, 12), up)]

    def path(self, points: Iterable[Point], kind: str) -> str:
        """Return a line through points."""
        return f'<path class="{kind}" d="M{" L".join(f"{self.x(x)} {self.y(y)}" for x, y in points)}"/>'

    def area(self, lower: Sequence[Point], upper: Sequence[Point], kind: str) -> str:
        """Return what lies between two lines."""
        around = [*lower, *reversed(upper)]
        return f'<path class="{kind}" d="M{" L".join(f"{self.x(x)} {self.y(y)}" for x, y in around)}Z"/>'


def frame(width: int, height: int, across: tuple[float, float], up: tuple[float, float]) -> Frame:
    """Return two axes with room for their numbers."""
    return Frame(width, height, Scale(*across, 44, width - 8), Scale(*up, height - 46, 24))


def line(begin: Point, end: Point, kind: str) -> str:
    """Return a straight line."""
    return f'<path class="{kind}" d="M{begin[0]} {begin[1]} L{end[0]} {end[1]}"/>'


def label(at: Point, words: str, *, anchor: str = "start", kind: str = "") -> str:
    """Return words at a place."""
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{at[0]:.2f}" y="{at[1]:.2f}" text-anchor="{anchor}"{named}>{escape(words)}</text>'


def dot(at: Point, kind: str = "dot", *, radius: float = 5, words: str = "") -> str:
    """Return a dot; `words` are shown when the pointer rests on it."""
    title = f"<title>{escape(words)}</title>" if words else ""
    return f'<circle class="{kind}" cx="{at[0]}" cy="{at[1]}" r="{radius}">{title}</circle>'


def box(at: Point, size: Point, kind: str, *, words: str = "", round_by: float = 2) -> str:
    """Return a rectangle; `words` are shown when the pointer rests on it."""
    title = f"<title>{escape(words)}</title>" if words else ""
    where = f'x="{at[0]:.2f}" y="{at[1]:.2f}" width="{size[0]:.2f}" height="{size[1]:.2f}"'
    return f'<rect class="{kind}" {where} rx="{round_by}">{title}</rect>'


def chart(width: float, height: float, parts: Iterable[str], *, words: str) -> Markup:
    """Return the whole as an element of a page; `words` say what it shows to who does not see it."""
    from markupsafe import Markup

    opening = f'<svg class="chart" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(words)}">'
    return Markup(f"{opening}{''.join(parts)}</svg>")
