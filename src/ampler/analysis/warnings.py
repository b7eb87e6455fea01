"""Warnings of an analysis, as values. Pure.

Each function checks for problems that can spoil a conclusion, and yields a warning for each one found.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

import numpy as np

from ampler.analysis.blocks import Blocks, Cells
from ampler.analysis.claim_checks import SURE, Robustness, skewed_beyond_chance
from ampler.analysis.compare import ALL, Comparison, instances_text, pair_text, share_text
from ampler.analysis.differences import Estimates, Observed
from ampler.analysis.exploration import OtherPolicy
from ampler.analysis.results import InstanceAccuracy
from ampler.analysis.units import accuracy_text
from ampler.core.arrays import Bools, Codes, Floats, Pair, Runs
from ampler.core.errors import AnalysisWarning
from ampler.core.failures import LATEST, Par, Penalty
from ampler.core.settings import Estimate, Settings, Test
from ampler.core.text import count, digits, listed, parameter, short_name_of
from ampler.stats.contrasts import Contrasts
from ampler.stats.descriptive import is_constant
from ampler.stats.paired import FEWEST, paired_test, present_columns
from ampler.stats.shape import farthest_difference, skewness
from ampler.stats.summaries import Mean, is_yes_or_no, summary_of
from ampler.stats.variance_bounds import pooled_kurtosis

FEW_GROUPS = 5  # minimum number of groups of nested runs for the error of a mean
NOTABLE = 0.25  # tolerated bias in standard errors: an error rate of 0.05 becomes at most 0.06
SURELY = 0.01  # level of the test of the first runs against all runs, over all pairs
TOO_SKEWED = 3.0  # skewness of the runs (exponential values: 2) above which the correction is incomplete
RARE = 5.0  # skewness of runs with rare outliers, which most cells have not drawn yet
SKEWED = 1.0  # runs: exponential values have 2, with which Welch's test errs in 12 % of the families
UNEVEN = 1.5  # ratio of runs between cells that indicates unplanned stopping
INSTEAD = (
    f"analyse the first runs alone ({parameter('estimate', 'first-runs')}), or run every algorithm equally often"
    " (runs = 30)"
)
NOISE_SHARE = 0.25  # share above which run noise limits the power
REMEDY = f"Rerun with {parameter('test', 'bootstrap-t')}."
FEWEST_FOR_OUTLIER = 5  # instances; one of four often has most of the variance by chance
MOST_OF_VARIANCE = 0.5
UNSTABLE = 0.5  # relative error above which ratios and logarithms are unreliable
STEADIER = {"geometric-mean": "geometric means", "median": "medians"}
FAR_PERCENT = 10.0  # 1000 % and more come from a denominator near zero
HEAVY = 6.0  # between normal values (3) and exponential ones (9): the bounds begin to fail
LARGE_EFFECT = 0.8  # Cohen's large effect: the study detects only obvious differences
CHANCE = 0.03  # expected number of equal rows by chance, below which copies are suspected
NEAR = 8  # neighbouring rows that show the number of possible values
FEW_RUNS = 10  # minimum length of a cell whose repetition is suspicious
SHOWN = 3
HARDLY = 0.05  # minimum share of the variance that pairing must remove
ENDED_SHOWN = UNSOLVED_SHOWN = 12  # share of instances from which they are named

RUN_IN_NAME = re.compile(
    r"[\s_\-./:,(\[]*(?:run|rep|repeat|repetition|replicate|replication|seed|trial|fold|execution)[\s_\-.:=#]*\d+\W*$",
    re.IGNORECASE,
)


def comparing_runs(estimates: Estimates, settings: Settings, *, is_fixed: bool) -> Iterator[AnalysisWarning]:
    """Scope of a comparison of runs, few groups, and adaptive stopping."""
    if not is_fixed:
        name = estimates.blocks.instances[0]
        yield AnalysisWarning(
            "one-instance", f"The conclusion holds for one instance only, {name}, as its runs were compared."
        )
    constant = int((estimates.blocks.variances == 0.0).all(axis=0).sum())
    if constant > 1 and settings.test == "wilcoxon":  # a test of means finds nothing
        yield AnalysisWarning(
            "constant",
            f"The runs of {constant} algorithms never vary: equal results are no sample.",
            "Check the results.",
        )
    fewest = int(estimates.blocks.counts[estimates.blocks.counts > 0].min())
    if settings.nested is not None and fewest < FEW_GROUPS:
        yield AnalysisWarning(
            "clusters",
            f"Results may be too optimistic: some algorithm has {fewest} groups of runs ({settings.nested}), of"
            f" which little can be learnt. Make {FEW_GROUPS} or more, each with fewer runs.",
        )
    ended = estimates.rule is not None and settings.estimate != "first-runs"
    if ended and settings.test == "t" and estimates.largest_skewness > SKEWED:  # Welch's test errs
        yield AnalysisWarning(
            "bias",
            "Results may be too optimistic: the number of runs depended on their results, which are skewed (skewness"
            f" {estimates.largest_skewness:.1f}).",
            f"Use {parameter('test', 'wilcoxon')}, or {INSTEAD}.",
        )
    yield from uneven_runs(estimates)


def failed_runs(runs: Runs, others: Sequence[OtherPolicy]) -> Iterator[AnalysisWarning]:
    """Failed runs, and whether the conclusion depends on their treatment."""
    failed = ~runs.ok
    if not failed.any():
        return
    totals, lost = (
        np.bincount(codes, minlength=len(runs.algorithms)) for codes in (runs.algorithm, runs.algorithm[failed])
    )
    worst_first = [k for k in np.argsort(-lost / totals, kind="stable") if lost[k]]
    shares = [f"{runs.algorithms[k]} {lost[k]} of {totals[k]}" for k in worst_first]
    message = f"{int(failed.sum()):,} of {len(runs):,} runs failed ({listed(shares, SHOWN)})."
    sentences = []
    for other in others:
        where = count(other.instances, "instance")
        if other.note:
            outcome = f"no comparison is possible: {other.note}"
        elif not other.changed:
            outcome = f"every verdict stays ({where})"
        else:
            changed = [pair for pair in other.changed if pair not in other.reversed]
            outcome = " and ".join(
                f"{count(len(pairs), 'verdict')} would {verb} ({listed(list(map(pair_text, pairs)), SHOWN)})"
                for verb, pairs in (("reverse", other.reversed), ("change", changed))
                if pairs
            )
            outcome += f", on {where}"
        sentences.append(f"With failed runs {other.failed_runs} {outcome}.")
    changes = any(other.changed or other.note for other in others)
    if any(other.changed for other in others):
        message += " Other ways to count them change verdicts."
    elif not changes:
        message += " However they count, every verdict stays."
    yield AnalysisWarning("failures", message, details=" ".join(sentences), holds=not changes)


def failures_pay(runs: Runs, settings: Settings) -> Iterator[AnalysisWarning]:
    """Values that are worse than the penalty of a failed run, or beyond the time limit."""
    policy, values = settings.failures, runs.value[runs.ok]
    match policy:
        case Par(_, float() | int() as cutoff):
            beyond = values > LATEST * cutoff
            text = f"took longer than the cutoff of {digits(cutoff)}"
            remedy = "Correct the cutoff, or count these runs as failed."
        case Penalty(value):
            beyond = values < value if settings.better == "higher" else values > value
            text = f"are worse than the penalty of {digits(value)}, so failing pays"
            remedy = "Use a penalty that is worse than all values."
        case _:
            return
    if not runs.ok.all() and beyond.any():
        message = f"{int(beyond.sum()):,} of {len(values):,} runs with a value {text}."
        yield AnalysisWarning("failures", message, remedy)


def both_failed(observed: Observed) -> Iterator[AnalysisWarning]:
    """Instances on which both algorithms of a pair always failed: the policy makes them equal."""
    instances, both = observed.runs.instances, neither_solved(observed.runs, observed.contrasts)
    if not both.any():
        return
    numbers, short = both.sum(axis=0), short_name_of(instances)
    worst_first = [k for k in np.argsort(-numbers, kind="stable") if numbers[k]]
    pairs = [f"{pair_text(observed.pairs[k])} {numbers[k]}" for k in worst_first]
    names = [short[instances[i]] for i in np.flatnonzero(both.any(axis=1))]
    yield AnalysisWarning(
        "censored",
        f"On {count(len(names), 'instance')} neither algorithm of a pair gave a value. There the difference depends on"
        " the treatment of failed runs only.",
        details=f"Instances: {listed(names, UNSOLVED_SHOWN)}. Pairs: {listed(pairs, SHOWN)}.",
    )


def neither_solved(runs: Runs, contrasts: Contrasts) -> Bools:
    """Return the instances (rows) on which all runs of both algorithms of a pair (columns) failed."""
    shape = len(runs.instances), len(runs.algorithms)
    tried, solved = np.zeros(shape, bool), np.zeros(shape, bool)
    tried[runs.instance, runs.algorithm] = True
    solved[runs.instance[runs.ok], runs.algorithm[runs.ok]] = True
    unsolved = tried & ~solved
    return unsolved[:, contrasts.first] & unsolved[:, contrasts.second]


def unmatched_runs(observed: Observed, settings: Settings) -> Iterator[AnalysisWarning]:
    """Runs without a partner in every algorithm, which a paired comparison cannot use."""
    used, there = int(observed.estimates.cells.counts.sum()), int(observed.runs.ok.sum())
    if observed.runs.shared is not None and used < there:
        yield AnalysisWarning(
            "unmatched",
            f"{used:,} of {there:,} runs with a value are used. The rest have no partner by {settings.paired}.",
        )


def paired_gain(gain: tuple[float, Floats], settings: Settings, blocks: Blocks) -> Iterator[AnalysisWarning]:
    """Effect of pairing on the variance of the differences on an instance."""
    saved, correlations = gain
    by = f"{settings.paired}s" if settings.paired == "seed" else f"values of {settings.paired}"
    correlation = float(np.nanmean(correlations)) if np.isfinite(correlations).any() else 0.0
    numbers = {"saved": saved, "correlation": correlation}
    if math.isnan(saved):
        if blocks.covariances is not None:  # nothing varies, or there is one run of each
            return
        numbers = {}
        text = (
            f"Shared {by} are not used by the {settings.statistic_name}: its standard errors take runs for independent,"
            " and are too large if runs are positively correlated."
        )
    elif abs(saved) < HARDLY:
        text = f"Shared {by} had hardly any effect here (correlation {correlation:.2f})."
    else:
        change = "reduced" if saved > 0 else "increased"
        text = (
            f"Shared {by} {change} the variance of the differences by {100 * abs(saved):.0f} %"
            f" (correlation {correlation:.2f})."
        )
    yield AnalysisWarning("pairing", text, numbers=numbers)


def incomplete_blocks(
    observed: Observed, incomplete: Mapping[str, str], comparisons: Sequence[Comparison]
) -> Iterator[AnalysisWarning]:
    """Instances with a missing algorithm: excluded, or used by the complete pairs."""
    short, used = short_name_of(observed.runs.instances), len(observed.estimates.blocks.instances)
    lacking, partly = (
        listed([f"{short.get(name, name)} ({why})" for name, why in some.items()], SHOWN)
        for some in (observed.excluded, incomplete)
    )
    sentences, details = [], ""
    if lacking:
        total = used + len(observed.excluded)
        sentences.append(f"{used} of {total} instances are used; without values of both algorithms: {lacking}.")
    if partly:
        by_number: dict[int, list[str]] = defaultdict(list)  # the pairs that have this many instances
        for comparison in comparisons:
            by_number[comparison.instances].append(pair_text(comparison.pair))
        numbers = [
            f"{number} for {names[0] if len(names) == 1 else f'{len(names)} pairs'}"
            for number, names in sorted(by_number.items())
        ]
        full = used - len(incomplete)
        together = f"use the {full} complete ones" if full >= FEWEST else "need complete ones and are left out"
        sentences.append(f"{len(incomplete)} of {used} instances are incomplete: {partly}.")
        details = (
            f"Each pair is tested on the instances that both have ({listed(numbers, SHOWN)}). Ranks and omnibus tests"
            f" {together}."
        )
    if sentences:
        yield AnalysisWarning("incomplete", " ".join(sentences), details=details)


def inaccurate(rows: Sequence[InstanceAccuracy], blocks: Blocks, settings: Settings) -> Iterator[AnalysisWarning]:
    """Instances that reached the budget, miss the target standard error, or have unknown precision."""
    short, se = short_name_of(blocks.instances), settings.se
    if at_budget := [row for row in rows if row.at_budget]:
        ended = [short[row.instance] for row in at_budget]
        reached = [short[row.instance] for row in at_budget if row.guarded_error <= (se or 0.0)]
        also = f" The target standard error was reached there on {listed(reached, SHOWN)}." if reached else ""
        message = f"The budget of {settings.budget:,} runs was reached on {count(len(ended), 'instance')}."
        yield AnalysisWarning("budget", message, details=f"Instances: {listed(ended, ENDED_SHOWN)}.{also}")
    missed = [short[row.instance] for row in rows if row.accurate is False]
    guarded = 0 if se is None else sum(row.guarded_error > se for row in rows)
    if se is not None and (missed or guarded):
        where = f" Instances: {listed(missed, SHOWN)}." if missed else ""
        calibrated = blocks.kurtosis is not None or blocks.degrees is not None or blocks.are_rates
        approximate = "" if calibrated else " (approximate for this statistic)"
        verb = "may miss" if not missed else "misses" if len(missed) == 1 else "miss"
        yield AnalysisWarning(
            "accuracy",
            f"{len(missed) or guarded} of {len(rows)} instances {verb} the target standard error of"
            f" {accuracy_text(se, settings)}.",
            details=f"By the conservative variance bound{approximate}, {count(guarded, 'instance')} miss it.{where}",
        )
    if se is not None and blocks.kurtosis is not None:
        typical = float(np.median(pooled_kurtosis(blocks.counts.astype(float), blocks.variances, blocks.kurtosis)))
        if typical > HEAVY:  # even conservative standard errors may be too small
            yield AnalysisWarning(
                "heavy-tails",
                f"Standard errors may be too small: the runs have heavy tails (kurtosis {typical:.1f}).",
            )
    unknown = int((np.isnan(blocks.variances) & blocks.present).any(axis=1).sum())
    if unknown:
        where = "every instance" if unknown == len(rows) else f"{unknown} of {len(rows)} instances"
        yield AnalysisWarning(
            "accuracy-unknown",
            f"The precision of differences is unknown: on {where} some algorithm has a single value.",
        )


def run_noise(shares: Floats, pairs: Sequence[Pair], claimed: Bools) -> Iterator[AnalysisWarning]:
    """Run noise above a quarter of the variance, which costs power where a test is not significant."""
    loud = np.flatnonzero((shares > NOISE_SHARE) & ~claimed)
    if len(loud):
        worst = int(loud[np.argmax(shares[loud])])
        yield AnalysisWarning(
            "run-noise",
            f"Run noise is over 25 % of the variance in {share_text(loud, pairs)}.",
            "More runs per instance would help.",
            details=f"Most: {pair_text(pairs[worst])}, {100 * shares[worst]:,.0f} %.",
        )


def suspicious_values(cells: Cells, blocks: Blocks, settings: Settings) -> Iterator[AnalysisWarning]:
    """Binary values, runs that count as instances, and copies of instances or of runs."""
    if settings.statistic == "mean" and is_yes_or_no(cells.values).all():
        points = "" if settings.difference == "simple" else f", with {parameter('difference', 'simple')}"
        yield AnalysisWarning(
            "rates",
            "All values are 0 or 1: the mean takes equal values for certainty.",
            f"Use {parameter('statistic', 'rate')}{points}.",
        )
    instances, short = blocks.instances, short_name_of(blocks.instances)
    stems = Counter(RUN_IN_NAME.sub("", name) for name in instances if RUN_IN_NAME.search(name))
    repeated = {stem: number for stem, number in stems.items() if number > 1}
    if repeated:
        total, example = sum(repeated.values()), next(iter(repeated))
        yield AnalysisWarning(
            "pseudoreplication",
            f"Results may be too optimistic: by their names, {total} instances are repeated runs of"
            f" {count(len(repeated), 'problem')} (e.g. {example!r}), so the sample size is"
            f" {len(instances) - total + len(repeated)}, not {len(instances)}.",
            "Use the problem as instance.",
        )
    groups: dict[bytes, list[int]] = defaultdict(list)
    for i, (row, size) in enumerate(zip(blocks.statistics, blocks.counts, strict=True)):
        groups[row.tobytes() + size.tobytes()].append(i)
    same = [
        " = ".join(short[instances[i]] for i in group)
        for group in groups.values()
        if len(group) > 1 and not settings.are_rates and _chance_of_equal_rows(blocks.statistics, group) <= CHANCE
    ]
    if same:
        yield AnalysisWarning(
            "duplicates",
            f"Copies count twice: some instances have equal results for all algorithms ({listed(same, SHOWN)}).",
            "Remove copies.",
        )
    copied = []  # cells whose second half repeats the first: shared seeds, or copied rows
    for i, k in np.argwhere(cells.counts >= FEW_RUNS):
        first, second = np.split(cells.of(int(i), int(k))[: cells.counts[i, k] // 2 * 2], 2)
        if np.array_equal(first, second) and len(np.unique(cells.of(int(i), int(k)))) > 2:
            copied.append(f"{cells.algorithms[k]} on {short[instances[i]]}")
    if copied:
        yield AnalysisWarning(
            "repeated-runs",
            f"Runs may be copies: the second half of the runs repeats the first, first for {copied[0]}.",
            "Check for copied rows or shared seeds.",
            details=f"Affected: {count(len(copied), 'cell')} (an algorithm on an instance).",
        )


def hardly_varying(comparisons: Sequence[Comparison], differences: Floats, *, test: Test) -> Iterator[AnalysisWarning]:
    """Pairs whose difference is the same on every instance, or nearly so where a test resamples."""
    pairs, columns = [comparison.pair for comparison in comparisons], present_columns(differences)
    equal = np.array([len(column) >= FEWEST and is_constant(column) for column in columns])
    if equal.any():
        worst = int(np.argmax(equal))
        what = "the same number" if columns[worst][0] else "zero"
        means = paired_test(test).estimand.name == "mean"
        impossible = f"No test of means is possible for {share_text(np.flatnonzero(equal), pairs)}"
        yield AnalysisWarning(
            "constant",
            f"{impossible if means else 'The results may be copies'}: all instances have the same difference"
            f" ({pair_text(pairs[worst])}: {what}).",
            f"Check the results, or use {parameter('test', 'sign')}." if means else "Check the results.",
        )
    if paired_test(test).when_skewed != "stays sound" or paired_test(test).family is None:
        return
    endless = [comparison.joint_interval == ALL and comparison.instances >= FEWEST for comparison in comparisons]
    few = np.flatnonzero(endless & ~equal)
    if len(few):
        yield AnalysisWarning(
            "constant",
            f"Resampling cannot judge {share_text(few, pairs)}: nearly all differences are the same, or too few"
            f" ({pair_text(pairs[int(few[0])])}).",
            f"Use {parameter('test', 'sign')}.",
        )


def skewed(
    comparisons: Sequence[Comparison], differences: Floats, robust: Robustness | None, settings: Settings
) -> Iterator[AnalysisWarning]:
    """Skewness that makes a test of means too optimistic, or changes the hypothesis of Wilcoxon's test.

    It rests on what the remedy finds: claims that the bootstrap-t test does not confirm, or hardly, and the coverage of
    the intervals in resamples.
    """
    test, pairs = paired_test(settings.test), [comparison.pair for comparison in comparisons]
    strong = skewed_beyond_chance(differences)
    if test.when_skewed == "tests something else":
        prefix, remedy = f"the {test.words} is about the {test.estimate_of}, not about the mean", REMEDY
    elif robust is None:
        return
    elif robust.fragile.any():
        claims = [item.rejected for item in comparisons]
        stay = sum(item and "bootstrap-t" in tests for item, tests in zip(claims, robust.agree, strict=True))
        several = f"{stay} of {sum(claims)} claims stay"
        outcome = several if sum(claims) > 1 else f"the claim {'stays' if stay else 'does not stay'}"
        strong = robust.fragile | robust.skewed
        prefix = "Results may be too optimistic"
        remedy = f"With {parameter('test', 'bootstrap-t')}, {outcome}."
    elif robust.are_optimistic(settings.family_alpha):
        strong = robust.skewed
        prefix = f"Simultaneous intervals may be too narrow (coverage about {100 * robust.coverage:.0f} %)"
        remedy = f"Use {parameter('test', 'bootstrap-t')}."
    else:
        return
    if not strong.any():
        return
    where, worst = _where_skewed(strong, pairs, np.array([skewness(column) for column in present_columns(differences)]))
    message = f"{where}: {prefix}." if robust is None else f"{prefix}: {where[:1].lower()}{where[1:]}."
    yield AnalysisWarning("skewness", message, remedy, worst)


def disputed(comparisons: Sequence[Comparison], robust: Robustness | None) -> Iterator[AnalysisWarning]:
    """Claims of differences with heavy tails or gaps that depend on the test."""
    if robust is None:
        return
    places = np.flatnonzero(robust.disputed & np.array([item.claimed for item in comparisons], dtype=bool))
    if len(places):
        pairs, first = [item.pair for item in comparisons], int(places[0])
        yield AnalysisWarning(
            "disputed",
            f"The test decides: the differences of {share_text(places, pairs)} are not normal, and other tests do not"
            " find them.",
            f"Compare with {parameter('test', 'wilcoxon')}, which is about the typical instance, not the mean.",
            f"First: {pair_text(pairs[first])}, {robust.agreement(first)}.",
        )


def _where_skewed(strong: Bools, pairs: Sequence[Pair], skewness: Floats) -> tuple[str, str]:
    """Text about the skewed differences, with the most skewed ones."""
    places = np.flatnonzero(strong)
    worst = int(places[np.argmax(np.abs(skewness[places]))])
    if len(pairs) == 1:
        return f"The differences are skewed (skewness {skewness[worst]:.1f})", ""
    most = f"Most skewed: {pair_text(pairs[worst])}, skewness {skewness[worst]:.1f}."
    return f"The differences of {share_text(places, pairs)} are skewed", most


def dominated(
    differences: Floats, blocks: Blocks, pairs: Sequence[Pair], settings: Settings
) -> Iterator[AnalysisWarning]:
    """Pairs with one instance that has most of the variance, and is too far from the others for chance."""
    if paired_test(settings.test).estimand.name != "mean" or settings.are_rates:
        return
    result = [
        (k, farthest_difference(column))
        for k, column in enumerate(present_columns(differences))
        if len(column) >= FEWEST_FOR_OUTLIER
    ]
    result = [(k, far) for k, far in result if far.share > MOST_OF_VARIANCE and far.p_value * len(pairs) < SURE]
    if not result:
        return
    k, most = max(result, key=lambda item: item[1].share)
    name = short_name_of(blocks.instances)[blocks.instances[np.flatnonzero(~np.isnan(differences[:, k]))[most.index]]]
    positive = settings.difference != "ratio" and bool(np.nanmin(blocks.statistics) > 0)
    ratios = f"ratios ({parameter('difference', 'ratio')}) or " if positive else ""
    yield AnalysisWarning(
        "outlier",
        f"One instance may hide differences: in {share_text(result, pairs)} it has more than half of the variance.",
        f"Use {ratios}{parameter('test', 'wilcoxon')}.",
        f"Most: {pair_text(pairs[k])}, {name}, {100 * most.share:.0f} %.",
    )


def near_zero(observed: Observed, differences: Floats, settings: Settings) -> Iterator[AnalysisWarning]:
    """Statistics too close to zero, or too imprecise, for ratios or logarithms."""
    blocks, contrasts = observed.estimates.blocks, observed.contrasts
    if contrasts.difference == "simple" or (contrasts.difference == "ratio" and blocks.exact_logs):
        return
    errors = blocks.in_logs(contrasts).relative_errors()
    far: Bools = np.zeros(len(errors), dtype=np.bool_)
    if contrasts.difference == "percent":
        far = np.asarray((np.abs(differences) > FAR_PERCENT).any(axis=1))
        errors = errors if contrasts.reference is None else errors[:, [contrasts.reference]]
    short = short_name_of(blocks.instances)
    names = [short[blocks.instances[i]] for i in np.flatnonzero(far | (errors > UNSTABLE).any(axis=1))]
    if not names:
        return
    steadier = [wording for name, wording in STEADIER.items() if name != settings.statistic_name]
    way_out = [f"compare {' or '.join(steadier)} ({parameter('statistic')})"]
    if settings.floor is None:
        way_out.insert(0, f"raise small values to a floor ({parameter('floor')})")
    what = "a ratio" if contrasts.difference == "ratio" else "a percent difference"
    yield AnalysisWarning(
        "denominator",
        f"On {count(len(names), 'instance')} {what} takes a very uncertain value"
        f"{' or one near zero' if far.any() else ''}, which can dominate the mean.",
        f"Make more runs, {' or '.join(way_out)}.",
        f"Instances: {listed(names, SHOWN)}.",
    )


def underpowered(
    comparisons: Sequence[Comparison], *, detectable: float, effect: float | None, reached: float, power: float
) -> Iterator[AnalysisWarning]:
    """Too few instances for the planned effect, or for any but large ones."""
    fewest = min(comparisons, key=lambda item: item.sample_size if item.sample_size >= FEWEST else math.inf)
    where = f" ({pair_text(fewest.pair)})" if len({item.sample_size for item in comparisons}) > 1 else ""
    size, text = f"With {fewest.sample_size} {'instances' if fewest.cluster is None else 'clusters'}{where}", ""
    if effect is not None:
        text = "" if reached >= power else f"power for d = {effect:g} is {100 * reached:.0f} %, not {100 * power:g} %."
    elif not math.isfinite(detectable):
        text = "no difference could be significant."
    elif detectable > LARGE_EFFECT:
        text = (
            f"power is {100 * power:g} % only for large effects (d ≥ {detectable:.2f}). Smaller differences may exist."
        )
    if text:
        yield AnalysisWarning("power", f"{size}, {text}")


def unreachable(comparisons: Sequence[Comparison]) -> Iterator[AnalysisWarning]:
    """Intervals that cannot reach their level with so few instances (Wilcoxon)."""
    if short := [comparison for comparison in comparisons if comparison.level < 1 - comparison.alpha]:
        yield AnalysisWarning(
            "level",
            f"With {instances_text(short)} {len(short)} of {len(comparisons)} intervals cannot reach their level: their"
            f" level is {100 * min(item.level for item in short):.1f} % or more.",
        )


def _chance_of_equal_rows(statistics: Floats, group: Sequence[int]) -> float:
    """Expected number of equal rows by chance, from the three most informative values.

    In each column the nearest other values tell how many numbers the value could have been; a further column is seen
    among the rows that are near in the one before, as values of one instance go together.
    """
    statistics = statistics / 4.0  # shares have no unit, and distances then stay within the doubles
    row, others = statistics[group[0]], np.delete(statistics, group, axis=0)
    if not np.nanmin(row) < np.nanmax(row) or len(others) < 2:
        return math.inf
    steps = [_step(column) for column in statistics.T]
    pairs = len(statistics) ** 2 / 2
    result = [_share_at(others[:, k], row[k], step) for k, step in enumerate(steps)]
    rarest = sorted(range(len(row)), key=lambda k: result[k][0])[:NEAR]
    conditional = {
        (j, k): 1.0 if row[j] == row[k] else _share_at(others[result[j][1], k], row[k], steps[k])[0]
        for j, k in permutations(rarest, 2)
    }
    chains = permutations(rarest, min(3, len(rarest)))
    return pairs * min(
        result[chain[0]][0] * math.prod(conditional[link] for link in pairwise(chain)) for chain in chains
    )


def _step(column: Floats) -> float:
    """The distance between neighbouring values that a column can have: where they are rounded, the rounding."""
    finite = column[np.isfinite(column)]
    unit = np.abs(finite).max(initial=0.0) * 1e-12
    gaps = np.diff(np.unique(finite))
    gaps = gaps[gaps > unit]
    return float(np.quantile(gaps, 0.1)) if len(gaps) else math.inf


def _share_at(values: Floats, at: float, step: float) -> tuple[float, Codes]:
    """The probability of this value by chance, and the indices of nearby values."""
    distance = np.abs(values - at)
    near = np.argsort(distance, kind="stable")[: max(2, min(NEAR, len(values) // 2))]
    reach = max(float(distance[near].max()), step / 2)
    share = step / (2 * reach) if reach > 0 else 1.0  # half of the smallest number is 0
    return min(1.0, len(near) / len(values) * share), near


# possible adaptive stopping -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """Mean difference of each pair by each estimator, and their distances in standard errors."""

    all_runs: Floats
    corrected: Floats
    first_runs: Floats
    moved: Floats  # all runs less corrected, in standard errors of the mean difference
    at_odds: Floats  # the estimate used less the first runs, in standard errors of this gap


def shift_between(by: Mapping[Estimate, Floats], used: Estimate) -> Shift:
    """Return the distances between the estimators; instances in rows, pairs in columns."""
    (all_runs, _), (corrected, error), (first_runs, _) = (
        _means_and_errors(by[kind]) for kind in ("all-runs", "corrected", "first-runs")
    )
    gap, gap_error = _means_and_errors(by[used] - by["first-runs"])
    moved, at_odds = (  # 0 where neither is anything but rounding
        np.divide(value, own, out=np.zeros_like(value), where=own > 0)
        for value, own in ((all_runs - corrected, error), (gap, gap_error))
    )
    return Shift(all_runs, corrected, first_runs, moved, at_odds)


def _means_and_errors(differences: Floats) -> tuple[Floats, Floats]:
    """The mean of each pair over its instances (NaN without any), and its error (0 for a single one)."""
    columns = present_columns(differences)
    means = np.array([column.mean() if len(column) else np.nan for column in columns])
    errors = [column.std(ddof=1) / np.sqrt(len(column)) if len(column) > 1 else 0.0 for column in columns]
    return means, np.array(errors)


def biased_by_stopping(
    shift: Shift | None, estimates: Estimates, pairs: Sequence[Pair], settings: Settings, *, failed: bool
) -> Iterator[AnalysisWarning]:
    """Describe the effect of stopping on the estimates, and whether the correction suffices."""
    from scipy.special import stdtrit

    used, blocks = settings.estimate, estimates.blocks
    if shift is None or estimates.rule is None or used == "first-runs":
        return
    ended, remedy = "The number of runs depended on their results", f"{INSTEAD[:1].upper()}{INSTEAD[1:]}."
    limit = -float(stdtrit(len(blocks.instances) - 1, SURELY / (2 * len(pairs))))
    odd, moved = np.flatnonzero(np.abs(shift.at_odds) > limit), np.flatnonzero(np.abs(shift.moved) >= NOTABLE)
    if len(odd):
        worst = int(odd[np.argmax(np.abs(shift.at_odds[odd]))])
        value, how = (shift.corrected, ", corrected") if used == "corrected" else (shift.all_runs, "")
        yield AnalysisWarning(
            "biased",
            f"{ended}, which biased {share_text(odd, pairs)}. Do not report these results.",
            remedy,
            f"Most: {pair_text(pairs[worst])}, {digits(shift.first_runs[worst], 2)} by the first"
            f" {estimates.rule.start} runs and {digits(value[worst], 2)} by all runs{how}"
            f" ({abs(shift.at_odds[worst]):.1f} standard errors apart).",
        )
    elif estimates.largest_skewness > (TOO_SKEWED if len(moved) else RARE):
        worst = int(np.argmax(np.abs(estimates.skewness)))
        yield AnalysisWarning(
            "biased",
            f"Do not report these results: {ended[:1].lower()}{ended[1:]}, and the values of {blocks.algorithms[worst]}"
            f" are too skewed for a correction (skewness {digits(float(estimates.skewness[worst]), 2)}).",
            remedy,
        )
    elif len(moved):
        worst, is_corrected = int(moved[np.argmax(np.abs(shift.moved[moved]))]), used == "corrected"
        yield AnalysisWarning(
            "bias",
            f"{ended}, which biased {share_text(moved, pairs)}; the estimates are"
            f" {'corrected' if is_corrected else 'not corrected'}.",
            "" if is_corrected else f"Omit {parameter('estimate', 'all-runs')} to correct them.",
            f"Most: {pair_text(pairs[worst])}, by {digits(shift.all_runs[worst] - shift.corrected[worst], 2)} or"
            f" {abs(shift.moved[worst]):.1f} standard errors.",
            holds=is_corrected,
        )
    # an adaptive rule may stop before rare large values occur
    if failed and isinstance(settings.failures, Penalty | Par) and isinstance(summary_of(settings.statistic), Mean):
        yield AnalysisWarning(
            "biased",
            "Do not report these results: failed runs count as a penalty, and the number of runs depended on the"
            " results. An algorithm with rare failures seems better than it is.",
            remedy,
        )


def uneven_runs(estimates: Estimates) -> Iterator[AnalysisWarning]:
    """State that the user must specify whether sampling was adaptive."""
    counts, spent = estimates.cells.counts, estimates.cells.spent
    least, most = int(counts[counts > 0].min()), int(counts.max())
    if estimates.rule is None and least > 1 and most >= UNEVEN * least and not (spent > counts).any():
        yield AnalysisWarning(
            "bias",
            f"Means are biased if results decided when runs stopped ({least} to {most} runs per instance).",
            f"Then add {parameter('se', 'TARGET')} {parameter('start', 'FIRST_RUNS')}.",
        )
