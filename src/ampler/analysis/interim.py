"""Interim analyses: their replay, their tests as a family, and their text. Pure.

The same replay decides while the study continues and concludes when it is analysed, so the two cannot disagree. At each
interim analysis the differences are estimated from the runs up to there; a comparison that has stopped keeps what it
had.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ampler.analysis.compare import Comparison
from ampler.analysis.differences import observe, placed
from ampler.core.arrays import Floats, Pair, Runs, on_instances
from ampler.core.errors import AnalysisWarning, InvalidData
from ampler.core.settings import Alternative, Difference, Settings, Test
from ampler.core.text import count, digits, listed
from ampler.design.interim import equivalence_limits
from ampler.sampling.rules import Accuracy
from ampler.stats.holm import StepDown
from ampler.stats.paired import Bounds, paired_test, present, present_columns, sample_interval, sample_p_value
from ampler.stats.paired.contract import TestedFamily
from ampler.stats.paired.student import t_statistic
from ampler.stats.sequential.boundaries import Schedule, Sides, critical_values, named_spending
from ampler.stats.sequential.decisions import (
    Declared,
    EquivalenceStop,
    LookEvidence,
    Standing,
    Verdict,
    decide,
    equivalence_p_values,
    interim_inflation,
    standings,
)
from ampler.stats.shape import error_inflation, skewness, skewness_error


@dataclass(frozen=True, slots=True, kw_only=True)
class InterimPlan:
    """Declared interim analyses of a study, and its progress.

    `instances` are the new ones of each look that is over, in their order, and `algorithms` those that were run there.
    Without an effect no comparison stops for having no relevant difference. `recorded` are the verdicts after each look
    as the results file has them, as far as it does."""

    looks: tuple[int, ...]  # instances at each look, as declared
    alpha: float
    spending: str
    equivalence: float  # the chance of calling a relevant difference none, for each comparison
    effect: float | None
    test: Test
    alternative: Alternative
    instances: tuple[tuple[str, ...], ...]
    algorithms: tuple[tuple[str, ...], ...]
    recorded: tuple[tuple[str, ...], ...] = ()

    @property
    def done(self) -> int:
        """The number of completed interim analyses."""
        return len(self.instances)

    @property
    def names(self) -> tuple[str, ...]:
        """The instances of all completed interim analyses, in their order."""
        return tuple(name for group in self.instances for name in group)

    @property
    def algorithms_on(self) -> dict[str, tuple[str, ...]]:
        """The algorithms that were run on each instance."""
        looks = zip(self.instances, self.algorithms, strict=True)
        return {name: algorithms for group, algorithms in looks for name in group}

    @property
    def sides(self) -> Sides:
        """The number of sides of the tests."""
        return 2 if self.alternative == "two-sided" else 1

    @property
    def declared(self) -> Declared:
        """The interim analyses as input of the procedure."""
        return Declared(
            looks=self.looks,
            alpha=self.alpha,
            spending=named_spending(self.spending),
            equivalence=self.stop,
            sides=self.sides,
            theory="student" if self.test == "t" else "normal",
        )

    @property
    def stop(self) -> EquivalenceStop | None:
        """Spending of the level of equivalence, if equivalence is tested."""
        return None if self.effect is None else EquivalenceStop(self.equivalence)

    @property
    def schedule(self) -> Schedule:
        """Schedule and spending of the interim analyses."""
        fractions = tuple(count / self.looks[-1] for count in self.looks)
        instances = self.looks if self.test == "t" else None
        return Schedule(named_spending(self.spending), fractions, instances, self.sides)


@dataclass(frozen=True, slots=True)
class InterimLimits:
    """Critical values of an interim analysis for significance and for equivalence."""

    strictest: float  # at alpha over all comparisons
    mildest: float  # at alpha itself
    equivalent: float  # NaN where equivalence is impossible, or the test has another scale


@dataclass(frozen=True, slots=True)
class InterimAnalyses:
    """Results of the interim analyses (rows) for the comparisons (columns, in the order of `pairs`)."""

    course: InterimPlan
    pairs: tuple[Pair, ...]
    standings: tuple[Standing, ...]
    history: tuple[tuple[Verdict, ...], ...]  # the verdicts after each look
    statistics: tuple[tuple[float, ...], ...]  # t, or the normal score of the p-value; NaN after a comparison stopped
    skewness: tuple[tuple[float, ...], ...]
    limits: tuple[InterimLimits, ...]  # of all looks declared

    @property
    def ended(self) -> bool:
        """Whether no comparison continues."""
        return all(standing.verdict != "continue" for standing in self.standings)

    def standing(self, pair: Pair) -> Standing:
        """Return the state of a comparison."""
        return self.standings[self.pairs.index(pair)]

    def number(self, verdict: Verdict, look: int | None = None) -> int:
        """Return how many comparisons had this verdict after a look (from 1); after the last one if None."""
        return self.history[-1 if look is None else look - 1].count(verdict)


@dataclass(frozen=True, eq=False)
class Replay:
    """Replay of the interim analyses, from the differences available at each."""

    course: InterimPlan
    pairs: tuple[Pair, ...]
    tables: tuple[Floats, ...]  # of each analysis: instances so far in rows, comparisons in columns; NaN is missing

    @property
    def evidence(self) -> LookEvidence:
        """Return the evidence of each interim analysis; stopped comparisons count as declared."""
        return self._evidence_and_history[0]

    @property
    def history(self) -> tuple[tuple[Verdict, ...], ...]:
        """The verdicts after each interim analysis."""
        return self._evidence_and_history[1]

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The state of each comparison."""
        return standings(self.evidence, self.course.declared)

    @cached_property
    def differences(self) -> Floats:
        """The differences behind each comparison: those at the analysis that stopped it; NaN beyond."""
        used = np.full(self.tables[-1].shape, np.nan)
        for k, item in enumerate(self.standings):
            table = self.tables[item.look - 1]
            used[: len(table), k] = table[:, k]
        return used

    @cached_property
    def result(self) -> InterimAnalyses:
        """Return the replay as plain values."""

        def rows(of: Callable[[Floats], float]) -> tuple[tuple[float, ...], ...]:
            """A number for each analysis and comparison, up to the analysis that stopped it."""
            return tuple(
                tuple(
                    of(present(table[:, k])) if look <= end.look else math.nan for k, end in enumerate(self.standings)
                )
                for look, table in enumerate(self.tables, start=1)
            )

        return InterimAnalyses(
            self.course,
            self.pairs,
            self.standings,
            self.history,
            statistics=rows(lambda column: _statistic(column, self.course)),
            skewness=rows(skewness),
            limits=interim_limits(self.course, len(self.pairs)),
        )

    @cached_property
    def _evidence_and_history(self) -> tuple[LookEvidence, tuple[tuple[Verdict, ...], ...]]:
        """Replay the analyses one after the other: the data and the decisions."""
        declared = self.course.declared
        evidence = _evidence(self.tables[0], self.course)
        history = [tuple(verdict for verdict, _ in decide(evidence, declared))]
        for instances, table in zip(self.course.looks[1:], self.tables[1:], strict=False):
            continuing = np.array([verdict == "continue" for verdict in history[-1]])
            now, same = _evidence(table, self.course), None
            if evidence.equivalence is not None and now.equivalence is not None:
                same = np.concatenate([evidence.equivalence, np.where(continuing, now.equivalence, np.nan)])
            evidence = LookEvidence(  # comparisons that stopped earlier get no new evidence
                np.concatenate([evidence.counts, np.where(continuing, now.counts, instances)]),
                np.concatenate([evidence.p_values, np.where(continuing, now.p_values, np.nan)]),
                same,
            )
            history.append(tuple(verdict for verdict, _ in decide(evidence, declared)))
        return evidence, tuple(history)


