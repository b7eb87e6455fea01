"""What a reader of the results must know: warnings as values. Pure.

Each function looks at one thing that can spoil a conclusion; it returns a caution, or None if there is nothing to say.
`ranked` puts cautions in the order of what they could change, which their kind says.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, permutations

import numpy as np

from ampler.analysis.blocks import Blocks, Cells
from ampler.analysis.compare import Comparison
from ampler.analysis.exploration import OtherPolicy
from ampler.analysis.robustness import SURE, Robustness, skewed_beyond_chance
from ampler.analysis.words import instances_in_words
from ampler.core.arrays import Bools, Codes, Floats, Pair
from ampler.core.choices import Test
from ampler.core.names import known_as
from ampler.core.runs import Runs
from ampler.core.settings import AnalysisSettings
from ampler.core.spoken import parameter
from ampler.core.values import Caution, CautionKind
from ampler.core.wording import count, listed
from ampler.stats.contrasts import Contrasts
from ampler.stats.guard import pooled_kurtosis
from ampler.stats.location import is_constant
from ampler.stats.paired import FEWEST, paired_test, present_columns
from ampler.stats.rates import is_yes_or_no
from ampler.stats.shape import farthest_difference

NOISE_SHARE = 0.25  # above this the run noise, not the instances, limits what can be found
REMEDY = "the bootstrap-t test keeps close to its level (test bootstrap-t)"
FEWEST_FOR_OUTLIER = 5  # instances; one of four often has most of the variance by chance
MOST_OF_VARIANCE = 0.5
UNSTABLE = 0.5  # a statistic known no better than this share of itself makes its ratios and logarithms unreliable
STEADIER = {"geometric-mean": "geometric means", "median": "medians"}
FAR_PERCENT = 10.0  # 1000 % and more come from a denominator near zero
HEAVY = 6.0  # between normal values (3) and exponential ones (9), where the guard begins to lose
LARGE_EFFECT = 0.8  # Cohen's word for large: a study blind below it finds only the obvious
CHANCE = 0.03  # pairs of equal rows that chance may be expected to make before copies are suspected
NEAR = 8  # rows that tell how many values are possible near another
FEW_RUNS = 10  # a cell must be this long before its repetition is taken for more than chance
SHOWN = 3
ENDED_SHOWN = UNSOLVED_SHOWN = 12  # of instances that must be named

REVERSES, WIDENS, INFORMS = "could reverse a verdict", "widens intervals", "good to know"
GRAVITY: Mapping[str, frozenset[CautionKind]] = {  # what a caution of each kind could change, the gravest first
    REVERSES: frozenset(
        {
            *("looked", "unplanned", "biased", "growth", "course", "unfinished", "part", "one-instance"),
            *("pseudoreplication", "duplicates", "repeated-runs", "failures", "censored", "bias", "skewness"),
            *("outlier", "denominator", "constant", "direction", "incomplete", "code", "drift", "busy"),
        }
    ),
    WIDENS: frozenset({"run-noise", "power", "level", "accuracy", "budget", "heavy-tails", "unmatched"}),
    INFORMS: frozenset({"accuracy-unknown", "rates", "table", "columns", "folds", "unused", "plan"}),
}

RUN_IN_NAME = re.compile(
    r"[\s_\-./:,(\[]*(?:run|rep|repeat|repetition|replicate|replication|seed|trial|fold|execution)[\s_\-.:=#]*\d+\W*$",
    re.IGNORECASE,
)


def gravity(kind: CautionKind) -> str:
    """Return what a caution of this kind could change.

    >>> gravity("skewness"), gravity("run-noise")
    ('could reverse a verdict', 'widens intervals')
    """
    return next((name for name, kinds in GRAVITY.items() if kind in kinds), REVERSES)


def ranked(warnings: Sequence[Caution]) -> tuple[Caution, ...]:
    """Return the cautions by what they could change, the gravest first; those of one rank stay in their order."""
    ranks = list(GRAVITY)
    return tuple(sorted(warnings, key=lambda each: ranks.index(gravity(each.kind))))


def failed_runs(runs: Runs, others: Sequence[OtherPolicy]) -> Caution | None:
    """Runs that gave no value, and whether the conclusion depends on what they count as."""
    failed = ~runs.ok
    if not failed.any():
        return None
    of_each = np.bincount(runs.algorithm, minlength=len(runs.algorithms))
    lost = np.bincount(runs.algorithm[failed], minlength=len(runs.algorithms))
    worst_first = [k for k in np.argsort(-lost / of_each, kind="stable") if lost[k]]
    shares = [f"{runs.algorithms[k]} {lost[k]} of {of_each[k]}" for k in worst_first]
    sentences = [
        f"{int(failed.sum())} of {len(runs)} runs failed ({listed(shares, SHOWN)}).",
        *map(_if_counted, others),
    ]
    return Caution("failures", " ".join(sentences))


def _if_counted(other: OtherPolicy) -> str:
    return f"With failed runs {other.failed_runs} {_consequence(other)}."


def _consequence(other: OtherPolicy) -> str:
    if other.note:
        return f"nothing can be said: {other.note}"
    if not other.changed:
        return f"every decision stays the same ({count(other.instances, 'instance')})"
    others = [pair for pair in other.changed if pair not in other.reversed]
    kinds = (("reverse", other.reversed), ("change", others))
    found = [f"{count(len(some), 'decision')} would {verb} ({_pairs(some)})" for verb, some in kinds if some]
    return f"{' and '.join(found)}, on {count(other.instances, 'instance')}"


def _pairs(pairs: Sequence[Pair]) -> str:
    return listed([_pair(pair) for pair in pairs], SHOWN)


def both_failed(runs: Runs, contrasts: Contrasts, pairs: Sequence[Pair]) -> Caution | None:
    """Instances on which neither algorithm of a pair ever gave a value: what failures count as makes them equal."""
    both = neither_solved(runs, contrasts)
    if not both.any():
        return None
    numbers = both.sum(axis=0)
    of_pairs = [f"{_pair(pairs[k])} {numbers[k]}" for k in np.argsort(-numbers, kind="stable") if numbers[k]]
    short = known_as(runs.instances)
    names = [short[runs.instances[i]] for i in np.flatnonzero(both.any(axis=1))]
    return Caution(
        "censored",
        f"On {count(len(names), 'instance')} ({listed(names, UNSOLVED_SHOWN)}) neither algorithm of a pair gave a value"
        f" ({listed(of_pairs, SHOWN)}): there the difference is what failed runs count as, not what was measured.",
    )


def neither_solved(runs: Runs, contrasts: Contrasts) -> Bools:
    """Return on which instances (rows) both algorithms of a pair (columns) were run and never gave a value."""
    shape = len(runs.instances), len(runs.algorithms)
    tried, solved = np.zeros(shape, bool), np.zeros(shape, bool)
    tried[runs.instance, runs.algorithm] = True
    solved[runs.instance[runs.ok], runs.algorithm[runs.ok]] = True
    unsolved = tried & ~solved
    return unsolved[:, contrasts.first] & unsolved[:, contrasts.second]


def unmatched_runs(runs: Runs, cells: Cells, settings: AnalysisSettings) -> Caution | None:
    """Runs without a partner in every algorithm, which a comparison run by run cannot use."""
    used, there = int(cells.counts.sum()), int(runs.ok.sum())
    if runs.shared is None or used >= there:
        return None
    return Caution(
        "unmatched",
        f"{count(used, 'run')} of {there:,} with a value are used: the others share their {settings.paired} with no run"
        " of some algorithm on that instance.",
    )


def incomplete_blocks(
    excluded: Mapping[str, str], incomplete: Mapping[str, str], comparisons: Sequence[Comparison], runs: Runs, used: int
) -> Caution | None:
    """Instances that some algorithm lacks: of no use, or of use to the pairs that have them."""
    short = known_as(runs.instances)
    lacking, partly = ({short.get(name, name): why for name, why in some.items()} for some in (excluded, incomplete))
    sentences = [*_left_out(lacking, used), *_used_in_part(partly, comparisons, used)]
    return Caution("incomplete", " ".join(sentences)) if sentences else None


def _left_out(excluded: Mapping[str, str], used: int) -> Iterator[str]:
    if excluded:
        yield (
            f"{used} of {used + len(excluded)} instances are used, those with values of both algorithms of a pair; left"
            f" out: {_with_reasons(excluded)}."
        )


def _used_in_part(incomplete: Mapping[str, str], comparisons: Sequence[Comparison], used: int) -> Iterator[str]:
    if incomplete:
        whole = used - len(incomplete)
        together = f"use the {whole} complete ones" if whole >= FEWEST else "need complete ones and are left out"
        yield (
            f"{len(incomplete)} of {used} instances are incomplete: {_with_reasons(incomplete)}. Each pair is tested on"
            f" the instances that both have ({_by_instances(comparisons)}); ranks and tests of all algorithms together"
            f" {together}."
        )


def _with_reasons(reasons: Mapping[str, str]) -> str:
    return listed([f"{name} ({reason})" for name, reason in reasons.items()], SHOWN)


def _by_instances(comparisons: Sequence[Comparison]) -> str:
    """The numbers of instances with the pairs that have them, the fewest first."""
    by_number: dict[int, list[str]] = defaultdict(list)
    for each in comparisons:
        by_number[each.instances].append(f"{each.first} × {each.second}")
    parts = [
        f"{number} for {pairs[0] if len(pairs) == 1 else f'{len(pairs)} pairs'}"
        for number, pairs in sorted(by_number.items())
    ]
    return listed(parts, SHOWN)


def budget_spent(names: Sequence[str], reached: Sequence[str], blocks: Blocks, budget: int | None) -> Caution | None:
    """Instances that ended at the budget may not have the accuracy that was wanted; some have `reached` it there."""
    if not names:
        return None
    ended, reached = (_known(some, blocks) for some in (names, reached))
    said = f"{count(len(names), 'instance')} ended at the budget of {budget} runs: {listed(ended, ENDED_SHOWN)}"
    last = "its last run" if len(reached) == 1 else "their last runs"
    also = f"; {len(reached)} of them reached the accuracy with {last} ({listed(reached, SHOWN)})" if reached else ""
    return Caution("budget", f"{said}{also}.")


def accuracy_missed(names: Sequence[str], guarded: int, blocks: Blocks, se: str) -> Caution | None:
    """Instances whose largest standard error is above the wanted one, by the plain or only by the guarded estimate."""
    if not names and not guarded:
        return None
    where = f" ({listed(_known(names, blocks), SHOWN)})" if names else ""
    calibrated = blocks.kurtosis is not None or blocks.degrees is not None or blocks.are_rates
    how = "which allows for luck" + ("" if calibrated else ", approximately for this statistic")
    return Caution(
        "accuracy",
        f"The largest standard error exceeds {se} on {len(names)} of {len(blocks.instances)} instances{where}; by the"
        f" guarded estimate, {how}, on {guarded}.",
    )


def accuracy_unknown(blocks: Blocks) -> Caution | None:
    """With one value per cell nothing says how accurate it is."""
    unknown = int((np.isnan(blocks.variances) & blocks.present).any(axis=1).sum())
    if not unknown:
        return None
    where = "every instance" if unknown == len(blocks.instances) else f"{unknown} of {len(blocks.instances)} instances"
    return Caution(
        "accuracy-unknown",
        f"On {where} some algorithm has a single value, so how accurately the differences are known cannot be said.",
    )


def heavy_tails(blocks: Blocks) -> Caution | None:
    """Runs with such heavy tails that even guarded standard errors may be too small."""
    if blocks.kurtosis is None:
        return None
    typical = float(np.median(pooled_kurtosis(blocks.counts.astype(float), blocks.variances, blocks.kurtosis)))
    if not typical > HEAVY:
        return None
    return Caution(
        "heavy-tails",
        f"The runs have heavy tails (kurtosis {typical:.1f}; normal values have 3): standard errors, even guarded ones,"
        " are likely to be too small on some instances.",
    )


def run_noise(shares: Floats, pairs: Sequence[Pair]) -> Caution | None:
    """Noise of the runs above a quarter of the variance of the differences costs power."""
    loud = np.flatnonzero(shares > NOISE_SHARE)
    if not len(loud):
        return None
    worst = int(loud[np.argmax(shares[loud])])
    return Caution(
        "run-noise",
        f"In {_of_comparisons(loud, pairs)} run noise amounts to more than a quarter of the variance of the differences"
        f" (most: {_pair(pairs[worst])}, {100 * shares[worst]:,.0f} %); more runs per instance would sharpen"
        " them.",
    )


def plain_rates(cells: Cells, settings: AnalysisSettings) -> Caution | None:
    """Values that are all yes or no, summarised by a statistic of numbers."""
    if settings.statistic != "mean" or not is_yes_or_no(cells.values).all():
        return None
    points = "" if settings.difference == "simple" else f", with {parameter('difference', 'simple')}"
    return Caution(
        "rates",
        f"All values are 0 or 1: the rate ({parameter('statistic', 'rate')}{points}) takes them as yes or no, says"
        " differences in percentage points, and does not take ten equal values for certainty.",
    )


def pseudoreplication(blocks: Blocks) -> Caution | None:
    """Instances whose names say that they are runs of the same problem."""
    stems = Counter(RUN_IN_NAME.sub("", name) for name in blocks.instances if RUN_IN_NAME.search(name))
    repeated = {stem: number for stem, number in stems.items() if number > 1}
    if not repeated:
        return None
    distinct = len(blocks.instances) - sum(repeated.values()) + len(repeated)
    example = next(iter(repeated))
    return Caution(
        "pseudoreplication",
        f"Going by their names, {sum(repeated.values())} instances are repeated runs of"
        f" {count(len(repeated), 'problem')} (as {example!r}, {repeated[example]} times): the sample size would be"
        f" {distinct}, not {len(blocks.instances)}, and the p-values far too small; give the problem as instance.",
    )


def duplicates(blocks: Blocks) -> Caution | None:
    """Instances that hold exactly the same numbers for all algorithms, and numbers that are not common to many."""
    groups: dict[bytes, list[int]] = defaultdict(list)
    for i, (row, size) in enumerate(zip(blocks.statistics, blocks.counts, strict=True)):
        groups[row.tobytes() + size.tobytes()].append(i)
    same = [
        " = ".join(_known([blocks.instances[i] for i in group], blocks))
        for group in groups.values()
        if len(group) > 1 and _chance_of_equal_rows(blocks.statistics, group) <= CHANCE
    ]
    if not same:
        return None
    return Caution(
        "duplicates",
        f"Instances with exactly the same results for all algorithms: {listed(same, SHOWN)}; if they are the same"
        " problem, leave the copies out, as each instance must count once.",
    )


def repeated_runs(cells: Cells) -> Caution | None:
    """Cells whose second half repeats the first, value by value: runs that shared their seeds, or rows copied."""
    found = [(i, k) for i, k in np.argwhere(cells.counts >= FEW_RUNS) if _repeats(cells.of(int(i), int(k)))]
    if not found:
        return None
    i, k = found[0]
    where = known_as(cells.instances)[cells.instances[i]]
    return Caution(
        "repeated-runs",
        f"In {count(len(found), 'cell')} the second half of the runs repeats the first, value by value (first:"
        f" {cells.algorithms[k]} on {where}): copied rows or shared seeds; they make the accuracy look"
        " better than it is.",
    )


def constant_differences(differences: Floats, pairs: Sequence[Pair]) -> Caution | None:
    """Pairs whose difference is the same on every instance: nothing to estimate a spread from."""
    columns = present_columns(differences)
    flat = np.flatnonzero([len(column) >= FEWEST and is_constant(column) for column in columns])
    if not len(flat):
        return None
    worst = int(flat[0])
    what = "zero" if not columns[worst][0] else "the same number"
    return Caution(
        "constant",
        f"No test of means is possible for {_of_comparisons(flat, pairs)}: the difference is the same on every instance"
        f" ({_pair(pairs[worst])}: {what}). Check the results, or use {parameter('test', 'sign')}.",
    )


def skewed(
    comparisons: Sequence[Comparison],
    differences: Floats,
    skewness: Floats,
    robust: Robustness | None,
    *,
    test: Test,
    alpha: float,
) -> Caution | None:
    """Skewness that makes a test of means too optimistic, or has Wilcoxon's test be about something else.

    It rests on what the remedy finds: claims that the bootstrap-t test does not confirm, or hardly, and the coverage of
    the intervals in resamples.
    """
    pairs = [(each.first, each.second) for each in comparisons]
    if paired_test(test).when_skewed == "tests something else":
        strong = skewed_beyond_chance(differences)
        if not strong.any():
            return None
        what = f"the {paired_test(test).words} is about the {paired_test(test).estimate_of}, not about the mean"
        return Caution("skewness", f"{_where_skewed(strong, pairs, skewness)}: {what}; {REMEDY}.")
    if robust is None:
        return None
    claims = sum(each.rejected for each in comparisons)
    if robust.fragile.any():
        stay = sum(
            each.rejected and "bootstrap-t" in tests for each, tests in zip(comparisons, robust.agree, strict=True)
        )
        kept = f"{stay} of {claims} claims stay" if claims > 1 else f"the claim {'stays' if stay else 'does not stay'}"
        where = _where_skewed(robust.fragile | robust.skewed, pairs, skewness)
        return Caution(
            "skewness",
            f"Results may be too optimistic: {where[:1].lower()}{where[1:]}. With {parameter('test', 'bootstrap-t')},"
            f" {kept}.",
        )
    if not robust.are_optimistic(alpha):
        return None
    where = _where_skewed(robust.skewed, pairs, skewness)
    return Caution(
        "skewness",
        f"Simultaneous intervals may be too narrow (coverage about {100 * robust.coverage:.0f} %, not"
        f" {100 * (1 - alpha):g} %): {where[:1].lower()}{where[1:]}. Use {parameter('test', 'bootstrap-t')}.",
    )


def _where_skewed(strong: Bools, pairs: Sequence[Pair], skewness: Floats) -> str:
    """Which differences are skewed, and the most skewed ones."""
    places = np.flatnonzero(strong)
    worst = int(places[np.argmax(np.abs(skewness[places]))])
    if len(pairs) == 1:
        return f"The differences are skewed (skewness {skewness[worst]:.1f})"
    most = f"most: {_pair(pairs[worst])}, skewness {skewness[worst]:.1f}"
    return f"The differences of {_of_comparisons(places, pairs)} are skewed ({most})"


def dominated(
    differences: Floats, blocks: Blocks, pairs: Sequence[Pair], *, settings: AnalysisSettings
) -> Caution | None:
    """Pairs with one instance that has most of the variance, and is too far from the others for chance."""
    if paired_test(settings.test).estimand.name != "mean" or settings.are_rates:
        return None
    found = [
        (k, farthest_difference(column))
        for k, column in enumerate(present_columns(differences))
        if len(column) >= FEWEST_FOR_OUTLIER
    ]
    found = [(k, far) for k, far in found if far.share > MOST_OF_VARIANCE and far.p_value * len(pairs) < SURE]
    if not found:
        return None
    k, most = max(found, key=lambda each: each[1].share)
    name = _known([blocks.instances[np.flatnonzero(~np.isnan(differences[:, k]))[most.place]]], blocks)[0]
    positive = settings.difference != "ratio" and bool(np.nanmin(blocks.statistics) > 0)
    ratios = f"ratios ({parameter('difference', 'ratio')}) or " if positive else ""
    return Caution(
        "outlier",
        f"One instance may hide differences: in {_of_comparisons(found, pairs)} it has more than half of the variance"
        f" (most: {_pair(pairs[k])}, {name}, {100 * most.share:.0f} %). Use {ratios}{parameter('test', 'wilcoxon')}.",
    )


def hardly_varying(comparisons: Sequence[Comparison], differences: Floats, *, test: Test) -> Caution | None:
    """Pairs whose differences are nearly all the same: resampling does not show what they can do by chance."""
    if paired_test(test).when_skewed != "stays sound" or paired_test(test).family is None:
        return None
    endless = [each.joint_interval == (-math.inf, math.inf) and each.instances >= FEWEST for each in comparisons]
    few = np.flatnonzero(
        endless & ~np.array([len(x) >= FEWEST and is_constant(x) for x in present_columns(differences)])
    )
    if not len(few):
        return None
    pairs = [(each.first, each.second) for each in comparisons]
    return Caution(
        "constant",
        f"In {_of_comparisons(few, pairs)} nearly all differences are the same ({_pair(pairs[int(few[0])])}), or there"
        " are too few: resampling cannot judge them, nothing is rejected and their intervals have no end; the sign test"
        " can.",
    )


def near_zero(blocks: Blocks, contrasts: Contrasts, differences: Floats, settings: AnalysisSettings) -> Caution | None:
    """Statistics so near zero, or so little known, that a ratio or a logarithm of them is not reliable."""
    if contrasts.difference == "simple" or (contrasts.difference == "ratio" and blocks.exact_logs):
        return None
    errors = blocks.in_logs(contrasts).relative_errors()
    far: Bools = np.zeros(len(errors), dtype=np.bool_)
    if contrasts.difference == "percent":
        far = np.asarray((np.abs(differences) > FAR_PERCENT).any(axis=1))
        errors = errors if contrasts.reference is None else errors[:, [contrasts.reference]]
    names = _known([blocks.instances[i] for i in np.flatnonzero(far | (errors > UNSTABLE).any(axis=1))], blocks)
    if not names:
        return None
    steadier = [words for name, words in STEADIER.items() if name != settings.statistic_name]
    way_out = [f"compare {' or '.join(steadier)} ({parameter('statistic')})"]
    if settings.floor is None:
        way_out.insert(0, f"raise small values to a floor ({parameter('floor')})")
    what = "a ratio" if contrasts.difference == "ratio" else "a percent difference"
    return Caution(
        "denominator",
        f"On {count(len(names), 'instance')} ({listed(names, SHOWN)}) {what} takes a value that is hardly known"
        f"{' or near zero' if far.any() else ''}, and such instances can dominate the mean: make more runs there,"
        f" {' or '.join(way_out)}.",
    )


def underpowered(
    comparisons: Sequence[Comparison], *, detectable: float, effect: float | None, reached: float, power: float
) -> Caution | None:
    """Too few instances, where they are fewest, for the effect that matters, or for any but large ones."""
    fewest = min(comparisons, key=lambda each: each.instances if each.instances >= FEWEST else math.inf)
    where = "" if _equally_many(comparisons) else f" ({_pair((fewest.first, fewest.second))})"
    size = f"With {fewest.instances} instances{where} and {count(len(comparisons), 'comparison')}"
    if effect is not None:
        if reached >= power:
            return None
        return Caution(
            "power",
            f"{size} an effect of d = {effect:g} is found with mean power {reached:.2f}, not the {power:g} wanted; what"
            " was not found may still be there.",
        )
    if detectable <= LARGE_EFFECT:
        return None
    what = f"only effects of d ≥ {detectable:.2f} are found" if math.isfinite(detectable) else "no effect is found"
    return Caution("power", f"{size} {what} with mean power {power:g}; what was not found may still be there.")


def unreachable(comparisons: Sequence[Comparison]) -> Caution | None:
    """Intervals that cannot have their level with so few instances (Wilcoxon)."""
    short = [comparison for comparison in comparisons if comparison.level < 1 - comparison.alpha]
    if not short:
        return None
    return Caution(
        "level",
        f"With {instances_in_words(short)} {len(short)} of {len(comparisons)} intervals cannot reach their level: they"
        f" have {100 * min(each.level for each in short):.1f} % or more instead; the test may be unable to reject at"
        " all.",
    )


def _known(names: Sequence[str], blocks: Blocks) -> list[str]:
    """The names as people know them."""
    short = known_as(blocks.instances)
    return [short[name] for name in names]


def _equally_many(comparisons: Sequence[Comparison]) -> bool:
    return len({each.instances for each in comparisons}) == 1


def _of_comparisons(some_of_them: Sequence[object] | Codes, pairs: Sequence[Pair]) -> str:
    return f"{len(some_of_them)} of {len(pairs)} comparisons" if len(pairs) > 1 else "the comparison"


def _pair(pair: Pair) -> str:
    return f"{pair[0]} × {pair[1]}"


def _chance_of_equal_rows(statistics: Floats, group: Sequence[int]) -> float:
    """How many pairs of rows as rare as these would be equal by chance, by the three values that say most.

    In each column the nearest other values tell how many numbers the value could have been; a further column is seen
    among the rows that are near in the one before, as values of one instance go together.
    """
    row, others = statistics[group[0]], np.delete(statistics, group, axis=0)
    if not np.nanmin(row) < np.nanmax(row) or len(others) < 2:
        return math.inf
    steps = [_step(column) for column in statistics.T]
    pairs = len(statistics) ** 2 / 2
    found = [_share_at(others[:, k], row[k], step) for k, step in enumerate(steps)]
    rarest = sorted(range(len(row)), key=lambda k: found[k][0])[:NEAR]
    given = {
        (j, k): 1.0 if row[j] == row[k] else _share_at(others[found[j][1], k], row[k], steps[k])[0]
        for j, k in permutations(rarest, 2)
    }
    chains = permutations(rarest, min(3, len(rarest)))
    return pairs * min(found[chain[0]][0] * math.prod(given[link] for link in pairwise(chain)) for chain in chains)


def _step(column: Floats) -> float:
    """The distance between neighbouring values that a column can have: where they are rounded, the rounding."""
    known = column[np.isfinite(column)]
    unit = np.abs(known).max(initial=0.0) * 1e-12
    gaps = np.diff(np.unique(known))
    gaps = gaps[gaps > unit]
    return float(np.quantile(gaps, 0.1)) if len(gaps) else math.inf


def _share_at(values: Floats, at: float, step: float) -> tuple[float, Codes]:
    """The share of values that are this one by chance, and the places of those near to it."""
    distance = np.abs(values - at)
    near = np.argsort(distance, kind="stable")[: max(2, min(NEAR, len(values) // 2))]
    reach = max(float(distance[near].max()), step / 2)
    return min(1.0, len(near) / len(values) * step / (2 * reach)), near


def _repeats(values: Floats) -> bool:
    half = len(values) // 2
    return bool(np.array_equal(values[:half], values[half : 2 * half])) and len(np.unique(values)) > 2
