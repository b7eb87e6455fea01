"""An analysis in sentences: verdicts on comparisons, the headline, detectable differences. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ampler.analysis.adaptive import planned_power_clause
from ampler.analysis.clusters import cluster_lines
from ampler.analysis.compare import Comparison, DoubtKind, Equivalence
from ampler.analysis.exploration import Subgroup
from ampler.analysis.interim import ABOUT_REPEATED, IGNORED, InterimAnalyses, interim_sentences, interim_verdict, tally
from ampler.analysis.results import Analysis, Diagnosis
from ampler.analysis.units import POINTS, exchanged, margin_text, quantity_texts, range_text, settings_unit, signed
from ampler.core.arrays import Pair
from ampler.core.errors import WarningKind
from ampler.core.failures import Drop, Par, Penalty, policy_words
from ampler.core.settings import Settings
from ampler.core.text import capitalised, count, digits, listed, named
from ampler.core.verdicts import Finding
from ampler.design.text import after_pilot, at_end, how_tested, skewness_note
from ampler.stats.paired import ESTIMANDS, FEWEST, paired_test
from ampler.stats.two_samples import run_test

LONGEST_LIST = 12  # names in one sentence
MAX_UNSOLVED = 5  # instances in a verdict

CLAIM_NOTHING = "Do not report these results: the stopping rule biased them. Provisional: "
UNPLANNED = "Do not report these results: the study is unfinished and was tested without a plan. Provisional: "
SUCCEEDED = "among the runs that succeeded"
DOUBTS: Mapping[DoubtKind, str] = {  # after the number of comparisons
    "roles": "because percentages favour the reference",
    "shape": "because the test is too optimistic for such skewed differences",
    "noise": "because run noise may have caused them",
    "noise-width": "because run noise alone allows for more than the differences show",
    "failures": "because failures that were not observed could reverse them",
}
REVERSING: Mapping[WarningKind, str] = {  # causes named in the headline
    "contradiction": "contradictory answers",
    "growth": "the study was enlarged after first results",
    "skewness": "skewed differences",
    "disputed": "tests that disagree",
    "outlier": "one instance with most of the variance",
    "constant": "differences that are the same on every instance",
    "denominator": "uncertain ratios",
    "pseudoreplication": "dependent values that count as independent",
    "repeated-runs": "runs that may be copies",
}
ABOUT_EXPLORATION = "Exploratory, unadjusted: for forming ideas, not for claims."


# one comparison ---------------------------------------------------------------------------------------------------


def verdict(
    comparison: Comparison,
    equivalence: Equivalence | None,
    settings: Settings,
    detectable: float = math.nan,
    *,
    dropped: bool = False,
    early: bool = False,
    would: str = "",
    one_instance: bool = False,
    unsolved: Sequence[str] = (),
    interim: InterimAnalyses | None = None,
    agreement: str = "",
    equal: bool = False,
) -> str:
    """Return the verdict as a sentence without a full stop; its subject is the algorithm that names the row.

    With a reference that is the second algorithm, and the difference is second − reference. `detectable` is the effect
    that the study finds with its power, `would` a clause instead of it; `dropped` whether failed runs of one of the two
    were left out, `early` whether a pilot decided, `one_instance` whether the runs of the only one were compared,
    `unsolved` the instances on which neither gave a value, and `interim` what interim analyses decided. `agreement`
    says which other tests find a claimed difference, `equal` whether the difference is the same everywhere.
    """
    here = " on these instances" if comparison.instances > 1 else " on this instance"
    among = f"{here if one_instance else ''}{f' {SUCCEEDED}' if dropped else ''}"
    subject, other = subject_and_other(comparison, settings)
    if one_instance and not comparison.instances:
        return f"Not compared: {subject} and {other} need two values each or more"
    if not one_instance and comparison.instances < FEWEST:
        return (
            f"Not compared: {subject} and {other} both have values on {count(comparison.instances, 'instance')},"
            f" and {FEWEST} are needed"
        )
    addition = ""
    if unsolved:
        names = listed(unsolved, MAX_UNSOLVED)
        addition = f"; on {len(unsolved)} of {count(comparison.instances, 'instance')} ({names}) neither gave a value"
    within = None if equivalence is None else margin_text(equivalence.margin, settings)
    is_equivalent = equivalence is not None and equivalence.established
    wording = _significant_difference(comparison, settings, among) if comparison.rejected else ""
    if interim is not None:
        wording = in_doubt(comparison, settings, among) if comparison.in_doubt else wording
        both = f"{subject} and {other}"
        open_text = f"{subject} against {other}{among}, {with_interval(comparison, settings)}"
        standing = interim.standing(comparison.pair)
        return interim_verdict(wording, comparison, standing, interim, both, open_text) + addition
    if comparison.claimed:
        wording += "; significant at the pilot stage" if early else ""
        wording += f"; but equivalent within {within}" if is_equivalent else ""
        return wording + (f"; {agreement}" if agreement else "") + addition
    if is_equivalent:
        return f"{subject} and {other} are equivalent within {within}{among}{addition}"
    if comparison.in_doubt:
        return in_doubt(comparison, settings, among) + addition
    inconclusive = f"Inconclusive: {subject} against {other}{among}, {with_interval(comparison, settings, equal=equal)}"
    if equivalence is not None and equivalence.doubt:
        return f"{inconclusive}; {equivalence.doubt}{addition}"
    if equal:  # a test of means is impossible, and any test if they are zero
        estimand = ESTIMANDS[comparison.estimate_of]
        what = "zero" if estimand.is_share or not comparison.estimate else "equal"
        tested = ", so no test of means applies" if estimand.name == "mean" else ""
        return f"{inconclusive}; all {comparison.instances} differences are {what}{tested}{addition}"
    out_of_reach = comparison.joint_interval == (-math.inf, math.inf)
    if not would and not out_of_reach and not math.isnan(detectable) and comparison.instances > 1:
        would = power_clause(detectable, settings)
    return f"{inconclusive}{'; ' if would else ''}{would}{addition}"


def power_clause(detectable: float, settings: Settings) -> str:
    """State the detectable difference of the study."""
    return f"this study had {100 * settings.power:.0f} % power for d ≥ {detectable:.2f}"


def subject_and_other(comparison: Comparison, settings: Settings) -> Pair:
    """Return the subject of a comparison, and the algorithm it is compared with."""
    first, second = comparison.pair
    return (first, second) if settings.reference is None else (second, first)


def with_non_inferiority(verdict_text: str, diagnosis: Diagnosis, settings: Settings) -> str:
    """Return a verdict with the result on non-inferiority, if that was tested."""
    shown = diagnosis.non_inferiority
    if shown is None:
        return verdict_text

    def size(loss: float) -> str:
        if settings.difference == "simple" and not settings.are_rates:
            return digits(loss).replace("-", "−")
        return f"{digits(100 * loss, 3)} {POINTS if settings.are_rates else '%'}".replace("-", "−")

    first, second = diagnosis.pair
    bound = f"one-sided {digits(100 * (1 - shown.alpha))} % bound of the loss: {size(shown.bound)}"
    if shown.established:
        return f"{verdict_text}; {second} is not worse than {first} by more than {size(shown.margin)} ({bound})"
    why = f"; {shown.doubt}" if shown.doubt else ""
    return f"{verdict_text}; {second} is not shown to be non-inferior within {size(shown.margin)} ({bound}{why})"


def in_doubt(comparison: Comparison, settings: Settings, among: str = "") -> str:
    """Return the verdict on a significant difference that is not claimed: the result, and the doubt."""
    result = _significant_difference(comparison, settings, among, verb="seems")
    return f"Inconclusive: {result}, but {'; and '.join(doubt.reason for doubt in comparison.doubts)}"


def _significant_difference(comparison: Comparison, settings: Settings, among: str, verb: str = "is") -> str:
    subject, other = subject_and_other(comparison, settings)
    word = "better" if _first_is_better(comparison, settings) == (subject == comparison.first) else "worse"
    difference = f"{with_interval(comparison, settings)}{_why_neutral(comparison, settings)}"
    return f"{subject} {verb} {word} than {other}{among}: {difference}"


def with_interval(comparison: Comparison, settings: Settings, *, equal: bool = False) -> str:
    """The difference subject − other with its simultaneous interval, which equal differences do not have."""
    estimand, unit = ESTIMANDS[comparison.estimate_of], settings_unit(comparison, settings)
    shown = comparison if settings.reference is None else exchanged(comparison)
    low, high = shown.joint_interval
    value, *limits = quantity_texts(unit, shown.estimate, low, high)
    if estimand.is_share and math.isnan(shown.estimate):
        return "a tie on every instance"
    value = f"larger on {value}" if estimand.is_share else signed(value)
    units = "instances" if comparison.cluster is None else "clusters"
    what = "" if estimand.name == "mean" else f" {estimand.words.replace('instances', units)}"
    base = " of the grand mean" if settings.difference == "percent" and settings.reference is None else ""
    sample = "runs" if comparison.instances == 1 else units
    if math.isinf(low) and math.isinf(high):
        ends = "unknown, as runs do not vary" if settings.is_fixed else f"out of reach with so few {sample}"
    elif math.isinf(low):
        ends = f"up to {limits[1].removeprefix('+')}"
    elif math.isinf(high):
        ends = f"from {limits[0].removeprefix('+')} up"
    else:
        ends = range_text(*limits)
    level = f"simultaneous {digits(100 * (1 - settings.family_alpha))} % CI"
    interval = "" if math.isnan(low) or equal else f" ({level} {ends})"
    return f"{value}{base if not estimand.is_share else ''}{what}{interval}"


def _first_is_better(comparison: Comparison, settings: Settings) -> bool:
    return (comparison.estimate > ESTIMANDS[comparison.estimate_of].neutral) == (settings.better == "higher")


def _why_neutral(comparison: Comparison, settings: Settings) -> str:
    """Explain a simultaneous interval of a significant difference that includes no difference.

    To cut it off there would be to promise too much: decisions and intervals hold with probability 1 − α each, and such
    intervals would hold together with as little as 1 − 2α.
    """
    value = ESTIMANDS[comparison.estimate_of].neutral
    joint, own = (low <= value <= high for low, high in (comparison.joint_interval, comparison.interval))
    wide = {"failures", "noise-width"} & {doubt.kind for doubt in comparison.doubts}
    if wide or not joint or comparison.joint_interval == (-math.inf, math.inf):  # equivalence is reported instead
        return ""
    neutral = "50 %" if value else "no difference"
    if own:
        return f"; the interval includes {neutral}, as it says less than the p-value where differences tie"
    return f"; the interval includes {neutral}, as it covers all comparisons at once"


# the answer of the whole ------------------------------------------------------------------------------------------


def headline(analysis: Analysis) -> str:
    """Return the headline, with the warnings that could change it."""
    if analysis.unfinished:
        return not_finished(analysis)
    doubts = doubts_text(analysis)
    doubts = f"Inconclusive: {doubts}" if doubts else _equivalence_doubts(analysis)
    course = "" if analysis.looks is None else tally(analysis.looks)
    return " ".join(filter(None, [f"{_finding(analysis)}.", warnings_sentence(analysis), doubts, course]))


def warnings_sentence(analysis: Analysis) -> str:
    """State how many warnings could reverse a verdict, with their short causes; empty for none."""
    kinds = [warning.kind for warning in analysis.warnings if warning.severity == "could reverse a verdict"]
    causes = [wording for kind, wording in REVERSING.items() if kind in kinds]
    why = f": {', '.join(causes)}" if causes else ""
    return f"{count(len(kinds), 'warning')} could reverse a verdict{why}." if kinds else ""


def is_biased(analysis: Analysis) -> bool:
    """Whether adaptive stopping rules out claims."""
    return any(caution.kind == "biased" for caution in analysis.warnings)


def not_finished(analysis: Analysis) -> str:
    """State the reason for estimates only."""
    return f"The study is not finished: {analysis.unfinished}. These are estimates; nothing is tested yet."


def doubts_text(analysis: Analysis) -> str:
    """State the significant differences that are not claimed, by cause; empty if all are claimed."""
    doubtful = _doubtful(analysis)
    if len(doubtful) == 1:
        [comparison] = doubtful
        pair = comparison.pair
        winner, loser = pair if _first_is_better(comparison, analysis.settings) else pair[::-1]
        return f"{winner} seems better than {loser}, but {'; and '.join(doubt.reason for doubt in comparison.doubts)}."
    kinds = Counter(doubt.kind for comparison in doubtful for doubt in comparison.doubts)
    causes = ", ".join(f"{number} {DOUBTS[kind]}" for kind, number in kinds.items())
    number = f"{len(doubtful)} of {len(analysis.comparisons)}"
    return f"{number} differences are significant but not claimed: {causes}." if causes else ""


def _doubtful(analysis: Analysis) -> list[Comparison]:
    """The significant differences that are neither claimed nor within the margin."""
    outcomes = findings(analysis)
    return [item for item in analysis.comparisons if item.in_doubt and outcomes[item.pair] == "inconclusive"]


def _equivalence_doubts(analysis: Analysis) -> str:
    """State the doubts about significant equivalence and non-inferiority; empty if there are none."""
    shown = (item for row in analysis.diagnoses for item in (row.equivalence, row.non_inferiority))
    doubts = [item.doubt for item in shown if item is not None and item.doubt]
    more = f" (and {len(doubts) - 1} more)" if len(doubts) > 1 else ""
    return f"{capitalised(doubts[0])}{more}." if doubts else ""


def is_about_successes(analysis: Analysis) -> bool:
    """Whether failed runs were left out."""
    return isinstance(analysis.settings.failures, Drop) and any(row.failures for row in analysis.algorithms)


def solved(analysis: Analysis) -> str:
    """State the number of runs with a value of each algorithm; empty if all have one."""
    if not any(row.failures for row in analysis.algorithms):
        return ""
    numbers = (f"{row.algorithm} {row.solved:,} of {row.runs:,}" for row in analysis.algorithms)
    return f"runs that gave a value: {', '.join(numbers)}"


def counted_as(analysis: Analysis) -> str:
    """State the treatment of failed runs, and the failures that reverse a claim; empty if irrelevant."""
    policy, failed = analysis.settings.failures, any(row.failures for row in analysis.algorithms)
    if policy is None or not (failed or isinstance(policy, Par | Penalty)):
        return ""
    bounds = (diagnosis.failure_bound for diagnosis in analysis.diagnoses)
    sure = (bound for bound in bounds if bound and not bound.in_doubt)
    closest = min(sure, key=lambda bound: bound.reversal / bound.upper, default=None)
    statement = f"{'failed runs were' if failed else 'no run failed; failures are'} {policy_words(policy)}"
    return statement if closest is None else f"{statement}; {closest.sentence}"


def verdict_sentences(analysis: Analysis, *, most: int | None = None) -> Iterator[str]:
    """Yield the verdicts in at most this many sentences: one per claim, then the others together."""
    if analysis.unfinished:
        return
    result = findings(analysis)
    claims: list[str] = []
    others: dict[Finding, list[Comparison]] = {}
    for comparison in analysis.comparisons:
        finding = result[comparison.pair]
        if finding in ("inconclusive", "not compared") and not comparison.rejected:
            others.setdefault(finding, []).append(comparison)
        else:  # with a doubtful significant difference
            claims.append(f"{comparison.verdict}.")
    rest = [_together(finding, compared, analysis) for finding, compared in others.items()]
    if most is not None and len(claims) + len(rest) > most:
        left_out = len(claims) - max(0, most - 1 - len(rest))
        claims[-left_out:] = [f"… and {left_out} more, which the table shows."]
    yield from (*claims, *rest)


def _together(finding: Finding, compared: Sequence[Comparison], analysis: Analysis) -> str:
    """A sentence about comparisons without a claim."""
    if len(compared) == 1:
        return f"{compared[0].verdict}."
    labels = (item.second if analysis.settings.reference is not None else pair_name(item) for item in compared)
    names = listed(labels, LONGEST_LIST) + (f" ({len(compared):,} comparisons)" if len(compared) > MAX_NAMED else "")
    return f"{finding.capitalize()}: {names}. {power_sentence(analysis)}".rstrip()


def forgets_looks(analysis: Analysis) -> str:
    """Return the prefix of every answer if interim analyses are ignored; otherwise an empty text."""
    kinds = {caution.kind for caution in analysis.warnings}
    return (IGNORED if "looked" in kinds else "") + (UNPLANNED if "unplanned" in kinds else "")


def course_title(analysis: Analysis) -> str:
    """Return the heading of these sentences."""
    return "How its size was found" if analysis.looks is None else "Results of the interim analyses"


def course_sentences(analysis: Analysis) -> Iterator[str]:
    """Yield the decisions after a pilot or at interim analyses, with warnings."""
    if analysis.looks is not None:
        yield from interim_sentences(analysis.looks)
    if analysis.course is None:
        return
    yield after_pilot(analysis.course)
    if (note := skewness_note(analysis.course)) is not None:
        yield f"{capitalised(note)}."
    if analysis.course.continuing:
        yield at_end(analysis.course)


def together(analysis: Analysis) -> str:
    """State the omnibus test, which readers expect; it decides nothing."""
    if analysis.unfinished:
        return ""
    if analysis.single is not None:
        return "Omnibus tests and ranks need two instances or more."
    if analysis.settings.is_fixed:
        return "Omnibus tests and ranks are about instances like these, and are left out."
    if analysis.omnibus is None:
        return "Omnibus tests and ranks need two instances with values of every algorithm."
    test = analysis.omnibus.friedman
    where = f" on the {analysis.omnibus.instances} complete instances" if analysis.incomplete else ""
    p = "p < 0.001" if test.corrected.p_value < 0.001 else f"p = {test.corrected.p_value:.2g}"
    return f"Omnibus test, for information: Friedman χ²({test.freedom}) = {test.corrected.statistic:.4g}, {p}{where}."


def pair_name(of: Comparison | Subgroup | Diagnosis) -> str:
    """Return the two algorithms of a pair as one name."""
    return f"{of.first} × {of.second}"


# next to the table -------------------------------------------------------------------------------------------------


def about_intervals(analysis: Analysis) -> str:
    """Explain the intervals of table and sentences."""
    if analysis.unfinished:
        return "Intervals, p-values and verdicts follow when the study is complete."
    if analysis.looks is not None:
        return ABOUT_REPEATED
    level = digits(100 * (1 - analysis.settings.family_alpha))
    return f"The intervals are simultaneous: with {level} % confidence, all of them contain their true differences."


def about_table(analysis: Analysis) -> str:
    """State the tests, the intervals and the family of the table."""
    if analysis.unfinished or analysis.looks is not None:
        return about_intervals(analysis)
    settings, steps = analysis.settings, paired_test(analysis.settings.test).procedure
    level, side = digits(100 * (1 - settings.family_alpha)), settings.alternative
    sided = "" if side == "two-sided" else f" ({side})"
    alpha = digits(settings.family_alpha)
    tests = capitalised(test_names(analysis))
    margin = "" if settings.margin is None else f"; equivalence margin {margin_text(settings.margin, settings)}"
    return f"{tests}{sided}, {steps.name} at α = {alpha}; simultaneous {level} % CIs{margin}."


def about_stopping(analysis: Analysis) -> str | None:
    """Describe what adaptive stopping did to the means; None where the values did not decide on the number of runs."""
    if not any(math.isfinite(diagnosis.all_runs - diagnosis.first_runs) for diagnosis in analysis.diagnoses):
        return None
    estimates = {
        "corrected": "are bias-corrected",
        "all-runs": "use all runs, uncorrected",
        "first-runs": "use the initial runs alone",
    }[analysis.settings.estimate]
    return f"The number of runs depended on their results, which can bias the means; the estimates {estimates}."


def question_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the compared values and the tests."""
    settings = analysis.settings
    against = f"all compared with {settings.reference}" if settings.reference is not None else "all pairs"
    where = f"{analysis.instances} instances" if analysis.single is None else f"the runs on {analysis.single} alone"
    of = "between runs" if analysis.comparisons[0].estimate_of == "shift" else f"of the {settings.statistic}"
    what = f"{settings.difference} differences {of}"
    what = f"differences of success rates in {POINTS}" if settings.are_rates else what
    yield f"{where}, {len(analysis.algorithms)} algorithms, {analysis.runs:,} runs; {what}, {against}"
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    side = "" if settings.alternative == "two-sided" else f" ({settings.alternative})"
    steps = paired_test(settings.test).procedure
    over = ""
    if analysis.looks is not None:
        looks = analysis.looks.course.looks
        over = f" over interim analyses after {listed([str(instances) for instances in looks], len(looks))} instances"
    family = f"{steps.name}{over} at family-wise level {digits(settings.family_alpha)}"
    outcome = f": {rejected} of {len(analysis.comparisons)} null hypotheses rejected"
    outcome = ", when the study is complete" if analysis.unfinished else outcome
    if settings.margin is not None:
        outcome += f"; equivalence tests at their own family-wise level {digits(settings.equivalence_alpha)}"
    yield f"{test_names(analysis)}{side}, {family}{outcome}"
    yield from cluster_lines(analysis)
    if analysis.course is not None:
        yield how_tested(analysis.course)
    if statement := "; ".join(filter(None, [solved(analysis), counted_as(analysis)])):
        yield statement


