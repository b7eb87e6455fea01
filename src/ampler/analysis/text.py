"""An analysis as text for a terminal: the Holm table and those for forming ideas, in any width. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ampler.analysis.answer import Finding, findings
from ampler.analysis.compare import Comparison
from ampler.analysis.counts import counted
from ampler.analysis.look_table import looked_lines
from ampler.analysis.look_words import look_sentences
from ampler.analysis.results import Analysis
from ampler.analysis.units import (
    estimate_header,
    estimate_in_unit,
    estimate_text,
    in_table,
    interval_in_unit,
    margin_in_words,
    measure_in_words,
    p_in_words,
    texts_in_unit,
)
from ampler.analysis.wins import wins_of
from ampler.analysis.words import (
    CLAIM_NOTHING,
    about_intervals,
    about_stopping,
    found_sentence,
    is_biased,
    pair_name,
    question_lines,
    taken,
)
from ampler.core.arrays import Interval
from ampler.core.layout import USUAL, Column, TextTable, table_of
from ampler.core.wording import digits
from ampler.stats.paired import paired_test

STOP = "stop rejecting"


def text_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the lines of the Holm table, with what was asked above it and the warnings below."""
    yield from filter(None, [taken(analysis)])
    yield measure_in_words(analysis)
    yield from question_lines(analysis)
    if is_biased(analysis):
        yield f"! {CLAIM_NOTHING}{found_sentence(analysis)}"
    yield ""
    table = holm_columns(analysis).fitted()
    yield from table.lines
    yield ""
    if table.left_out:
        yield f"Left out at {USUAL} columns: {', '.join(table.left_out)}."
    yield from _notes(analysis)


def holm_columns(analysis: Analysis) -> TextTable:
    """Return the Holm table, with a line where rejecting stops; at first leave what follows from the other columns."""
    if analysis.looks is not None:
        return table_of(*looked_lines(analysis), words=(1,), leaves={2: 3, 3: 2, 5: 1, 6: 4, 8: 5})
    shown, found = list(in_table(analysis)), findings(analysis).values()
    asked = analysis.settings
    steps = paired_test(asked.test).procedure
    if analysis.unfinished:
        estimates = Column(estimate_header(analysis), tuple(digits(each.estimate, 3) for each in shown))
        return TextTable((_compared(analysis), estimates, *_wins(analysis)))
    return TextTable(
        (
            Column("rank", tuple(str(each.rank) for each in shown), leaves=5),
            _compared(analysis),
            *(Column(head, tuple(str(number(each)) for each in shown)) for head, number in counted(analysis).items()),
            Column(estimate_header(analysis), tuple(_estimate(each, analysis) for each in shown)),
            *_wins(analysis),
            Column("joint interval", tuple(_bracket(each, each.joint_interval, analysis) for each in shown), leaves=1),
            Column(
                f"{steps.level}-level interval",
                tuple(_bracket(each, each.interval, analysis) for each in shown),
                leaves=9,
            ),
            Column("p", tuple(p_in_words(each.p_value, each.instances, asked) for each in shown), leaves=6),
            Column("alpha", tuple(digits(each.alpha, 2) for each in shown), leaves=8),
            Column(f"p ({steps.name})", tuple(p_in_words(each.p_holm, each.instances, asked) for each in shown)),
            Column("d", tuple(digits(each.effect_size, 2) for each in shown), leaves=7),
            Column(
                "verdict",
                tuple(_short_verdict(each, analysis) for each in found),
                "words",
                leaves=3,
            ),
        ),
        breaks=_stop(analysis),
    )


def _short_verdict(of_first: Finding, analysis: Analysis) -> str:
    """The finding in a word, said of the second; it names the better side where nobody is the reference."""
    if of_first not in {"better", "worse"} or analysis.settings.reference is None:
        return {"better": "first better", "worse": "second better", "undecided": "inconclusive"}.get(of_first, of_first)
    found = said_of_second(of_first)
    return "inconclusive" if found == "undecided" else found


def said_of_second(of_first: Finding) -> Finding:
    """Return what was found, said of the second algorithm of a pair.

    >>> said_of_second("better"), said_of_second("equivalent")
    ('worse', 'equivalent')
    """
    turned: dict[Finding, Finding] = {"better": "worse", "worse": "better"}
    return turned.get(of_first, of_first)


def _wins(analysis: Analysis) -> list[Column]:
    """On how many instances the first is better; none where there is one instance."""
    if analysis.single is not None:
        return []
    wins = wins_of(analysis)
    counts = (wins[each.first, each.second] for each in analysis.comparisons)
    return [Column("first better", tuple(f"{each.first} of {each.instances}" for each in counts), leaves=4)]


def _compared(analysis: Analysis) -> Column:
    """The pairs; where room is short and all have the same first, the second alone."""
    pairs = tuple(pair_name(each) for each in analysis.comparisons)
    if analysis.settings.reference is None:
        return Column("comparison", pairs, "name")
    rivals = tuple(each.second for each in analysis.comparisons)
    return Column("comparison", pairs, "name", narrow=Column(f"{analysis.settings.reference} ×", rivals, "name"))


def _stop(analysis: Analysis) -> dict[int, str]:
    """Before which row rejecting stops; nowhere if it never does."""
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    if analysis.unfinished:
        return {}
    return {rejected: f"      ── {STOP} ──"} if rejected < len(analysis.comparisons) else {}


def _estimate(each: Comparison, analysis: Analysis) -> str:
    return estimate_text(each.estimate, analysis, *each.joint_interval)


def _bracket(each: Comparison, interval: Interval, analysis: Analysis) -> str:
    """An interval with the decimals of the joint one, which is as wide as any."""
    _, _, _, low, high = texts_in_unit(analysis, each.estimate, *each.joint_interval, *interval)
    return f"[{low}, {high}]"


def _notes(analysis: Analysis) -> Iterator[str]:
    asked = analysis.settings
    yield about_intervals(analysis)
    yield from () if analysis.looks is None else look_sentences(analysis.looks)
    if asked.margin is not None and not analysis.unfinished:
        tests = [diagnosis.equivalence for diagnosis in analysis.diagnoses]
        established = sum(test is not None and test.established for test in tests)
        yield (
            f"Equivalence within {margin_in_words(asked.margin, asked)} at family-wise level {digits(asked.alpha / 2)}:"
            f" {established} of {len(tests)} established."
        )
    if stopped := about_stopping(analysis):
        yield stopped
    yield from (f"! {caution.sentence}" for caution in analysis.warnings if caution.kind != "columns")


def stability_columns(analysis: Analysis) -> TextTable:
    """Return the table of what other tests, differences and statistics would decide."""
    rows = [
        [each.test, each.difference, each.statistic, f"{each.same} of {len(each.decisions)}" if not each.note else "–"]
        for each in analysis.stability
    ]
    return table_of(["test", "difference", "statistic", "decisions that stay"], rows, names=(0, 1, 2))


def subgroup_columns(analysis: Analysis) -> TextTable:
    """Return the table of every comparison on groups of instances."""
    rows = [
        [
            f"{each.feature} = {each.value}",
            str(each.instances),
            pair_name(each),
            estimate_text(
                estimate_in_unit(each.estimate, analysis), analysis, *interval_in_unit(each.interval, analysis)
            ),
            p_in_words(each.p_value, each.instances, analysis.settings),
        ]
        for each in analysis.subgroups
    ]
    header = ["subgroup", "instances", "comparison", estimate_header(analysis, "estimate"), "p"]
    return table_of(header, rows, names=(0, 2), leaves={1: 1})
