"""Names as they stand in figures: short enough for a column, still told apart, and never read as mathematics."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ampler.analysis import Analysis

WIDEST = 28  # characters: a third of a column at our size of letters


def labels(names: Sequence[str], widest: int = WIDEST) -> tuple[str, ...]:
    r"""Return the names as labels: cut in the middle where too long, numbered where that makes two alike.

    >>> labels(["full", "no-swap, with a very long explanation", "no-swap, with a very LONG explanation"], 20)
    ('full', 'no-swap,…anation (2)', 'no-swap,…anation (3)')
    >>> print(*labels([r"$\frac{$"]))
    \$\frac{\$
    """
    visible = [_visible(name) for name in names]
    short = [_cut(name, widest) for name in visible]
    alike = Counter(label for _, label in set(zip(names, short, strict=True)))
    number = {name: f" ({place})" for place, name in reversed(list(enumerate(names, start=1)))}
    told_apart = [
        label if alike[label] == 1 else _cut(whole, widest - len(number[name])) + number[name]
        for name, whole, label in zip(names, visible, short, strict=True)
    ]
    return tuple(literal(label) for label in told_apart)


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


def literal(text: str) -> str:
    r"""Return a text that matplotlib sets as it stands: a dollar would begin mathematics.

    >>> print(literal("costs $5 or $6"))
    costs \$5 or \$6
    """
    return text.replace("$", r"\$")


def _visible(name: str) -> str:
    """On one line, without characters that move or hide others."""
    return " ".join("".join(c if unicodedata.category(c) not in {"Cc", "Cf"} else " " for c in name).split())


def _cut(name: str, widest: int) -> str:
    if len(name) <= widest:
        return name
    head = widest // 2
    return f"{name[:head]}…{name[len(name) - (widest - head - 1) :]}"