def replayed(
    runs: Runs,
    course: InterimPlan,
    settings: Settings,
    deterministic: Collection[str] | None,
    rule: Accuracy | None,
) -> Replay:
    """Replay the interim analyses of a study from its runs; `rule` is the adaptive rule, if any."""
    course = replace(course, test=settings.paired_test)
    tables: list[Floats] = []
    pairs: tuple[Pair, ...] = ()
    for look in range(1, course.done + 1):
        names = [name for group in course.instances[:look] for name in group]
        observed = observe(on_instances(runs, names), settings, deterministic, rule)
        differences = observed.estimates.differences(observed.contrasts, settings.estimate)
        tables.append(placed(differences, observed.estimates.blocks.instances, names))
        pairs = observed.pairs
    replay = Replay(course, pairs, tuple(tables))
    for look, (recorded, now) in enumerate(zip(course.recorded, replay.history, strict=False), start=1):
        for (first, second), before, after in zip(pairs, recorded, now, strict=False):
            if before != after:
                raise InvalidData(
                    f"the results file records the verdict {before!r} for {first} and {second} at interim analysis"
                    f" {look}, but its"
                    f" runs now give {after!r}; use the version of ampler that wrote the file, or restore the file"
                    " from a backup"
                )
    return replay


def interim_limits(course: InterimPlan, comparisons: int) -> tuple[InterimLimits, ...]:
    """Return the limits of every analysis, on the scale of its statistic."""
    student = course.looks if course.test == "t" else None
    strictest, mildest = (
        critical_values(course.schedule.nominal_levels(level), student, sides=course.sides)
        for level in (course.alpha / comparisons, course.alpha)
    )
    equivalent = [math.nan] * len(course.looks)
    if course.stop is not None and student and course.effect is not None:
        result = equivalence_limits(course.looks, course.effect, course.stop)
        equivalent = np.where(result < 0, np.nan, result).tolist()
    return tuple(InterimLimits(*item) for item in zip(strictest, mildest, equivalent, strict=True))


