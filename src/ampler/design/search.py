"""The smallest whole number at which a rising curve reaches a value. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist

_probit = NormalDist().inv_cdf


@dataclass(frozen=True, slots=True)
class Point:
    """A place on the curve."""

    n: int
    height: float


def smallest(
    curve: Callable[[int], float], wanted: float, *, guess: int, least: int = 1, most: int = 10**9
) -> int | None:
    """Return the smallest n in least..most with curve(n) ≥ wanted, or None if even `most` does not reach it.

    The curve gives probabilities and must not fall. It is asked seldom: a few times near a good guess, and
    from a bad one a number of times that grows with the logarithm of the distance.

    >>> smallest(lambda n: 1 - 0.9**n, 0.8, guess=10)
    16
    """
    bracket = _bracket(curve, wanted, min(max(guess, least), most), least, most)
    if bracket is None:
        return None
    low, high = bracket
    halve = False
    while (gap := high.n - low.n) > 1:
        n = low.n + gap // 2 if halve else _between(low, high, wanted)
        point = Point(n, curve(n))
        low, high = (low, point) if point.height >= wanted else (point, high)
        halve = high.n - low.n > gap / 2  # the line misled us: be safe once
    return high.n


def _bracket(
    curve: Callable[[int], float], wanted: float, guess: int, least: int, most: int
) -> tuple[Point, Point] | None:
    """Step away from the guess, each time twice as far, until the wanted height lies between two points."""
    low = high = Point(guess, curve(guess))
    step = max(1, guess // 64)
    while low.height >= wanted:
        n = max(least - 1, low.n - step)
        high, low = low, (Point(n, curve(n)) if n >= least else Point(n, 0.0))  # below `least` there is no curve
        if n < least:
            break
        step *= 2
    while high.height < wanted:
        if high.n == most:
            return None
        n = min(most, high.n + step)
        low, high = high, Point(n, curve(n))
        step *= 2
    return low, high


def _between(low: Point, high: Point, wanted: float) -> int:
    """Where the line between two points meets the wanted height, in √n and probits: power is nearly straight there.

    It keeps a little away from both ends, so that one step more closes in from the other side.
    """
    below, above, aim = (_probit(min(max(height, 1e-12), 1 - 1e-12)) for height in (low.height, high.height, wanted))
    share = (aim - below) / (above - below) if above > below else 0.5
    n = ceil((sqrt(low.n) + share * (sqrt(high.n) - sqrt(low.n))) ** 2)
    margin = max(1, (high.n - low.n) // 64)
    return min(max(n, low.n + margin), high.n - margin)
