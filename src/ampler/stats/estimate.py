"""Differences between algorithms on one instance, with their standard errors. Pure.

`estimate` is the public function; `estimates_of` makes the arrays for contrasts and allocation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ampler.core.arrays import Codes, Counts, Floats, Samples
from ampler.core.contracts import Statistic
from ampler.core.errors import InvalidRule, InvalidSamples
from ampler.core.settings import Difference, Formula, documented
from ampler.stats import summaries
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.summaries import Mean, Quantile, Rate, Summary, is_yes_or_no, neither_yes_nor_no, summary_of

Method = Literal["formula", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The difference of two algorithms on one instance and its standard error.

    `ratio` is the ratio of their runs, first to second; `best_ratio` the one that would serve this pair best (NaN when
    both are constant: there is nothing to gain).
    """

    first: str
    second: str
    difference: float
    error: float
    ratio: float
    best_ratio: float


@documented
def estimate(
    samples: Samples | Mapping[str, Iterable[float]],
    *,
    difference: Difference,
    reference: str | None = None,
    formula: Formula = "corrected",
    statistic: str | Statistic = "mean",
    method: Method = "formula",
    resamples: int = summaries.RESAMPLES,
) -> tuple[Estimate, ...]:
    """Estimate the difference of every pair of interest: all with the reference, or all pairs.

    Parameters
    ----------
    samples : mapping of algorithm to values
        Values of the runs on one instance.
    %difference%
    %reference%
    %formula%
    %statistic%
    method : {'formula', 'bootstrap'}, default 'formula'
        How the standard error is computed: by the delta method, or from resampled differences.
    resamples : int
        Number of resamples of the bootstrap.

    Returns
    -------
    tuple of Estimate
        The difference of each pair with its standard error.

    Examples
    --------
    >>> estimate({"full": [5.0, 7.0], "no-swap": [9.0, 9.5, 10.0]}, difference="percent", reference="full")
    (Estimate(first='full', second='no-swap', difference=-0.538..., error=0.27..., ratio=0.66..., best_ratio=4.66...),)
    """
    samples = Samples.of(samples)
    contrasts = contrasts_of(samples.algorithms, difference=difference, reference=reference, formula=formula)
    summary = summary_of(statistic)
    estimates = estimates_of(samples, contrasts, summary)
    if method == "formula":
        errors = np.sqrt(contrasts.squared_errors(estimates.theta, estimates.spread / samples.counts))
    elif method == "bootstrap":
        errors = _resampled_errors(samples, contrasts, summary, estimates, resamples)
    else:
        raise InvalidRule(f'method must be "formula" or "bootstrap", got {method!r}')
    columns = (
        estimates.in_plain_units(contrasts, contrasts.differences(estimates.theta)),
        estimates.errors_in_plain_units(contrasts, errors),
        samples.counts[contrasts.first] / samples.counts[contrasts.second],
        contrasts.best_ratios(estimates.theta, estimates.spread),
    )
    names = samples.algorithms
    pairs = zip(contrasts.first, contrasts.second, *columns, strict=True)
    return tuple(Estimate(names[i], names[j], *map(float, numbers)) for i, j, *numbers in pairs)


class AlgorithmEstimates(NamedTuple):
    """Statistic and variance of one run of each algorithm, in units of 2^exponents.

    The units are 1 unless values are enormous or tiny: then squares of them would leave the doubles.
    """

    theta: Floats
    spread: Floats
    exponents: Counts | None = None

    def in_plain_units(self, contrasts: Contrasts, differences: Floats) -> Floats:
        """Return the differences in the user's units."""
        if self.exponents is not None and contrasts.difference == "ratio":
            return differences + math.log(2.0) * (self.exponents[contrasts.first] - self.exponents[contrasts.second])
        return self.errors_in_plain_units(contrasts, differences)

    def errors_in_plain_units(self, contrasts: Contrasts, errors: Floats) -> Floats:
        """Return the standard errors in the user's units."""
        if self.exponents is None or contrasts.difference != "simple":
            return errors
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(errors, self.exponents[0]))

    def order(self, contrasts: Contrasts) -> Codes:
        """Return the places of the algorithms from the smallest statistic to the largest."""
        if self.exponents is None or contrasts.difference != "ratio":
            return np.argsort(self.theta, kind="stable")
        return np.argsort(np.log2(self.theta) + self.exponents, kind="stable")

    def own_unit(self, contrasts: Contrasts, se: float) -> float:
        """Return a target standard error in the units of these estimates."""
        if self.exponents is None or contrasts.difference != "simple":
            return se
        return math.ldexp(se, -int(self.exponents[0]))


