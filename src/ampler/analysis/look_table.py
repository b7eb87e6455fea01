"""The comparisons of a study with looks as rows of text: verdict, instances, repeated interval, adjusted p. Pure."""

from __future__ import annotations

from ampler.analysis.compare import Comparison
from ampler.analysis.results import Analysis
from ampler.analysis.units import estimate_header, estimate_text, in_table, texts_in_unit
from ampler.core.wording import digits

VERDICTS = {"continue": "goes on"}  # what is called otherwise where people read it


def looked_lines(analysis: Analysis) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table, in the order of the comparisons."""
    header = ["comparison", "verdict", "look", "instances", estimate_header(analysis), "repeated interval"]
    return [*header, "sequential p", "adjusted p", "d"], [_row(each, analysis) for each in in_table(analysis)]


def verdict_word(comparison: Comparison, analysis: Analysis) -> str:
    """Return the verdict in a word or two; a difference may be real and still not relevant."""
    assert analysis.looks is not None
    standing = analysis.looks.standing((comparison.first, comparison.second))
    if standing.verdict == "different" and comparison.in_doubt:
        return "inconclusive"
    if standing.verdict == "no relevant difference" and comparison.rejected:
        return f"real, smaller than d = {digits(analysis.looks.course.effect or 0.0)}"
    return VERDICTS.get(standing.verdict, standing.verdict)


def _row(comparison: Comparison, analysis: Analysis) -> list[str]:
    assert analysis.looks is not None
    _, low, high = texts_in_unit(analysis, comparison.estimate, *comparison.interval)
    return [
        f"{comparison.first} × {comparison.second}",
        verdict_word(comparison, analysis),
        str(analysis.looks.standing((comparison.first, comparison.second)).look),
        str(comparison.instances),
        estimate_text(comparison.estimate, analysis, *comparison.interval),
        f"[{low}, {high}]",
        f"{comparison.p_value:.2g}",
        f"{comparison.p_holm:.2g}",
        digits(comparison.effect_size, 2),
    ]