def test_names(analysis: Analysis) -> str:
    """Return the tests in the plural: paired ones over the instances, or those of the runs on one."""
    settings = analysis.settings
    if settings.is_fixed and analysis.single is None:
        return f"{run_test(settings.run_test).plural} of the means over these instances alone"
    if analysis.single is not None and settings.compares_runs_in_pairs:
        return "t-tests of paired runs"
    return (paired_test(settings.test) if analysis.single is None else run_test(settings.run_test)).plural


MAX_NAMED = 3  # maximum number of algorithms named in a sentence
MAX_LEADERS = 4  # algorithms in a headline that share the lead


def findings(analysis: Analysis) -> Mapping[Pair, Finding]:
    """Return the finding on the first against the second, for every pair in Holm's order."""
    least = FEWEST if analysis.single is None else 1
    same = {row.pair for row in analysis.diagnoses if row.equivalence is not None and row.equivalence.established}
    if analysis.looks is not None:  # or stopped by an interim analysis
        stands = zip(analysis.looks.pairs, analysis.looks.standings, strict=True)
        same |= {pair for pair, standing in stands if standing.verdict == "no relevant difference"}
    result: dict[Pair, Finding] = {}
    for comparison in analysis.comparisons:
        if analysis.unfinished or comparison.instances < least:
            result[comparison.pair] = "not compared"
        elif comparison.claimed:
            result[comparison.pair] = "better" if _first_is_better(comparison, analysis.settings) else "worse"
        else:
            result[comparison.pair] = "equivalent" if comparison.pair in same else "inconclusive"
    return result


