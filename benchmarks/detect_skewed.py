"""Studies that find their own size where differences are strongly skewed: by the t-test, and ended by the bootstrap-t.

The differences of each rival from a quiet reference are exponential and nothing differs; the other half of the studies
have differences of 1. The page of `detect_page` shows the counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from detect_simulation import End, Tally, Truth, goal_of, simulate

CELLS = tuple((rivals, spread, noise) for rivals in (1, 21) for spread in (1.5, 3.0) for noise in (0.3, 1.0))
NOTHING = 1e-12  # of every level: no comparison is clear after the pilot


class Ending(NamedTuple):
    """How such a study is ended."""

    name: str
    end: End
    share: float  # of every level, spent in the pilot
    studies: int


ENDINGS = (
    Ending("t", "growth", 0.1, 2000),
    Ending("bootstrap-t", "bootstrap-t", 0.1, 500),
    Ending("bootstrap-t, nothing clear in the pilot", "bootstrap-t", NOTHING, 500),
)


class Counted(NamedTuple):
    """The studies of one cell with one ending."""

    name: str
    spread: float
    noise: float
    null: Tally
    real: Tally


def counted(key: int) -> Iterator[Counted]:
    """Simulate every cell with every ending; the same studies for each."""
    for place, (rivals, spread, noise) in enumerate(CELLS):
        for each in ENDINGS:
            null, real = (_simulated(rivals, spread, noise, shift, key + 2 * place + shift, each) for shift in (0, 1))
            yield Counted(f"{rivals}, {each.name}", spread, noise, null, real)


def _simulated(rivals: int, spread: float, noise: float, shift: int, key: int, ending: Ending) -> Tally:
    size = rivals + 1
    truth = Truth(
        (0.0, *(float(shift),) * rivals), (0.0, *(spread,) * rivals), (noise * spread,) * size, reference=0, skewed=True
    )
    studies = ending.studies // (1 + shift)
    return simulate(truth, studies, key=key, goal=goal_of(truth, share=ending.share), end=ending.end)
