"""An analysis as text: the Holm table, what else was found, and the warnings."""

from __future__ import annotations

from collections.abc import Iterator

from ampler.analysis.rendering import text_table
from ampler.analysis.results import Analysis, Comparison
from ampler.analysis.verdicts import number

STOP = "stop rejecting"
TESTS = {"t": "paired t-tests", "wilcoxon": "Wilcoxon signed-rank tests", "sign": "sign tests"}


def lines(analysis: Analysis) -> Iterator[str]:
    """Yield the lines of the Holm table, with what was asked above it and the warnings below."""
    yield from question_lines(analysis)
    yield ""
    yield from holm_lines(analysis)
    yield ""
    yield from _notes(analysis)


def question_lines(analysis: Analysis) -> Iterator[str]:
    """Yield what was compared, and how it was tested."""
    asked = analysis.settings
    against = f"{asked.reference} against all others" if asked.reference is not None else "all against all"
    yield (
        f"{analysis.instances} instances, {len(analysis.algorithms)} algorithms, {analysis.runs} runs;"
        f" {asked.difference} differences of the {asked.statistic}, {against}, {asked.better} is better"
    )
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    side = "" if asked.alternative == "two-sided" else f" ({asked.alternative})"
    yield (
        f"{TESTS[asked.test]}{side}, Holm at family-wise level {number(asked.family_alpha)}:"
        f" {rejected} of {len(analysis.comparisons)} null hypotheses rejected"
    )


def holm_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the lines of the Holm table, with a line where rejecting stops; they are never wrapped."""
    header = ["rank", "comparison", _estimate_name(analysis), "Holm-level interval", "p", "alpha", "d", ""]
    table = text_table(header, [_row(comparison) for comparison in analysis.comparisons], left=[1])
    yield table[0].rstrip()
    for comparison, line in zip(analysis.comparisons, table[1:], strict=True):
        if not comparison.rejected and (comparison.rank == 1 or analysis.comparisons[comparison.rank - 2].rejected):
            yield f"      ── {STOP} ──"
        yield line.rstrip()


def _estimate_name(analysis: Analysis) -> str:
    return analysis.comparisons[0].estimate_of


def _row(comparison: Comparison) -> list[str]:
    low, high = (number(bound, 2) for bound in comparison.interval)
    return [
        str(comparison.rank),
        f"{comparison.first} × {comparison.second}",
        number(comparison.estimate, 2),
        f"[{low}, {high}]",
        f"{comparison.p_value:.2g}",
        number(comparison.alpha, 2),
        number(comparison.effect_size, 2),
        "rejected" if comparison.rejected else "",
    ]


def _notes(analysis: Analysis) -> Iterator[str]:
    asked = analysis.settings
    yield "Each interval is at the Holm level of its rank (1 − alpha); the joint intervals are in the verdicts."
    if asked.margin is not None:
        tests = [diagnosis.equivalence for diagnosis in analysis.diagnoses]
        established = sum(test is not None and test.established for test in tests)
        yield (
            f"Equivalence within ±{number(asked.margin)} at family-wise level {number(asked.alpha / 2)}:"
            f" {established} of {len(tests)} established."
        )
    for caution in analysis.warnings:
        yield f"! {caution.sentence}"
