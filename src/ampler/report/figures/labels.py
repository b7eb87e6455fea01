"""Names as they stand in figures: short enough for a column, still told apart, and never read as mathematics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ampler.core.names import told_apart, without_common
from ampler.core.wording import named

if TYPE_CHECKING:
    from ampler.analysis import Analysis

WIDEST = 28  # characters: a third of a column at our size of letters


def labels(names: Sequence[str], widest: int = WIDEST) -> tuple[str, ...]:
    r"""Return the names as labels: cut where too long, so that what tells them apart stays.

    >>> labels(["full", "no-swap, with a very long explanation", "no-swap, with a very LONG explanation"], 20)
    ('full', 'no-swa…g explanation', 'no-swa…G explanation')
    >>> print(*labels([r"$\frac{$"]))
    \$\frac{\$
    """
    return tuple(literal(label) for label in told_apart(names, widest))


def instance_labels(analysis: Analysis, widest: int = WIDEST) -> tuple[str, ...]:
    """Return the labels of all instances, in their order, without the folder and the ending that they share."""
    return labels(without_common([row.instance for row in analysis.accuracy]), widest)


def pair_labels(analysis: Analysis, pairs: Sequence[tuple[str, str]], widest: int = WIDEST) -> tuple[str, ...]:
    """Return the labels of comparisons: the rival alone where all are compared with the same reference.

    Else both, on two lines when their names are too long for one.
    """
    if analysis.settings.reference is not None:
        return labels([second for _, second in pairs], widest)
    names = [row.algorithm for row in analysis.algorithms]
    is_long = max(map(len, names)) > widest // 2
    short = dict(zip(names, labels(names, widest), strict=True))
    between = " −\n" if is_long else " − "
    return tuple(f"{short[first]}{between}{short[second]}" for first, second in pairs)


def in_short(sentence: str, analysis: Analysis, widest: int = WIDEST) -> str:
    """Return a sentence about an analysis with its long names as they stand in the figure."""
    names = [row.algorithm for row in analysis.algorithms]
    short = dict(zip(names, told_apart(names, widest), strict=True))
    for name in sorted((name for name in names if len(name) > widest), key=len, reverse=True):
        sentence = sentence.replace(name, short[name])
    return literal(" ".join(sentence.split()))


def first_of(names: Sequence[str], scores: Sequence[float], *, larger: bool = True) -> tuple[list[int], str]:
    """Return the places of the best score, and the names that share it."""
    known = [score for score in scores if not math.isnan(score)]
    best = (max if larger else min)(known, default=math.nan)
    places = [place for place, score in enumerate(scores) if score == best] or [0]
    return places, named([names[place] for place in places])


def literal(text: str) -> str:
    r"""Return a text that matplotlib sets as it stands: a dollar would begin mathematics.

    >>> print(literal("costs $5 or $6"))
    costs \$5 or \$6
    """
    return text.replace("$", r"\$")
