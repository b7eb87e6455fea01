"""What is probable of every comparison: worse, equivalent or better by more than the margin, and a verdict. Pure.

Words are about the second algorithm of a pair against the first: with a reference, about the others against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ampler.analysis.bayes.families import SharedFamily, family_of
from ampler.analysis.bayes.ranking import Ranking, ranking_of
from ampler.analysis.bayes.sensitivity import Sensitivity, sensitivity_of
from ampler.core.arrays import Floats
from ampler.core.choices import Better, Weights
from ampler.core.errors import InvalidData
from ampler.core.plain import jsonable
from ampler.stats.bayes import (
    Areas,
    Posterior,
    SharedPosterior,
    Verdict,
    error_correlation,
    posterior,
)
from ampler.stats.bayes.verdicts import CERTAIN, SHARED_FROM, agreed_verdict

if TYPE_CHECKING:
    from ampler.analysis.compare import Comparison
    from ampler.analysis.results import Analysis

Said = Literal["worse", "equivalent", "better", "undecided"]

SAID: dict[Better, dict[Verdict, Said]] = {
    "lower": {"less": "worse", "equivalent": "equivalent", "more": "better", "undecided": "undecided"},
    "higher": {"less": "better", "equivalent": "equivalent", "more": "worse", "undecided": "undecided"},
}
OUTSIDE = "no shared posterior, as one of the two lacks instances that the others have, or differs always by the same"
MOST_SENSITIVE = 60  # comparisons that are judged by other models too


@dataclass(frozen=True, slots=True)
class Chances:
    """Probabilities that sum to 1, of the second algorithm against the first."""

    worse: float
    equivalent: float
    better: float

    def of(self, said: str) -> float:
        """Return one of them."""
        return {"worse": self.worse, "equivalent": self.equivalent, "better": self.better}[said]


@dataclass(frozen=True, slots=True)
class Probable:
    """What is probable of one comparison; differences are first minus second, the words about the second."""

    first: str
    second: str
    instances: int
    posterior: Posterior | None = None  # None: see `problem`
    shared: SharedPosterior | None = None  # given all comparisons; None with fewer than three, or see `problem`
    chances: Chances | None = None  # of the mean over instances
    shared_chances: Chances | None = None
    new_chances: Chances | None = None  # of a new instance of the same kind
    verdict: Said | None = None  # None without a margin, or where it cannot be given
    error_correlation: float = nan  # Spearman's, of standard errors and differences; NaN: not known
    problem: str = ""

    @property
    def claims(self) -> bool:
        """Whether the verdict claims something."""
        return self.verdict not in {None, "undecided"}

    @property
    def claimed(self) -> float:
        """The probability of what the verdict claims, by the posterior of the comparison alone."""
        return nan if self.chances is None or self.verdict is None or not self.claims else self.chances.of(self.verdict)


@dataclass(frozen=True, eq=False)
class Bayes:
    """Everything that is probable: `comparisons` in Holm's order, and on request `sensitivity` and `ranking`."""

    comparisons: tuple[Probable, ...]
    margin: float | None  # None: there are no verdicts
    level: float
    weights: Weights
    omega: float  # posterior mean of the standard deviation of the algorithms' levels; NaN: no shared prior
    shared_instances: int  # which the shared prior rests on
    errors_known: bool  # else run noise counts as part of what differs between instances
    expected_false_claims: float  # of the verdicts, if differences are as likely as the prior says; NaN: no verdicts
    analysis: Analysis = field(repr=False)

    @cached_property
    def sensitivity(self) -> tuple[Sensitivity, ...]:
        """The first sixty comparisons by other models: robust, and the Bayesian signed-rank test."""
        return tuple(
            sensitivity_of(
                each.first, each.second, *_sample(self.analysis, each), margin=self.margin or 0.0, level=self.level
            )
            for each in self.comparisons[:MOST_SENSITIVE]
        )

    @cached_property
    def ranking(self) -> Ranking | None:
        """Who is best by rankings alone; None where `ranking_problem` says why."""
        found = self._ranked
        return found if isinstance(found, Ranking) else None

    @property
    def ranking_problem(self) -> str:
        """Why there is no ranking; nothing if there is one."""
        return "" if isinstance(self._ranked, Ranking) else self._ranked

    @cached_property
    def _ranked(self) -> Ranking | str:
        names = tuple(row.algorithm for row in self.analysis.algorithms)
        try:
            return ranking_of(names, self.analysis.statistics, better=self.analysis.settings.better)
        except InvalidData as problem:
            return str(problem)

    def chances(self, areas: Areas) -> Chances:
        """Return the areas below, within and above the margin as words have them."""
        return chances_of(areas, self.analysis.settings.better)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; what is unknown is None."""
        from ampler.analysis.bayes.words import footnotes

        own = ("margin", "level", "weights", "omega", "shared_instances", "errors_known", "expected_false_claims")
        document = {name: getattr(self, name) for name in own} | {
            "certain": CERTAIN,
            "comparisons": self.comparisons,
            "sensitivity": self.sensitivity,
            "ranking": self.ranking,
            "notes": footnotes(self),
        }
        found: dict[str, Any] = jsonable(document)
        return found


def bayes_of(analysis: Analysis) -> Bayes:
    """Return what is probable of the comparisons of an analysis, by its margin and its weights."""
    settings = analysis.settings
    level, margin = 1 - settings.alpha, settings.margin or 0.0
    plain = [_posterior(analysis, each, margin, level) for each in analysis.comparisons]
    family = _family(analysis, plain, margin, level)
    found = tuple(_probable(analysis, *both, family) for both in zip(analysis.comparisons, plain, strict=True))
    return Bayes(
        comparisons=found,
        margin=settings.margin,
        level=level,
        weights=settings.weights,
        omega=family.omega,
        shared_instances=family.instances,
        errors_known=not np.isnan(analysis.errors[~np.isnan(analysis.differences)]).any(),
        expected_false_claims=nan if settings.margin is None else _false_claims(found),
        analysis=analysis,
    )


def chances_of(areas: Areas, better: Better) -> Chances:
    """Return areas in words. A difference is first minus second: where lower is better, below 0 the second is worse.

    >>> chances_of(Areas(0.9, 0.1, 0.0), "lower")
    Chances(worse=0.9, equivalent=0.1, better=0.0)
    """
    turned = areas if better == "lower" else areas.turned()
    return Chances(turned.less, turned.equivalent, turned.more)


# one comparison ---------------------------------------------------------------------------------------------------


def _sample(analysis: Analysis, each: Comparison | Probable) -> tuple[Floats, Floats]:
    """The differences of a comparison and their errors; where one is not known, all count as exact."""
    column = analysis.pairs.index((each.first, each.second))
    there = ~np.isnan(analysis.differences[:, column])
    errors = analysis.errors[there, column]
    known = np.isfinite(errors).all()
    return analysis.differences[there, column], errors if known else np.zeros_like(errors)


def _posterior(analysis: Analysis, each: Comparison, margin: float, level: float) -> Posterior | str:
    """The posterior, or why there is none."""
    try:
        return posterior(*_sample(analysis, each), margin=margin, level=level, weights=analysis.settings.weights)
    except InvalidData as problem:
        return str(problem)


def _family(analysis: Analysis, plain: Sequence[Posterior | str], margin: float, level: float) -> SharedFamily:
    if len(analysis.pairs) < SHARED_FROM:
        return SharedFamily()
    has = {
        (each.first, each.second)
        for each, own in zip(analysis.comparisons, plain, strict=True)
        if isinstance(own, Posterior)
    }
    reference = analysis.settings.reference
    kept = [k for k, pair in enumerate(analysis.pairs) if reference is None or pair in has]
    if not has:
        return SharedFamily()
    pairs = [analysis.pairs[k] for k in kept]
    return family_of(analysis.differences[:, kept], pairs, reference=reference, margin=margin, level=level)


def _probable(analysis: Analysis, each: Comparison, own: Posterior | str, family: SharedFamily) -> Probable:
    if isinstance(own, str):
        return Probable(each.first, each.second, each.instances, problem=own)
    better, shared = analysis.settings.better, family.comparisons.get((each.first, each.second))
    needed = len(analysis.pairs) >= SHARED_FROM
    return Probable(
        each.first,
        each.second,
        each.instances,
        posterior=own,
        shared=shared,
        chances=chances_of(own.areas, better),
        shared_chances=None if shared is None else chances_of(shared.areas, better),
        new_chances=chances_of(own.new_areas, better),
        verdict=None if analysis.settings.margin is None else _verdict(own, shared, better, needed=needed),
        error_correlation=error_correlation(*_sample(analysis, each)),
        problem=(family.problem or OUTSIDE) if needed and shared is None else "",
    )


def _verdict(own: Posterior, shared: SharedPosterior | None, better: Better, *, needed: bool) -> Said | None:
    """What both posteriors agree on; the plain one decides alone where there is nothing to learn from the others."""
    if needed and shared is None:
        return None
    found = agreed_verdict([own.areas, *([shared.areas] if shared is not None else [])])
    return SAID[better][found]


def _false_claims(found: Sequence[Probable]) -> float:
    """How many verdicts are wrong on average, if differences are as likely as the prior says."""
    return sum(1 - each.claimed for each in found if each.claims)
