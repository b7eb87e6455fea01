"""Standings of the algorithms: means, estimates, wins, ranks, and their disagreements. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ampler.analysis.compare import Comparison
from ampler.analysis.results import Analysis
from ampler.analysis.text import findings, leader, leaders, record
from ampler.analysis.units import lead_text
from ampler.core.arrays import Floats, Pair
from ampler.core.errors import InvalidData
from ampler.core.text import count, digits, listed, natural, short_name_of
from ampler.stats import groups
from ampler.stats.holm import least_number
from ampler.stats.paired import ESTIMANDS


@dataclass(frozen=True, slots=True)
class Wins:
    """The instances on which the first is better, those on which the two are equal, those on which the second is."""

    first: int
    ties: int
    second: int

    @property
    def instances(self) -> int:
        """The instances on which both have values."""
        return self.first + self.ties + self.second

    @property
    def turned(self) -> Wins:
        """The wins from the other algorithm's side."""
        return Wins(self.second, self.ties, self.first)


def wins_of(analysis: Analysis) -> Mapping[Pair, Wins]:
    """Return the wins of every pair, counted in the differences that its test is about."""
    advantage = analysis.differences if analysis.settings.better == "higher" else -analysis.differences
    counts = zip((advantage > 0).sum(axis=0), (advantage == 0).sum(axis=0), (advantage < 0).sum(axis=0), strict=True)
    return {pair: Wins(*map(int, item)) for pair, item in zip(analysis.pairs, counts, strict=True)}


def reading_order(analysis: Analysis) -> list[int]:
    """Return the indices of the instances in display order.

    By the first feature, within it by the next, and last by their names; numbers count as numbers.
    """
    names = [row.instance for row in analysis.accuracy]
    features = list(analysis.features.values())
    keys = [(*(natural(str(values.get(name, ""))) for values in features), natural(name)) for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)


NAMED = 3  # instances in a sentence
SENTENCES = 4  # pairs of which a disagreement is reported; the others are counted
FEWEST_RANKED = 3  # minimum number of algorithms for ranks
MAX_RANKED = 12  # maximum number of algorithms with ranks in a sentence
AGREE = "Estimates, wins, mean ranks and the test of all together point the same way."


@dataclass(frozen=True, slots=True)
class AlgorithmStanding:
    """Standing of one algorithm: its values over the instances, its comparisons, and its mean rank."""

    algorithm: str
    mean: float  # of the statistic over its instances
    sd: float
    comparison: Comparison | None  # with the reference; None for the reference, or where all are compared with all
    beats: int  # number of algorithms that it is significantly better than
    loses: int
    wins: Wins  # over all its comparisons, seen from it
    mean_rank: float


def side_by_side(analysis: Analysis) -> tuple[AlgorithmStanding, ...]:
    """Return the algorithms, the best mean rank first; where there are no ranks, in their order."""
    result, wins = findings(analysis), wins_of(analysis)
    better, worse = record(result, "better"), record(result, "worse")
    has_reference = analysis.settings.reference is not None
    compared = {comparison.second: comparison for comparison in analysis.comparisons if has_reference}
    rows = []
    for row, column in zip(analysis.algorithms, analysis.statistics.T, strict=True):
        name, values = row.algorithm, column[np.isfinite(column)]
        mean, sd = _mean_and_sd(values)
        own = [item if name == pair[0] else item.turned for pair, item in wins.items() if name in pair]
        rows.append(
            AlgorithmStanding(
                algorithm=name,
                mean=mean,
                sd=sd,
                comparison=compared.get(name),
                beats=better[name],
                loses=worse[name],
                wins=Wins(*(sum(getattr(item, side) for item in own) for side in ("first", "ties", "second"))),
                mean_rank=row.mean_rank,
            )
        )
    return tuple(sorted(rows, key=lambda row: math.inf if math.isnan(row.mean_rank) else row.mean_rank))


def _mean_and_sd(values: Floats) -> tuple[float, float]:
    """Mean and SD of the finite values, scaled to avoid overflow; NaN without any."""
    scale = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    unit = np.ldexp(values, -scale)
    mean = float(np.ldexp(unit.mean(), scale)) if len(values) else math.nan
    with np.errstate(over="ignore"):
        sd = float(np.ldexp(unit.std(ddof=1), scale)) if len(values) > 1 else math.nan
    return mean, sd if math.isfinite(sd) else math.nan


def rank_sets(analysis: Analysis) -> Mapping[str, tuple[int, int]]:
    """Return the best and the worst rank that the claimed differences leave each algorithm; all sets hold together."""
    if analysis.unfinished:
        return {}
    names = [row.algorithm for row in analysis.algorithms]
    places = [(names.index(winner), names.index(loser)) for winner, loser in _claims(analysis)]
    return dict(zip(names, groups.rank_sets(len(names), places), strict=True))


