"""What is probable, in words: a sentence for each comparison, tables as text, and what to know about them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis.bayes.conclusions import Bayes, Chances, Probable
from ampler.analysis.units import (
    amount_in_words,
    as_shown,
    difference_texts,
    location_header,
    margin_in_words,
    size_in_words,
)
from ampler.analysis.words import LONGEST_LIST, SUCCEEDED, is_about_successes, is_biased
from ampler.core.arrays import Interval
from ampler.core.layout import TextTable, table_of
from ampler.core.wording import count, digits, listed
from ampler.stats.bayes.verdicts import CERTAIN, SHARED_FROM

if TYPE_CHECKING:
    from ampler.core.settings import AnalysisSettings
    from ampler.stats.bayes import Posterior

NO_MARGIN = (
    "No verdicts: without a margin nothing says which difference is too small to matter, and the probability of a"
    " direction alone claims something in two of five studies in which nothing differs (21 comparisons); give a margin"
    " (margin=0.02, --margin 0.02)."
)
ABOUT_RANKING = (
    "Rankings forget how large differences are, and who is better than whom may depend on who else is compared."
)
PRECISION = (
    "Instances are weighted by the precision of their differences. That is another question than the table's where"
    " precision and difference are related: use equal weights unless few instances hit the budget and difficulty has"
    " nothing to do with the difference"
)
BIASED = "Biased by when runs ended, not to be claimed: "
SMALLEST = 0.001  # probability that is told
HANGS = 0.95  # a claim whose probability falls below this under another model hangs on the model


# the answer ---------------------------------------------------------------------------------------------------------


def bayes_headline(bayes: Bayes) -> str:
    """Say how many comparisons have which verdict; first, if nothing should be claimed."""
    warning = BIASED if is_biased(bayes.analysis) else ""
    return warning + _counted(bayes)


def bayes_sentences(bayes: Bayes, *, most: int | None = None) -> Iterator[str]:
    """Yield a sentence for each comparison that a verdict claims something of (at most so many), then the others."""
    told = [each for each in bayes.comparisons if each.posterior is not None]
    claims = [each for each in told if each.claims or bayes.margin is None]
    for each in claims[:most]:
        yield comparison_sentence(each, bayes)
    if most is not None and len(claims) > most:
        yield f"… and {len(claims) - most} more, which the table shows."
    undecided = [_label(each, bayes) for each in told if each.verdict == "undecided"]
    if undecided:
        yield f"{listed(undecided, LONGEST_LIST)}: undecided."


def comparison_sentence(each: Probable, bayes: Bayes) -> str:
    """Say of one comparison how large the difference is on average, and how probable it is that it matters."""
    assert each.posterior is not None, "a comparison without a posterior is told by its problem"
    asked = bayes.analysis.settings
    badness = -1.0 if asked.better == "lower" else 1.0  # of a difference, for the second
    worse_by = badness * each.posterior.mean
    word = "worse" if worse_by > 0 else "better"
    among = f" {SUCCEEDED}" if is_about_successes(bayes.analysis) else ""
    interval = _range(_turned(each.posterior.interval, badness), asked)
    return (
        f"On an average instance {each.second} is {word} than {each.first}{among} by"
        f" {amount_in_words(abs(worse_by), asked)} ({digits(100 * bayes.level)} % credible interval {interval})"
        f"{_how_probable(each, bayes, word)}."
    )


def _counted(bayes: Bayes) -> str:
    asked = bayes.analysis.settings
    if bayes.margin is None:
        return NO_MARGIN
    said = [each.verdict for each in bayes.comparisons]
    if asked.reference is None:
        differ = said.count("worse") + said.count("better")
        numbers, what = {"differing by more than that": differ}, count(len(said), "pair")
    else:
        numbers = {word: said.count(word) for word in ("worse", "better")}
        what = f"{count(len(said), 'algorithm')} compared with {asked.reference}"
    numbers |= {word: said.count(word) for word in ("equivalent", "undecided")}
    numbers["without a verdict"] = said.count(None)
    found = ", ".join(f"{number} {words}" for words, number in numbers.items() if number)
    return f"Judged by a margin of {margin_in_words(bayes.margin, asked)}, of {what}: {found}."


def _how_probable(each: Probable, bayes: Bayes, word: str) -> str:
    mean, new = each.chances, each.new_chances
    assert mean is not None, "so has every comparison with a posterior"
    assert new is not None
    if bayes.margin is None:
        return f"; on a new instance of the same kind it is {word} with probability {probability(new.of(word))}"
    said = _said_of_sides(bayes)
    order = ["equivalent", word] if each.verdict == "equivalent" else [word, "equivalent"]
    order += [other for other in ("worse", "better") if other != word and mean.of(other) >= SMALLEST]
    first, *others = order
    rest = "".join(f", {said[side]} {probability(mean.of(side))}" for side in others)
    return (
        f": it is {said[first]} with probability {probability(mean.of(first))}{rest}. On a new instance of the same"
        f" kind it is {said[first]} with probability {probability(new.of(first))}"
    )


def _said_of_sides(bayes: Bayes) -> dict[str, str]:
    """What each side of the margin means, said of the second algorithm."""
    assert bayes.margin is not None
    margin = margin_in_words(bayes.margin, bayes.analysis.settings)
    by = f"by more than {margin.removeprefix('±')}"
    return {"worse": f"worse {by}", "better": f"better {by}", "equivalent": f"within {margin} of it"}


def probability(value: float) -> str:
    """Write a probability with three decimals; what is nearly certain is never called certain.

    >>> probability(0.98431), probability(0.99999), probability(1e-9)
    ('0.984', 'above 0.999', 'below 0.001')
    """
    if value > 1 - SMALLEST:
        return "above 0.999"
    return "below 0.001" if value < SMALLEST else f"{value:.3f}"


def _turned(interval: Interval, sign: float) -> Interval:
    low, high = sorted(sign * end for end in interval)
    return low, high


def _range(worse_by: Interval, asked: AnalysisSettings) -> str:
    """An interval of how much worse, in words; where it goes to either side, both are named."""
    low, high = worse_by
    if low >= 0 or high <= 0:
        small, large = sorted((abs(low), abs(high)))
        return f"{size_in_words(small, asked)} to {size_in_words(large, asked)}"
    return f"{size_in_words(-low, asked)} better to {size_in_words(high, asked)} worse"


def _label(each: Probable, bayes: Bayes) -> str:
    return each.second if bayes.analysis.settings.reference is not None else f"{each.first} × {each.second}"


# tables -------------------------------------------------------------------------------------------------------------


def sides(bayes: Bayes) -> tuple[str, str, str]:
    """Return what the three probabilities are called."""
    if bayes.analysis.settings.reference is not None:
        return "worse", "equivalent", "better"
    return "first better", "equivalent", "second better"


def three(chances: Chances | None) -> str:
    """Write three probabilities in short.

    >>> three(Chances(0.984, 0.016, 0.0)), three(None)
    ('.98 .02 .00', '–')
    """
    if chances is None:
        return "–"
    numbers = (chances.worse, chances.equivalent, chances.better)
    return " ".join("1.0" if number > 0.995 else f"{number:.2f}"[1:] for number in numbers)


def said_verdict(each: Probable, bayes: Bayes) -> str:
    """Return the verdict in a word or two; all with all, it names the better one."""
    if each.verdict is None:
        return "–"
    if bayes.analysis.settings.reference is not None or each.verdict in {"equivalent", "undecided"}:
        return each.verdict
    return f"{each.first if each.verdict == 'worse' else each.second} better"


def bayes_columns(bayes: Bayes) -> TextTable:
    """Return the table of the comparisons, in Holm's order."""
    level = f"{digits(100 * bayes.level)} % interval"
    shared = any(each.shared for each in bayes.comparisons)
    mean = location_header("mean", bayes.analysis.settings)
    header = ["comparison", mean, level, "on average", *(["shared"] if shared else []), "new instance", "verdict"]
    rows = [
        [
            _label(each, bayes),
            *(("–", "–") if each.posterior is None else _mean_and_interval(each.posterior, bayes)),
            three(each.chances),
            *([three(each.shared_chances)] if shared else []),
            three(each.new_chances),
            said_verdict(each, bayes),
        ]
        for each in bayes.comparisons
    ]
    leaves = {header.index("new instance"): 2} | ({header.index("shared"): 1} if shared else {})
    return table_of(header, rows, words=[len(header) - 1], leaves=leaves)


