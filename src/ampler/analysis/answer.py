"""The answer of an analysis in one sentence, and what would have been found had it been there. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from ampler.analysis.compare import Comparison
from ampler.analysis.grown import would_be_found
from ampler.analysis.results import Analysis
from ampler.analysis.units import margin_in_words
from ampler.analysis.words import (
    CLAIM_NOTHING,
    DOUBTS,
    SUCCEEDED,
    forgets_looks,
    irrelevant_pairs,
    is_about_successes,
    is_biased,
    not_finished,
)
from ampler.core.arrays import Pair
from ampler.core.wording import count, digits, named
from ampler.stats.paired import ESTIMANDS, FEWEST

Finding = Literal["better", "worse", "equivalent", "undecided", "not compared"]
NAMED = 3  # algorithms that a sentence names; more are counted


def findings(analysis: Analysis) -> Mapping[Pair, Finding]:
    """Return what was found of the first against the second, for every pair in Holm's order."""
    same = {
        (each.first, each.second) for each in analysis.diagnoses if each.equivalence and each.equivalence.established
    }
    same |= irrelevant_pairs(analysis)
    return {(each.first, each.second): _finding(each, analysis, same) for each in analysis.comparisons}


def _finding(each: Comparison, analysis: Analysis, same: set[Pair]) -> Finding:
    if analysis.unfinished or each.instances < (FEWEST if analysis.single is None else 1):
        return "not compared"
    if each.claimed:
        larger = each.estimate > ESTIMANDS[each.estimate_of].neutral
        return "better" if larger == (analysis.settings.better == "higher") else "worse"
    return "equivalent" if (each.first, each.second) in same else "undecided"


def finding_sentence(analysis: Analysis) -> str:
    """Say in one sentence who beats whom: the title of everything that follows."""
    if analysis.unfinished:
        return not_finished(analysis)
    found = findings(analysis)
    if len(found) == 1 and analysis.comparisons[0].in_doubt:
        [comparison] = analysis.comparisons
        cause = DOUBTS[comparison.doubts[0].kind]
        return f"{comparison.first} against {comparison.second} is inconclusive, {cause}."
    if analysis.settings.reference is not None:
        said = _of_reference(analysis, found)
    elif len(found) == 1:
        said = _of_two(analysis, *next(iter(found.items())))
    else:
        said = _of_all(analysis, found)
    warning = (CLAIM_NOTHING if is_biased(analysis) else "") + forgets_looks(analysis)
    among = f", {SUCCEEDED}" if is_about_successes(analysis) else ""
    where = "" if analysis.single is None else f", on {analysis.single} alone"
    return f"{warning}{said}{_in_doubt(analysis)}{among}{where}."


def _in_doubt(analysis: Analysis) -> str:
    """How many significant differences are not claimed; nothing where all are."""
    doubtful = sum(each.in_doubt for each in analysis.comparisons)
    if not doubtful:
        return ""
    return f"; {count(doubtful, 'significant difference')} {'is' if doubtful == 1 else 'are'} inconclusive"


def _of_reference(analysis: Analysis, found: Mapping[Pair, Finding]) -> str:
    """What the reference beats, what beats it, what equals it, and what is open."""
    ours, parts = str(analysis.settings.reference), list(_decided(analysis, found))
    open_ones = [second for (_, second), what in found.items() if what == "undecided"]
    if not open_ones:
        return f"{ours} {_joined(parts, 'and')}" if parts else f"{ours} could not be compared"
    if not parts:
        if len(found) == 1:
            return f"{ours} and {open_ones[0]} are not told apart"
        return f"{ours} is told apart from none of {len(found)} others"
    verb = "is" if len(open_ones) == 1 else "are"
    return f"{ours} {_joined(parts, 'and')}; {_named(open_ones)} {verb} not told apart from it"


def _decided(analysis: Analysis, found: Mapping[Pair, Finding]) -> Iterator[str]:
    for verb, kind in (("beats", "better"), ("loses to", "worse"), ("is equivalent to", "equivalent")):
        rivals = [second for (_, second), what in found.items() if what == kind]
        if rivals and kind == "equivalent" and analysis.looks is not None:
            effect = digits(analysis.looks.course.effect or 0.0)
            yield f"shows no relevant difference (d < {effect}) to {_named(rivals, len(found))}"
        elif rivals:
            within = f" within {_margin(analysis)}" if kind == "equivalent" else ""
            yield f"{verb} {_named(rivals, len(found))}{within}"


