"""An analysis in words: the verdict on one comparison, the answer of the whole, and the Holm table as text. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ampler.analysis.compare import Comparison, DoubtKind, Equivalence
from ampler.analysis.exploration import Subgroup
from ampler.analysis.look_words import ABOUT_REPEATED, IGNORED, look_sentences, looked_verdict, tally
from ampler.analysis.looked import Looked
from ampler.analysis.results import Analysis, Diagnosis
from ampler.analysis.units import (
    POINTS,
    lead_in_words,
    margin_in_words,
    size_in_words,
    sizes_in_words,
)
from ampler.core.arrays import Interval, Pair
from ampler.core.failures import Drop, Par, Penalty, policy_words
from ampler.core.settings import AnalysisSettings
from ampler.core.values import CautionKind
from ampler.core.wording import alike, count, digits, listed
from ampler.design.detect_words import after_pilot, at_end, how_tested, skewness_note
from ampler.stats.paired import ESTIMANDS, FEWEST, paired_test
from ampler.stats.two_samples import run_test

LONGEST_LIST = 12  # names in one sentence
NAMED = 5  # instances in a verdict
CLAIM_NOTHING = "Biased by when runs ended, not to be claimed (see below): "
UNPLANNED = "Unfinished study, tested without a plan, not to be claimed (see below): "
SUCCEEDED = "among the runs that succeeded"
DOUBTS: Mapping[DoubtKind, str] = {  # after the number of comparisons
    "roles": "because percentages favour the reference",
    "shape": "because the test is too optimistic for such skewed differences",
    "noise": "because run noise may have made them",
    "noise-width": "because the noise of the runs alone allows for more than the differences show",
    "failures": "because failures that were not seen could reverse them",
}
REVERSING: Mapping[CautionKind, str] = {  # warnings that the headline names
    "growth": "the study was enlarged after results were there",
    "skewness": "the differences are skewed",
    "outlier": "one instance has most of the variance",
    "constant": "some differences are the same on every instance",
    "denominator": "some ratios are uncertain",
    "pseudoreplication": "repeated runs count as instances",
    "repeated-runs": "runs may be copies",
}
ABOUT_EXPLORATION = "Exploratory, unadjusted: for forming ideas, not for claims."


# one comparison ---------------------------------------------------------------------------------------------------


def verdict(
    comparison: Comparison,
    equivalence: Equivalence | None,
    asked: AnalysisSettings,
    detectable: float = math.nan,
    *,
    dropped: bool = False,
    early: bool = False,
    would: str = "",
    one_instance: bool = False,
    unsolved: Sequence[str] = (),
    looked: Looked | None = None,
    agreement: str = "",
    equal: bool = False,
) -> str:
    """Return the verdict on first against second, without a full stop.

    `detectable` is the d that would be found, `would` what is said instead of it; `dropped` whether failed runs of one
    of the two were left out, `early` whether a pilot decided, `one_instance` whether the runs of the only one were
    compared, `unsolved` the instances on which neither gave a value, and `looked` what looks decided on the way.
    `agreement` says which other tests find a claimed difference, `equal` whether the difference is the same everywhere.
    """
    among = f"{' on this instance' if one_instance else ''}{f' {SUCCEEDED}' if dropped else ''}"
    if one_instance and not comparison.instances:
        return "not compared: both need two values or more"
    if not one_instance and comparison.instances < FEWEST:
        return f"not compared: both have values on {count(comparison.instances, 'instance')}, and {FEWEST} are needed"
    beside = _neither_solved(unsolved, comparison.instances)
    if looked is not None:
        words = _difference_found(comparison, asked, among) if comparison.rejected else ""
        words = in_doubt(comparison, asked, among) if comparison.in_doubt else words
        standing = looked.standing((comparison.first, comparison.second))
        return looked_verdict(words, comparison, standing, looked, size_in_words(comparison.estimate, asked)) + beside
    if comparison.claimed:
        words = _difference_found(comparison, asked, among)
        words += " (decided in the pilot)" if early else ""
        if equivalence is not None and equivalence.established:
            words += f"; but equivalent within {margin_in_words(equivalence.margin, asked)}"
        return words + (f"; {agreement}" if agreement else "") + beside
    if equivalence is not None and equivalence.established:
        return f"equivalent within {margin_in_words(equivalence.margin, asked)}{among}{beside}"
    if comparison.in_doubt:
        return in_doubt(comparison, asked, among) + beside
    if equal:
        return f"{_all_equal(comparison, asked)}{among}{beside}"
    return _nothing_found(comparison, equivalence, asked, would or _would(detectable, asked), among) + beside


def _all_equal(comparison: Comparison, asked: AnalysisSettings) -> str:
    """Say that the difference is the same on every instance, of which a test of means can say nothing."""
    size = "" if not comparison.estimate else f" ({size_in_words(comparison.estimate, asked)})"
    what = "zero" if not comparison.estimate else f"equal{size}"
    test = paired_test(asked.test).words
    return (
        f"no difference found: all {comparison.instances} differences are {what}, of which the {test} can say nothing"
    )


def in_doubt(comparison: Comparison, asked: AnalysisSettings, among: str = "") -> str:
    """Return the verdict on a significant difference that is not claimed: the finding, and what speaks against it."""
    found = _difference_found(comparison, asked, among).replace(" is better", " looks better", 1)
    return f"inconclusive: {found}, but {'; and '.join(each.reason for each in comparison.doubts)}"


def _neither_solved(unsolved: Sequence[str], instances: int) -> str:
    """On how many of the instances, and on which, failures alone make the difference."""
    if not unsolved:
        return ""
    return f"; on {len(unsolved)} of {count(instances, 'instance')} ({listed(unsolved, NAMED)}) neither gave a value"


def _difference_found(comparison: Comparison, asked: AnalysisSettings, among: str) -> str:
    first_is_larger = comparison.estimate > _neutral(comparison)
    winner = comparison.first if _first_is_better(comparison, asked) else comparison.second
    estimand = ESTIMANDS[comparison.estimate_of]
    if estimand.is_share:
        return f"{winner} is better{among}: {_on_how_many(comparison, asked, first_is_larger=first_is_larger)}"
    bounds = _advantage(comparison.joint_interval, flip=not first_is_larger)
    amount, *limits, neutral = lead_in_words(abs(comparison.estimate), bounds, asked)
    sample = "runs" if comparison.instances == 1 else "instances"
    shown = f"{_range(bounds, limits, sample)}{_why_neutral(comparison, neutral)}"
    return f"{winner} is better{among}: {asked.better} by {amount} {estimand.words}, {_joint(asked)} {shown}"


def _first_is_better(comparison: Comparison, asked: AnalysisSettings) -> bool:
    return (comparison.estimate > _neutral(comparison)) == (asked.better == "higher")


def _neutral(comparison: Comparison) -> float:
    """The estimate that favours neither."""
    return ESTIMANDS[comparison.estimate_of].neutral


def _on_how_many(comparison: Comparison, asked: AnalysisSettings, *, first_is_larger: bool) -> str:
    """Where shares are estimated: on how many of the instances the winner is ahead."""
    share = comparison.estimate if first_is_larger else 1 - comparison.estimate
    low, high = comparison.joint_interval
    bounds = (low, high) if first_is_larger else (1 - high, 1 - low)
    amount, *limits = (f"{text} %" for text in alike(100 * share, *(100 * bound for bound in bounds)))
    kind = ESTIMANDS[comparison.estimate_of].words
    why = _why_neutral(comparison, f"{digits(100 * _neutral(comparison))} %")
    return f"{asked.better} on {amount} {kind}, {_joint(asked)} {' to '.join(limits)}{why}"


def _why_neutral(comparison: Comparison, neutral: str) -> str:
    """Why the joint interval of a difference that was found still holds the value that favours neither, if it does.

    To cut it off there would be to promise too much: decisions and intervals hold with probability 1 − α each, and such
    intervals would hold together with as little as 1 − 2α.
    """
    wide = {"failures", "noise-width"} & {each.kind for each in comparison.doubts}
    explained = wide or comparison.joint_interval == (-math.inf, math.inf)  # which is said instead
    if explained or not _holds(comparison.joint_interval, comparison):
        return ""
    if _holds(comparison.interval, comparison):
        return f" (it holds {neutral}, as the interval of this test says less than its p-value where differences tie)"
    return f" (it holds {neutral}, as it is made for all pairs at once, while decisions step down)"


def _holds(interval: Interval, comparison: Comparison) -> bool:
    return interval[0] <= _neutral(comparison) <= interval[1]


def _advantage(interval: Interval, *, flip: bool) -> Interval:
    """The interval of the winner's advantage: φ itself, or −φ."""
    low, high = interval
    return (-high, -low) if flip else (low, high)


