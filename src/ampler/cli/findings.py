"""An analysis told to a person: first the answer in words, then the Holm table, then what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.analysis import Analysis, Comparison
from ampler.analysis.rendering import text_table
from ampler.analysis.verdicts import number
from ampler.cli.output import say, say_points

MOST_SENTENCES = 12  # verdicts told in full; the table has them all
LONGEST_LIST = 12  # names in one sentence


def tell(analysis: Analysis) -> None:
    """Print what was found."""
    say(headline(analysis), style="bold")
    say_points(sentences(analysis))
    print()
    print("\n".join(holm_lines(analysis)))
    print()
    say("Intervals in the table are at the Holm level of their rank; those in the sentences hold jointly.")
    say(_together(analysis))
    if analysis.warnings:
        print()
        say("Mind:", style="bold")
        say_points(caution.sentence for caution in analysis.warnings)


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
    parts = (("better than", won), ("worse than", len(decided) - won))
    found = " and ".join(f"{word} {number_of}" for word, number_of in parts if number_of)
    return f"{reference} is {found} of {count} others {basis}."


def sentences(analysis: Analysis) -> Iterator[str]:
    """Yield the verdicts: those that claim something one by one, the others together."""
    equivalent = {
        (each.first, each.second) for each in analysis.diagnoses if each.equivalence and each.equivalence.established
    }
    claims = [each for each in analysis.comparisons if each.rejected or (each.first, each.second) in equivalent]
    rest = [each for each in analysis.comparisons if each not in claims]
    for comparison in claims[:MOST_SENTENCES]:
        yield f"{_label(comparison, analysis)}: {comparison.verdict}."
    if len(claims) > MOST_SENTENCES:
        yield f"… and {len(claims) - MOST_SENTENCES} more, which the table shows."
    if rest:
        yield f"{_listed([_label(comparison, analysis) for comparison in rest])}: {rest[0].verdict}."


def holm_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the lines of the Holm table; they are never wrapped, so that they can be searched and cut."""
    header = ["rank", "comparison", analysis.comparisons[0].estimate_of, "Holm-level interval", "p", "alpha'", "d"]
    lines = text_table(header, [_row(comparison) for comparison in analysis.comparisons], left=[1])
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    yield from (line.rstrip() for line in lines[: 1 + rejected])
    if rejected < len(analysis.comparisons):
        yield "      ── not rejected from here on ──"
    yield from (line.rstrip() for line in lines[1 + rejected :])


def tell_exploration(analysis: Analysis) -> None:
    """Print what is there for forming ideas: other tests and differences, subgroups."""
    print()
    say("Exploratory, unadjusted: for forming ideas, not for claims.", style="bold")
    choices = [
        [each.test, each.difference, each.statistic, f"{each.same} of {len(each.decisions)}" if not each.note else "–"]
        for each in analysis.stability
    ]
    print("\n".join(text_table(["test", "difference", "statistic", "decisions that stay"], choices, left=[0, 1, 2])))
    for note in dict.fromkeys(each.note for each in analysis.stability if each.note):
        say(f"– {note}.")
    groups = [
        [
            f"{each.feature} = {each.value}",
            str(each.instances),
            f"{each.first} × {each.second}",
            number(each.estimate, 2),
            f"{each.p_value:.2g}",
        ]
        for each in analysis.subgroups
    ]
    if groups:
        print()
        print("\n".join(text_table(["subgroup", "instances", "comparison", "estimate", "p"], groups, left=[0, 2])))


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


def _row(comparison: Comparison) -> list[str]:
    low, high = (number(bound, 2) for bound in comparison.interval)
    return [
        str(comparison.rank),
        _pair(comparison),
        number(comparison.estimate, 2),
        f"[{low}, {high}]",
        f"{comparison.p_value:.2g}",
        f"{comparison.alpha:.2g}",
        number(comparison.effect_size, 2),
    ]


def _together(analysis: Analysis) -> str:
    """The test of all algorithms together, which readers ask for; it decides nothing."""
    friedman = analysis.omnibus.friedman.corrected
    ties = ", corrected for ties," if analysis.omnibus.friedman.has_ties else ""
    return (
        f"All together, beside the comparisons: Friedman's test{ties} gives {friedman.statistic:.4g}"
        f" (p = {friedman.p_value:.3g})."
    )