def estimates_of(samples: Samples, contrasts: Contrasts, statistic: Summary) -> AlgorithmEstimates:
    """Return statistic and variance of one run of each algorithm; InvalidSamples where they do not exist."""
    for name in short_of_values(samples):
        raise InvalidSamples(
            "a standard error needs at least two values of each algorithm, got"
            f" {samples.counts[samples.position(name)]} of {name!r}; run it again, or declare it deterministic"
        )
    if isinstance(statistic, Mean):
        theta, spread = samples.scaled_means, samples.scaled_variances
    else:
        if isinstance(statistic, Rate):
            for name in samples.algorithms:
                for value in samples.derived(name, "strange", lambda values: values[~is_yes_or_no(values)][:1]):
                    raise InvalidSamples(f"{neither_yes_nor_no(value)} from algorithm {name!r}; {summaries.NUMBERS}")
        logs = contrasts.difference == "ratio" and contrasts.formula == "corrected" and isinstance(statistic, Quantile)
        rows = [_summary(samples, statistic, index, name, logs=logs) for index, name in enumerate(samples.algorithms)]
        theta, spread = np.array(rows).T
    if contrasts.difference != "simple" and not min(theta.tolist()) > 0.0:
        lowest = int(theta.argmin())
        raise InvalidSamples(
            f"{contrasts.difference} differences need positive statistics, got {theta[lowest]:.6g} for algorithm "
            f'{samples.algorithms[lowest]!r}; use difference="simple", or raise small values to a floor'
            " (floor = 1e-8)"
        )
    if samples.ordinary:
        raw = AlgorithmEstimates(theta, spread)
    elif contrasts.difference == "ratio":  # each algorithm may keep its own unit: only relative errors matter
        raw = AlgorithmEstimates(theta, spread, samples.exponents)
    else:  # all in the unit of the largest, or of the reference that the others are divided by
        exponents = samples.exponents
        unit = exponents.max(where=(theta != 0.0) | (spread != 0.0), initial=exponents.min())
        if contrasts.difference == "percent" and contrasts.reference is not None:
            unit = exponents[contrasts.reference]
        with np.errstate(over="ignore"):
            scaled = np.ldexp(theta, exponents - unit), np.ldexp(spread, 2 * (exponents - unit))
        raw = AlgorithmEstimates(*scaled, np.full_like(exponents, unit))
    if not contrasts.corrects(unbiased=statistic.unbiased):
        return raw
    theta, factors = contrasts.corrected(raw.theta, raw.spread / samples.counts)
    return raw._replace(theta=theta, spread=raw.spread * factors)


def short_of_values(samples: Samples) -> tuple[str, ...]:
    """Return the algorithms with too few values for a standard error: two, or one if it is deterministic."""
    if min(samples.counts.tolist()) >= 2:  # fast path for the usual case
        return ()
    return tuple(
        name
        for name, count in zip(samples.algorithms, samples.counts, strict=True)
        if count < (1 if name in samples.deterministic else 2)
    )


def _summary(samples: Samples, statistic: Summary, index: int, name: str, *, logs: bool) -> tuple[float, float]:
    """The statistic and the variance of one run of an algorithm; only what got a value is computed again.

    With `logs` the variance is that of the logarithm, in the unit of the statistic.
    """

    def compute(values: Floats) -> tuple[float, float]:
        scaled = np.ldexp(values, -samples.exponents[index])
        theta = float(statistic(scaled))
        certain = name in samples.deterministic or not math.isfinite(theta)
        if logs and not certain and scaled.min() > 0.0:
            return theta, statistic.spread(np.log(scaled)) * theta * theta
        return theta, 0.0 if certain else statistic.spread(scaled)

    theta, spread = samples.derived(name, (statistic, logs), compute)
    if not (math.isfinite(theta) and math.isfinite(spread)):
        raise InvalidSamples(
            f"the statistic must be a finite number, got {theta!r} (variance {spread!r}) for algorithm {name!r}; "
            "fix the statistic or drop the algorithm"
        )
    return theta, spread


def _resampled_errors(
    samples: Samples, contrasts: Contrasts, statistic: Summary, estimates: AlgorithmEstimates, resamples: int
) -> Floats:
    """The standard deviation of each pair's difference over bootstrap samples of all algorithms.

    The draws of algorithms with equally many values are the same, so each is shuffled; which shuffle depends on the
    place in the order of the statistics, so that neither names nor positions matter.
    """
    replicates = np.empty((resamples, contrasts.size))
    orders = summaries.shuffles(contrasts.size, resamples)
    for order, k in zip(orders, estimates.order(contrasts), strict=True):
        scaled = np.ldexp(samples.values(samples.algorithms[k]), -samples.exponents[k])
        replicates[:, k] = summaries.resampled(statistic, scaled, resamples)[order]
    if estimates.exponents is not None and contrasts.difference != "ratio":
        replicates = np.ldexp(replicates, samples.exponents - estimates.exponents)
    if contrasts.difference != "simple" and not replicates.min() > 0.0:
        raise InvalidSamples(
            f"{contrasts.difference} differences need positive statistics in every resample, "
            f'got {replicates.min():.6g}; use method="formula" or difference="simple"'
        )
    deviations = np.asarray(contrasts.differences(replicates).std(axis=0, ddof=1))
    # They are too small: each algorithm's part of an error by its own number of values.
    variances = estimates.spread / samples.counts
    wide = contrasts.squared_errors(estimates.theta, variances * summaries.widening(samples.counts))
    narrow = contrasts.squared_errors(estimates.theta, variances)
    return deviations * np.sqrt(np.divide(wide, narrow, out=np.ones_like(narrow), where=narrow > 0.0))
