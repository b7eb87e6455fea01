"""The methods paragraph: what was done, with the numbers and the rule really used, ready to paste. Pure.

Sentences in square brackets are for the author to fill in: what the data do not say is not made up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ampler import __version__
from ampler.analysis import Analysis
from ampler.analysis.units import accuracy_in_words, margin_in_words
from ampler.analysis.words import counted_as, instances_in_words, not_finished, solved
from ampler.core.choices import Alternative, Estimate, Test
from ampler.core.failures import Drop, Par, policy_words
from ampler.core.settings import AnalysisSettings
from ampler.core.values import Limits, PlanRecord
from ampler.core.wording import count, digits, in_bytes, listed
from ampler.design.detect_words import method_sentences
from ampler.design.pilot import PilotReport
from ampler.report.beliefs import belief_sentences
from ampler.report.looks import look_methods
from ampler.report.references import Reference, Sentence, reference
from ampler.report.subject import Subject
from ampler.stats.guard import CALIBRATIONS
from ampler.stats.paired import paired_test
from ampler.stats.two_samples import run_test
from ampler.study.asked import settings_of
from ampler.study.evidence import StudyOrigin


def methods(subject: Subject) -> tuple[Sentence, ...]:
    """Return the sentences of the methods paragraph."""
    analysis, origin = subject.analysis, subject.origin
    return (
        *_compared(analysis),
        *_instances(analysis, origin),
        *_runs(analysis, origin),
        *_times(analysis, origin),
        *_differences(analysis),
        *_failures(analysis),
        *_tests(analysis),
        *_equivalence(analysis),
        *_choices(analysis, origin),
        *belief_sentences(analysis),
        *_software(origin),
    )


def plain_paragraph(sentences: Sequence[Sentence]) -> str:
    """Return the paragraph as plain text, works cited by author and year."""
    return " ".join(f"{each.words}{_short(each.cites)}." for each in sentences)


def cited(sentences: Sequence[Sentence]) -> tuple[Reference, ...]:
    """Return the works that are cited, in their order, each once."""
    return tuple(reference(key) for key in dict.fromkeys(key for each in sentences for key in each.cites))


def _short(cites: tuple[str, ...]) -> str:
    return f" ({'; '.join(reference(key).short for key in cites)})" if cites else ""


# the sentences ----------------------------------------------------------------------------------------------------


def _compared(analysis: Analysis) -> Iterator[Sentence]:
    algorithms, pairs = len(analysis.algorithms), len(analysis.pairs)
    asked = analysis.settings.reference
    if asked is None:
        against = "pair by pair (1 comparison)" if pairs == 1 else f"all with all ({pairs} comparisons)"
    else:
        against = f"{asked} with each of the others ({pairs} comparison{'s' if pairs > 1 else ''})"
    where = f"{analysis.instances} problem instances"
    if analysis.single is not None:
        where = f"one problem instance, {analysis.single}"
    yield Sentence(f"We compared {algorithms} algorithms on {where}, {against}")
    yield Sentence(f"The measure was {analysis.measure}, of which {analysis.settings.better} values are better")
    if analysis.excluded:
        left = len(analysis.excluded)
        noun = "instance was" if left == 1 else "instances were"
        yield Sentence(f"{left} further {noun} left out because some algorithm had too few values there")
    if analysis.incomplete and analysis.course is None and analysis.looks is None:
        yield Sentence(
            f"{count(len(analysis.incomplete), 'instance')} lacked values of some algorithm; each pair was compared on"
            f" the instances with values of both ({instances_in_words(analysis.comparisons)})"
        )


def _instances(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    settings = analysis.settings
    if analysis.course is not None:
        return
    asked = None if origin is None else origin.first.question
    if origin is not None and origin.first.needed is not None and asked is not None and asked.effect is not None:
        whose = f"at least {asked.target} of the tests have" if isinstance(asked.target, int) else "the tests have"
        power = "a power" if isinstance(asked.target, int) else _target_power(asked.target)
        most = "" if origin.looks is None else "at most "
        test = f"{paired_test(asked.test).plural}{_side(asked.alternative)}"
        yield Sentence(
            f"The number of instances was planned beforehand: with {most}{origin.first.needed} instances, {whose}"
            f" {power} of {digits(asked.power)} for a standardised effect of d = {digits(asked.effect)} ({test} under"
            f" {_correction(asked.test)}, family-wise level {digits(asked.alpha)}); {analysis.instances} were used",
            ("campelo2020",),
        )
        yield from _enlarged(origin)
        return
    yield from () if origin is None else _enlarged(origin)
    test = f"{paired_test(settings.test).plural}{_side(settings.alternative)}"
    if analysis.looks is None and math.isfinite(analysis.detectable_effect):
        number = "the fewest instances of a comparison" if analysis.incomplete else "this number of instances"
        yield Sentence(
            f"With {number}, {test} under {_correction(settings.test)} find standardised effects of"
            f" d ≥ {analysis.detectable_effect:.2f} with a mean power of {digits(settings.power)}",
            ("campelo2020",),
        )


def _enlarged(origin: StudyOrigin) -> Iterator[Sentence]:
    """What was added to a study that had results."""
    if origin.sizes:
        times = count(len(origin.sizes) - 1, "time")
        yield Sentence(
            f"The number of instances was raised {times} after results were there, from {origin.sizes[0]} to"
            f" {origin.sizes[-1]}; the tests do not allow for this"
        )
    added = [name for name in origin.plan.algorithms if name not in origin.first.algorithms]
    if added:
        yield Sentence(f"{', '.join(added)} joined the study after its first runs")


def _correction(test: Test) -> str:
    row = paired_test(test)
    return "Holm's correction" if row.family is None else "a step-down by resampling"


def _target_power(target: str) -> str:
    return {"worst": "a smallest power", "best": "a largest power"}.get(target, f"a {target} power")


def _runs(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    if analysis.course is not None:
        yield from _course(analysis.course)
    elif origin is None:
        yield Sentence("[Say here how the instances and the numbers of runs were chosen: the data do not tell]")
    elif origin.course is not None:
        yield from islice(_course(origin.course), 1)
        yield Sentence("The tests reported here are ordinary ones, which do not allow for this choice of the size")
    elif origin.looks is not None and analysis.looks is None:
        when = listed([str(each) for each in origin.looks.looks], len(origin.looks.looks))
        yield Sentence(
            f"Interim analyses were planned after {when} instances, to stop comparisons that are decided; the tests"
            " reported here are ordinary ones, which do not allow for them"
        )
        yield from _rule(origin.plan, analysis)
    elif origin.plan.study_rule and analysis.looks is None:
        yield Sentence("[The study decides on instances and runs from its values, and it is not at its end]")
    else:
        yield from () if analysis.looks is None else look_methods(analysis)
        yield from _rule(origin.plan, analysis)
    counts = [runs for row in analysis.accuracy for runs in row.runs if runs]
    least, most = min(counts), max(counts)
    each = count(least, "run") if least == most else f"between {least} and {most} runs"
    where = "on each instance it has" if analysis.incomplete else "on each instance"
    where = where if analysis.single is None else "there"
    total = sum(counts)
    used = "" if total == analysis.runs else f", {analysis.runs:,} of them with a value that is used"
    yield Sentence(f"Each algorithm had {each} {where}, {total:,} runs in all{used}")
    yield from _belonging_together(analysis)
    yield from _budget(analysis)


def _budget(analysis: Analysis) -> Iterator[Sentence]:
    """Where the budget was spent, and where that was before the accuracy was reached."""
    spent = [row for row in analysis.accuracy if row.at_budget]
    short = [row for row in spent if not row.guarded_error <= (analysis.settings.se or 0.0)]
    if spent:
        missed = "" if len(short) == len(spent) else f", on {len(short)} of them before the accuracy was reached"
        budget = f"the budget of {analysis.settings.budget:,} runs was spent"
        yield Sentence(f"On {count(len(spent), 'instance')} {budget}{missed}")


def _belonging_together(analysis: Analysis) -> Iterator[Sentence]:
    """Runs that share something, and folds, which are no independent runs."""
    paired = analysis.settings.paired
    if paired is not None:
        yield Sentence(
            f"Runs with the same {paired} were compared with each other: standard errors of differences within an"
            " instance are those of the paired differences"
        )
    if any(caution.kind == "folds" for caution in analysis.warnings):
        yield Sentence(
            "The runs are folds of a cross-validation, which are not independent; standard errors within an instance"
            " are not corrected for it, and the tests, whose sample is the instances, do not use them",
            ("nadeau2003",),
        )


def _course(course: PilotReport) -> Iterator[Sentence]:
    """How the size was decided; the works are on tests whose size comes from the variances of a pilot."""
    first, *others = method_sentences(course)
    yield Sentence(first, ("stein1945", "wittes1990"))
    yield from map(Sentence, others)


def _rule(plan: PlanRecord, analysis: Analysis) -> Iterator[Sentence]:
    """The rule that the study file records, in words."""
    rule = plan.rule
    if rule.get("rule") == "Fixed":
        yield Sentence(f"Every algorithm was run {rule['runs']} times on each instance")
        return
    if rule.get("rule") != "Accuracy":
        yield Sentence(f"The numbers of runs were decided by the rule {rule.get('rule')!r} [describe it here]")
        return
    budget = rule["budget"]
    se = accuracy_in_words(rule["se"], AnalysisSettings(**settings_of(plan)))
    goal = f"until the standard error of every difference of interest was at most {se}"
    first = f"On each instance every algorithm was first run {rule['start']} times"
    limit = f"or {budget:,} runs had been made on the instance"
    if _is_papers(rule):
        how = "further runs were then made one at a time by the sequential rule of Algorithm 1 of the cited work"
        yield Sentence(f"{first}; {how}, {goal} {limit}", ("campelo2020",))
        return
    yield Sentence(f"{first}; further runs were then made in rounds of at most {rule['batch']}, {goal} {limit}")
    yield Sentence(f"{_allocation(rule)}; decisions were based on {_variances(rule)}", _rule_cites(rule))


def _variances(rule: Mapping[str, Any]) -> str:
    """The variances that decided, guarded or not."""
    if rule["guard"] == "none":
        return "the sample variances themselves"
    bounds = CALIBRATIONS[rule["guard_edition"]]
    level = {
        "pairs": f"{bounds.level:g} per algorithm, {bounds.reference_level:g} for a reference",
        "all": f"{bounds.together:g} over all algorithms together",
    }[rule["guard"]]
    if rule["statistic"] == "rate":
        return f"upper bounds of the variances (level {level}) from exact bounds of the rates"
    tails = " and allow for their kurtosis" if rule["statistic"] == "mean" else ""
    return f"upper bounds of the variances (level {level}) that share information between the algorithms{tails}"


def _is_papers(rule: Mapping[str, Any]) -> bool:
    same = {"allocation": "greedy", "guard": "none", "formula": "paper", "batch": 1}
    return all(rule.get(name) == value for name, value in same.items())


def _allocation(rule: Mapping[str, Any]) -> str:
    cost = "cost" if rule.get("costs") else "number"
    return {
        "optimal": f"Runs were shared out so that their total {cost} is smallest under all accuracy constraints"
        " together",
        "greedy": "Runs were given to the pair with the largest standard error, to the algorithm below the pair's"
        " optimal ratio of sample sizes",
        "balanced": "Runs were shared out equally",
    }[rule["allocation"]]


def _rule_cites(rule: Mapping[str, Any]) -> tuple[str, ...]:
    ratio = ("campelo2020",) if rule["allocation"] == "greedy" else ()
    bounds = "clopper1934" if rule["statistic"] == "rate" else "smyth2004"
    return (*ratio, bounds) if rule["guard"] != "none" else ratio


TIMES = {"seconds": "seconds by the clock", "cpu-seconds": "seconds of processor time"}


def _times(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    """What the values are, where they are times, and what limited them."""
    if origin is None:
        return
    plan, policy = origin.plan, analysis.settings.failures
    if not plan.timed:
        yield from (Sentence(f"A run was ended after {limits}") for limits in _limits(plan))
        return
    kinds = dict.fromkeys(TIMES[plan.fingerprint.algorithms[name]["value"]] for name in plan.timed)
    whose = "The values" if len(plan.timed) == len(plan.algorithms) else f"The values of {', '.join(plan.timed)}"
    limited = "".join(f"; a run was ended after {limits}" for limits in _limits(plan))
    par = f" ({_par(policy)})" if isinstance(policy, Par) else ""
    yield Sentence(f"{whose} are {' and '.join(kinds)}{limited}{par}")


def _limits(plan: PlanRecord) -> Iterator[str]:
    """What ended runs, if anything did: one limit for all, or that of each algorithm where they differ."""
    each = {name: _limit(plan.own_limits.get(name, Limits()).over(plan.limits)) for name in plan.algorithms}
    if len(set(each.values())) == 1:
        yield from filter(None, [*each.values()][:1])
    else:
        yield "; ".join(f"{limit or 'no limit'} ({name})" for name, limit in each.items())


def _limit(limits: Limits) -> str:
    named = (
        *([f"{digits(limits.cpu_timeout)} s of processor time"] if limits.cpu_timeout is not None else []),
        *([f"{digits(limits.timeout)} s by the clock"] if limits.timeout is not None else []),
        *([f"{in_bytes(limits.memory)} of memory"] if limits.memory is not None else []),
    )
    return " or ".join(named)


def _par(policy: Par) -> str:
    assert policy.cutoff is not None, "a plan's PAR has its cutoff"
    value = digits(policy.factor * policy.cutoff)
    return f"PAR{digits(policy.factor)}: runs without a value counted as {value} s"


def _differences(analysis: Analysis) -> Iterator[Sentence]:
    settings = analysis.settings
    base = {
        "simple": "their simple differences",
        "percent": "their differences as a share of "
        + (
            "the grand mean over the algorithms" if settings.reference is None else f"the value of {settings.reference}"
        ),
        "ratio": "the logarithms of their ratios",
    }[settings.difference]
    if settings.floor is not None:
        yield Sentence(f"Values below {digits(settings.floor)} counted as {digits(settings.floor)}")
    if settings.are_rates:
        yield from (*_rates(analysis), *_stopping(analysis))
        return
    if analysis.single is not None:
        yield from (*_differences_of_runs(analysis, base), *_stopping(analysis))
        return
    yield Sentence(
        f"On each instance the runs of an algorithm were summarised by their {settings.statistic}, and {base} were the"
        " paired observations, one per pair of algorithms and instance"
    )
    yield from _stopping(analysis)
    if settings.formula == "corrected" and settings.difference != "simple" and (analysis.errors > 0).any():
        exact = settings.difference == "ratio" and settings.statistic not in ("mean", "trimmed-mean")
        if not exact:
            yield Sentence("The differences were corrected to second order for the noise of the runs")
    if settings.difference == "percent" and settings.reference is None:
        how = "by the delta method" if settings.formula != "paper" else "by the published formula"
        yield Sentence(f"Their standard errors were computed {how}", () if how.endswith("d") else ("campelo2020",))


def _differences_of_runs(analysis: Analysis, base: str) -> Iterator[Sentence]:
    """What is compared where runs are the sample."""
    settings = analysis.settings
    if settings.test == "t":
        yield Sentence(
            f"The runs of an algorithm were summarised by their {settings.statistic}, and {base} compared, with"
            " standard errors from the variances of the runs of each"
        )
        return
    unit = {
        "simple": "",
        "percent": ", as a share of "
        + ("the grand mean" if settings.reference is None else f"the mean of {settings.reference}"),
        "ratio": " of the logarithms",
    }[settings.difference]
    yield Sentence(
        f"Estimates are the medians of all differences{unit} between a run of the one and a run of the other algorithm"
    )


def _rates(analysis: Analysis) -> Iterator[Sentence]:
    observations = "were the paired observations, one per pair of algorithms and instance"
    told = observations if analysis.single is None else "were compared"
    each = "On each instance the" if analysis.single is None else "The"
    yield Sentence(
        f"Every run gave yes or no (1 or 0). {each} runs of an algorithm were summarised by their rate, the share of"
        f" yes, and the differences of the rates in percentage points {told}"
    )
    yield Sentence(
        "The variance of one run was taken as p(1 − p) with p = (x + 1/2)/(n + 1) for x times yes in n runs (Jeffreys'"
        " prior), as equal outcomes of few runs are no certainty",
        ("brown2001",),
    )


STOPPED: dict[Estimate, str] = {
    "corrected": "the estimates were corrected for the bias that this gives them, to first order",
    "first-runs": "the estimates come from the first runs of each algorithm alone, which their values did not end",
    "all-runs": "the estimates, from all runs as they are, have the bias that this gives them",
}


def _stopping(analysis: Analysis) -> Iterator[Sentence]:
    """What was done about values that decided when runs ended."""
    if any(math.isfinite(each.all_runs) for each in analysis.diagnoses):
        yield Sentence(f"The values decided when runs ended; {STOPPED[analysis.settings.estimate]}")


def _failures(analysis: Analysis) -> Iterator[Sentence]:
    failed = sum(sum(row.failures.values()) for row in analysis.algorithms)
    if said := counted_as(analysis):
        policy = analysis.settings.failures
        par = f" (PAR{digits(policy.factor)})" if isinstance(policy, Par) else ""
        yield Sentence((f"{count(failed, 'run')} failed; {said}" if failed else f"{said[:1].upper()}{said[1:]}") + par)
    elif not failed:
        yield Sentence("No run failed")
    if analysis.unsolved:
        instances = {name for names in analysis.unsolved.values() for name in names}
        yield Sentence(
            f"On {count(len(instances), 'instance')} neither algorithm of {count(len(analysis.unsolved), 'pair')} gave"
            " a value, so that their difference there is what failed runs count as"
        )
    if isinstance(analysis.settings.failures, Drop):
        yield Sentence(f"So all statements are about the runs that succeeded ({solved(analysis)})")


def _tests(analysis: Analysis) -> Iterator[Sentence]:
    if analysis.unfinished:
        yield Sentence(not_finished(analysis).removesuffix("."))
        return
    settings, pairs = analysis.settings, len(analysis.pairs)
    test = paired_test(settings.test)
    hypotheses = "The null hypothesis" if pairs == 1 else f"The {pairs} null hypotheses"
    verb = "was" if pairs == 1 else "were"
    asked, sample = (
        (test, "over the instances") if analysis.single is None else (run_test(settings.test), "of the runs")
    )
    yield Sentence(
        f"{hypotheses} {asked.null} {verb} tested by {asked.plural}{_side(settings.alternative)} {sample}, with the"
        f" family-wise error rate held at {digits(settings.family_alpha)} by {test.procedure.words}",
        (*asked.cites, *test.procedure.cites),
    )
    joint = digits(100 * (1 - settings.family_alpha))
    steps = test.procedure
    if analysis.looks is None:
        yield Sentence(
            f"Joint {joint} % confidence intervals {steps.joint}; intervals called {steps.level}-level have the level"
            " of the rank of their comparison and do not hold jointly"
        )
    if analysis.single is not None:
        yield from _of_one_instance()
        return
    yield Sentence(
        "Effect sizes are d, the mean of the differences over their standard deviation, with unadjusted 95 % intervals"
        " from the noncentral t distribution"
    )


def _of_one_instance() -> Iterator[Sentence]:
    yield Sentence(
        "Effect sizes are d, the difference of the statistics over the root of the mean of the two variances of one run"
    )
    yield Sentence("The runs are the sample, so that the conclusions hold for this instance only")


def _side(alternative: Alternative) -> str:
    sides: dict[Alternative, str] = {
        "two-sided": " (two-sided)", "less": " (one-sided, less)", "greater": " (one-sided, greater)"
    }  # fmt: skip
    return sides[alternative]


CHOSEN = (  # settings whose choice after the results a reader must know
    *("reference", "difference", "statistic", "test", "alternative", "alpha", "better", "margin", "floor", "failures"),
    *("formula", "estimate", "effect", "power", "se", "guard"),
)


def _choices(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    """What was chosen otherwise than planned when the results were there."""
    if origin is None:
        return
    planned, chosen = AnalysisSettings(**settings_of(origin.first)), analysis.settings
    told = [
        f"{name} {_chosen(chosen, name)} (planned: {_chosen(planned, name)})"
        for name in CHOSEN
        if getattr(planned, name) != getattr(chosen, name)
    ]
    if told:
        verb = "was" if len(told) == 1 else "were"
        yield Sentence(f"After the first results {verb} chosen, otherwise than planned: {'; '.join(told)}")


def _chosen(settings: AnalysisSettings, name: str) -> str:
    if name == "failures":
        return "not said" if settings.failures is None else policy_words(settings.failures)
    value = settings.statistic_name if name == "statistic" else getattr(settings, name)
    return "none" if value is None else digits(value) if isinstance(value, float) else str(value)


def _equivalence(analysis: Analysis) -> Iterator[Sentence]:
    settings = analysis.settings
    if settings.margin is None or analysis.unfinished:
        return
    held = " Holm" if paired_test(settings.test).family is None else ""
    yield Sentence(
        f"Equivalence within {margin_in_words(settings.margin, settings)} was tested by two one-sided tests,"
        f" a{held} family of its own;"
        f" each of the two families was held at {digits(settings.alpha / 2)}, so that all claims together err with"
        f" probability at most {digits(settings.alpha)}",
        ("schuirmann1987",),
    )


def _software(origin: StudyOrigin | None) -> Iterator[Sentence]:
    seed = "" if origin is None else f", seed {origin.plan.fingerprint.seed}"
    made = "The analysis was" if origin is None else "The runs and the analysis were"
    yield Sentence(f"{made} made with ampler {__version__}{seed}")
