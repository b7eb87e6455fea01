"""What is probable, in a report: its tables, and its table for a paper. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ampler.analysis.bayes import Bayes, Chances, Probable
from ampler.analysis.bayes.words import said_verdict, sides
from ampler.core.wording import digits
from ampler.report.latex import MOST_ROWS, booktabs, escaped, tex_number, wrapped
from ampler.report.tables import Cell, ReportTable, interval_cell, number_cell, words_cell


def probable_table(bayes: Bayes) -> ReportTable:
    """Return the comparisons with their probabilities, in Holm's order."""
    shared = any(each.shared is not None for each in bayes.comparisons)
    first, same, second = sides(bayes)
    level = f"{digits(100 * bayes.level)} % credible interval"
    groups = ["", *(["shared: "] if shared else []), "new instance: "]
    names = [f"{group}{side}" for group in groups for side in (first, same, second)]
    return ReportTable(
        name="probable",
        caption="How probable it is, beside the tests: the posterior of the mean over instances, of the same given all"
        " comparisons (shared), and of a new instance of the same kind.",
        header=("comparison", "verdict", "mean", level, *names),
        rows=tuple(_row(each, bayes, shared=shared) for each in bayes.comparisons),
        words=frozenset({0, 1}),
    )


def ranking_table(bayes: Bayes) -> ReportTable | None:
    """Return the algorithms by rankings alone, best first; None if they cannot be told."""
    found = bayes.ranking
    if found is None:
        return None
    return ReportTable(
        name="ranking",
        caption="Rankings alone (Plackett–Luce): the chance to be first on an instance, and the probability to be the"
        f" best of all, on {found.instances} instances.",
        header=("algorithm", "first on an instance", "best of all"),
        rows=tuple(
            (words_cell(name), _chance(found.win[k], 2), _chance(found.best[k], 2))
            for k, name in enumerate(found.algorithms)
        ),
        words=frozenset({0}),
    )


def sensitivity_table(bayes: Bayes) -> ReportTable:
    """Return the comparisons by other models."""
    names = sides(bayes)
    rows = zip(bayes.comparisons, bayes.sensitivity, strict=False)
    return ReportTable(
        name="sensitivity",
        caption="The same by other models: the centre of the typical instances when some may be far out (robust,"
        " t distribution with 4 degrees of freedom), and the Bayesian signed-rank test, which asks where pairs of"
        " instances average most often.",
        header=(
            *("comparison", "verdict", "robust interval", *(f"robust: {name}" for name in names)),
            *(f"signed-rank: {name}" for name in names),
        ),
        rows=tuple(
            (
                words_cell(f"{own.first} × {own.second}"),
                words_cell(said_verdict(own, bayes)),
                words_cell("–") if each.robust is None else interval_cell(each.robust.interval),
                *_three(None if each.robust is None else bayes.chances(each.robust.areas)),
                *_three(None if each.signed_rank is None else bayes.chances(each.signed_rank), 2),
            )
            for own, each in rows
        ),
        words=frozenset({0, 1}),
    )


def _row(each: Probable, bayes: Bayes, *, shared: bool) -> tuple[Cell, ...]:
    own = each.posterior
    return (
        words_cell(f"{each.first} × {each.second}"),
        words_cell(said_verdict(each, bayes)),
        words_cell("–") if own is None else number_cell(own.mean),
        words_cell("–") if own is None else interval_cell(own.interval),
        *_three(each.chances),
        *(_three(each.shared_chances) if shared else ()),
        *_three(each.new_chances),
    )


def _three(chances: Chances | None, places: int = 3) -> Iterator[Cell]:
    for side in ("worse", "equivalent", "better"):
        yield Cell("–", -1.0) if chances is None else _chance(chances.of(side), places)


def _chance(value: float, places: int = 3) -> Cell:
    """A probability; what is nearly certain is never written as certain."""
    least = 10.0**-places
    if value < least / 2:
        return Cell(f"<{least:.{places}f}", value)
    return Cell(f">{1 - least:.{places}f}" if value > 1 - least / 2 else f"{value:.{places}f}", value)


# for a paper --------------------------------------------------------------------------------------------------------


def bayes_tabular(bayes: Bayes) -> str:
    r"""Return the table for a paper: mean, interval, three probabilities, those of a new instance, the verdict.

    It needs \usepackage{booktabs} in the preamble.
    """
    first, same, second = sides(bayes)
    header = ["comparison", "mean", rf"{digits(100 * bayes.level)}\,\% interval", first, same, second]
    rows = [
        [
            rf"{wrapped(each.first)} $\times$ {wrapped(each.second)}",
            "--" if each.posterior is None else tex_number(each.posterior.mean),
            "--" if each.posterior is None else _tex_interval(each.posterior.interval),
            *_tex_three(each.chances),
            *_tex_three(each.new_chances),
            escaped(said_verdict(each, bayes)).replace("–", "--"),
        ]
        for each in bayes.comparisons
    ]
    new = [f"new: {side}" for side in (first, same, second)]
    return booktabs([*header, *new, "verdict"], rows, align="lrc" + "r" * 6 + "l", long=len(rows) > MOST_ROWS)


def _tex_interval(interval: tuple[float, float]) -> str:
    low, high = (tex_number(end).strip("$") for end in interval)
    return f"$[{low}, {high}]$"


def _tex_three(chances: Chances | None) -> list[str]:
    return ["--" if cell.text == "–" else f"${cell.text}$" for cell in _three(chances)]