def finding_sentence(analysis: Analysis) -> str:
    """State in one sentence which algorithm is better: the headline."""
    if analysis.unfinished:
        return not_finished(analysis)
    doubtful = len(_doubtful(analysis))
    if not doubtful or len(analysis.comparisons) == 1:
        return f"{_finding(analysis)}."
    verb = "is" if doubtful == 1 else "are"
    return f"{_finding(analysis)}; {count(doubtful, 'significant difference')} {verb} inconclusive."


def _finding(analysis: Analysis) -> str:
    """The headline without a full stop."""
    outcomes, reference = findings(analysis), analysis.settings.reference
    if len(outcomes) == 1 and _doubtful(analysis):
        [comparison] = analysis.comparisons
        subject, other = subject_and_other(comparison, analysis.settings)
        statement = f"{subject} against {other} is inconclusive, "
        statement += DOUBTS[comparison.doubts[0].kind]
    elif reference is None and len(outcomes) > 1:
        statement = _of_all(analysis, outcomes)
    else:
        if list(outcomes.values()) == ["worse"] and reference is None:  # the better one of two is named first
            outcomes = {(second, first): "better" for first, second in outcomes}
        statement = _of_first(analysis, outcomes)
    warning = (CLAIM_NOTHING if is_biased(analysis) else "") + forgets_looks(analysis)
    among = f", {SUCCEEDED}" if is_about_successes(analysis) else ""
    where = "" if analysis.single is None else f", on {analysis.single} alone"
    joint = analysis.measures
    several = "" if joint is None else f"{joint.headline}. By {analysis.measure} alone: "
    return f"{several}{warning}{statement}{among}{where}"


