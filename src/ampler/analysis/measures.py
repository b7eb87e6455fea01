"""Several measures of the same runs: superiority in one with non-inferiority in the others, Pareto front. Pure.

The claim "A is better than B" requires A to be superior in the primary measure and non-inferior in every measure with a
margin. All of these tests must succeed, so each has the full level: an intersection–union test (Berger 1982), whose
p-value is the largest of them. Holm's procedure holds the error rate over the pairs, and both directions of a pair
share its level. Descriptive measures are not tested.

A dominates B if it is superior in one tested measure (Bonferroni over the measures) and non-inferior in total. A is on
the front if it is better than every other algorithm in some measure by more than the margin, so that none dominates it.
Holm's procedure holds the error rate over all these statements. Without a margin, non-inferior means superior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any, Literal

import numpy as np
from scipy import stats

from ampler.analysis.compare import p_values
from ampler.analysis.results import Analysis
from ampler.analysis.rows import p_text
from ampler.core.arrays import Floats, Pair
from ampler.core.errors import InvalidDesign
from ampler.core.measures import MAX_NAMES, Measure
from ampler.core.serialization import jsonable
from ampler.core.settings import positive, share
from ampler.core.text import TextTable, count, digits, listed, named, parameter, table_of
from ampler.design.conjunction import Claimed, required_for_claims
from ampler.stats.descriptive import is_constant
from ampler.stats.holm import step_down
from ampler.stats.paired import FEWEST, present_columns

Standing = Literal["front", "dominated", "not known"]
CAUTION = 0.6  # probability that a variance of the pilot's bound is not too small
FEWEST_IN_PILOT = 5  # instances
SMALL = 1e-9  # of the largest difference: the deviation of differences that never vary


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim that the first is superior in the primary measure and non-inferior in the others."""

    first: str  # the algorithm that the data favour
    second: str
    p_values: Mapping[str, float]  # one-sided, of each tested measure
    p_value: float  # of both directions: twice the largest
    p_holm: float
    claimed: bool


@dataclass(frozen=True, slots=True)
class FrontStanding:
    """Position of an algorithm: on the Pareto front, dominated by others, or inconclusive."""

    algorithm: str
    standing: Standing
    dominated_by: tuple[str, ...]
    p_front: float  # adjusted, for "no algorithm dominates it"