def ranked_names(analysis: Analysis) -> list[str]:
    """Return the algorithms: the leader, then the others by the ranks that the decisions leave them and mean ranks."""
    sets, best = rank_sets(analysis), leader(findings(analysis))[0]
    keys = {row.algorithm: (sum(sets.get(row.algorithm, ())), row.mean_rank) for row in analysis.algorithms}
    return sorted(keys, key=lambda name: (bool(sets) and name != best, *keys[name]))


def group_letters(analysis: Analysis) -> Mapping[str, str]:
    """Return the letters of each algorithm where all are compared with all: a shared letter, no claimed difference."""
    if analysis.unfinished or analysis.settings.reference is not None or len(analysis.algorithms) < FEWEST_RANKED:
        return {}
    names = [row.algorithm for row in analysis.algorithms]
    order = [names.index(name) for name in ranked_names(analysis)]
    letters = groups.letters(order, {frozenset(map(names.index, claim)) for claim in _claims(analysis)})
    return dict(zip(names, letters, strict=True)) if all(letters) else {}


def instances_better(analysis: Analysis) -> Mapping[Pair, int]:
    """Return for each ordered pair a lower bound for the instances on which the first is better, by Welch's tests.

    InvalidData where values decided on the runs, or where an unfinished study has no tests yet.
    """
    from scipy.stats import ttest_ind

    runs = analysis.recorded
    if runs is None or analysis.unfinished or analysis.settings.start is not None:
        raise InvalidData(
            "the number of instances needs a finished study whose runs were not ended by their values; make the same"
            " number of runs everywhere"
        )
    level = analysis.settings.alpha / (2 * len(analysis.pairs))
    sign = 1.0 if analysis.settings.better == "higher" else -1.0
    values = {}
    for name in {name for pair in analysis.pairs for name in pair}:
        own = runs.ok & (runs.algorithm == runs.algorithms.index(name))
        codes, numbers = runs.instance[own], sign * runs.value[own]
        values[name] = {code: numbers[codes == code] for code in np.unique(codes).tolist()}
    bounds = {}
    for first, second in (order for pair in analysis.pairs for order in (pair, pair[::-1])):
        common = [code for code in values[first] if len(values[second].get(code, ())) > 1 < len(values[first][code])]
        own = [(values[first][code], values[second][code]) for code in common]
        with np.errstate(all="ignore"):
            p = [float(ttest_ind(*pair, equal_var=False, alternative="greater").pvalue) for pair in own]
        bounds[first, second] = least_number(np.nan_to_num(p, nan=1.0), level) if p else 0
    return bounds


def ranks_sentence(analysis: Analysis) -> str:
    """State the possible ranks of each algorithm; empty for two algorithms or an unfinished study."""
    sets, letters = rank_sets(analysis), group_letters(analysis)
    if len(sets) < FEWEST_RANKED:
        return ""
    order = sorted(sets, key=lambda name: (sum(sets[name]), sets[name]))
    if analysis.settings.reference is not None:
        order = [analysis.settings.reference]
    level = f"{digits(100 * (1 - analysis.settings.family_alpha))} %"
    texts = [f"{name} {rank_text(sets[name])}{f' ({letters[name]})' if letters else ''}" for name in order]
    shared = " Algorithms that share a letter do not differ significantly." if letters else ""
    return f"Ranks (simultaneous {level} confidence sets, of {len(sets)}): {listed(texts, MAX_RANKED)}.{shared}"


def rank_text(ranks: tuple[int, int]) -> str:
    """Return a set of ranks.

    >>> rank_text((1, 3)), rank_text((2, 2))
    ('1–3', '2')
    """
    return f"{ranks[0]}" if ranks[0] == ranks[1] else f"{ranks[0]}–{ranks[1]}"


def _claims(analysis: Analysis) -> list[Pair]:
    """The pairs of winner and loser."""
    claims = [(pair, what) for pair, what in findings(analysis).items() if what in ("better", "worse")]
    return [(first, second) if what == "better" else (second, first) for (first, second), what in claims]


# disagreements ----------------------------------------------------------------------------------------------------


def disagreements(analysis: Analysis) -> tuple[str, ...]:
    """State disagreements between estimates, wins, ranks and the omnibus test, with reasons; or their agreement."""
    if analysis.single is not None or analysis.unfinished:
        return ()
    return (*_best_rank(analysis), *_of_pairs(analysis), *_of_omnibus(analysis)) or (AGREE,)