def _joint(asked: AnalysisSettings) -> str:
    return f"joint {digits(100 * (1 - asked.family_alpha))} % interval"


def _range(bounds: Interval, limits: Sequence[str], sample: str = "instances") -> str:
    """The limits in words; an open one is not written."""
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return f"out of reach with so few {sample}"
    if math.isinf(low):
        return f"up to {limits[1]}"
    return f"from {limits[0]} up" if math.isinf(high) else f"{limits[0]} to {limits[1]}"


def _nothing_found(
    comparison: Comparison, equivalence: Equivalence | None, asked: AnalysisSettings, would: str, among: str
) -> str:
    first = comparison.first
    shown = {
        "two-sided": "no difference found",
        "less": f"{first} not shown to be lower",
        "greater": f"{first} not shown to be higher",
    }[asked.alternative]
    if equivalence is not None:
        shown += f", nor equivalence within {margin_in_words(equivalence.margin, asked)}"
    if comparison.instances == 1:
        what = "factor" if asked.difference == "ratio" else "difference"
        _, *limits = sizes_in_words(comparison.estimate, comparison.joint_interval, asked)
        would = f"{_joint(asked)} of the {what} {_range(comparison.joint_interval, limits, 'runs')}"
    return f"{shown}{among}; {would}" if would else f"{shown}{among}"