@dataclass(frozen=True, slots=True)
class MeasuresPlan:
    """Required instances for claims about several measures: for all tests together, and for each measure alone."""

    instances: int
    power: float
    needs: Mapping[str, int]
    detect: float
    meaning: str

    @property
    def bottleneck(self) -> str:
        """The measure that needs the most instances."""
        return max(self.needs, key=self.needs.__getitem__)

    def __str__(self) -> str:
        alone = ", ".join(f"{name} {number}" for name, number in self.needs.items())
        return (
            f"{count(self.instances, 'instance')}: power {self.power:.2f} for the claim ({self.meaning}), if the"
            f" primary measures differ by {self.detect:g} and the others are equal.\n"
            f"{self.bottleneck} needs the most instances. Alone they need: {alone}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values for JSON."""
        return asdict(self) | {"bottleneck": self.bottleneck}


@dataclass(frozen=True, eq=False)
class MeasuresAnalysis:
    """Conclusions from several measures of the same runs; `analyses` has each measure alone."""

    measures: tuple[Measure, ...]
    analyses: Mapping[str, Analysis]
    alpha: float

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims, the smallest p-value first."""
        primary = [0.0 if measure.role == "primary" else measure.shift for measure in self._tested]
        forward, backward = (self._one_sided(primary, turned=turned) for turned in (False, True))
        worst = np.array([forward.max(axis=0), backward.max(axis=0)])
        steps = step_down(np.minimum(1.0, 2 * worst.min(axis=0)), self.alpha)
        claims = []
        for k in np.argsort(steps.ranks):
            turned = bool(worst[1, k] < worst[0, k])
            first, second = self.pairs[k][::-1] if turned else self.pairs[k]
            own = (backward if turned else forward)[:, k]
            doubtful = any(self._doubts(measure, self.pairs[k]) for measure in self._tested)
            claims.append(
                Claim(
                    first,
                    second,
                    p_values=dict(zip((measure.name for measure in self._tested), own.tolist(), strict=True)),
                    p_value=float(min(1.0, 2 * own.max())),
                    p_holm=float(steps.adjusted[k]),
                    claimed=bool(steps.rejected[k]) and not doubtful,
                )
            )
        return tuple(claims)

    @cached_property
    def front(self) -> tuple[FrontStanding, ...]:
        """Positions of the algorithms; empty with a reference, as they need all pairs."""
        names = [row.algorithm for row in next(iter(self.analyses.values())).algorithms]
        if len(self.pairs) < len(names) * (len(names) - 1) / 2 or len(self._tested) < 2:
            return ()
        margins = [measure.shift for measure in self._tested]
        dominates: dict[Pair, float] = {}
        escapes: dict[Pair, float] = {}  # the first is better than the second by more than the margin in some measure
        for turned in (False, True):
            superior = self._one_sided([0.0] * len(margins), turned=turned)
            within = self._one_sided(margins, turned=turned)
            beyond = self._one_sided([-margin for margin in margins], turned=turned)
            for k, pair in enumerate(self.pairs):
                way = pair[::-1] if turned else pair
                in_one = min(1.0, len(margins) * superior[:, k].min())
                doubtful = any(self._doubts(measure, pair) for measure in self._tested)
                dominates[way] = 1.0 if doubtful else max(in_one, within[:, k].max())
                escapes[way] = 1.0 if doubtful else min(1.0, len(margins) * beyond[:, k].min())
        on_front = [max(escapes[name, other] for other in names if other != name) for name in names]
        pairs = list(permutations(names, 2))
        steps = step_down([*(dominates[pair] for pair in pairs), *on_front], self.alpha)
        winners = {pair for pair, rejected in zip(pairs, steps.rejected, strict=False) if rejected}
        result = []
        for name, rejected, p in zip(names, steps.rejected[len(pairs) :], steps.adjusted[len(pairs) :], strict=True):
            by = tuple(other for other, loser in sorted(winners) if loser == name)
            standing: Standing = "dominated" if by else "front" if rejected else "not known"
            result.append(FrontStanding(name, standing, by, float(p)))
        return tuple(result)

    def plan(self, *, detect: float, power: float = 0.8) -> MeasuresPlan:
        """Return how many instances the claims need, with these results as the pilot.

        Parameters
        ----------
        detect : float
            Smallest difference of interest in the primary measure, in the unit of its differences.
        power : float, default 0.8
            Power that the claims must reach on average over the pairs.

        Returns
        -------
        MeasuresPlan
            The number of instances for the whole claim and for each measure alone. In the other measures the
            algorithms are taken to be equal. Variances are upper bounds, correlations those of the pilot.
        """
        positive("detect", detect, error=InvalidDesign)
        share("power", power, error=InvalidDesign)
        gains = [detect if measure.role == "primary" else measure.shift for measure in self._tested]
        claims = []
        for k in range(len(self.pairs)):
            sample = np.column_stack([self._gain(measure)[:, k] for measure in self._tested])
            sample = sample[~np.isnan(sample).any(axis=1)]
            if len(sample) < FEWEST_IN_PILOT:
                raise InvalidDesign(f"a pilot needs {FEWEST_IN_PILOT} instances or more, got {len(sample)}")
            free = len(sample) - 1
            # an upper bound of the variance, as the pilot's is too small half of the time
            bound = free / stats.chi2.ppf(1 - CAUTION, free)
            deviations = np.sqrt(bound * sample.var(axis=0, ddof=1))
            known = deviations > 0
            deviations[~known] = np.abs(sample[:, ~known]).max(initial=1.0) * SMALL  # no variation at all
            correlation = np.eye(len(gains))
            if known.sum() > 1:
                correlation[np.ix_(known, known)] = np.corrcoef(sample[:, known], rowvar=False)
            claims.append(Claimed(np.array(gains) / deviations, correlation))
        instances, reached, alone = required_for_claims(claims, power, self.alpha / (2 * len(claims)))
        needs = dict(zip((measure.name for measure in self._tested), alone, strict=True))
        return MeasuresPlan(instances, reached, needs, detect, self.meaning)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs that are compared."""
        return next(iter(self.analyses.values())).pairs

    @property
    def _tested(self) -> list[Measure]:
        return [measure for measure in self.measures if measure.role != "descriptive"]

    def _gain(self, measure: Measure) -> Floats:
        """By how much the first is better, instances in rows and pairs in columns."""
        differences = self.analyses[measure.name].differences
        return differences if measure.better == "higher" else -differences

    def _one_sided(self, shifts: Sequence[float], *, turned: bool) -> Floats:
        """The p-values of gains above −shift: measures in rows, pairs in columns; `turned`: gains of the second.

        A loss that is the same on every instance, such as 0 between proven optima, has no t-test. Its sign test tells
        whether it lies within a margin.
        """
        rows = []
        for measure, shift in zip(self._tested, shifts, strict=True):
            gains = (-1.0 if turned else 1.0) * self._gain(measure) + shift
            p = p_values(gains, test=self.analyses[measure.name].settings.paired_test, alternative="greater")
            for k, gain in enumerate(present_columns(gains)) if shift > 0 else ():
                if len(gain) >= FEWEST and is_constant(gain):
                    p[k] = 0.5 ** len(gain) if gain[0] > 0 else 1.0
            if measure.difference == "percent":  # percentages favour their reference: the ratio must agree
                ratio = replace(measure, difference="ratio").shift
                gains = (-1.0 if turned else 1.0) * self._log_gain(measure) + np.sign(shift) * ratio
                test = self.analyses[measure.name].settings.paired_test
                p = np.maximum(p, p_values(gains, test=test, alternative="greater"))
            rows.append(p)
        return np.array(rows)

    def _log_gain(self, measure: Measure) -> Floats:
        """By which factor the first is better, as a logarithm: instances in rows and pairs in columns."""
        analysis = self.analyses[measure.name]
        names, logs = [row.algorithm for row in analysis.algorithms], np.log(analysis.statistics)
        first, second = ([names.index(pair[side]) for pair in self.pairs] for side in (0, 1))
        gains: Floats = logs[:, first] - logs[:, second]
        return gains if measure.better == "higher" else -gains

    def _doubts(self, measure: Measure, pair: Pair) -> list[str]:
        rows = self.analyses[measure.name].comparisons
        return [doubt.reason for row in rows if set(row.pair) == set(pair) for doubt in row.doubts]

    def as_dict(self, *, without_primary: bool = False) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        primary = [measure.name for measure in self.measures if measure.role == "primary"] * without_primary
        own = {"measures": [asdict(measure) for measure in self.measures], "alpha": self.alpha}
        shown = {"claims": self.claims, "front": self.front}
        whole: dict[str, Any] = jsonable(own | shown)
        analyses = {name: analysis.as_dict() for name, analysis in self.analyses.items() if name not in primary}
        return whole | {"analyses": analyses}

    def __str__(self) -> str:
        return "\n".join(self.lines())

    @property
    def meaning(self) -> str:
        """The definition of "better" as a sentence."""
        primary, *others = sorted(self._tested, key=lambda measure: measure.role != "primary")
        held = listed([f"{measure.name} (margin {measure.margin:g})" for measure in others], MAX_NAMES)
        return f"superior in {primary.name}" + (f", non-inferior in {held}" if others else "")

    @property
    def headline(self) -> str:
        """The claims as a sentence."""
        found = [f"{claim.first} is better than {claim.second}" for claim in self.claims if claim.claimed]
        return named(found) if found else "No algorithm is better than another"

    @property
    def about(self) -> str:
        """The tests of the claims as a sentence."""
        tests = f"Intersection–union tests, Holm over {count(len(self.pairs), 'pair')}, α = {self.alpha:g}"
        doubtful = [
            f"{claim.first} − {claim.second} ({measure.name}: {reason.partition(';')[0]})"
            for claim in self.claims
            if claim.p_holm <= self.alpha and not claim.claimed
            for measure in self._tested
            for reason in self._doubts(measure, (claim.first, claim.second))[:1]
        ]
        why = f" Significant, but inconclusive: {listed(doubtful, MAX_NAMES)}." if doubtful else ""
        return f"Better: {self.meaning}. {tests}.{why}"

    @property
    def front_sentence(self) -> str:
        """The Pareto front as a sentence."""
        groups = {
            standing: [row for row in self.front if row.standing == standing]
            for standing in ("front", "dominated", "not known")
        }
        by = [f"{row.algorithm} (by {listed(row.dominated_by, MAX_NAMES)})" for row in groups["dominated"]]
        rest = [("dominated", by), ("not known", [row.algorithm for row in groups["not known"]])]
        front = listed([row.algorithm for row in groups["front"]], MAX_NAMES) or "none for sure"
        return "; ".join(
            [f"On the Pareto front: {front}", *(f"{word}: {listed(names, MAX_NAMES)}" for word, names in rest if names)]
        )

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the claims as a table: heads, and a row for each pair."""
        head = ("comparison", "verdict", *(f"p {measure.name}" for measure in self._tested), "adj. p")
        rows = [
            (
                f"{claim.first} − {claim.second}",
                "better" if claim.claimed else "inconclusive",
                *map(p_text, (*claim.p_values.values(), claim.p_holm)),
            )
            for claim in self.claims
        ]
        return head, rows

    def means(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the means of all measures over the instances, and the position of each algorithm."""
        columns = [np.nanmean(self.analyses[measure.name].statistics, axis=0) for measure in self.measures]
        algorithms = [row.algorithm for row in next(iter(self.analyses.values())).algorithms]
        standings = {row.algorithm: row for row in self.front}
        rows = []
        for k, name in enumerate(algorithms):
            row = standings.get(name)
            by = f" by {listed(row.dominated_by, 2)}" if row and row.dominated_by else ""
            text = [] if row is None else ["on it" if row.standing == "front" else f"{row.standing}{by}"]
            rows.append((name, *(digits(float(column[k])) for column in columns), *text))
        names = [f"{measure.name}{'' if measure in self._tested else ' (not tested)'}" for measure in self.measures]
        return ("algorithm", *names, *(["Pareto front"] if self.front else [])), rows

    def lines(self) -> list[str]:
        """Return the results: headline, tests, a table of the claims and one of the means."""
        return [f"{self.headline}.", self.about, *(line for table in self.tables() for line in table.fitted().lines)]

    def tables(self) -> tuple[TextTable, TextTable]:
        """Return the claims and the means for a terminal."""
        return table_of(*self.cells(), words=(1,)), table_of(*(means := self.means()), words=(len(means[0]) - 1,))


def measures_analysis(measures: Sequence[Measure], analyses: Mapping[str, Analysis], alpha: float) -> MeasuresAnalysis:
    """Return the analysis of several measures, from the analysis of each; all must compare the same pairs."""
    first = next(iter(analyses.values()))
    for name, analysis in analyses.items():
        if analysis.pairs != first.pairs:
            raise InvalidDesign(
                f"all measures must have the same algorithms, but {name!r} has different ones; select some"
            )
        if analysis.single is not None or analysis.looks is not None or analysis.course is not None:
            raise InvalidDesign("several measures need a fixed number of instances, two or more; analyse one by one")
        settings = analysis.settings
        if settings.cluster is not None or settings.is_fixed or settings.alternative != "two-sided":
            what = (
                "alternative" if settings.alternative != "two-sided" else "cluster" if settings.cluster else "inference"
            )
            raise InvalidDesign(
                f"several measures are compared on instances like these that are independent, in both directions;"
                f" remove {parameter(what)}"
            )
        if analysis.unfinished:
            raise InvalidDesign(f"the study is not finished ({analysis.unfinished}); run it further")
    return MeasuresAnalysis(tuple(measures), analyses, alpha)
