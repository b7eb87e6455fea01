"""What stopping by the values did to an analysis: how far it moved the estimates, and what a reader must know. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from ampler.analysis.estimates import Estimates
from ampler.core.arrays import Codes, Floats, Pair
from ampler.core.choices import Estimate
from ampler.core.failures import FailurePolicy, Par, Penalty
from ampler.core.spoken import parameter
from ampler.core.values import Caution
from ampler.core.wording import digits
from ampler.stats.contrasts import Contrasts
from ampler.stats.paired import present
from ampler.stats.summaries import Mean, summary_of

NOTABLE = 0.25  # standard errors by which a bias may move a mean without a word: 0.05 becomes 0.06 at most
SURELY = 0.01  # chance of finding the first runs at odds with all of them, over all pairs, when nothing is wrong
TOO_SKEWED = 3.0  # of the runs: exponential values have 2; beyond, the correction is right in part only
RARE = 5.0  # a skewness of runs that have a few values far from all others, which most cells have not met yet
UNEVEN = 1.5  # times as many runs in one cell as in another: nobody planned that

INSTEAD = (
    f"analyse the first runs alone ({parameter('estimate', 'first-runs')}), or run every algorithm equally often"
    " (runs = 30)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """The mean difference of each pair by each estimate, and how far they lie apart in standard errors."""

    all_runs: Floats
    corrected: Floats
    first_runs: Floats
    moved: Floats  # all runs less corrected, in standard errors of the mean difference
    at_odds: Floats  # the estimate used less the first runs, in standard errors of this gap


def shift_of(estimates: Estimates, contrasts: Contrasts, used: Estimate) -> Shift | None:
    """Return what stopping did to the mean differences; None if no values decided on the runs."""
    if estimates.rule is None:
        return None
    return shift_between({kind: estimates.differences(contrasts, kind) for kind in get_args(Estimate)}, used)


def shift_between(by: Mapping[Estimate, Floats], used: Estimate) -> Shift:
    """Return how far the mean differences by each estimate lie apart; instances in rows, pairs in columns."""
    all_runs, corrected, first_runs = (_mean(by[kind]) for kind in ("all-runs", "corrected", "first-runs"))
    gap = by[used] - by["first-runs"]
    return Shift(
        all_runs,
        corrected,
        first_runs,
        moved=_over(all_runs - corrected, _error(by["corrected"])),
        at_odds=_over(_mean(gap), _error(gap)),
    )


def biased_by_stopping(
    shift: Shift | None, pairs: Sequence[Pair], *, estimates: Estimates, used: Estimate, instances: int
) -> Caution | None:
    """Say what stopping did to the estimates, and whether the correction is enough."""
    if shift is None or estimates.rule is None or used == "first-runs":
        return None
    odd = np.flatnonzero(np.abs(shift.at_odds) > _surely(len(pairs), instances))
    if len(odd):
        return Caution("biased", _beyond_correction(shift, odd, pairs, estimates.rule.start, used))
    moved = np.flatnonzero(np.abs(shift.moved) >= NOTABLE)
    if estimates.largest_skewness > (TOO_SKEWED if len(moved) else RARE):
        return Caution("biased", _too_skewed(estimates))
    return Caution("bias", f"{_moved(shift, moved, pairs)} {_remedy(used)}") if len(moved) else None


def rare_penalties(failures: FailurePolicy | None, failed: int, estimates: Estimates, used: Estimate) -> Caution | None:
    """Say that rare and large values are missed by a rule that stops where values look alike."""
    if estimates.rule is None or used == "first-runs" or not failed or not isinstance(failures, Penalty | Par):
        return None
    if not isinstance(summary_of(estimates.statistic), Mean):
        return None
    return Caution(
        "biased",
        "Failed runs count as a penalty, and the values decided when runs ended: an algorithm that fails seldom looks"
        " exact until its first failure, ends early without one, and seems better than it is (of two algorithms with"
        " the same mean, one failing in 2 % of its runs, it was called better in every simulated study). No correction"
        f" mends this: {INSTEAD}.",
    )


def uneven_runs(estimates: Estimates) -> Caution | None:
    """Say that runs which their values may have ended need a word from the user."""
    counts, spent = estimates.cells.counts, estimates.cells.spent
    filled = counts[counts > 0]
    if estimates.rule is not None or filled.min() < 2 or filled.max() < UNEVEN * filled.min() or (spent > counts).any():
        return None
    return Caution(
        "bias",
        f"Between {filled.min()} and {filled.max()} runs were made of an algorithm on an instance. If their values"
        " decided how many, the estimates are biased: say the accuracy wanted and the first runs of each"
        f" ({parameter('se')} and {parameter('start')}), so that they are corrected.",
    )


def _moved(shift: Shift, moved: Codes, pairs: Sequence[Pair]) -> str:
    worst = int(moved[np.argmax(np.abs(shift.moved[moved]))])
    by = shift.all_runs[worst] - shift.corrected[worst]
    return (
        f"The values decided when runs ended, which biases them: {_comparisons(moved, pairs)} moved by a quarter of a"
        f" standard error or more (most: {_pair(pairs[worst])}, by {digits(by, 2)} or"
        f" {abs(shift.moved[worst]):.1f} standard errors)."
    )


def _too_skewed(estimates: Estimates) -> str:
    skewness = estimates.skewness
    worst = int(np.argmax(np.abs(skewness)))
    return (
        f"The values decided when runs ended, and those of {estimates.blocks.algorithms[worst]} are very skewed"
        f" ({digits(float(skewness[worst]), 2)}; exponential ones have 2): where the rare far values have not been met"
        f" yet, runs look alike and end too early, which no correction mends. Claim nothing on them; {INSTEAD}."
    )


def _remedy(used: Estimate) -> str:
    if used == "corrected":
        return "The estimates are corrected for it."
    return f"All runs were taken as they are: leave out {parameter('estimate', 'all-runs')} to correct for it."


def _beyond_correction(shift: Shift, odd: Codes, pairs: Sequence[Pair], start: int, used: Estimate) -> str:
    worst = int(odd[np.argmax(np.abs(shift.at_odds[odd]))])
    value = (shift.corrected if used == "corrected" else shift.all_runs)[worst]
    means = f"{digits(shift.first_runs[worst], 2)} by the first runs, {digits(value, 2)} by all of them"
    return (
        f"The values decided when runs ended, and the first {start} runs of each algorithm, which nobody ended, say"
        f" something else in {_comparisons(odd, pairs)} (most: {_pair(pairs[worst])}, {means}"
        f"{', corrected' if used == 'corrected' else ''};"
        f" {abs(shift.at_odds[worst]):.1f} standard errors apart): stopping has biased the estimates. Claim nothing on"
        f" them; {INSTEAD}."
    )


def _comparisons(some: Codes, pairs: Sequence[Pair]) -> str:
    return f"{len(some)} of {len(pairs)} comparisons" if len(pairs) > 1 else "the comparison"


def _pair(pair: Pair) -> str:
    return f"{pair[0]} × {pair[1]}"


def _surely(comparisons: int, instances: int) -> float:
    """The t that the gaps of all comparisons together exceed with the chance allowed."""
    from scipy.special import stdtrit

    return -float(stdtrit(instances - 1, SURELY / (2 * comparisons)))


def _mean(differences: Floats) -> Floats:
    """The mean of each pair over its instances; NaN where it has none."""
    return np.array([present(column).mean() if len(present(column)) else np.nan for column in differences.T])


def _error(differences: Floats) -> Floats:
    """The standard error of these means; 0 where one instance says nothing of it."""
    columns = [present(column) for column in differences.T]
    return np.array([column.std(ddof=1) / np.sqrt(len(column)) if len(column) > 1 else 0.0 for column in columns])


def _over(value: Floats, error: Floats) -> Floats:
    """The value in units of its error; 0 where neither is anything but rounding."""
    return np.divide(value, error, out=np.zeros_like(value), where=error > 0)
