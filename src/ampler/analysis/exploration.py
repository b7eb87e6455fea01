"""Exploration: subgroups of instances, and conclusions under other tests and differences. Pure.

Everything here is exploratory: unadjusted, for forming hypotheses and for honesty, not for claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ampler.core.arrays import Bools, Codes, Floats, Interval, Pair
from ampler.core.errors import InvalidData
from ampler.core.settings import Alternative, Difference, Settings, Test
from ampler.core.text import natural
from ampler.stats.contrasts import Contrasts
from ampler.stats.paired import FEWEST, TESTS, family_verdict, paired_test, present, present_columns

Signs = NDArray[np.int8]
Differencing = Callable[[Contrasts], Floats]
Features = Mapping[str, Mapping[str, object]]  # feature -> instance -> value

MOST_LEVELS = 6  # a numerical feature with more values than this is split at its median
MOST_GROUPS = 24  # a text feature with more values than this does not group instances

DIFFERENCES: tuple[Difference, ...] = ("simple", "percent", "ratio")
STATISTICS = ("mean", "median")


@dataclass(frozen=True, slots=True)
class Subgroup:
    """One comparison on the instances that share a value of a feature. Exploratory: p and interval are unadjusted."""

    feature: str
    value: str
    instances: int
    first: str
    second: str
    estimate: float
    interval: Interval
    p_value: float


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Conclusions under another test, difference and statistic, with Holm at the same level. Exploratory.

    `decisions` has one entry per pair: 1 where first is found larger, −1 where it is found smaller, 0 where nothing
    is found. `same` counts those that agree with the analysis; a combination that cannot be computed has none.
    """

    test: Test
    difference: Difference
    statistic: str
    decisions: tuple[int, ...]
    same: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class OtherPolicy:
    """Conclusions under another treatment of failed runs. Exploratory."""

    failed_runs: str  # treatment of failed runs
    instances: int
    decisions: tuple[int, ...]  # as in Conclusion
    changed: tuple[Pair, ...]  # pairs with another decision
    reversed: tuple[Pair, ...] = ()  # those of them with the opposite decision
    note: str = ""


def subgroups(
    differences: Floats, pairs: Sequence[Pair], instances: Sequence[str], features: Features, settings: Settings
) -> tuple[Subgroup, ...]:
    """Repeat every comparison on each group of instances; pairs with a single instance there are omitted."""
    method, result = paired_test(settings.paired_test), []
    for feature, values in features.items():
        for value, rows in _groups([values.get(name) for name in instances]).items():
            for pair, column in zip(pairs, present_columns(differences[rows]), strict=True):
                if len(column) >= FEWEST:
                    bounds = method.interval(column, settings.alternative, settings.alpha)
                    interval, p = (bounds.lower, bounds.upper), method.p_value(column, settings.alternative)
                    own = (len(column), *pair, method.estimate(column), interval, p)
                    result.append(Subgroup(feature, value, *own))
    return tuple(result)


def decisions(differences: Floats, *, test: Test, alternative: Alternative, alpha: float) -> Signs:
    """Return for each pair the direction Holm's procedure finds: 1, −1, or 0 for none.

    >>> decisions(np.array([[1.0, 0.1], [1.2, -0.2], [0.9, 0.05]]), test="t", alternative="two-sided", alpha=0.05)
    array([1, 0], dtype=int8)
    """
    rejected = family_verdict(differences, test=test, alternative=alternative, alpha=alpha).steps.rejected
    return signs_of(rejected, differences, test)


def signs_of(rejected: Bools, differences: Floats, test: Test) -> Signs:
    """Return the direction of each pair that is rejected, 0 for the others."""
    method = paired_test(test)
    signs = np.zeros(len(rejected), np.int8)
    for k in np.flatnonzero(rejected):
        signs[k] = 1 if method.leaning(present(differences[:, k])) > 0 else -1
    return signs


def stability(
    differencing: Callable[[str], Differencing], contrasts: Contrasts, result: Signs, settings: Settings
) -> tuple[Conclusion, ...]:
    """Repeat the decision for every test, kind of difference, and mean or median; of rates for every test.

    `differencing` maps a statistic to the function that computes its differences.
    """
    rates, alternative, alpha = settings.are_rates, settings.alternative, settings.family_alpha
    tests = [test for test, row in TESTS.items() if row.family is None]  # resampling tests take a hundred times as long
    conclusions: list[Conclusion] = []
    cache: dict[tuple[bytes, Test], Signs] = {}  # with one value per cell, median and mean are equal
    for statistic in ("rate",) if rates else STATISTICS:
        by_statistic = differencing(statistic)
        for difference in DIFFERENCES[:1] if rates else DIFFERENCES:
            try:
                phi = by_statistic(replace(contrasts, difference=difference))
            except InvalidData as problem:
                conclusions += [Conclusion(test, difference, statistic, (), 0, note=str(problem)) for test in tests]
                continue
            for test in tests:
                key = phi.tobytes(), test
                if key not in cache:
                    cache[key] = decisions(phi, test=test, alternative=alternative, alpha=alpha)
                signs, same = tuple(cache[key].tolist()), int(np.sum(cache[key] == result))
                conclusions.append(Conclusion(test, difference, statistic, signs, same))
    return tuple(conclusions)


class Findings(NamedTuple):
    """The direction found for each pair, and on how many instances."""

    signs: Signs
    instances: int


def other_policies(
    findings_by: Mapping[str, Callable[[], Findings]], pairs: Sequence[Pair], result: Signs
) -> tuple[OtherPolicy, ...]:
    """Compare the conclusions with those under other treatments of failed runs."""
    policies = []
    for name, findings_under in findings_by.items():
        try:
            signs, instances = findings_under()
        except InvalidData as problem:
            policies.append(OtherPolicy(name, 0, (), (), note=str(problem)))
            continue
        changed, turned = (
            tuple(pair for pair, is_so in zip(pairs, which, strict=True) if is_so)
            for which in (signs != result, signs * result < 0)
        )
        policies.append(OtherPolicy(name, instances, tuple(signs.tolist()), changed, turned))
    return tuple(policies)


def _groups(values: Sequence[object]) -> dict[str, Codes]:
    """The rows of each group that has at least two instances; none if the feature does not group them."""
    numbers = [number for number in map(_number, values) if number is not None]
    if len(numbers) < len(values) or len(set(numbers)) <= MOST_LEVELS:
        labels = [None if value is None else str(value) for value in values]
    else:
        middle = float(np.median(numbers))
        labels = [f"≤ {middle:g}" if number <= middle else f"> {middle:g}" for number in numbers]
    groups = {label: np.flatnonzero([other == label for other in labels]) for label in dict.fromkeys(labels)}
    if len(groups) > MOST_GROUPS:
        return {}
    used = [label for label, rows in groups.items() if label is not None and len(rows) > 1]
    if all(key and not key[0][0] for key in map(natural, used)):  # numbers; texts keep their order
        used.sort(key=natural)
    return {label: groups[label] for label in used}


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if np.isfinite(number) else None