def ranking_columns(bayes: Bayes) -> TextTable:
    """Return the table of the algorithms by rankings alone, best first."""
    ranking = bayes.ranking
    if ranking is None:
        return TextTable(())
    names, asked = ranking.algorithms, bayes.analysis.settings
    against = asked.reference if asked.reference in names else None
    header = ["algorithm", "first on an instance", "best of all", f"better than {against or 'the next'}"]
    rows = [
        [name, f"{ranking.win[k]:.2f}", f"{ranking.best[k]:.2f}", _ahead(ranking.better, k, names, against)]
        for k, name in enumerate(names)
    ]
    return table_of(header, rows)


def sensitivity_columns(bayes: Bayes) -> TextTable:
    """Return the table of the comparisons by other models."""
    rows = [
        [
            _label(own, bayes),
            three(own.chances),
            "–" if each.robust is None else _mean_and_interval(each.robust, bayes)[1],
            three(None if each.robust is None else bayes.chances(each.robust.areas)),
            three(None if each.signed_rank is None else bayes.chances(each.signed_rank)),
        ]
        for own, each in zip(bayes.comparisons, bayes.sensitivity, strict=False)
    ]
    header = ["comparison", "on average", "typical instances", "typical", "signed rank"]
    return table_of(header, rows)


def shown_mean(found: Posterior, bayes: Bayes) -> float:
    """Return a posterior's mean in the unit of its differences."""
    return as_shown(found.mean, bayes.analysis.settings)


