"""Several measures of the same runs: their names, directions and roles in the claim that an algorithm is better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from ampler.core.errors import InvalidDesign
from ampler.core.settings import Better, Difference, choice, finite, positive
from ampler.core.text import composed, listed

Role = Literal["primary", "non-inferior", "descriptive"]
MAX_NAMES = 8
OF_EVERY_RUN = {"seconds": "seconds", "cpu-seconds": "cpu", "memory": "memory"}  # measures, by their column of a run


@dataclass(frozen=True)
class Measure:
    """One of several measures, with its role in the claim that an algorithm is better.

    Parameters
    ----------
    name : str
        Column of the values.
    better : {'lower', 'higher'}
        Which values are better.
    difference : {'simple', 'percent', 'ratio'}
        Kind of difference.
    role : {'primary', 'non-inferior', 'descriptive'}, default 'primary'
        Superiority is tested in the primary measure, non-inferiority where there is a margin.
    margin : float, optional
        Non-inferiority margin; a share for percent and ratio differences. That of the primary measure is for the Pareto
        front.
    penalty : float, optional
        What a failed run counts as in this measure.

    Examples
    --------
    >>> Measure("seconds", "lower", "ratio", role="non-inferior", margin=0.01).role
    'non-inferior'
    """

    name: str
    better: Better
    difference: Difference
    role: Role = "primary"
    margin: float | None = None
    penalty: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidDesign(f"the name of a measure must be a text, got {self.name!r}")
        object.__setattr__(self, "name", composed(self.name))
        for name, kind in (("better", Better), ("difference", Difference), ("role", Role)):
            choice(name, getattr(self, name), get_args(kind), error=InvalidDesign)
        if self.margin is not None:
            positive(f"the margin of measure {self.name!r}", self.margin, error=InvalidDesign)
        if self.penalty is not None:
            finite("penalty", self.penalty, error=InvalidDesign)
        if self.role == "non-inferior" and self.margin is None:
            raise InvalidDesign(f"measure {self.name!r} has the role 'non-inferior' and needs a margin, such as 0.01")
        if self.role == "descriptive" and self.margin is not None:
            raise InvalidDesign(f"measure {self.name!r} is descriptive and is not tested; omit its margin")

    @property
    def shift(self) -> float:
        """The margin in the unit of differences; 0 without one."""
        if self.margin is None or self.difference != "ratio":
            return self.margin or 0.0
        return math.log1p(self.margin) if self.better == "lower" else -math.log1p(-min(self.margin, 1 - 1e-12))


def checked_measures(measures: Sequence[Measure | Mapping[str, Any]]) -> tuple[Measure, ...]:
    """Return the measures; raise InvalidDesign where names repeat or not exactly one of them is primary."""
    required, known = {"name", "better", "difference"}, {field.name for field in fields(Measure)}
    if not isinstance(measures, Sequence):
        raise InvalidDesign(f"measures must be a list, got {measures!r}")
    for item in measures:
        if not isinstance(item, Measure) and not (isinstance(item, Mapping) and required <= item.keys() <= known):
            raise InvalidDesign(
                f"a measure has name, better and difference, and may have role, margin and penalty, got {item!r}"
            )
    result = tuple(item if isinstance(item, Measure) else Measure(**item) for item in measures)
    names, primary = [item.name for item in result], [item.name for item in result if item.role == "primary"]
    if len(set(names)) < len(names):
        raise InvalidDesign(f"each measure needs a name of its own, got {listed(names, MAX_NAMES)}")
    if len(primary) != 1:
        got = listed(primary, MAX_NAMES) if primary else "none"
        raise InvalidDesign(
            f"one measure must be primary and all further ones non-inferior or descriptive, got {got} primary"
        )
    return result
