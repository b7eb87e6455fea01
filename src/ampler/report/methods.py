"""The methods paragraph: the choice of sentences from methods.toml, and their citations (references.bib)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from ampler import __version__
from ampler.analysis import Analysis
from ampler.analysis.clusters import over_clusters
from ampler.analysis.compare import instances_text
from ampler.analysis.families import families_sentence
from ampler.analysis.interim import interim_method_sentences
from ampler.analysis.text import counted_as, not_finished, solved
from ampler.analysis.units import accuracy_text, margin_text
from ampler.core.failures import Drop, Par, policy_words
from ampler.core.plan import Limits, PlanRecord, Question
from ampler.core.settings import Settings
from ampler.core.text import count, digits, in_bytes, listed
from ampler.design.detect import PilotReport
from ampler.design.text import method_sentences
from ampler.report import Subject
from ampler.report.resources import constants, text_of
from ampler.report.tables import interim_of
from ampler.stats.bayes.posterior import CERTAIN, SHARED_FROM
from ampler.stats.bayes.rankings import DRAWS as RANKING_DRAWS
from ampler.stats.bayes.signed_rank import DRAWS as TEST_DRAWS
from ampler.stats.paired import PairedTest, paired_test
from ampler.stats.two_samples import RunTestWords, run_test
from ampler.stats.variance_bounds import CALIBRATIONS
from ampler.study.evidence import StudyOrigin
from ampler.study.record import settings_of

SEVERAL = 3  # authors from which only the first is cited


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited work: its key, short citation, full reference and BibTeX entry."""

    key: str
    short: str
    listed: str
    bibtex: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without its full stop, and the works it cites."""

    words: str
    cites: tuple[str, ...] = ()
    is_detail: bool = False  # whether it follows the core of the paragraph


def reference(key: str) -> Reference:
    """Return a work by its key.

    >>> reference("holm1979").short
    'Holm 1979'
    """
    return _works()[key]


@cache
def _works() -> dict[str, Reference]:
    works = map(_work, re.findall(r"^@.*?^\}$", text_of("references.bib"), re.MULTILINE | re.DOTALL))
    return {work.key: work for work in works}


def _work(entry: str) -> Reference:
    """A work by its BibTeX entry; listed with initials before names, an issue in brackets, a dash between pages."""
    key = entry[entry.index("{") + 1 : entry.index(",")]
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))
    people = [person.split(", ") for person in fields["author"].split(" and ")]
    short = " & ".join(family for family, _ in people) if len(people) < SEVERAL else f"{people[0][0]} et al."
    names = [" ".join([*(f"{name[0]}." for name in first.split()), family]) for family, first in people]
    authors = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    title = fields["title"].translate({ord(brace): None for brace in "{}"})
    issue = f"({fields['number']})" if "number" in fields else ""
    pages = fields["pages"].replace("--", "–").lower()
    listed = f"{authors}. {title}. {fields['journal']} {fields['volume']}{issue}, {pages}, {fields['year']}."
    return Reference(key, f"{short} {fields['year']}", listed, entry)


def methods(subject: Subject) -> tuple[Sentence, ...]:
    """Return the sentences of the methods paragraph: those that every paper needs, then the others."""
    analysis, origin = subject.analysis, subject.origin
    sentences = (
        *_compared(analysis),
        *_instances(analysis, origin),
        *_runs(analysis, origin),
        *_times(analysis, origin),
        *_differences(analysis),
        *_failures(analysis),
        *_tests(analysis),
        *_equivalence(analysis),
        *_measures(analysis),
        *_families(analysis),
        *_choices(analysis, origin),
        *belief_sentences(analysis),
        _software(origin),
    )
    return tuple(sorted(sentences, key=lambda sentence: sentence.is_detail))


def core(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return the sentences that every paper needs."""
    return [sentence for sentence in sentences if not sentence.is_detail]


