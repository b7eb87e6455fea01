"""Claims on percent differences held against the exchanged roles and the ratio. Pure.

The mean of percent differences to a reference is not zero for algorithms that are equally good: factors of 2 and 1/2
are +50 % and -100 %, on average -25 %. So a claim must not depend on which algorithm the percentages are of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from ampler.analysis.compare import Comparison, Doubt
from ampler.core.arrays import Floats
from ampler.core.settings import AnalysisSettings
from ampler.stats.contrasts import Contrasts, contrasts_among
from ampler.stats.paired import ESTIMANDS, FEWEST, paired_test, present

Differencing = Callable[[Contrasts], Floats]


def role_doubts(
    comparisons: Sequence[Comparison],
    differences: Floats,
    contrasts: Contrasts,
    differencing: Differencing,
    *,
    settings: AnalysisSettings,
) -> list[tuple[Doubt, ...]]:
    """Return what the exchanged roles and the ratio say against each comparison, in the order of the columns.

    Both are tested on the instances of the comparison, at the level at which it was decided.
    """
    if contrasts.difference != "percent" or not any(each.rejected for each in comparisons):
        return [()] * len(comparisons)
    ratio = contrasts_among(
        contrasts.size, difference="ratio", reference=contrasts.reference, formula=contrasts.formula
    )
    ratios = differencing(ratio)
    found: list[tuple[Doubt, ...]] = []
    for k, comparison in enumerate(comparisons):
        there = ~np.isnan(differences[:, k])
        if not comparison.rejected or there.sum() < FEWEST:
            found.append(())
            continue
        others = [_Other("ratio", ratios[there, k], settings)]
        if contrasts.reference is not None:
            exchanged = _exchanged(contrasts, k, differencing)
            others.insert(0, _Other("exchanged", exchanged[there], settings))
        against = [each for each in others if not each.supports(comparison)]
        found.append((Doubt("roles", _reason(against, comparison)),) if against else ())
    return found


def _exchanged(contrasts: Contrasts, place: int, differencing: Differencing) -> Floats:
    """The differences of a pair as a share of the second algorithm's value, with the sign of first minus second."""
    assert contrasts.reference is not None
    second = int(contrasts.second[place])
    other = contrasts_among(contrasts.size, difference="percent", reference=second, formula=contrasts.formula)
    column = int(np.flatnonzero(other.second == contrasts.reference)[0])
    return -differencing(other)[:, column]


class _Other:
    """The same pair in another kind of difference."""

    def __init__(self, kind: Literal["exchanged", "ratio"], differences: Floats, settings: AnalysisSettings) -> None:
        method = paired_test(settings.paired_test)
        sample = present(differences)
        self.kind, self.better = kind, settings.better
        self.p = method.p_value(sample, settings.alternative)
        self.larger = method.estimate(sample) > method.estimand.neutral

    def supports(self, comparison: Comparison) -> bool:
        same_side = self.larger == (comparison.estimate > ESTIMANDS[comparison.estimate_of].neutral)
        return same_side and self.p <= comparison.alpha

    def finding(self, comparison: Comparison) -> str:
        where = "the ratio" if self.kind == "ratio" else f"in percent of {comparison.second}'s value"
        if self.p > comparison.alpha:
            verb = "is" if self.kind == "ratio" else "the difference is"
            return f"{where} {verb} not significant (p = {self.p:.2g}, level {comparison.alpha:.2g})"
        winner = comparison.first if self.larger == (self.better == "higher") else comparison.second
        return f"{'by ' if self.kind == 'ratio' else ''}{where} {winner} looks better (p = {self.p:.2g})"


def _reason(against: Sequence[_Other], comparison: Comparison) -> str:
    cause = (
        "percentages favour their reference" if against[0].kind == "exchanged" else "percentages and ratios disagree"
    )
    return f"{cause}: {' and '.join(each.finding(comparison) for each in against)}"
