"""One algorithm alone: its mean, rate or quantile over instances, with an interval. Pure.

The value of an instance is the mean of its runs; with declared clusters, the value of a cluster is the mean of its
instances. These values are the independent observations on which the interval rests.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ampler.analysis.results import Results
from ampler.core.arrays import Floats, Interval
from ampler.core.errors import InvalidData
from ampler.core.failures import policy_words, values_under
from ampler.core.serialization import jsonable
from ampler.core.settings import Settings
from ampler.core.text import alike, count
from ampler.stats.summaries import Mean, Quantile, Rate, is_yes_or_no, summary_of

Unit = Literal["cluster", "instance", "run"]  # unit that the interval treats as independent


@dataclass(frozen=True, slots=True)
class Description:
    """A statistic of one algorithm over instances, with its confidence interval."""

    algorithm: str
    measure: str
    statistic: str
    estimate: float
    interval: Interval  # infinite where there are too few values for its level
    level: float
    method: str  # of the interval
    unit: Unit
    units: int
    instances: int
    runs: int
    failed: int
    failures: str = ""  # treatment of failed runs

    def __str__(self) -> str:
        estimate, lower, upper = alike(self.estimate, *self.interval)
        numbers = f"{count(self.instances, 'instance')}, {count(self.runs, 'run')}"
        failed = f" {count(self.failed, 'failed run')} {'was' if self.failed == 1 else 'were'} {self.failures}."
        return (
            f"{self.algorithm}: {self.statistic} of {self.measure} {estimate} ({100 * self.level:g} % CI {lower} to"
            f" {upper}; {numbers}).{failed if self.failed else ''}\nInterval: {self.method}, over"
            f" {count(self.units, self.unit)}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as JSON knows them."""
        document: dict[str, Any] = jsonable(self)
        return document


def describe_one(results: Results, settings: Settings) -> Description:
    """Return the statistic of the only algorithm of some results."""
    runs = results.runs
    if len(runs.algorithms) != 1:
        raise InvalidData(f"one algorithm is described, got {len(runs.algorithms)}; compare them, or choose one")
    values, counted = values_under(runs, settings.failures)
    if not counted.any():
        raise InvalidData(f"no run of {runs.algorithms[0]!r} gave a value")
    by_instance: dict[str, list[float]] = defaultdict(list)
    for code, value in zip(runs.instance[counted].tolist(), values[counted].tolist(), strict=True):
        by_instance[runs.instances[code]].append(value)
    unit, observations = _units(by_instance, results, settings)
    summary = summary_of(settings.statistic)
    binary = bool(is_yes_or_no(values[counted]).all())
    if isinstance(summary, Rate) or (isinstance(summary, Mean) and binary):
        if not binary:
            raise InvalidData("a rate needs values of 1 (yes) or 0 (no); for other numbers omit the statistic")
        name, method = "rate", "Wilson score interval"
        estimate, interval = float(observations.mean()), rate_interval(observations, settings.alpha)
    elif isinstance(summary, Mean):
        name, method = "mean", "Student's t"
        estimate, interval = float(observations.mean()), _t_interval(observations, settings.alpha)
    elif isinstance(summary, Quantile):
        name, method = settings.statistic_name, "order statistics (binomial)"
        estimate = float(np.quantile(observations, summary.q))
        interval = quantile_interval(observations, summary.q, settings.alpha)
    else:
        raise InvalidData(
            f"one algorithm alone has a mean, a rate, a median or a quantile, got statistic {settings.statistic_name!r}"
        )
    numbers = len(observations), len(by_instance), int(counted.sum()), int((~runs.ok).sum())
    policy = "" if runs.ok.all() else policy_words(settings.failures)
    result = estimate, interval, 1 - settings.alpha, method
    return Description(runs.algorithms[0], results.measure, name, *result, unit, *numbers, policy)


def _units(by_instance: dict[str, list[float]], results: Results, settings: Settings) -> tuple[Unit, Floats]:
    """The independent values: of clusters, of instances, or of the runs on a single instance."""
    if len(by_instance) == 1:
        return "run", np.array(next(iter(by_instance.values())))
    means = {name: float(np.mean(values)) for name, values in by_instance.items()}
    clusters = results.features.get(str(settings.cluster or results.settings.get("cluster")))
    if clusters is None:
        return "instance", np.array(list(means.values()))
    grouped: dict[object, list[float]] = defaultdict(list)
    for name, mean in means.items():
        grouped[clusters[name]].append(mean)
    return "cluster", np.array([np.mean(own) for own in grouped.values()])


def rate_interval(rates: Floats, alpha: float) -> Interval:
    """Return Wilson's score interval (1927) of the mean of independent rates, or of single binary outcomes.

    Rates of several runs vary less than single ones: the mean is as exact as that of an effective number of runs (Korn
    and Graubard 1998), which is itself estimated; Student's t allows for that. The width is positive even for
    equal rates.

    >>> [round(end, 4) for end in rate_interval(np.repeat([1.0, 0.0], [40, 10]), 0.05)]  # prop.test of R
    [0.6696, 0.8876]
    """
    from scipy.special import ndtri, stdtrit

    number, rate = float(len(rates)), float(rates.mean())
    z = float(ndtri(1 - alpha / 2))
    error = float(rates.std(ddof=1)) / math.sqrt(number) if number > 1 else 0.0
    if error > 0 and not is_yes_or_no(rates).all():
        z = float(stdtrit(number - 1, 1 - alpha / 2))
        number = max(number, rate * (1 - rate) / error**2)
    centre = (rate + z * z / (2 * number)) / (1 + z * z / number)
    half = z / (1 + z * z / number) * math.sqrt(rate * (1 - rate) / number + (z / (2 * number)) ** 2)
    return max(0.0, centre - half), min(1.0, centre + half)


def _t_interval(values: Floats, alpha: float) -> Interval:
    from scipy.special import stdtrit

    if len(values) < 2:
        return -math.inf, math.inf
    half = float(stdtrit(len(values) - 1, 1 - alpha / 2)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def quantile_interval(values: Floats, q: float, alpha: float) -> Interval:
    """Return the interval of a quantile between order statistics; its level holds for every distribution.

    >>> quantile_interval(np.arange(1.0, 11.0), 0.5, 0.05)
    (2.0, 9.0)
    """
    from scipy.special import bdtr

    ordered, n = np.sort(values), len(values)
    below = bdtr(np.arange(n + 1), n, q)  # probability of at most this many values below the quantile
    lower = int(np.searchsorted(below, alpha / 2, side="right"))  # index of the order statistic, from 1
    upper = int(np.searchsorted(below, 1 - alpha / 2, side="left")) + 1
    low = float(ordered[lower - 1]) if lower >= 1 else -math.inf
    return low, float(ordered[upper - 1]) if upper <= n else math.inf
