"""The algorithms side by side: means, estimates, wins, ranks, and where these disagree and why. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ampler.analysis.answer import Finding, findings, leader, leaders
from ampler.analysis.compare import Comparison
from ampler.analysis.results import Analysis
from ampler.analysis.units import lead_in_words
from ampler.analysis.wins import Wins, wins_of
from ampler.core.arrays import Floats, Pair
from ampler.core.names import known_as
from ampler.core.wording import count, listed
from ampler.stats.paired import ESTIMANDS

NAMED = 3  # instances in a sentence
SENTENCES = 4  # pairs of which a disagreement is told; the others are counted
AGREE = "Estimates, wins, mean ranks and the test of all together point the same way."


@dataclass(frozen=True, slots=True)
class AlgorithmStanding:
    """One algorithm: its values over the instances, how it fares in its comparisons, and its mean rank."""

    algorithm: str
    mean: float  # of the statistic over its instances
    sd: float
    comparison: Comparison | None  # with the reference; None for the reference, or where all are compared with all
    beats: int  # others that a decided comparison says it is better than
    loses: int
    wins: Wins  # over all its comparisons, from its side
    mean_rank: float


def side_by_side(analysis: Analysis) -> tuple[AlgorithmStanding, ...]:
    """Return the algorithms, the best mean rank first; where there are no ranks, in their order."""
    found, wins = findings(analysis), wins_of(analysis)
    with_reference = {each.second: each for each in analysis.comparisons if analysis.settings.reference is not None}
    rows = [
        AlgorithmStanding(
            algorithm=row.algorithm,
            mean=_mean(analysis.statistics[:, k]),
            sd=_sd(analysis.statistics[:, k]),
            comparison=with_reference.get(row.algorithm),
            beats=_decided(row.algorithm, found, "better"),
            loses=_decided(row.algorithm, found, "worse"),
            wins=_own_wins(row.algorithm, wins),
            mean_rank=row.mean_rank,
        )
        for k, row in enumerate(analysis.algorithms)
    ]
    return tuple(sorted(rows, key=lambda row: math.inf if math.isnan(row.mean_rank) else row.mean_rank))


def _mean(values: Floats) -> float:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else math.nan


def _sd(values: Floats) -> float:
    there = values[np.isfinite(values)]
    return float(there.std(ddof=1)) if len(there) > 1 else math.nan


def _decided(name: str, found: Mapping[Pair, Finding], own: Finding) -> int:
    turned = "worse" if own == "better" else "better"
    return sum(what == (own if name == pair[0] else turned) for pair, what in found.items() if name in pair)


def _own_wins(name: str, wins: Mapping[Pair, Wins]) -> Wins:
    mine = [
        each if name == pair[0] else Wins(each.second, each.ties, each.first)
        for pair, each in wins.items()
        if name in pair
    ]
    return Wins(*(sum(getattr(each, side) for each in mine) for side in ("first", "ties", "second")))


# where they disagree ----------------------------------------------------------------------------------------------


def disagreements(analysis: Analysis) -> tuple[str, ...]:
    """Say where estimates, wins, ranks and the test of all together point different ways, and why; or that none do."""
    if analysis.single is not None or analysis.unfinished:
        return ()
    said = [*_best_rank(analysis), *_of_pairs(analysis), *_of_omnibus(analysis)]
    return tuple(said) or (AGREE,)


def _best_rank(analysis: Analysis) -> Iterator[str]:
    """The best mean rank belongs to another than the one whom the comparisons put first."""
    ranked = side_by_side(analysis)
    best, found = ranked[0], findings(analysis)
    first = analysis.settings.reference or leader(found)[0]
    shared = {row.algorithm for row in ranked if row.mean_rank == best.mean_rank}
    if math.isnan(best.mean_rank) or first in shared:
        return
    if analysis.settings.reference is None and shared & {*leaders(found)}:
        return  # nobody beats it either
    pair = (first, best.algorithm) if (first, best.algorithm) in found else (best.algorithm, first)
    what = found[pair]
    if what in ("better", "worse") and (what == "better") == (pair[0] == best.algorithm):
        return  # the comparison says the same
    rank = next(row.mean_rank for row in ranked if row.algorithm == first)
    yield (
        f"{best.algorithm} has the best mean rank ({best.mean_rank:.2f}; {first} {rank:.2f}), yet"
        f" {_although(best.algorithm, first, what)}: ranks count on how many instances an algorithm is ahead, not by"
        f" how much ({_ahead(best.algorithm, pair, analysis)})."
    )


def _although(best: str, first: str, what: Finding) -> str:
    if what == "equivalent":
        return f"it is equivalent to {first}"
    return f"{first} beats it" if what in ("better", "worse") else f"it is not told apart from {first}"


def _ahead(name: str, pair: Pair, analysis: Analysis) -> str:
    wins = wins_of(analysis)[pair]
    own = wins.first if name == pair[0] else wins.second
    return f"here it is ahead on {own} of {wins.instances}"


def _of_pairs(analysis: Analysis) -> Iterator[str]:
    """Pairs whose estimate favours the one that is ahead on fewer instances."""
    wins = wins_of(analysis)
    opposed = [each for each in _looked_at(analysis) if _is_opposed(each, wins[each.first, each.second], analysis)]
    for each in opposed[:SENTENCES]:
        yield _opposed(each, wins[each.first, each.second], analysis)
    if len(opposed) > SENTENCES:
        yield f"So it is with {count(len(opposed) - SENTENCES, 'more pair')}."


def _looked_at(analysis: Analysis) -> list[Comparison]:
    """All comparisons with a reference; of all pairs those with the algorithm that leads."""
    known = [each for each in analysis.comparisons if math.isfinite(each.estimate)]
    if analysis.settings.reference is not None:
        return known
    first, _ = leader(findings(analysis))
    return [each for each in known if first in (each.first, each.second)]


def _is_opposed(each: Comparison, wins: Wins, analysis: Analysis) -> bool:
    estimand = ESTIMANDS[each.estimate_of]
    lead = _advantage(each.estimate - estimand.neutral, analysis)
    return not estimand.is_share and lead * (wins.first - wins.second) < 0


def _advantage(difference: float, analysis: Analysis) -> float:
    """A difference, positive where it favours the first."""
    return difference if analysis.settings.better == "higher" else -difference


def _opposed(each: Comparison, wins: Wins, analysis: Analysis) -> str:
    favoured, other = (each.first, each.second) if wins.first < wins.second else (each.second, each.first)
    few = few_that_decide(analysis, (each.first, each.second))
    short = known_as(tuple(row.instance for row in analysis.accuracy))
    why = f": {_few([short[name] for name in few])}" if few else ", by amounts that are larger where it wins"
    amount, *_ = lead_in_words(abs(each.estimate), each.joint_interval, analysis.settings)
    return (
        f"{other} is ahead on {max(wins.first, wins.second)} of {wins.instances} instances, yet {favoured} is better"
        f" {ESTIMANDS[each.estimate_of].words} by {amount}{why}."
    )


def _few(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"one instance decides the mean, and without {names[0]} it would favour the other"
    return f"{len(names)} instances decide the mean, and without {listed(names, NAMED)} it would favour the other"


def few_that_decide(analysis: Analysis, pair: Pair) -> tuple[str, ...]:
    """Return the fewest instances without which the mean difference of a pair would favour the other.

    None of them where it takes more than a quarter of the instances: then no few decide.
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
    decided = any(each.claimed for each in analysis.comparisons)
    if p < level and not decided:
        yield (
            f"Friedman's test finds that some algorithms differ (p = {p:.2g}), yet no comparison is decided: it asks"
            " one question of all at once and names nobody."
        )
    elif decided and not p < level:
        yield (
            f"Friedman's test finds nothing (p = {p:.2g}), yet comparisons are decided: it sees the ranks on each"
            " instance and not the sizes of the differences."
        )