def _of_first(analysis: Analysis, outcomes: Mapping[Pair, Finding]) -> str:
    """Return which algorithms the reference is better than, worse than and equivalent to, and the rest."""
    first, parts = next(iter(outcomes))[0], []
    for finding, wording in (("better", "better than"), ("worse", "worse than"), ("equivalent", "equivalent to")):
        rivals = [second for (_, second), what in outcomes.items() if what == finding]
        if rivals:
            within = f" within {_margin(analysis)}" if finding == "equivalent" else ""
            parts.append(f"{wording} {_named(rivals, len(outcomes))}{within}")
    if parts:
        return f"{first} is {named(parts)}"
    inconclusive = [second for (_, second), what in outcomes.items() if what == "inconclusive"]
    if not inconclusive:
        return f"{first} could not be compared"
    if len(outcomes) == 1:
        return f"{first} against {inconclusive[0]} is inconclusive"
    return f"All {len(outcomes)} comparisons with {first} are inconclusive"


def _of_all(analysis: Analysis, outcomes: Mapping[Pair, Finding]) -> str:
    """The leader, and the number of significantly different pairs."""
    found = Counter(outcomes.values())
    differ, same = found["better"] + found["worse"], found["equivalent"]
    equal = f", {same:,} {'is' if same == 1 else 'are'} equivalent within {_margin(analysis)}" if same else ""
    counts = f"{differ:,} of {len(outcomes):,} pairs {'differs' if differ == 1 else 'differ'} significantly{equal}"
    (best, beaten), unbeaten = leader(outcomes), leaders(outcomes)
    if not differ:
        return f"None of {len(outcomes):,} pairs differs significantly{equal}"
    if len(unbeaten) > 1:
        names = [row.algorithm for row in analysis.algorithms if row.algorithm in unbeaten]  # pairs come by p-value
        return f"{named(names, MAX_LEADERS)} share the lead: no algorithm is better; {counts}"
    if not unbeaten:
        return counts
    others = len(analysis.algorithms) - 1
    every = "both" if others == 2 else f"all {others:,}"
    how_many = every if beaten == others else f"{beaten:,} of {others:,}"
    return f"{best} leads: better than {how_many} other algorithms; {counts}"


