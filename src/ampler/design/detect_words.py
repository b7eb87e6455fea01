"""A study that finds its own size, in words: before the pilot, after it, and in a paper. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ampler.core.arrays import Pair
from ampler.core.choices import Difference
from ampler.core.wording import amount, count, difference_text, digits, listed
from ampler.design.detect import DetectGoal
from ampler.design.pilot import PilotReport
from ampler.stats.shape import error_inflation, largest_share_limit, skewness_p_value

SKEW_FACTOR = 1.5  # a test that errs half as often again as it says deserves a word
FALSE_ALARMS = 0.05  # of studies in which all differences are normal
FAR_TOO_OFTEN = 10.0  # beyond this the number itself means little
SHOWN = 3
HALF = 2  # a pilot of more than half of all instances leaves little to decide


def before_pilot(goal: DetectGoal, difference: Difference, pilot: int, available: int, runs: Mapping[str, int]) -> str:
    """Say what the pilot takes and what is decided after it."""
    where = f"all {available}" if pilot == available else f"{pilot:,} of {available:,}"
    each = f"{goal.start} runs of each of {len(runs)} algorithms ({count(pilot * sum(runs.values()), 'run')})"
    asked = f"a difference of {amount(goal.detect, difference)} with mean power {digits(goal.power)}"
    decided = "how many instances and runs find"
    if goal.is_fixed:
        decided = f"how many runs on the {available} instances, too few to choose among, come near to finding"
    return f"Pilot: {where} instances, {each}. Then it is decided {decided} {asked}."


def bargain_note(goal: DetectGoal, pilot: int, available: int, runs: Mapping[str, int]) -> str | None:
    """Say when finding the size out costs more than it may save, before the pilot is paid for; None where it pays."""
    if goal.is_fixed:
        return None
    if available < HALF * pilot:
        return (
            f"the pilot takes {pilot} of {available} instances, so that little is left to decide; a study of fixed size"
            ' (use = "all" and an effect, or allocation = "fixed") tests all of them at the full level'
        )
    first = goal.instance_cost * pilot
    if first > pilot * sum(runs.values()):
        return (
            f"{pilot} instances cost as much as {first:,.0f} runs before anything is known, and a study that needs"
            " fewer takes as many all the same; where differences may be larger than they vary, pilot = 10 under [rule]"
            " costs less"
        )
    return None


def after_pilot(report: PilotReport) -> str:
    """Say what the pilot showed and what was decided."""
    return " ".join([*_clear(report), *_going(report), *_plan(report), *_half(report), *_too_few(report)])


def at_end(report: PilotReport) -> str:
    """Say what was run in the end, and how it is tested."""
    early = f", and {sum(report.clear)} on the pilot's {report.pilot}" if any(report.clear) else ""
    how = "by ordinary tests" if report.is_fixed else f"by {_final_test(report)}{early}"
    return (
        f"All that was decided on is run: {count(report.total, 'run')}; {count(len(report.going), 'comparison')} can be"
        f" tested on {report.planned:,} instances, {how}."
    )


def how_tested(report: PilotReport) -> str:
    """Say beside the tests what they allow for, without a full stop."""
    if report.is_fixed:
        return f"a pilot of {report.pilot} instances chose the runs alone, so that the tests are ordinary ones"
    early, late = digits(100 * report.share), digits(100 * (1 - report.share))
    decided = f"{early} % of every level was for the pilot, which decided {sum(report.clear)} of {len(report.clear)}"
    if not report.going:
        return f"the size was chosen after a pilot of {report.pilot} instances: {decided}"
    return (
        f"the size was chosen after a pilot of {report.pilot} instances: {decided}; the others have {late} % at the"
        f" end, by {_final_test(report)}"
    )


def _final_test(report: PilotReport) -> str:
    if report.final_test == "t":
        return "t-tests at a level that allows for the choice of the size"
    since = f"the pilot's first {report.seen}" if report.seen else "the pilot"
    return f"the mean of all and the variance after {since}"


def method_sentences(report: PilotReport) -> Iterator[str]:
    """Yield what a paper says of it, without full stops."""
    asked = f"a difference of {amount(report.detect, report.difference)} with a mean power of {digits(report.power)}"
    yield (
        f"Each algorithm was first run {report.start} times on each of {report.pilot} instances in random order, a"
        f" pilot from which the instances and runs were chosen that find {asked} at the least cost"
    )
    if report.is_fixed:
        yield (
            f"All {report.available} instances were used, so that the pilot decided on the numbers of runs alone, from"
            " variances, and the final tests are ordinary ones"
        )
        return
    early, late = digits(100 * report.share), digits(100 * (1 - report.share))
    if report.going:
        only, since = ("", "since then") if not report.seen else (f" of the first {report.seen}", "after these")
        final = (
            f"tests use the mean of all {report.planned} instances and the variance {since} ({report.planned} −"
            f" {len(report.since)} degrees of freedom), at {late} % of Holm's levels"
        )
        if report.final_test == "t":
            final = (
                f"tests are paired t-tests on all {report.planned} instances at {late} % of Holm's levels, lowered to"
                " allow for the choice of the size"
            )
        yield (
            f"Sample size was re-estimated once, after {report.pilot} instances, from the variances{only} only; the"
            f" final {final}; {early} % were used at {report.pilot} instances"
        )
    if any(report.clear):
        yield (
            f"{sum(report.clear)} of {count(len(report.clear), 'comparison')} {_were(sum(report.clear))} decided by the"
            f" pilot, at {early} % of Holm's levels, and got no more runs"
        )


def carried_note(report: PilotReport) -> str | None:
    """Warn of variances that few instances carry, before the rest is paid for; None if there are none."""
    going = [place for place in report.going if report.shares]
    return carried_sentence(
        [report.pairs[place] for place in going],
        [report.shares[place] for place in going],
        [int(report.freedom[place]) + 1 for place in going],
        report.difference,
    )


def carried_sentence(
    pairs: Sequence[Pair], shares: Sequence[float], sizes: Sequence[int], difference: Difference
) -> str | None:
    """Say of how many comparisons one of so many instances holds most of the variance; None if there are none."""
    limits = largest_share_limit(sizes, max(1, len(pairs)))
    some = [k for k, limit in enumerate(limits) if shares[k] > limit]
    if not some:
        return None
    worst = max(some, key=lambda place: shares[place])
    which = f"{len(some)} of {len(pairs)} comparisons" if len(pairs) > 1 else "the comparison"
    other = "" if difference == "ratio" else "; ratio differences hang less on single instances"
    return (
        f"in {which} one instance carries much of the variance (most: {' × '.join(pairs[worst])},"
        f" {100 * shares[worst]:.0f} % by one of {sizes[worst]}). The variance of other instances may be far larger,"
        f" and the power lower than planned. The plan allows for this in part{other}"
    )


def skewness_note(report: PilotReport) -> str | None:
    """Warn of differences so skewed that the tests will err, before their runs are paid for; None if there are none.

    Of studies in which all differences are normal, 5 % are warned by chance.
    """
    factors = [_inflation(report, place) for place in range(len(report.pairs))]
    chance = FALSE_ALARMS / len(report.pairs)
    sure = [
        skewness_p_value(skew, int(n) + 1) < chance for skew, n in zip(report.skewness, report.freedom, strict=True)
    ]
    strong = [k for k, factor in enumerate(factors) if factor > SKEW_FACTOR and sure[k]]
    if not strong:
        return None
    worst = max(strong, key=lambda place: factors[place])
    often = f"roughly {factors[worst]:.1f} times" if factors[worst] < FAR_TOO_OFTEN else "more than ten times"
    return (
        f"in {_of_comparisons(strong, report)} the differences of the pilot are strongly skewed (most:"
        f" {_pair(report, worst)}, skewness {report.skewness[worst]:.1f}), and a t-test would claim a difference that"
        f" is not there {often} as often as it should; {_remedy(report)}"
    )


def _remedy(report: PilotReport) -> str:
    """What to do about skewness."""
    if report.is_fixed:
        return "analyse the study with test bootstrap-t, which keeps its level"
    other = "" if report.difference == "ratio" else "; ratio differences are less skewed"
    return f"compare with the bootstrap-t (test bootstrap-t), which errs far less, before you claim a difference{other}"


def _of_comparisons(places: Sequence[int], report: PilotReport) -> str:
    return f"{len(places)} of {len(report.pairs)} comparisons" if len(report.pairs) > 1 else "the comparison"


def _clear(report: PilotReport) -> Iterator[str]:
    number, among = sum(report.clear), len(report.clear)
    if report.is_fixed:
        return
    if not number:
        yield f"None of {among} comparisons is clear already." if among > 1 else "The comparison is not clear yet."
        return
    some = "All" if number == among else f"{number} of"
    percent = digits(100 * report.share)
    stay = ", but their algorithms stay, as the others need them"
    leave = f"; {listed(report.left, SHOWN)} get{'s' if len(report.left) == 1 else ''} no more runs"
    next_ = ": the study ends here" if not report.going else leave if report.left else stay
    which = f"{some} {count(among, 'comparison')} {_are(number)}" if among > 1 else "The comparison is"
    yield f"{which} clear already ({percent} % of the level was set aside for this){next_}."


def _going(report: PilotReport) -> Iterator[str]:
    if not report.going:
        return
    rest = len(report.going)
    other, number = "other " if any(report.clear) else "", f"{rest} comparisons" if rest > 1 else "comparison"
    noise = _range([100 * report.noise_shares[place] for place in report.going], lambda share: f"{share:.0f}")
    spread = _range([report.deviations[place] for place in report.going], lambda each: _spread(each, report))
    verb = "vary" if rest > 1 else "varies"
    yield f"The {other}{number} {verb} by {spread} from instance to instance; run noise is {noise} % of the variance."


def _plan(report: PilotReport) -> Iterator[str]:
    if not report.going:
        return
    enough = "The pilot's " if report.planned == report.pilot and not report.is_fixed else ""
    instances = f"{count(report.planned, 'instance')}{' are enough,' if enough else ''}"
    share = f"{enough}{instances} with {_runs(report)}: {count(report.total, 'run')} in all"
    if not report.is_enough:
        yield f"All {share}."
        return
    power = _power(report)
    low, high = report.interval
    others = f" (other pilots would have asked for {low:,} to {high:,} instances, 90 % interval)"
    if report.final_test == "t":
        others = f" (by resampling the pilot {low:,} to {high:,} instances are needed, 90 % interval)"
    elif low == high == report.planned:
        others = " (other pilots would have asked for as many)"
    yield f"All {share}, {power}." if report.is_fixed else f"{share}, {power}{others}."


def _half(report: PilotReport) -> Iterator[str]:
    """Which of the pilot's instances decided on the size, where not all did."""
    if report.seen:
        yield (
            f"The first {report.seen} instances of the pilot decided this alone, so that the variance of all others"
            " counts at the end."
        )


