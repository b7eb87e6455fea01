"""Looks in words: before the first, after each, at the end, and in a paper. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.analysis.compare import Comparison
from ampler.analysis.looked import LookCourse, Looked
from ampler.core.choices import Difference
from ampler.core.values import Caution
from ampler.core.wording import count, digits, listed
from ampler.stats.sequential import Standing, Verdict, looked_inflation
from ampler.stats.shape import error_inflation, skewness_error

SKEW_FACTOR = 1.5  # a test that errs half as often again as it says deserves a word
SURE_SKEW = 2.0  # standard errors by which a skewness must differ from 0 to be more than chance
FAR_TOO_OFTEN = 10.0  # beyond this the number itself means little
SHOWN = 3

SPENDINGS = {
    "OF": "Lan and DeMets' spending of O'Brien and Fleming's type",
    "P": "Lan and DeMets' spending of Pocock's type",
}
IGNORED = "Looked at on the way, and tested here as if it had not been (see below): "
ABOUT_REPEATED = (
    "Intervals are repeated confidence intervals, which hold whatever made a comparison stop: in the table at the level"
    " of the rank, in the sentences jointly."
)
TOO_LARGE = (
    "Estimates of comparisons that stopped early are a little too large: on average by up to 0.03 standard deviations,"
    " and by 0.1 of those found different with the effect planned for, more of smaller ones, as always where what is"
    " large is found."
)


def before_looks(looks: Sequence[int], effect: float | None) -> str:
    """Say when the results are looked at, and what is done then."""
    when = listed([f"{each:,}" for each in looks], len(looks))
    stop = "those found different"
    if effect is not None:
        stop += f", and those whose difference is shown to be smaller than d = {digits(effect)}"
    return (
        f"The results are looked at after {when} instances, in the order of the seed. Comparisons that are decided stop"
        f" there ({stop}), and algorithms that no other comparison needs get no more runs."
    )


def after_look(looked: Looked, left: Sequence[str]) -> str:
    """Say how the comparisons stand after the last look; `left` are the algorithms that need no more runs."""
    course = looked.course
    last = course.done == len(course.looks)
    kinds: list[tuple[Verdict, str, str]] = [
        ("different", "different", "different"),
        ("no relevant difference", "no relevant difference", "no relevant difference"),
        ("undecided", "undecided", "undecided") if last else ("continue", "goes on", "go on"),
    ]
    tally = [(looked.number(verdict), one, many) for verdict, one, many in kinds]
    said = ", ".join(f"{number} {one if number == 1 else many}" for number, one, many in tally)
    where = f"Look {course.done} of {len(course.looks)}, {course.looks[course.done - 1]:,} instances"
    return f"{where}: {said}{_next(looked, left)}."


def tally(looked: Looked) -> str:
    """Say how the comparisons stand, as the end of a headline."""
    course = looked.course
    parts: list[tuple[Verdict, str]] = [
        ("different", "different"),
        ("no relevant difference", "no relevant difference"),
        ("undecided", "undecided"),
        ("continue", "not decided yet"),
    ]
    found = [f"{number} {words}" for verdict, words in parts if (number := looked.number(verdict))]
    return f"After look {course.done} of {len(course.looks)}: {listed(found, len(found))}."


def looked_verdict(words: str, comparison: Comparison, standing: Standing, looked: Looked, estimate: str) -> str:
    """Return the verdict on one comparison; `words` are those of a difference that was found, `estimate` its size."""
    course = looked.course
    when = f" (look {standing.look} of {len(course.looks)}, {count(comparison.instances, 'instance')})"
    relevant = "" if course.effect is None else f"d = {digits(course.effect)}"
    if standing.verdict == "different":
        return f"{words}{when}"
    if standing.verdict == "no relevant difference" and comparison.rejected:
        return f"a real difference, smaller than {relevant}: {words}{when}"
    if standing.verdict == "no relevant difference":
        return f"no relevant difference: smaller than {relevant}, estimated as {estimate}{when}"
    if standing.verdict == "continue":
        return f"not decided yet{when}"
    nor = f", nor shown to be smaller than {relevant}" if relevant else ""
    return f"undecided: no difference found{nor}{when}"


def look_sentences(looked: Looked) -> Iterator[str]:
    """Yield what was decided at each look, which errors are kept, and what estimates are worth."""
    course = looked.course
    effect = "" if course.effect is None else f"; no relevant difference means smaller than d = {digits(course.effect)}"
    for look in range(1, course.done + 1):
        there = course.looks[look - 1]
        new = [f"{number} {words}" for verdict, words in STOPS if (number := _new(looked, verdict, look))]
        stopped = listed(new, 2) if new else "nothing was decided"
        yield f"Look {look} of {len(course.looks)}, {there:,} instances: {stopped}."
    yield f"{_rates(course)}{effect}."
    if any(each.look < len(course.looks) for each in looked.standings if each.verdict != "continue"):
        yield TOO_LARGE


STOPS: tuple[tuple[Verdict, str], ...] = (
    ("different", "found different"),
    ("no relevant difference", "without a relevant difference"),
)


def look_method_sentences(looked: Looked) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a paper says of it, without full stops, and the works to cite."""
    course = looked.course
    when = listed([f"{each:,}" for each in course.looks], len(course.looks))
    spending = SPENDINGS.get(course.spending, f"the spending function {course.spending}")
    exact = "boundaries exact for Student's t" if course.test == "t" else "boundaries of normal theory"
    yield (
        f"Results were to be looked at after {when} instances, in random order fixed beforehand; comparisons that were"
        " decided stopped there, and algorithms that no other comparison needed got no more runs",
        (),
    )
    yield (
        f"The family-wise error was kept at {digits(course.alpha)} over the looks by a group-sequential Holm procedure"
        f" ({spending}, {exact}); p-values are sequential ones, and intervals are repeated confidence intervals",
        ("maurer2013", "lan1983", "jennison1989"),
    )
    if course.effect is not None:
        yield (
            "A comparison also stopped, without freeing level for others, when a standardised difference of d ="
            f" {digits(course.effect)} or more was rejected, with an error of at most"
            f" {digits(100 * course.equivalence)} % for each comparison",
            (),
        )
    used, early = course.looks[course.done - 1], course.done < len(course.looks) and looked.ended
    yield (
        f"{count(course.done, 'look')} {'was' if course.done == 1 else 'were'} taken, the last at {used:,} instances"
        + (", where everything was decided" if early else "" if looked.ended else "; the study is not at its end"),
        (),
    )


