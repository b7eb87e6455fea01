"""An analysis told to a person: first the answer in words, then the Holm table, then what to mind."""

from __future__ import annotations

from collections.abc import Iterator

from ampler.analysis import Analysis, Comparison
from ampler.analysis.rendering import text_table
from ampler.analysis.verdicts import number
from ampler.cli.output import say, say_points
from ampler.findings import headline, sentences, together

MOST_SENTENCES = 12  # verdicts told in full; the table has them all


def tell(analysis: Analysis) -> None:
    """Print what was found."""
    say(headline(analysis), style="bold")
    say_points(sentences(analysis, most=MOST_SENTENCES))
    print()
    print("\n".join(holm_lines(analysis)))
    print()
    say("Intervals in the table are at the Holm level of their rank; those in the sentences hold jointly.")
    say(together(analysis))
    if analysis.warnings:
        print()
        say("Mind:", style="bold")
        say_points(caution.sentence for caution in analysis.warnings)


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


def _row(comparison: Comparison) -> list[str]:
    low, high = (number(bound, 2) for bound in comparison.interval)
    return [
        str(comparison.rank),
        f"{comparison.first} × {comparison.second}",
        number(comparison.estimate, 2),
        f"[{low}, {high}]",
        f"{comparison.p_value:.2g}",
        f"{comparison.alpha:.2g}",
        number(comparison.effect_size, 2),
    ]