def _would(detectable: float, asked: AnalysisSettings) -> str:
    """What would have been found, in standard deviations."""
    if math.isnan(detectable):
        return ""
    return f"d ≥ {detectable:.2f} would have been found with mean power {digits(asked.power)}"


# the answer of the whole ------------------------------------------------------------------------------------------


def headline(analysis: Analysis) -> str:
    """Say what was found, counted: first, if nothing should be claimed on it; last, what a name says is better."""
    warning = CLAIM_NOTHING if is_biased(analysis) else ""
    warning += forgets_looks(analysis)
    directions = [each.sentence for each in analysis.warnings if each.kind == "direction"]
    decided = [] if analysis.looks is None else [tally(analysis.looks)]
    return warning + " ".join([found_sentence(analysis), *decided, *_what_could_change_it(analysis), *directions])


def _what_could_change_it(analysis: Analysis) -> Iterator[str]:
    """Name the warnings that could reverse what was found."""
    kinds = {each.kind for each in analysis.warnings}
    if causes := [words for kind, words in REVERSING.items() if kind in kinds]:
        yield f"This could change: {listed(causes, len(causes))} (see the warnings)."


def taken(analysis: Analysis) -> str:
    """Say which columns of a table were taken for what; nothing for a study file."""
    return " ".join(each.sentence for each in analysis.warnings if each.kind == "columns")


def is_biased(analysis: Analysis) -> bool:
    """Whether runs ended so that nothing should be claimed."""
    return any(caution.kind == "biased" for caution in analysis.warnings)


def not_finished(analysis: Analysis) -> str:
    """Say that there are estimates only, and why."""
    return f"The study is not finished: {analysis.unfinished}. These are estimates; nothing is tested yet."


def found_sentence(analysis: Analysis) -> str:
    """Say what was found, counted."""
    if analysis.unfinished:
        return not_finished(analysis)
    decided = [comparison for comparison in analysis.comparisons if comparison.claimed]
    doubtful = doubts_in_words(analysis)
    pairs, reference = len(analysis.comparisons), analysis.settings.reference
    where = instances_in_words(analysis.comparisons)
    if analysis.single is not None:
        where = f"the instance {analysis.single}, and on this one only"
    basis = f"on {where} ({analysis.runs:,} runs of {len(analysis.algorithms)} algorithms)"
    basis = f"{SUCCEEDED} {basis}" if is_about_successes(analysis) else basis
    if not decided and doubtful:
        return f"Inconclusive {basis}: {doubtful}"
    doubtful = f" Inconclusive: {doubtful}" if doubtful else ""
    if not decided:
        return f"No difference is found in {_comparisons(pairs)} {basis}."
    if reference is None:
        return f"{len(decided)} of {pairs} pairs differ {basis}.{doubtful}"
    won = sum(_first_is_better(comparison, analysis.settings) for comparison in decided)
    if pairs == 1:
        return f"{reference} is {'better' if won else 'worse'} than {decided[0].second} {basis}.{doubtful}"
    parts = (("better than", won), ("worse than", len(decided) - won))
    found = " and ".join(f"{word} {number_of}" for word, number_of in parts if number_of)
    return f"{reference} is {found} of {pairs} others {basis}.{doubtful}"