def _evidence(table: Floats, course: InterimPlan) -> LookEvidence:
    """Evidence of one analysis: the p-values of the study's test, and those of t for a relevant effect."""
    columns = present_columns(table)
    counts = np.array([[len(column) for column in columns]], dtype=np.int64)
    p_values = np.array([[sample_p_value(paired_test(course.test), column, course.alternative) for column in columns]])
    if course.effect is None:
        return LookEvidence(counts, p_values)
    t = np.array([[_t(column) for column in columns]])
    return LookEvidence(counts, p_values, equivalence_p_values(t, counts, course.effect))


def _t(column: Floats) -> float:
    """The t statistic; 0 where all differences are 0, NaN where all are equal or there are not two."""
    if len(column) < 2:
        return math.nan
    return t_statistic(column) if column.any() else 0.0


def _statistic(column: Floats, course: InterimPlan) -> float:
    """The statistic of an analysis on the scale of its limits."""
    from scipy.special import ndtri

    if course.test == "t" or len(column) < 2:
        return _t(column)
    p = sample_p_value(paired_test(course.test), column, course.alternative)
    if course.sides == 1:
        return -float(ndtri(p)) * (1 if course.alternative == "greater" else -1)
    return -float(ndtri(p / 2)) * (1 if paired_test(course.test).leaning(column) >= 0 else -1)


def interim_family(replay: Replay) -> TestedFamily:
    """Return the rejections of the interim analyses; the level of a comparison is that of its rank.

    One that stopped without a relevant difference may be rejected all the same: the difference is real, and small. The
    p-value is sequential: the smallest level at which some look would have stopped the comparison. Holm's adjusted
    p-values are on the side of alpha on which the comparison was decided. Who continues, or ended undecided, is held
    against all that are not found different: the level that a comparison without a relevant difference could free is
    not used, as the looks did not use it.
    """
    course, standings = replay.course, replay.standings
    p, adjusted, levels = (
        np.array([getattr(item, name) for item in standings]) for name in ("p_sequential", "p_adjusted", "level")
    )
    verdicts, alpha = np.array([item.verdict for item in standings]), course.alpha
    different = verdicts == "different"
    held = np.minimum(1.0, np.maximum(adjusted, (len(p) - different.sum()) * p))
    held = np.where(held <= alpha, np.nextafter(alpha, 1.0), held)
    settled = np.where(different, np.minimum(adjusted, alpha), adjusted)
    adjusted = np.where(np.isin(verdicts, ("continue", "undecided")), held, settled)
    rejected = adjusted <= alpha
    ranks = np.empty(len(p), dtype=np.int64)
    ranks[np.lexsort((p, ~rejected))] = np.arange(1, len(p) + 1)  # the rejected ones first, by their p-values

    def intervals_at(joint: bool) -> tuple[Bounds, ...]:
        """Repeated intervals: the ordinary ones at the nominal levels of the looks, or the whole line."""
        intervals = []
        for column, item in zip(present_columns(replay.differences), standings, strict=True):
            nominal, level = (item.joint, alpha / len(standings)) if joint else (item.nominal, item.level)
            bounds = Bounds(-math.inf, math.inf, 1 - level)
            if nominal > 0:
                result = sample_interval(paired_test(course.test), column, course.alternative, nominal)
                if result.level >= 1 - nominal:
                    bounds = Bounds(result.lower, result.upper, 1 - level)
            intervals.append(bounds)
        return tuple(intervals)

    return TestedFamily(p, StepDown(ranks, levels, adjusted, rejected), intervals_at)