def plain_paragraph(sentences: Sequence[Sentence]) -> str:
    """Return the paragraph as plain text, works cited by author and year."""
    citations = ("; ".join(reference(key).short for key in sentence.cites) for sentence in sentences)
    pairs = zip(sentences, citations, strict=True)
    return " ".join(f"{sentence.words} ({works})." if works else f"{sentence.words}." for sentence, works in pairs)


def cited(sentences: Sequence[Sentence]) -> tuple[Reference, ...]:
    """Return the works that are cited, in their order, each once."""
    return tuple(map(reference, dict.fromkeys(key for sentence in sentences for key in sentence.cites)))


# the sentences ----------------------------------------------------------------------------------------------------


DETAILS = {  # sentences that follow the core of the paragraph
    *(
        "none-failed",
        "left-out",
        "incomplete",
        "planned-tests",
        "detectable",
        "paired",
        "paired-not-used",
        "crossed",
        "nested",
    ),
    *("folds-corrected", "folds", "budget", "optimal", "greedy", "balanced", "shared", "limited", "times"),
    *("corrected", "delta", "published", "rates-variance", "rank-intervals"),
    *("stopped-corrected", "stopped-first-runs", "stopped-all-runs", "equivalence", "measures", "front", "described"),
    *("posteriors", "verdicts", "shared-verdicts", "sensitivity", "rankings"),
}


def _said(key: str, *cites: str, **values: Any) -> Sentence:
    """A sentence of methods.toml with its values; works that it cites in some reports only are `cites`."""
    words, _, works = constants("methods.toml")[key].partition(" [@")
    always = works.removesuffix("]").split("; @") if works else []
    return Sentence(words.format(**values), (*always, *cites), key in DETAILS)


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _compared(analysis: Analysis) -> Iterator[Sentence]:
    settings, pairs = analysis.settings, len(analysis.pairs)
    against = "pair by pair" if pairs == 1 else "all with all"
    if settings.reference is not None:
        against = f"{settings.reference} with each other algorithm"
    many, single = f"{analysis.instances} problem instances", f"one problem instance, {analysis.single}"
    yield _said(
        "compared",
        algorithms=len(analysis.algorithms),
        where=many if analysis.single is None else single,
        against=against,
        pairs=count(pairs, "comparison"),
        measure=analysis.measure,
        better=settings.better,
    )
    if left_out := len(analysis.excluded):
        yield _said("left-out", further=count(left_out, "further instance"), were=_were(left_out))
    if analysis.incomplete and analysis.course is None and analysis.looks is None:
        lacking = count(len(analysis.incomplete), "instance")
        yield _said("incomplete", lacking=lacking, instances=instances_text(analysis.comparisons))