def _best_rank(analysis: Analysis) -> Iterator[str]:
    """The best mean rank belongs to another algorithm than the leader of the comparisons."""
    ranked = side_by_side(analysis)
    best, result = ranked[0], findings(analysis)
    first = analysis.settings.reference or leader(result)[0]
    shared = {row.algorithm for row in ranked if row.mean_rank == best.mean_rank}
    if math.isnan(best.mean_rank) or first in shared:
        return
    if analysis.settings.reference is None and shared & {*leaders(result)}:
        return  # no algorithm is better than it either
    pair = (first, best.algorithm) if (first, best.algorithm) in result else (best.algorithm, first)
    what = result[pair]
    if what in ("better", "worse") and (what == "better") == (pair[0] == best.algorithm):
        return  # the comparison agrees
    rank = next(row.mean_rank for row in ranked if row.algorithm == first)
    yet = {"equivalent": f"it is equivalent to {first}", "better": f"{first} is better", "worse": f"{first} is better"}
    wins = wins_of(analysis)[pair]
    ahead = wins.first if best.algorithm == pair[0] else wins.second
    yield (
        f"{best.algorithm} has the best mean rank ({best.mean_rank:.2f}; {first} {rank:.2f}), but"
        f" {yet.get(what, f'it is not significantly different from {first}')}: ranks ignore the size of the"
        f" differences ({best.algorithm} is ahead on {ahead} of {wins.instances} instances)."
    )


def _of_pairs(analysis: Analysis) -> Iterator[str]:
    """Pairs whose estimate favours the algorithm with fewer wins; among all pairs, those with the leader."""
    wins, settings = wins_of(analysis), analysis.settings
    first = leader(findings(analysis))[0] if settings.reference is None else settings.reference
    opposed, sign = [], 1 if settings.better == "higher" else -1
    for comparison in analysis.comparisons:
        estimand, own = ESTIMANDS[comparison.estimate_of], wins[comparison.pair]
        is_opposed = sign * (comparison.estimate - estimand.neutral) * (own.first - own.second) < 0
        if first in comparison.pair and math.isfinite(comparison.estimate) and is_opposed and not estimand.is_share:
            opposed.append(comparison)
    short = short_name_of(tuple(row.instance for row in analysis.accuracy))
    for comparison in opposed[:SENTENCES]:
        own, pair = wins[comparison.pair], comparison.pair
        favoured, other = pair if own.first < own.second else pair[::-1]
        few = [short[name] for name in few_that_decide(analysis, pair)]
        decide = "one instance decides" if len(few) == 1 else f"{len(few)} instances decide"
        why = f": {decide} the mean, and without {listed(few, NAMED)} it would favour the other"
        why = why if few else ", because its wins are larger"
        amount = lead_text(abs(comparison.estimate), comparison.joint_interval, settings)
        yield (
            f"{other} is ahead on {max(own.first, own.second)} of {own.instances} instances, but {favoured} is better"
            f" {ESTIMANDS[comparison.estimate_of].words} by {amount}{why}."
        )
    if len(opposed) > SENTENCES:
        yield f"So it is with {count(len(opposed) - SENTENCES, 'more pair')}."


def few_that_decide(analysis: Analysis, pair: Pair) -> tuple[str, ...]:
    """Return the fewest instances without which the mean difference of a pair would favour the other.

    Empty if that takes more than a quarter of the instances.
    """
    phi = analysis.differences[:, analysis.pairs.index(pair)]
    places = np.flatnonzero(np.isfinite(phi))
    sign = np.sign(phi[places].sum())
    order = places[np.argsort(-sign * phi[places], kind="stable")]
    rest = sign * (phi[places].sum() - np.cumsum(phi[order]))
    turned = np.flatnonzero(rest < 0)
    if not len(turned) or turned[0] + 1 > max(1, len(places) // 4):
        return ()
    return tuple(analysis.accuracy[i].instance for i in order[: turned[0] + 1])


def _of_omnibus(analysis: Analysis) -> Iterator[str]:
    """Friedman's test against the comparisons."""
    if analysis.omnibus is None:
        return
    p, level = analysis.omnibus.friedman.corrected.p_value, analysis.settings.alpha
    decided = any(comparison.claimed for comparison in analysis.comparisons)
    if p < level and not decided:
        yield (
            f"Friedman's test is significant (p = {p:.2g}), but no comparison is: it tests whether any algorithms"
            " differ, and names none."
        )
    elif decided and not p < level:
        yield (
            f"Friedman's test finds nothing (p = {p:.2g}), yet comparisons are decided: it sees the ranks on each"
            " instance and not the sizes of the differences."
        )
