"""On how many instances each algorithm of a pair is better. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ampler.analysis.results import Analysis
from ampler.core.arrays import Pair


@dataclass(frozen=True, slots=True)
class Wins:
    """The instances on which the first is better, those on which the two are equal, those on which the second is."""

    first: int
    ties: int
    second: int

    @property
    def instances(self) -> int:
        """The instances on which both have values."""
        return self.first + self.ties + self.second

    @property
    def turned(self) -> Wins:
        """The same from the other side."""
        return Wins(self.second, self.ties, self.first)


def wins_of(analysis: Analysis) -> Mapping[Pair, Wins]:
    """Return the wins of every pair, counted in the differences that its test is about."""
    advantage = analysis.differences if analysis.settings.better == "higher" else -analysis.differences
    counts = zip((advantage > 0).sum(axis=0), (advantage == 0).sum(axis=0), (advantage < 0).sum(axis=0), strict=True)
    return {pair: Wins(*map(int, each)) for pair, each in zip(analysis.pairs, counts, strict=True)}