def leaders(outcomes: Mapping[Pair, Finding]) -> list[str]:
    """Return the algorithms that are worse than none; several of them mean that there is no winner.

    >>> leaders({("a", "b"): "inconclusive", ("a", "c"): "better", ("b", "c"): "better"})
    ['a', 'b']
    """
    lost = record(outcomes, "worse")
    return [name for name in dict.fromkeys(name for pair in outcomes for name in pair) if not lost[name]]


def leader(outcomes: Mapping[Pair, Finding]) -> tuple[str, int]:
    """Return the algorithm better than most others, among those worse than fewest, and that number.

    >>> leader({("a", "b"): "worse", ("a", "c"): "inconclusive", ("b", "c"): "inconclusive"})
    ('b', 1)
    """
    won, lost = record(outcomes, "better"), record(outcomes, "worse")
    best = min((name for pair in outcomes for name in pair), key=lambda name: (lost[name], -won[name]))
    return best, won[best]


def record(outcomes: Mapping[Pair, Finding], own: Finding) -> Counter[str]:
    """Return how many others each algorithm is better (worse) than."""
    turned = "worse" if own == "better" else "better"
    record = Counter(first for (first, _), what in outcomes.items() if what == own)
    return record + Counter(second for (_, second), what in outcomes.items() if what == turned)