def doubts_in_words(analysis: Analysis) -> str:
    """Say which significant differences are not claimed, and why, by cause; nothing where all are claimed."""
    doubtful = [comparison for comparison in analysis.comparisons if comparison.in_doubt]
    if len(doubtful) == 1:
        [comparison] = doubtful
        pair = comparison.first, comparison.second
        winner, loser = pair if _first_is_better(comparison, analysis.settings) else pair[::-1]
        return f"{winner} looks better than {loser}, but {'; and '.join(each.reason for each in comparison.doubts)}."
    of_kind: dict[DoubtKind, int] = {}
    for comparison in doubtful:
        for doubt in comparison.doubts:
            of_kind[doubt.kind] = of_kind.get(doubt.kind, 0) + 1
    causes = [f"{number} {DOUBTS[kind]}" for kind, number in of_kind.items()]
    total = len(analysis.comparisons)
    return (
        f"{len(doubtful)} of {total} differences are significant but not claimed: {', '.join(causes)}."
        if causes
        else ""
    )


def is_about_successes(analysis: Analysis) -> bool:
    """Whether failed runs were left out."""
    return isinstance(analysis.settings.failures, Drop) and any(row.failures for row in analysis.algorithms)


def solved(analysis: Analysis) -> str:
    """Say how many of its runs gave a value, for each algorithm; nothing if all did."""
    if not any(row.failures for row in analysis.algorithms):
        return ""
    return "runs that gave a value: " + ", ".join(
        f"{row.algorithm} {row.solved:,} of {row.runs:,}" for row in analysis.algorithms
    )


def counted_as(analysis: Analysis) -> str:
    """Say what failed runs count as, and how many it would take to reverse a claim; nothing where neither matters."""
    policy, failed = analysis.settings.failures, any(row.failures for row in analysis.algorithms)
    if policy is None or not (failed or isinstance(policy, Par | Penalty)):
        return ""
    sure = [each.failure_bound for each in analysis.diagnoses if each.failure_bound and not each.failure_bound.in_doubt]
    closest = min(sure, key=lambda each: each.reversal / each.upper, default=None)
    said = f"{'failed runs were' if failed else 'no run failed; failures are'} {policy_words(policy)}"
    return said if closest is None else f"{said}; {closest.words}"


def instances_in_words(comparisons: Sequence[Comparison]) -> str:
    """Return the number of instances of the comparisons, from the fewest to the most where they differ."""
    numbers = [comparison.instances for comparison in comparisons]
    least, most = min(numbers), max(numbers)
    return f"{most:,} instances" if least == most else f"{least:,} to {most:,} instances"


def verdict_sentences(analysis: Analysis, *, most: int | None = None) -> Iterator[str]:
    """Yield the verdicts, at most so many sentences: those that claim something one by one, the others together."""
    equivalent = _equivalent(analysis) | irrelevant_pairs(analysis)
    claims: list[str] = []
    alike: dict[str, list[str]] = {}
    for each in analysis.comparisons:
        if each.rejected or (each.first, each.second) in equivalent:  # what is in doubt is told one by one, too
            claims.append(f"{_label(each, analysis)}: {each.verdict}.")
        else:
            alike.setdefault(each.verdict, []).append(_label(each, analysis))
    rest = [f"{listed(labels, LONGEST_LIST)}: {words}." for words, labels in alike.items()]
    if most is None or len(claims) + len(rest) <= most:
        yield from (*claims, *rest)
        return
    others = rest[:2]
    told = claims[: max(0, most - 1 - len(others))]
    hidden = len(claims) - len(told) + sum(map(len, list(alike.values())[len(others) :]))
    yield from (*told, f"… and {hidden} more, which the table shows.", *others)


def _equivalent(analysis: Analysis) -> set[Pair]:
    return {
        (each.first, each.second) for each in analysis.diagnoses if each.equivalence and each.equivalence.established
    }


def irrelevant_pairs(analysis: Analysis) -> set[Pair]:
    """Return the pairs that a look stopped as having no relevant difference."""
    if analysis.looks is None:
        return set()
    stands = zip(analysis.looks.pairs, analysis.looks.standings, strict=True)
    return {pair for pair, each in stands if each.verdict == "no relevant difference"}


def forgets_looks(analysis: Analysis) -> str:
    """Return what stands before every answer of an analysis that was asked to forget the looks; else nothing."""
    kinds = {caution.kind for caution in analysis.warnings}
    return (IGNORED if "looked" in kinds else "") + (UNPLANNED if "unplanned" in kinds else "")


def course_title(analysis: Analysis) -> str:
    """Return the heading of these sentences."""
    return "How its size was found" if analysis.looks is None else "What was decided at the looks"


def course_sentences(analysis: Analysis) -> Iterator[str]:
    """Yield what was decided on the way, after a pilot or at looks, and what to mind; nothing where nothing was."""
    if analysis.looks is not None:
        yield from look_sentences(analysis.looks)
    if analysis.course is None:
        return
    yield after_pilot(analysis.course)
    note = skewness_note(analysis.course)
    if note is not None:
        yield f"{note[:1].upper()}{note[1:]}."
    if analysis.course.going:
        yield at_end(analysis.course)


