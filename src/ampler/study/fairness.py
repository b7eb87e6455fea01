"""Whether the machine treated all runs alike: was it busy, did it drift while they were made? Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.contracts import Store
from ampler.core.values import Caution, Observation, PlanRecord
from ampler.core.wording import count

BUSY = 2.0  # times as long by the clock as on a processor
MEASURABLE = 0.01  # seconds of processor time below which the ratio of the two says nothing
IDLE_SHARE = 0.5  # of its time limit, used on a processor: a run that was ended with less was mostly waiting
SURE = 0.001  # p-value below which a drift is more than chance
FEW = 3  # runs of a cell that have an order worth looking at


def fairness_notes(plan: PlanRecord, store: Store) -> tuple[Caution, ...]:
    """Return what a reader of times must know of the machine; runs are looked at only where times count."""
    timed = set(plan.timed)
    runs = [seen for seen in store.observations() if seen.key.algorithm in timed] if timed else []
    cut_off = [seen for seen in store.failures() if seen.status == "timeout"]
    by_processor = bool(timed) and all(plan.fingerprint.algorithms[name]["value"] == "cpu-seconds" for name in timed)
    found = busy(runs, cut_off, by_processor=by_processor), drift(runs)
    return tuple(note for note in found if note is not None)


def busy(timed: Iterable[Observation], cut_off: Iterable[Observation], *, by_processor: bool = False) -> Caution | None:
    """Runs took far longer by the clock than on a processor, or were ended by the clock while they waited for one.

    With `by_processor` the values are times on a processor, which suffer less.
    """
    ratios = [seen.seconds / seen.cpu for seen in timed if seen.cpu is not None and seen.cpu >= MEASURABLE]
    known = [seen for seen in cut_off if seen.cpu is not None]
    waiting = sum(seen.cpu < IDLE_SHARE * seen.seconds for seen in known if seen.cpu is not None)
    ratio = float(np.median(ratios)) if ratios else 1.0
    said = [
        *([f"{count(len(ratios), 'run')} took {ratio:.1f} times as long by the clock as on a processor (median)"]
          if ratio > BUSY else []),
        *([f"{waiting} of {count(len(known), 'run')} that reached a time limit had used less than half of their time"
           " on a processor"] if waiting else []),
    ]  # fmt: skip
    if not said:
        return None
    remedy = "Use fewer workers, or measure and limit processor time (cpu-seconds, cpu-timeout)."
    if by_processor:
        clock = " Limit processor time (cpu-timeout), not the time by the clock." if waiting else ""
        remedy = f"The values are processor times, which suffer less from it; use fewer workers all the same.{clock}"
    return Caution("busy", f"The machine was busy, or programs waited: {'; '.join(said)}. {remedy}")


def drift(timed: Iterable[Observation]) -> Caution | None:
    """Values rose or fell with the time at which runs were made, within instance and algorithm."""
    found = trend(_cells(timed))
    if found is None or found.p_value > SURE:
        return None
    word = "longer" if found.correlation > 0 else "shorter"
    return Caution(
        "drift",
        f"Times drifted while the runs were made: later runs took {word} (rank correlation with the start"
        f" {found.correlation:.2f} within instance and algorithm, p = {found.p_value:.1g}; second half against first:"
        f" {100 * (found.ratio - 1):+.0f} %). Runs alternate between algorithms, so all suffer alike; a quiet machine"
        " would sharpen the differences.",
    )


@dataclass(frozen=True, slots=True)
class Trend:
    """How values go with the time of their run: rank correlation, its p-value, second half over first half."""

    correlation: float
    p_value: float
    ratio: float


def trend(cells: Sequence[tuple[Floats, Floats]]) -> Trend | None:
    """Return the trend of values (second array) along times (first array) within cells; None when there is no order.

    Within a cell every order of the values is equally likely if nothing drifts, so the sum of products of centred
    ranks has mean 0 and variance Σ a²Σ b² / (n − 1), as for Spearman's correlation (Hoeffding 1951); cells add up.
    """
    products, variance, first, second, halves = 0.0, 0.0, 0.0, 0.0, []
    for times, values in cells:
        a, b = _centred_ranks(times), _centred_ranks(values)
        products += float(a @ b)
        variance += float(a @ a) * float(b @ b) / (len(a) - 1)
        first, second = first + float(a @ a), second + float(b @ b)
        halves.append(_second_over_first(times, values))
    if not variance:
        return None
    p_value = math.erfc(abs(products) / math.sqrt(2 * variance))
    return Trend(products / math.sqrt(first * second), p_value, math.exp(float(np.mean(halves))))


def _cells(timed: Iterable[Observation]) -> list[tuple[Floats, Floats]]:
    """Start and value of the runs of each instance and algorithm, where there are enough."""
    cells: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for seen in timed:
        if seen.value is not None and seen.started is not None:
            cells[seen.key.instance, seen.key.algorithm].append((seen.started, seen.value))
    arrays = (np.array(runs).T for runs in cells.values() if len(runs) >= FEW)
    return [(times, values) for times, values in arrays]


def _centred_ranks(numbers: Floats) -> Floats:
    """Ranks, ties sharing their mean rank, less their mean."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    means = np.cumsum(counts) - (counts - 1) / 2
    ranks: Floats = means[place]
    ranks -= ranks.mean()
    return ranks


def _second_over_first(times: Floats, values: Floats) -> float:
    """The logarithm of the mean of the later half over that of the earlier half."""
    ordered = values[np.argsort(times, kind="stable")]
    half = len(ordered) // 2
    early, late = ordered[:half].mean(), ordered[-half:].mean()
    return math.log(late / early) if early > 0 and late > 0 else 0.0