def shown_interval(found: Posterior, bayes: Bayes) -> Interval:
    """Return a posterior's interval in the unit of its differences."""
    low, high = (as_shown(bound, bayes.analysis.settings) for bound in found.interval)
    return low, high


def _mean_and_interval(found: Posterior, bayes: Bayes) -> tuple[str, str]:
    asked, shown = bayes.analysis.settings, (shown_mean(found, bayes), *shown_interval(found, bayes))
    mean, low, high = difference_texts(asked, *shown) if asked.difference == "ratio" else map(digits, shown)
    return mean, f"[{low}, {high}]"


def _ahead(better: Sequence[Sequence[float]] | np.ndarray, k: int, names: Sequence[str], against: str | None) -> str:
    place = k + 1 if against is None else names.index(against)
    return "–" if place in {k, len(names)} else f"{better[k][place]:.2f}"


# what to know -------------------------------------------------------------------------------------------------------


def footnotes(bayes: Bayes) -> list[str]:
    """Return what a reader of the probabilities must know."""
    found = [
        _rule(bayes),
        _wrong(bayes),
        _hanging(bayes),
        _weighting(bayes),
        _unknown_errors(bayes),
        _blocks(bayes),
        _at_budget(bayes),
        *_problems(bayes),
        bayes.ranking_problem and f"No ranking: {bayes.ranking_problem}.",
    ]
    return [sentence for sentence in found if sentence]


def _rule(bayes: Bayes) -> str:
    first, same, second = sides(bayes)
    three_words = f"Each three probabilities: {first}, {same}, {second}."
    if bayes.margin is None:
        return f"{three_words} Without a margin the middle one is 0."
    both = "under both posteriors, alone and with the prior that all comparisons share"
    alone = "under the posterior (with fewer than three comparisons there is no prior to share)"
    where = alone if len(bayes.comparisons) < SHARED_FROM else both
    return f"{three_words} A verdict needs a probability of {CERTAIN} or more {where}."


def _wrong(bayes: Bayes) -> str:
    claims = sum(each.claims for each in bayes.comparisons)
    if bayes.margin is None or not claims:
        return ""
    wrong = bayes.expected_false_claims
    number = digits(wrong, 2) if wrong >= SMALLEST else f"less than {SMALLEST}"
    return (
        f"If differences are as likely as the prior says, {number} of"
        f" {count(claims, 'claim')} are wrong on average. That is no guarantee: errors are controlled by Holm's column."
    )


def _hanging(bayes: Bayes) -> str:
    """Claims that another model would not make."""
    judged = [
        (own, bayes.chances(each.robust.areas).of(own.verdict))
        for own, each in zip(bayes.comparisons, bayes.sensitivity, strict=False)
        if own.claims and own.verdict is not None and each.robust is not None
    ]
    names = [f"{_label(own, bayes)} ({probability(chance)})" for own, chance in judged if chance < HANGS]
    if not names:
        return ""
    return (
        "For typical instances instead of their mean (robust model) these verdicts are less probable:"
        f" {listed(names, LONGEST_LIST)}."
    )


def _weighting(bayes: Bayes) -> str:
    if bayes.weights == "equal":
        return ""
    found = [each.error_correlation for each in bayes.comparisons if not np.isnan(each.error_correlation)]
    between = f" (Spearman's correlation here: {min(found):.2f} to {max(found):.2f})" if found else ""
    return f"{PRECISION}{between}."


def _unknown_errors(bayes: Bayes) -> str:
    if bayes.errors_known:
        return ""
    return (
        "How exact some differences are is not known, so there the noise of runs counts as part of what differs between"
        " instances: a new instance is one on which runs are as noisy."
    )


def _blocks(bayes: Bayes) -> str:
    if not bayes.shared_instances or not bayes.analysis.incomplete:
        return ""
    return f"The shared prior rests on {count(bayes.shared_instances, 'complete instance')}."


def _at_budget(bayes: Bayes) -> str:
    spent = bayes.analysis.at_budget
    if not spent:
        return ""
    noun = "instance" if len(spent) == 1 else "instances"
    return f"On {len(spent)} {noun} the budget was spent, so differences there are less exact than was wanted."


def _problems(bayes: Bayes) -> Iterator[str]:
    alike: dict[str, list[str]] = {}
    for each in bayes.comparisons:
        if each.problem:
            alike.setdefault(each.problem, []).append(_label(each, bayes))
    for problem, names in alike.items():
        yield f"{listed(names, LONGEST_LIST)}: {problem}."