def _of_two(analysis: Analysis, pair: Pair, what: Finding) -> str:
    first, second = pair
    match what:
        case "better":
            return f"{first} beats {second}"
        case "worse":
            return f"{second} beats {first}"
        case "equivalent":
            return f"{first} and {second} are equivalent within {_margin(analysis)}"
        case "undecided":
            return f"{first} and {second} are not told apart"
    return f"{first} and {second} could not be compared"


def _of_all(analysis: Analysis, found: Mapping[Pair, Finding]) -> str:
    """Who is beaten by none, and how many pairs differ."""
    differ = sum(what in ("better", "worse") for what in found.values())
    same = sum(what == "equivalent" for what in found.values())
    equal = f", {same:,} {'is' if same == 1 else 'are'} equivalent within {_margin(analysis)}" if same else ""
    if not differ:
        return f"None of {len(found):,} pairs of algorithms is told apart{equal}"
    counts = f"{differ:,} of {len(found):,} pairs"
    best, beaten = leader(found)
    unbeaten = leaders(found)
    if not unbeaten:
        return f"{counts} of algorithms differ{equal}"
    if len(unbeaten) > 1:
        return f"{named(unbeaten)} lose to none; {counts} differ{equal}"
    return f"{best} beats {beaten} of {len(analysis.algorithms) - 1} others and loses to none; {counts} differ{equal}"


def leaders(found: Mapping[Pair, Finding]) -> list[str]:
    """Return the algorithms that lose to none: where they are several, none of them is the winner.

    >>> leaders({("a", "b"): "undecided", ("a", "c"): "better", ("b", "c"): "better"})
    ['a', 'b']
    """
    lost = _losses(found)
    return [name for name in dict.fromkeys(name for pair in found for name in pair) if not lost[name]]


def leader(found: Mapping[Pair, Finding]) -> tuple[str, int]:
    """Return the algorithm that beats most others, of those that lose to fewest, and how many it beats.

    >>> leader({("a", "b"): "worse", ("a", "c"): "undecided", ("b", "c"): "undecided"})
    ('b', 1)
    """
    won, lost = _wins(found), _losses(found)
    names = list(dict.fromkeys(name for pair in found for name in pair))
    best = min(names, key=lambda name: (lost[name], -won[name]))
    return best, won[best]


def _wins(found: Mapping[Pair, Finding]) -> Counter[str]:
    """How many others each algorithm beats."""
    won = [pair[0] for pair, what in found.items() if what == "better"]
    return Counter(won + [pair[1] for pair, what in found.items() if what == "worse"])


def _losses(found: Mapping[Pair, Finding]) -> Counter[str]:
    """By how many others each algorithm is beaten."""
    return _wins({(second, first): what for (first, second), what in found.items()})


def power_sentence(analysis: Analysis) -> str:
    """Say what would have been found where nothing was; nothing where all is decided or nothing can be said."""
    doubtful = {(each.first, each.second) for each in analysis.comparisons if each.in_doubt}
    open_ones = [pair for pair, what in findings(analysis).items() if what == "undecided" and pair not in doubtful]
    if not open_ones or analysis.single is not None:
        return ""
    if analysis.course is not None:
        words = would_be_found(analysis.course)
        return f"{words[:1].upper()}{words[1:]}."
    if analysis.looks is not None and not analysis.looks.ended:
        return "Those are not decided yet: the study goes on."
    if math.isnan(analysis.detectable_effect):
        return "With so few instances no difference could have been found."
    return (
        f"Had {_those(analysis, open_ones)} differed by {digits(analysis.detectable_effect, 2)} standard deviations of"
        f" their differences, it would have been found with probability {digits(analysis.settings.power)} on average."
    )


def _those(analysis: Analysis, pairs: Sequence[Pair]) -> str:
    if len(pairs) > NAMED:
        return "they" if analysis.settings.reference is not None else "the others"
    if analysis.settings.reference is not None:
        return _joined([second for _, second in pairs], "or")
    return _joined([" and ".join(pair) for pair in pairs], "or")


def _named(names: Sequence[str], of: int | None = None) -> str:
    """The names, or how many there are."""
    if len(names) <= NAMED:
        return _joined(names, "and")
    if of is None:
        return f"{len(names):,} others"
    return f"all {of:,} others" if len(names) == of else f"{len(names):,} of {of:,} others"


def _joined(parts: Sequence[str], word: str) -> str:
    *most, last = parts
    return f"{', '.join(most)} {word} {last}" if most else last


def _margin(analysis: Analysis) -> str:
    if analysis.looks is not None:
        return f"{digits(analysis.looks.course.effect or 0.0)} standard deviations"
    assert analysis.settings.margin is not None  # or nothing would be equivalent
    return margin_in_words(analysis.settings.margin, analysis.settings)