def skewed_note(looked: Looked, difference: Difference, look: int | None = None) -> str | None:
    """Warn of differences so skewed that looks err, at a look (from 1) or the last one of each; None if there are none.

    The look so far makes it worse: an early one has few instances and a strict level.
    """
    course = looked.course
    if course.test != "t":
        return None
    rows = [(look or each.look, k) for k, each in enumerate(looked.standings)]
    found = [(_factor(looked, at, k), at, k) for at, k in rows if _is_sure(looked, at, k)]
    strong = [each for each in found if each[0] > SKEW_FACTOR]
    if not strong:
        return None
    factor, at, worst = max(strong)
    plain = error_inflation(_skew(looked, at, worst), course.looks[-1], _strictest(looked), course.alternative)
    beside = f", a study without looks {_often(plain)}" if plain < 0.9 * factor else ""
    which = f"{len(strong)} of {len(looked.pairs)} comparisons" if len(looked.pairs) > 1 else "the comparison"
    other = "" if difference == "ratio" else "ratio differences, which are less skewed, or "
    return (
        f"in {which} the differences are strongly skewed at {course.looks[at - 1]:,} instances (most:"
        f" {' × '.join(looked.pairs[worst])}, skewness {_skew(looked, at, worst):.1f}), and looking early sharpens what"
        f" that does to t-tests: at the strictest level a difference that is not there is claimed {_often(factor)} as"
        f" often as it should be{beside}; claim with care, and for a new study choose {other}a fixed size with test ="
        " 'bootstrap-t'"
    )


def underpowered_looks(looked: Looked, reached: float, wanted: float) -> Caution | None:
    """Say that the instances were too few for the effect planned for; a hundredth of power is no word worth."""
    course = looked.course
    if reached >= wanted - 0.01 or course.effect is None:
        return None
    return Caution(
        "power",
        f"With at most {course.looks[-1]} instances, looks and {count(len(looked.pairs), 'comparison')} an effect of"
        f" d = {digits(course.effect)} is found with mean power {reached:.2f}, not the {digits(wanted)} wanted; what is"
        " undecided may still be there.",
    )


def _next(looked: Looked, left: Sequence[str]) -> str:
    """What follows from it."""
    course = looked.course
    if looked.ended:
        spared = course.looks[-1] - course.looks[course.done - 1]
        return f"; the study ends here, {count(spared, 'instance')} before its most" if spared else "; the study ends"
    if not left:
        return ""
    need = "algorithm needs" if len(left) == 1 else "algorithms need"
    return f"; {len(left)} {need} no more runs ({listed(left, SHOWN)})"


def _new(looked: Looked, verdict: Verdict, look: int) -> int:
    """How many comparisons got this verdict at a look."""
    return looked.number(verdict, look) - (looked.number(verdict, look - 1) if look > 1 else 0)


def _rates(course: LookCourse) -> str:
    """The two error rates, which are about two statements."""
    same = f", and for each without a relevant difference at most {digits(100 * course.equivalence)} %"
    return (
        f"The chance of any false claim of a difference is at most {digits(100 * course.alpha)} %"
        f"{'' if course.effect is None else same}"
    )


def _skew(looked: Looked, look: int, k: int) -> float:
    return looked.skewness[look - 1][k]


def _is_sure(looked: Looked, look: int, k: int) -> bool:
    return abs(_skew(looked, look, k)) > SURE_SKEW * skewness_error(looked.course.looks[look - 1])


def _factor(looked: Looked, look: int, k: int) -> float:
    course = looked.course
    return looked_inflation(_skew(looked, look, k), course.schedule, _strictest(looked), course.alternative)


def _strictest(looked: Looked) -> float:
    return looked.course.alpha / len(looked.pairs)


def _often(factor: float) -> str:
    return f"roughly {factor:.1f} times" if factor < FAR_TOO_OFTEN else "more than ten times"
