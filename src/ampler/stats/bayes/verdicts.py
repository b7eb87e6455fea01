"""What may be said of a difference: only what is nearly certain under both posteriors, and only with a margin. Pure.

The plain posterior alone claims too many differences when many comparisons are made, the shared one too many
equivalences; asking both costs little. This is no control of errors: Holm's procedure stays the column for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ampler.core.errors import InvalidData
from ampler.stats.bayes.mixture import Areas, Side

Verdict = Side | Literal["undecided"]

CERTAIN = 0.975
SHARED_FROM = 3  # comparisons: with fewer there is nothing to learn from the others


def verdicts(
    plain: Sequence[Areas], shared: Sequence[Areas] | None, *, margin: float, certain: float = CERTAIN
) -> tuple[Verdict, ...]:
    """Return the verdict on each comparison; with fewer than three comparisons the plain posterior decides alone.

    >>> verdicts([Areas(0.01, 0.98, 0.01)], None, margin=0.02)
    ('equivalent',)
    """
    if not margin > 0:
        raise InvalidData(f"a verdict needs a margin above 0, got {margin!r}: say what is too small to matter")
    if len(plain) < SHARED_FROM:
        return tuple(agreed_verdict([own], certain) for own in plain)
    if shared is None:
        raise InvalidData(
            f"{len(plain)} comparisons need their shared posterior for a verdict, got the plain one alone"
        )
    return tuple(agreed_verdict(both, certain) for both in zip(plain, shared, strict=True))


def expected_false_claims(plain: Sequence[Areas], claims: Sequence[Verdict]) -> float:
    """Return how many claims are wrong on average, if differences are as likely as the prior says; no guarantee."""
    return sum(1 - own.of(claim) for own, claim in zip(plain, claims, strict=True) if claim != "undecided")


def agreed_verdict(posteriors: Sequence[Areas], certain: float = CERTAIN) -> Verdict:
    """Return what is nearly certain under every one of the posteriors."""
    sides: tuple[Side, ...] = ("less", "equivalent", "more")
    for side in sides:
        if all(areas.of(side) >= certain for areas in posteriors):
            return side
    return "undecided"