def _too_few(report: PilotReport) -> Iterator[str]:
    """What the instances that are there can find, where they are fewer than needed."""
    if not report.going or report.is_enough:
        return
    asked = amount(report.detect, report.difference)
    needs = f"{asked[:1].upper()}{asked[1:]} needs {report.needed:,} instances and {report.planned:,} are there."
    finds = ""
    if math.isfinite(report.detectable):
        finds = f"; with mean power {digits(report.power)} they find {amount(report.detectable, report.difference)}"
    yield (
        f"{needs} With {report.planned:,} it is found with {_power(report)}{finds}. Going on with all"
        f" {report.planned:,}."
    )


def _power(report: PilotReport) -> str:
    """The power of what is planned: the mean, and the least beside it where there are several."""
    least = f", the least of a comparison {report.least_power:.2f}" if len(report.going) > 1 else ""
    return f"mean power {report.mean_power:.2f}{least}"


def _runs(report: PilotReport) -> str:
    """The runs of each algorithm on an instance: the one that has most by name, the others together."""
    playing = {name: number for name, number in report.runs.items() if number}
    numbers = list(playing.values())
    if len(set(numbers)) == 1:
        return f"{count(numbers[0], 'run')} of each algorithm"
    most = max(playing, key=lambda name: playing[name])
    others = [number for name, number in playing.items() if name != most]
    if playing[most] == max(others):
        return f"{_range(numbers, str)} runs of each algorithm"
    each = "each other" if len(others) > 1 else next(name for name in playing if name != most)
    return f"{count(playing[most], 'run')} of {most} and {_range(others, str)} of {each}"


def _inflation(report: PilotReport, place: int) -> float:
    """How many times too often a comparison errs at the strictest level it may be held against."""
    instances, share = (report.pilot, report.share) if report.clear[place] else (report.planned, 1 - report.share)
    level = share * report.alpha / len(report.pairs)
    return error_inflation(report.skewness[place], instances, level, report.alternative)


def _spread(deviation: float, report: PilotReport) -> str:
    """A standard deviation: logarithms have no unit."""
    return digits(deviation) if report.difference == "ratio" else difference_text(deviation, report.difference)


def _range(values: Sequence[float], shown: object) -> str:
    assert callable(shown)
    low, high = shown(min(values)), shown(max(values))
    return low if low == high else f"{low} to {high}"


def _pair(report: PilotReport, place: int) -> str:
    return " × ".join(report.pairs[place])


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
