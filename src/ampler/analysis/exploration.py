"""Looking around an analysis: subgroups of instances, and whether the conclusion hangs on a choice. Pure.

Everything here is exploratory: unadjusted, for forming hypotheses and for honesty, not for claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ampler.core.arrays import Bools, Codes, Floats, Interval
from ampler.core.choices import Alternative, Difference, Test
from ampler.core.errors import InvalidData
from ampler.core.names import natural
from ampler.stats.contrasts import Contrasts, contrasts_among
from ampler.stats.paired import FEWEST, TESTS, family_verdict, paired_test, present, present_columns

Signs = NDArray[np.int8]
Differencing = Callable[[Contrasts], Floats]
Features = Mapping[str, Mapping[str, object]]  # feature -> instance -> value

MOST_LEVELS = 6  # a number with more values than this is cut at its median
MOST_GROUPS = 24  # a text with more values than this names instances, it does not group them

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
    """What the same data would say under another test, difference and statistic, Holm at the same level. Exploratory.

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
    """What would be found if failed runs counted as something else. Exploratory."""

    failed_runs: str  # what was done with them
    instances: int
    decisions: tuple[int, ...]  # as in Conclusion
    changed: tuple[tuple[str, str], ...]  # the pairs that are decided otherwise
    reversed: tuple[tuple[str, str], ...] = ()  # those among them that are decided the other way round
    note: str = ""


def subgroups(
    differences: Floats,
    pairs: Sequence[tuple[str, str]],
    instances: Sequence[str],
    features: Features,
    *,
    test: Test,
    alternative: Alternative,
    alpha: float,
) -> tuple[Subgroup, ...]:
    """Repeat every comparison on each group of instances; pairs that have one instance there are left out."""
    method = paired_test(test)
    found = []
    for feature, values in features.items():
        for value, rows in _groups([values.get(name) for name in instances]).items():
            for (first, second), column in zip(pairs, present_columns(differences[rows]), strict=True):
                if len(column) < FEWEST:
                    continue
                bounds = method.interval(column, alternative, alpha)
                found.append(
                    Subgroup(
                        feature=feature,
                        value=value,
                        instances=len(column),
                        first=first,
                        second=second,
                        estimate=method.estimate(column),
                        interval=(bounds.lower, bounds.upper),
                        p_value=method.p_value(column, alternative),
                    )
                )
    return tuple(found)


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
    differencing: Callable[[str], Differencing],
    contrasts: Contrasts,
    found: Signs,
    *,
    alternative: Alternative,
    alpha: float,
    rates: bool = False,
) -> tuple[Conclusion, ...]:
    """Repeat the decision for every test, kind of difference, and mean or median; of rates for every test.

    `differencing` makes of a statistic what gives the differences by it.
    """
    statistics, differences = (("rate",), DIFFERENCES[:1]) if rates else (STATISTICS, DIFFERENCES)
    by = {statistic: differencing(statistic) for statistic in statistics}
    choices = product(statistics, differences)
    measured = {choice: _differences(by[choice[0]], contrasts, choice[1]) for choice in choices}
    tests = [test for test, row in TESTS.items() if row.family is None]  # what resamples takes a hundred times as long
    found_by: list[Conclusion] = []
    made: dict[tuple[bytes | str, Test], Conclusion] = {}  # of one value per cell, median and mean are the same
    for ((statistic, difference), phi), test in product(measured.items(), tests):
        key = (phi if isinstance(phi, str) else phi.tobytes()), test
        if key not in made:
            made[key] = _conclusion(phi, statistic, difference, test, found, alternative, alpha)
        found_by.append(replace(made[key], difference=difference, statistic=statistic))
    return tuple(found_by)


class Findings(NamedTuple):
    """The direction found for each pair, and on how many instances."""

    signs: Signs
    instances: int


def other_policies(
    found_under: Mapping[str, Callable[[], Findings]], pairs: Sequence[tuple[str, str]], found: Signs
) -> tuple[OtherPolicy, ...]:
    """Compare what is found with what other ways of counting failed runs give."""
    return tuple(_other_policy(name, give, pairs, found) for name, give in found_under.items())


def _other_policy(
    name: str, give: Callable[[], Findings], pairs: Sequence[tuple[str, str]], found: Signs
) -> OtherPolicy:
    try:
        signs, instances = give()
    except InvalidData as problem:
        return OtherPolicy(name, 0, (), (), note=str(problem))
    changed = tuple(pair for pair, same in zip(pairs, signs == found, strict=True) if not same)
    turned = tuple(pair for pair, product in zip(pairs, signs * found, strict=True) if product < 0)
    return OtherPolicy(name, instances, tuple(signs.tolist()), changed, turned)


def _groups(values: Sequence[object]) -> dict[str, Codes]:
    """The rows of each group that has at least two instances; none if the feature does not group them."""
    labels = _labels(values)
    groups = {label: np.flatnonzero([other == label for other in labels]) for label in dict.fromkeys(labels)}
    if len(groups) > MOST_GROUPS:
        return {}
    shown = [label for label, rows in groups.items() if label is not None and len(rows) > 1]
    are_numbers = all(key and not key[0][0] for key in map(natural, shown))  # words stay in the order they are given
    return {label: groups[label] for label in (sorted(shown, key=natural) if are_numbers else shown)}


def _labels(values: Sequence[object]) -> list[str | None]:
    numbers = [_number(value) for value in values]
    known = [number for number in numbers if number is not None]
    if len(known) < len(values) or len(set(known)) <= MOST_LEVELS:
        return [None if value is None else str(value) for value in values]
    middle = float(np.median(known))
    return [f"≤ {middle:g}" if number <= middle else f"> {middle:g}" for number in known]


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _differences(give: Differencing, contrasts: Contrasts, difference: Difference) -> Floats | str:
    """The differences of another kind, or why there are none."""
    other = contrasts_among(
        contrasts.size, difference=difference, reference=contrasts.reference, formula=contrasts.formula
    )
    try:
        return give(other)
    except InvalidData as problem:
        return str(problem)


def _conclusion(
    differences: Floats | str,
    statistic: str,
    difference: Difference,
    test: Test,
    found: Signs,
    alternative: Alternative,
    alpha: float,
) -> Conclusion:
    if isinstance(differences, str):
        return Conclusion(test, difference, statistic, (), 0, note=differences)
    signs = decisions(differences, test=test, alternative=alternative, alpha=alpha)
    return Conclusion(test, difference, statistic, tuple(signs.tolist()), int(np.sum(signs == found)))