def together(analysis: Analysis) -> str:
    """Say what the test of all algorithms together gives, which readers ask for; it decides nothing."""
    if analysis.unfinished:
        return ""
    if analysis.single is not None:
        return "Tests of all algorithms together, and ranks, need more instances than one."
    if analysis.omnibus is None:
        return "All together: Friedman's test and ranks need two instances with values of every algorithm."
    friedman = analysis.omnibus.friedman.corrected
    ties = ", corrected for ties," if analysis.omnibus.friedman.has_ties else ""
    where = f" on the {analysis.omnibus.instances} complete instances" if analysis.incomplete else ""
    return (
        f"All together, beside the comparisons: Friedman's test{ties} gives {friedman.statistic:.4g}"
        f" (p = {friedman.p_value:.3g}){where}."
    )


def _comparisons(number: int) -> str:
    return "the one comparison" if number == 1 else f"any of {number} comparisons"


def _label(comparison: Comparison, analysis: Analysis) -> str:
    """The pair, or the rival alone when there is a reference."""
    return comparison.second if analysis.settings.reference is not None else pair_name(comparison)


def pair_name(of: Comparison | Subgroup | Diagnosis) -> str:
    """Return the two algorithms of a pair as one name."""
    return f"{of.first} × {of.second}"


# beside the table -------------------------------------------------------------------------------------------------


def about_intervals(analysis: Analysis) -> str:
    """Say what the intervals of table and sentences promise."""
    if analysis.unfinished:
        return "Intervals, p-values and verdicts come when the study is complete."
    if analysis.looks is not None:
        return ABOUT_REPEATED
    return f"Joint intervals hold all together with {digits(100 * (1 - analysis.settings.family_alpha))} %."


def about_stopping(analysis: Analysis) -> str | None:
    """Say what all runs and the first runs give, where values decided when runs ended; None where they did not."""
    known = [each for each in analysis.diagnoses if math.isfinite(each.all_runs - each.first_runs)]
    if not known:
        return None
    most = max(known, key=lambda each: abs(each.all_runs - each.first_runs))
    by_all, by_first = (size_in_words(each, analysis.settings) for each in (most.all_runs, most.first_runs))
    used = {"corrected": "all runs, corrected", "all-runs": "all runs as they are", "first-runs": "the first runs"}
    return (
        "Values decided when runs ended, which biases them: by all runs as they are and by the first runs, which nobody"
        f" ended, {pair_name(most)} differ by {by_all} and {by_first}, the furthest apart of all."
        f" What is tested comes from {used[analysis.settings.estimate]}."
    )


def question_lines(analysis: Analysis) -> Iterator[str]:
    """Yield what was compared, and how it was tested."""
    asked = analysis.settings
    against = f"{asked.reference} against all others" if asked.reference is not None else "all against all"
    where = f"{analysis.instances} instances" if analysis.single is None else f"the runs on {analysis.single} alone"
    what = f"{_differences_of(analysis)}, {against}"
    yield f"{where}, {len(analysis.algorithms)} algorithms, {analysis.runs} runs; {what}"
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    side = "" if asked.alternative == "two-sided" else f" ({asked.alternative})"
    steps = paired_test(asked.test).procedure
    family = f"{steps.name}{_over_looks(analysis)} at family-wise level {digits(asked.family_alpha)}"
    outcome = f": {rejected} of {len(analysis.comparisons)} null hypotheses rejected"
    outcome = ", when the study is complete" if analysis.unfinished else outcome
    yield f"{tests_in_words(analysis)}{side}, {family}{outcome}"
    if analysis.course is not None:
        yield how_tested(analysis.course)
    if said := "; ".join(filter(None, [solved(analysis), counted_as(analysis)])):
        yield said


def _over_looks(analysis: Analysis) -> str:
    if analysis.looks is None:
        return ""
    looks = analysis.looks.course.looks
    return f" over looks after {listed([str(each) for each in looks], len(looks))} instances"


def tests_in_words(analysis: Analysis) -> str:
    """Return the tests in the plural: paired ones over the instances, or those of the runs on one."""
    asked = analysis.settings.test
    return (paired_test(asked) if analysis.single is None else run_test(asked)).plural


def _differences_of(analysis: Analysis) -> str:
    asked = analysis.settings
    if asked.are_rates:
        return f"differences of the rates in {POINTS}"
    if analysis.comparisons[0].estimate_of == "shift":
        return f"{asked.difference} differences between runs"
    return f"{asked.difference} differences of the {asked.statistic}"