SKEW_FACTOR = 1.5  # error rates 1.5 times the nominal one are reported
SURE_SKEW = 2.0  # standard errors above which a skewness is significant
FAR_TOO_OFTEN = 10.0  # the inflation is not quantified beyond
SHOWN = 3

SPENDINGS = {
    "OF": "Lan and DeMets' spending of O'Brien and Fleming's type",
    "P": "Lan and DeMets' spending of Pocock's type",
}
IGNORED = "Do not report these results: interim analyses were made and are ignored here. Provisional: "
ABOUT_REPEATED = (
    "Intervals are repeated CIs, valid for any stopping decision. They are simultaneous in the text and at Holm's level"
    " in the table."
)
TOO_LARGE = (
    "Estimates from early stopping are too large: by up to 0.03 SD on average, by about 0.1 SD among significant ones."
)


def interim_plan_text(looks: Sequence[int], effect: float | None) -> str:
    """State the schedule of the interim analyses and the rule to stop."""
    when = listed([f"{instances:,}" for instances in looks], len(looks))
    relevance = f" or equivalent within d = {digits(effect)}" if effect is not None else ""
    return (
        f"Interim analyses follow after {when} instances. Comparisons that are significant{relevance} stop there, and"
        " algorithms without a remaining comparison are dropped."
    )


STOPS: tuple[Verdict, ...] = ("different", "no relevant difference")
STATES: dict[Verdict, str] = {
    "different": "significant",
    "no relevant difference": "equivalent",
    "undecided": "inconclusive",
    "continue": "continuing",
}


def interim_status_sentence(interim: InterimAnalyses, left: Sequence[str]) -> str:
    """State the comparisons after the last analysis; `left` are the dropped algorithms."""
    course = interim.course
    hidden = "undecided" if course.done < len(course.looks) else "continue"
    counts = ", ".join(f"{interim.number(state)} {text}" for state, text in STATES.items() if state != hidden)
    there, following = course.looks[course.done - 1], ""
    if interim.ended:
        following = f". The study stops {'early' if course.looks[-1] > there else 'here'}, after {there:,} of at most"
        following += f" {course.looks[-1]:,} instances"
    elif left:
        verb = "is" if len(left) == 1 else "are"
        following = f". {count(len(left), 'algorithm')} {verb} dropped ({listed(left, SHOWN)})"
    return f"Interim analysis {course.done} of {len(course.looks)}, {there:,} instances: {counts}{following}."


def tally(interim: InterimAnalyses) -> str:
    """State the number of comparisons by state, as the end of a headline."""
    course = interim.course
    result = [f"{number} {wording}" for verdict, wording in STATES.items() if (number := interim.number(verdict))]
    return f"After interim analysis {course.done} of {len(course.looks)}: {listed(result, len(result))}."


def interim_verdict(
    wording: str, comparison: Comparison, standing: Standing, interim: InterimAnalyses, both: str, open_text: str
) -> str:
    """Return the verdict on one comparison as a sentence.

    `wording` is that of a significant difference, `both` names the algorithms, `open_text` has the difference.
    """
    course = interim.course
    when = f" (interim analysis {standing.look} of {len(course.looks)}, {count(comparison.instances, 'instance')})"
    relevant = "" if course.effect is None else f"d = {digits(course.effect)}"
    if standing.verdict == "different":
        return f"{wording}{when}"
    if standing.verdict == "no relevant difference" and comparison.rejected:
        return f"{wording}; but equivalent within {relevant}{when}"
    if standing.verdict == "no relevant difference":
        return f"{both} are equivalent within {relevant}{when}"
    state = "Continuing" if standing.verdict == "continue" else "Inconclusive"
    return f"{state}: {open_text}{when}"


