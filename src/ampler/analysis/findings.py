"""What an analysis found, in sentences: the answer first, then the verdicts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.analysis import Analysis, Comparison

LONGEST_LIST = 12  # names in one sentence


def headline(analysis: Analysis) -> str:
    """Say what was found, counted."""
    decided = [comparison for comparison in analysis.comparisons if comparison.rejected]
    count, reference = len(analysis.comparisons), analysis.settings.reference
    basis = f"on {analysis.instances} instances ({analysis.runs:,} runs of {len(analysis.algorithms)} algorithms)"
    if not decided:
        return f"No difference is found in {_comparisons(count)} {basis}."
    if reference is None:
        return f"{len(decided)} of {count} pairs differ {basis}."
    won = sum(_first_is_better(comparison, analysis) for comparison in decided)
    if count == 1:
        return f"{reference} is {'better' if won else 'worse'} than {decided[0].second} {basis}."
    parts = (("better than", won), ("worse than", len(decided) - won))
    found = " and ".join(f"{word} {number_of}" for word, number_of in parts if number_of)
    return f"{reference} is {found} of {count} others {basis}."


def sentences(analysis: Analysis, *, most: int | None = None) -> Iterator[str]:
    """Yield the verdicts: those that claim something one by one (at most so many), the others together."""
    equivalent = {
        (each.first, each.second) for each in analysis.diagnoses if each.equivalence and each.equivalence.established
    }
    claims: list[Comparison] = []
    rest: list[Comparison] = []
    for each in analysis.comparisons:
        (claims if each.rejected or (each.first, each.second) in equivalent else rest).append(each)
    for comparison in claims[:most]:
        yield f"{_label(comparison, analysis)}: {comparison.verdict}."
    if most is not None and len(claims) > most:
        yield f"… and {len(claims) - most} more, which the table shows."
    if rest:
        yield f"{_listed([_label(comparison, analysis) for comparison in rest])}: {rest[0].verdict}."


def together(analysis: Analysis) -> str:
    """Say what the test of all algorithms together gives, which readers ask for; it decides nothing."""
    friedman = analysis.omnibus.friedman.corrected
    ties = ", corrected for ties," if analysis.omnibus.friedman.has_ties else ""
    return (
        f"All together, beside the comparisons: Friedman's test{ties} gives {friedman.statistic:.4g}"
        f" (p = {friedman.p_value:.3g})."
    )


def _first_is_better(comparison: Comparison, analysis: Analysis) -> bool:
    neutral = 0.5 if comparison.estimate_of.startswith("P") else 0.0
    return (comparison.estimate > neutral) == (analysis.settings.better == "higher")


def _comparisons(count: int) -> str:
    return "the one comparison" if count == 1 else f"any of {count} comparisons"


def _label(comparison: Comparison, analysis: Analysis) -> str:
    """The pair, or the rival alone when there is a reference."""
    return comparison.second if analysis.settings.reference is not None else _pair(comparison)


def _pair(comparison: Comparison) -> str:
    return f"{comparison.first} × {comparison.second}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:LONGEST_LIST])
    return shown if len(names) <= LONGEST_LIST else f"{shown} and {len(names) - LONGEST_LIST} more"
