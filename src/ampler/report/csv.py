"""The comparisons as CSV that a spreadsheet opens without running anything in it. Pure."""

from __future__ import annotations

from math import inf, nan

from ampler.analysis import Analysis
from ampler.analysis.bayes import Probable
from ampler.core.wording import harmless


def comparisons_csv(analysis: Analysis, *, bayes: bool = False) -> str:
    """Return the comparisons in Holm's order, one row each; names that would be formulas begin with an apostrophe.

    What is infinite or unknown, such as the open end of a one-sided interval, is an empty cell. With `bayes` each row
    goes on with what is probable of it.
    """
    table = analysis.table().replace({inf: nan, -inf: nan})
    for column in ("first", "second", "estimate_of", "verdict"):
        table[column] = table[column].map(harmless)
    rows = [_probabilities(each) for each in analysis.bayes.comparisons] if bayes else [{}]
    for name in rows[0]:
        table[name] = [row[name] for row in rows]
    return str(table.to_csv(index=False, lineterminator="\n"))


def _probabilities(each: Probable) -> dict[str, float | str | None]:
    """What is probable of the mean over instances, by the posterior alone and the shared one, and on a new instance."""
    own = each.posterior
    kinds = {"mean": each.chances, "shared": each.shared_chances, "new_instance": each.new_chances}
    return {
        "posterior_mean": None if own is None else own.mean,
        "credible_lower": None if own is None else own.interval[0],
        "credible_upper": None if own is None else own.interval[1],
        **{
            f"{kind}_{side}": None if chances is None else chances.of(side)
            for kind, chances in kinds.items()
            for side in ("worse", "equivalent", "better")
        },
        "bayes_verdict": each.verdict,
    }