def interim_sentences(interim: InterimAnalyses) -> Iterator[str]:
    """Yield the decisions of each interim analysis, the controlled errors, and the bias of estimates."""
    course = interim.course
    for look in range(1, course.done + 1):
        new = []
        for verdict in STOPS:
            number = interim.number(verdict, look) - (interim.number(verdict, look - 1) if look > 1 else 0)
            new += [f"{number} {STATES[verdict]}"] if number else []
        stopped = listed(new, 2) if new else "no comparison stopped"
        where = f"{course.looks[look - 1]:,} instances"
        yield f"Interim analysis {look} of {len(course.looks)}, {where}: {stopped}."
    yield f"The chance of any false claim of a difference is at most {digits(100 * course.alpha)} %."
    if course.effect is not None:
        yield (
            f"A false claim of equivalence (within d = {digits(course.effect)}) has a chance of at most"
            f" {digits(100 * course.equivalence)} % per comparison, not per family."
        )
    if any(standing.look < len(course.looks) for standing in interim.standings if standing.verdict != "continue"):
        yield TOO_LARGE


def interim_method_sentences(interim: InterimAnalyses) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sentences for a methods section, without full stops, and the works to cite."""
    course = interim.course
    when = listed([f"{instances:,}" for instances in course.looks], len(course.looks))
    spending = SPENDINGS.get(course.spending, f"the spending function {course.spending}")
    exact = "boundaries exact for Student's t" if course.test == "t" else "boundaries of normal theory"
    sentence = (
        f"Interim analyses were made after {when} instances, in random order fixed beforehand. Significant or"
        " equivalent comparisons stopped at an analysis, and algorithms without a remaining comparison were dropped"
    )
    yield sentence, ()
    sentence = (
        f"A group-sequential Holm procedure ({spending}, {exact}) kept the family-wise error at {digits(course.alpha)};"
        " p-values are sequential, and intervals are repeated confidence intervals"
    )
    yield sentence, ("maurer2013", "lan1983", "jennison1989")
    if course.effect is not None:
        sentence = (
            f"A comparison also stopped when a standardised difference of d = {digits(course.effect)} or more was"
            f" rejected, with an error of at most {digits(100 * course.equivalence)} % per comparison"
        )
        yield sentence, ()
    early = ", where everything was decided" if course.done < len(course.looks) else ""
    end = early if interim.ended else "; the study is not at its end"
    number = "1 interim analysis was" if course.done == 1 else f"{course.done} interim analyses were"
    yield f"{number} made, the last at {course.looks[course.done - 1]:,} instances{end}", ()


def skewed_note(interim: InterimAnalyses, difference: Difference, look: int | None = None) -> str | None:
    """Warn of differences too skewed for interim analyses, at a given or the last analysis; None without any.

    The look so far makes it worse: an early one has few instances and a strict level.
    """
    course = interim.course
    if course.test != "t":
        return None
    levels, instances = course.alpha / len(interim.pairs), course.looks
    strong = []
    for k, standing in enumerate(interim.standings):
        at = look or standing.look
        skew = interim.skewness[at - 1][k]
        if abs(skew) > SURE_SKEW * skewness_error(instances[at - 1]):
            factor = interim_inflation(skew, course.schedule, levels, course.alternative)
            strong += [(factor, at, k)] if factor > SKEW_FACTOR else []
    if not strong:
        return None
    factor, at, worst = max(strong)
    skew = interim.skewness[at - 1][worst]
    fixed_size = error_inflation(skew, instances[-1], levels, course.alternative)
    often, addition = (
        f"roughly {value:.1f} times" if value < FAR_TOO_OFTEN else "more than ten times"
        for value in (factor, fixed_size)
    )
    addition = f", a study without interim analyses {addition}" if fixed_size < 0.9 * factor else ""
    which = f"{len(strong)} of {len(interim.pairs)} comparisons" if len(interim.pairs) > 1 else "the comparison"
    other = "" if difference == "ratio" else "ratio differences, which are less skewed, or "
    return (
        f"in {which} the differences are strongly skewed at {instances[at - 1]:,} instances (most:"
        f" {' × '.join(interim.pairs[worst])}, skewness {skew:.1f}): the t-test has {often} its nominal error"
        f"{addition}; for a new study choose {other}a fixed size with test = 'bootstrap-t'"
    )


def underpowered_interim(interim: InterimAnalyses, reached: float, target: float) -> Iterator[AnalysisWarning]:
    """State that the instances were too few for the planned effect; deficits of 0.01 are ignored."""
    course = interim.course
    if reached < target - 0.01 and course.effect is not None:
        yield AnalysisWarning(
            "power",
            f"With at most {course.looks[-1]} instances, the mean power for d = {digits(course.effect)} is"
            f" {reached:.2f}, not {digits(target)} ({count(len(interim.pairs), 'comparison')}).",
        )