def _instances(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    settings, planned = analysis.settings, None if origin is None else _planned(analysis, origin)
    if analysis.course is not None:
        return
    if planned is not None and origin is not None:
        question = origin.first.question
        yield planned
        yield _said("planned-tests", tests=_tests_and_correction(question), alpha=digits(question.alpha))
    if origin is not None:
        if (growth := origin.growth) is not None:
            yield _said("enlarged", times=growth.times, extent=growth.extent)
        if added := [name for name in origin.plan.algorithms if name not in origin.first.algorithms]:
            yield _said("joined", names=", ".join(added))
    if planned is None and analysis.looks is None and math.isfinite(analysis.detectable_effect):
        yield _said(
            "detectable",
            number="the fewest instances of a comparison" if analysis.incomplete else "this number of instances",
            tests=_tests_and_correction(settings),
            effect=analysis.detectable_effect,
            power=digits(settings.power),
        )


def _planned(analysis: Analysis, origin: StudyOrigin) -> Sentence | None:
    """The plan of the instances; None if they were not planned for an effect."""
    question, needed = origin.first.question, origin.first.needed
    if needed is None or question.effect is None:
        return None
    power = {"worst": "a smallest power", "best": "a largest power"}.get(
        str(question.target), f"a {question.target} power"
    )
    planned, own_power = len(origin.first.instances), origin.first.power
    falls_short = planned < needed and own_power is not None
    return _said(
        "planned-fewer" if falls_short else "planned",
        needed=needed if origin.looks is None or falls_short else f"At most {needed}",
        goal=f"a power of {digits(question.power)} in at least {count(question.target, 'test')}"
        if isinstance(question.target, int)
        else f"{power} of {digits(question.power)}",
        effect=digits(question.effect),
        planned=planned,
        power=digits(own_power or 0),
    )


def _tests_and_correction(settings: Settings | Question) -> str:
    test = paired_test(settings.test)
    correction = "Holm's correction" if test.family is None else "a step-down by resampling"
    return f"{test.plural}{SIDES[settings.alternative]} under {correction}"


def _runs(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    yield from _size(analysis, origin)
    settings, counts = analysis.settings, [runs for row in analysis.accuracy for runs in row.runs if runs]
    least, most, total = min(counts), max(counts), sum(counts)
    where = "on each instance it has" if analysis.incomplete else "on each instance"
    yield _said(
        "runs",
        number=count(least, "run") if least == most else f"{least} to {most} runs",
        where=where if analysis.single is None else "there",
        total=total,
        used="" if total == analysis.runs else f", {analysis.runs:,} of them with a value that is used",
    )
    if settings.paired is not None and settings.crossed is None:
        is_seed = settings.paired == "seed" and origin is not None
        all_had = " (run k of all algorithms on an instance)" if is_seed else ""
        yield _said(
            "paired" if settings.statistic == "mean" else "paired-not-used", paired=settings.paired, all_had=all_had
        )
    if settings.crossed is not None:
        yield _said("crossed", crossed=settings.crossed)
    if settings.nested is not None:
        yield _said("nested", nested=settings.nested)
    if settings.test_over_train is not None:
        yield _said("folds-corrected")
    elif any(warning.kind == "folds" for warning in analysis.warnings):
        yield _said("folds")
    if spent := [row for row in analysis.accuracy if row.at_budget]:
        short = sum(not row.guarded_error <= (settings.se or 0.0) for row in spent)
        missed = "" if short == len(spent) else f", on {short} of them before the accuracy was reached"
        yield _said("budget", spent=count(len(spent), "instance"), budget=settings.budget, missed=missed)


def _size(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    """Origin of the numbers of instances and runs."""
    if analysis.course is not None:
        yield from _course(analysis.course)
    elif origin is None:
        yield _said("not-known")
    elif origin.course is not None:
        yield from (*islice(_course(origin.course), 1), _said("ordinary-after-pilot"))
    elif origin.looks is not None and analysis.looks is None:
        yield _said("ordinary-despite-looks", when=", ".join(map(str, origin.looks.looks)))
        yield from _rule(origin.plan)
    elif origin.plan.question.cluster is not None and origin.plan.study_rule.get("rule") == "Detect":
        yield _said("cluster-pilot", **{name: origin.plan.study_rule[name] for name in ("start", "detect")})
    elif origin.plan.study_rule and analysis.looks is None:
        yield _said("not-at-its-end")
    else:
        yield from () if analysis.looks is None else look_methods(analysis)
        yield from _rule(origin.plan)


def _course(course: PilotReport) -> Iterator[Sentence]:
    """The internal pilot; the cited works are on tests with sample-size re-estimation."""
    first, *others = method_sentences(course)
    yield Sentence(first, ("stein1945", "wittes1990"))
    yield from (Sentence(other, is_detail=True) for other in others)


def look_methods(analysis: Analysis) -> Iterator[Sentence]:
    """Yield the sentences about the interim analyses."""
    for number, (words, cites) in enumerate(interim_method_sentences(interim_of(analysis))):
        first, *others = words.split(". ")
        yield Sentence(first, cites, is_detail=number > 0)
        yield from (Sentence(other, is_detail=True) for other in others)


def _rule(plan: PlanRecord) -> Iterator[Sentence]:
    """The recorded rule, as sentences."""
    rule = plan.rule
    if rule.get("rule") == "Fixed":
        yield _said("fixed", **rule)
        return
    if rule.get("rule") != "Accuracy":
        yield _said("other-rule", rule=rule.get("rule"))
        return
    is_papers = all(rule.get(name) == value for name, value in PAPERS_RULE.items())
    se = accuracy_text(rule["se"], Settings(**settings_of(plan)))
    yield _said("papers-rule" if is_papers else "accuracy", **(dict(rule) | {"se": se}))
    if not is_papers:
        bounds = () if rule["guard"] == "none" else ("clopper1934" if rule["statistic"] == "rate" else "smyth2004",)
        allocation = "shared" if rule["seeds"] == "shared" and rule["allocation"] == "optimal" else rule["allocation"]
        cost = "cost" if rule.get("costs") else "number"
        yield _said(allocation, *bounds, cost=cost, variances=_variances(rule), batch=rule["batch"])


PAPERS_RULE = {"allocation": "greedy", "guard": "none", "formula": "paper", "batch": 1}


def _variances(rule: Mapping[str, Any]) -> str:
    """The variances of the rule, with or without conservative bounds."""
    if rule["guard"] == "none":
        return "the sample variances themselves"
    bounds = CALIBRATIONS[rule["guard_edition"]]
    level = f"{bounds.level:g} per algorithm, {bounds.reference_level:g} for a reference"
    if rule["guard"] == "all":
        level = f"{bounds.together:g} over all algorithms together"
    if rule["statistic"] == "rate":
        return f"upper bounds of the variances (level {level}) from exact bounds of the rates"
    tails = " and allow for their kurtosis" if rule["statistic"] == "mean" else ""
    return f"upper bounds of the variances (level {level}) that share information between the algorithms{tails}"


TIMES = {"seconds": "seconds by the clock", "cpu-seconds": "seconds of processor time"}


def _times(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    """Kind and limits of values that are times."""
    if origin is None:
        return
    plan, policy, limits = origin.plan, analysis.settings.failures, _limits(origin.plan)
    if not plan.timed:
        yield from [_said("limited", limits=limits)] if limits else []
        return
    kinds = dict.fromkeys(TIMES[plan.fingerprint.algorithms[name]["value"]] for name in plan.timed)
    par = ""
    if isinstance(policy, Par):
        assert policy.cutoff is not None, "a plan's PAR has its cutoff"
        seconds = digits(policy.factor * policy.cutoff)
        par = f" (PAR{digits(policy.factor)}: runs without a value counted as {seconds} s)"
    yield _said(
        "times",
        values="The values" if len(plan.timed) == len(plan.algorithms) else f"The values of {', '.join(plan.timed)}",
        kinds=" and ".join(kinds),
        limited=f"; a run was ended after {limits}" if limits else "",
        par=par,
    )


def _limits(plan: PlanRecord) -> str:
    """Limits of the runs: one for all, or one for each algorithm."""

    def limit(limits: Limits) -> str:
        cpu, clock = (
            "" if seconds is None else f"{digits(seconds)} s {how}"
            for seconds, how in ((limits.cpu_timeout, "of processor time"), (limits.timeout, "by the clock"))
        )
        memory = "" if limits.memory is None else f"{in_bytes(limits.memory)} of memory"
        return " or ".join(filter(None, (cpu, clock, memory)))

    limits = {name: limit(plan.own_limits.get(name, Limits()).over(plan.limits)) for name in plan.algorithms}
    if len(set(limits.values())) == 1:
        return next(iter(limits.values()))
    return "; ".join(f"{limit or 'no limit'} ({name})" for name, limit in limits.items())


def _differences(analysis: Analysis) -> Iterator[Sentence]:
    settings = analysis.settings
    if settings.floor is not None:
        yield _said("floor", floor=digits(settings.floor))
    if settings.shift is not None:
        yield _said("shift", shift=digits(settings.shift))
    yield _observations(analysis)
    if settings.are_rates:
        yield _said("rates-variance")
    if any(math.isfinite(diagnosis.all_runs) for diagnosis in analysis.diagnoses):
        yield _said(f"stopped-{settings.estimate}")
    if settings.are_rates or analysis.single is not None:
        return
    if settings.formula == "corrected" and settings.difference != "simple" and (analysis.errors > 0).any():
        is_exact = settings.difference == "ratio" and settings.statistic not in ("mean", "trimmed-mean")
        yield from () if is_exact else [_said("corrected")]
    if settings.difference == "percent" and settings.reference is None:
        yield _said("published" if settings.formula == "paper" else "delta")


def _observations(analysis: Analysis) -> Sentence:
    """The paired observations: instances, or runs if they are the sample."""
    settings, is_single = analysis.settings, analysis.single is not None
    if settings.are_rates:
        return _said("rates-of-runs" if is_single else "rates")
    if is_single and settings.test != "t":
        mean = "the grand mean" if settings.reference is None else f"the mean of {settings.reference}"
        units = {"simple": "", "percent": f", as a share of {mean}", "ratio": " of the logarithms"}
        return _said("medians-of-runs", unit=units[settings.difference])
    base = "the grand mean over the algorithms" if settings.reference is None else f"the value of {settings.reference}"
    differences = {
        "simple": "their simple differences",
        "percent": f"their differences as a share of {base}",
        "ratio": "the logarithms of their ratios",
    }[settings.difference]
    return _said("of-runs" if is_single else "differences", statistic=settings.statistic, differences=differences)


def _failures(analysis: Analysis) -> Iterator[Sentence]:
    failed, policy = sum(sum(row.failures.values()) for row in analysis.algorithms), analysis.settings.failures
    if text := counted_as(analysis):
        par = f" (PAR{digits(policy.factor)})" if isinstance(policy, Par) else ""
        text = f"{count(failed, 'run')} failed; {text}" if failed else text[:1].upper() + text[1:]
        yield Sentence(text + par)
    elif not failed:
        yield _said("none-failed")
    if analysis.unsolved:
        instances = {name for names in analysis.unsolved.values() for name in names}
        pairs = count(len(analysis.unsolved), "pair")
        yield _said("unsolved", instances=count(len(instances), "instance"), pairs=pairs)
    if isinstance(policy, Drop):
        yield _said("succeeded", solved=solved(analysis))


def _tests(analysis: Analysis) -> Iterator[Sentence]:
    if analysis.unfinished:
        yield Sentence(not_finished(analysis).removesuffix("."))
        return
    settings, pairs, is_single = analysis.settings, len(analysis.pairs), analysis.single is not None
    is_fixed, steps = settings.is_fixed and not is_single, paired_test(settings.test).procedure
    test: PairedTest | RunTestWords = paired_test(settings.test)
    sample = over_clusters(analysis) or "over the instances"
    if is_single or is_fixed:
        in_pairs = is_single and settings.compares_runs_in_pairs
        test, sample = paired_test("t") if in_pairs else run_test(settings.run_test), "of the runs"
    yield _said(
        "tests",
        *(*test.cites, *steps.cites),
        hypotheses="The null hypothesis" if pairs == 1 else f"The {pairs} null hypotheses",
        null=test.null,
        were=_were(pairs),
        tests=test.plural + SIDES[settings.alternative],
        sample=sample,
        steps=steps.words,
        alpha=digits(settings.family_alpha),
    )
    if analysis.looks is None:
        level = digits(100 * (1 - settings.family_alpha))
        yield _said("simultaneous", level=level, joint=steps.joint)
        yield _said("rank-intervals", rank=steps.level)
    if is_fixed:
        yield _said("fixed-instances")
    else:
        yield from map(_said, ("effects-of-runs", "one-instance") if is_single else ("effects",))


SIDES = {"two-sided": " (two-sided)", "less": " (one-sided, less)", "greater": " (one-sided, greater)"}
CHOSEN = (  # settings whose choice after the results a reader must know
    *("reference", "difference", "statistic", "test", "alternative", "alpha", "better", "margin", "floor", "shift"),
    *("failures", "formula", "estimate", "effect", "power", "se", "guard"),
)


def _choices(analysis: Analysis, origin: StudyOrigin | None) -> Iterator[Sentence]:
    """Settings that differ from the plan."""
    if origin is None:
        return
    planned, chosen = Settings(**settings_of(origin.first)), analysis.settings
    if changed := [name for name in CHOSEN if getattr(planned, name) != getattr(chosen, name)]:
        texts = (f"{name} {_chosen(chosen, name)} (planned: {_chosen(planned, name)})" for name in changed)
        yield _said("chosen", were=_were(len(changed)), settings="; ".join(texts))


def _chosen(settings: Settings, name: str) -> str:
    if name == "failures":
        return "not said" if settings.failures is None else policy_words(settings.failures)
    value = settings.statistic_name if name == "statistic" else getattr(settings, name)
    return "none" if value is None else digits(value) if isinstance(value, float) else str(value)


def _equivalence(analysis: Analysis) -> Iterator[Sentence]:
    settings = analysis.settings
    if settings.margin is not None and not analysis.unfinished:
        apart = "independent of the tests of difference; per pair at most one of the two tests can err"
        yield _said(
            "equivalence",
            margin=margin_text(settings.margin, settings),
            holm=" Holm" if paired_test(settings.test).family is None else "",
            alpha=digits(settings.equivalence_alpha),
            relation="as were the tests of difference" if settings.equivalence_level == "shared" else apart,
        )


def _measures(analysis: Analysis) -> Iterator[Sentence]:
    if (joint := analysis.measures) is None:
        return
    yield _said("measures", meaning=joint.meaning, alpha=digits(joint.alpha))
    if joint.front:
        yield _said("front", sentence=joint.front_sentence)
    if described := [item.name for item in joint.measures if item.role == "descriptive"]:
        yield _said("described", names=listed(described, SEVERAL))


def _families(analysis: Analysis) -> Iterator[Sentence]:
    """Which comparisons were added when, and that each family has its own error rate."""
    for family in analysis.families:
        later = family.analysis
        yield _said(
            "family",
            number=family.number,
            date=family.planned[:10],
            names=listed(family.added, SEVERAL),
            others="all other algorithms" if later is None or later.settings.reference is None else "the reference",
            comparisons="" if later is None else f"{count(len(later.pairs), 'comparison')} on ",
            instances=count(family.instances, "instance"),
            alpha=digits(family.alpha),
        )
    if analysis.families:
        yield Sentence(families_sentence(analysis.families).removesuffix("."))


def _software(origin: StudyOrigin | None) -> Sentence:
    seed = "" if origin is None else f", seed {origin.plan.fingerprint.seed}"
    return _said("software", version=__version__, seed=seed)


WEIGHTS = {
    "equal": "with equal weights of the instances, so that credible intervals of the mean equal Student's t intervals",
    "precision": "with instances weighted by the precision of their differences",
}
NOISE = "; on a new instance the variation between instances was separated from the standard errors of the runs"


def belief_sentences(analysis: Analysis) -> Iterator[Sentence]:
    """Yield the sentences; none without a margin, as reports then have no probabilities."""
    if not analysis.weighs_a_margin:
        return
    bayes = analysis.bayes
    if any(comparison.posterior is not None for comparison in bayes.comparisons):
        assert bayes.margin is not None
        yield _said(
            "posteriors",
            level=digits(100 * bayes.level),
            margin=margin_text(bayes.margin, analysis.settings),
            weights=WEIGHTS[bayes.weights],
            noise=NOISE if bayes.errors_known else "",
        )
        yield _said("verdicts" if len(bayes.comparisons) < SHARED_FROM else "shared-verdicts", certain=CERTAIN)
        yield _said("sensitivity", draws=TEST_DRAWS)
    if bayes.ranking is not None:
        yield _said("rankings", draws=RANKING_DRAWS, effective=bayes.ranking.effective)
