"""An analysis told to a person: first the answer in words, then the Holm table, then what to mind."""

from __future__ import annotations

from ampler.analysis import Analysis
from ampler.analysis.words import (
    headline,
    holm_lines,
    question_lines,
    text_table,
    together,
    verdict_sentences,
)
from ampler.app.shell.output import say, say_points
from ampler.core.wording import digits

MOST_SENTENCES = 12  # verdicts told in full; the table has them all


def tell(analysis: Analysis) -> None:
    """Print what was found."""
    say(headline(analysis), style="bold")
    say_points(verdict_sentences(analysis, most=MOST_SENTENCES))
    print()
    for line in question_lines(analysis):
        say(f"{line[0].upper()}{line[1:]}.")
    print()
    print("\n".join(holm_lines(analysis)))
    print()
    say("Intervals in the table are at the Holm level of their rank; those in the sentences hold jointly.")
    say(together(analysis))
    if analysis.warnings:
        print()
        say("Mind:", style="bold")
        say_points(caution.sentence for caution in analysis.warnings)


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
            digits(each.estimate, 2),
            f"{each.p_value:.2g}",
        ]
        for each in analysis.subgroups
    ]
    if groups:
        print()
        print("\n".join(text_table(["subgroup", "instances", "comparison", "estimate", "p"], groups, left=[0, 2])))
