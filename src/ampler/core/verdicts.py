"""The verdict on a comparison: one set of words and marks for every output. Pure.

The subject of a verdict is the algorithm that names its row: the other algorithm where there is a reference, else the
first of the pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

Verdict = Literal["better", "worse", "equivalent", "inconclusive"]
Finding = Verdict | Literal["not compared"]  # not compared: too few instances, or the study is not finished

MARKS: Mapping[str, str] = MappingProxyType({"better": "▲", "worse": "▼", "equivalent": "≈", "inconclusive": "·"})
"""The mark of each verdict: colour never stands alone."""

_OPPOSITE: Mapping[Finding, Finding] = {"better": "worse", "worse": "better"}


def opposite(verdict: Finding) -> Finding:
    """Return the same verdict with the other algorithm as its subject.

    >>> opposite("better"), opposite("equivalent")
    ('worse', 'equivalent')
    """
    return _OPPOSITE.get(verdict, verdict)