def inconclusive_sentence(analysis: Analysis) -> str:
    """State the inconclusive comparisons and the detectable difference; empty if none is inconclusive."""
    pairs, power = _inconclusive_pairs(analysis), power_sentence(analysis)
    if len(pairs) in (0, len(analysis.comparisons)):
        return power
    names = f"{len(pairs):,} of {len(analysis.comparisons):,} pairs"
    if analysis.settings.reference is not None:
        names = _named([second for _, second in pairs])
    return f"Inconclusive: {names}. {power}".rstrip()


def power_sentence(analysis: Analysis) -> str:
    """State the detectable difference if a comparison is inconclusive; otherwise an empty text."""
    if not _inconclusive_pairs(analysis) or analysis.single is not None:
        return ""
    if analysis.course is not None:
        return f"{capitalised(planned_power_clause(analysis.course))}."
    if analysis.looks is not None and not analysis.looks.ended:
        return "The study continues with these comparisons."
    if math.isnan(analysis.detectable_effect):
        return "With so few instances no difference could have been significant."
    return f"{capitalised(power_clause(analysis.detectable_effect, analysis.settings))}."


def _inconclusive_pairs(analysis: Analysis) -> list[Pair]:
    """The pairs without a significant difference that are not equivalent either."""
    doubtful = {comparison.pair for comparison in _doubtful(analysis)}
    return [pair for pair, what in findings(analysis).items() if what == "inconclusive" and pair not in doubtful]


def _named(names: Sequence[str], of: int | None = None) -> str:
    """The names, or their number."""
    if len(names) <= MAX_NAMED:
        return named(names)
    if of is None:
        return f"{len(names):,} algorithms"
    return f"all {of:,} other algorithms" if len(names) == of else f"{len(names):,} of {of:,} algorithms"


def _margin(analysis: Analysis) -> str:
    if analysis.looks is not None:
        return f"{digits(analysis.looks.course.effect or 0.0)} standard deviations"
    assert analysis.settings.margin is not None  # otherwise nothing would be equivalent
    return margin_text(analysis.settings.margin, analysis.settings)
