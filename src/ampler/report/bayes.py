"""What is probable, in a report: its words and its tables, the same for every format. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ampler.analysis import Analysis
from ampler.analysis.bayes import Bayes, Chances, Probable
from ampler.analysis.bayes.words import (
    ABOUT_RANKING,
    NO_MARGIN,
    bayes_headline,
    bayes_sentences,
    footnotes,
    said_verdict,
    shown_interval,
    shown_mean,
    sides,
)
from ampler.analysis.units import difference_texts, location_header
from ampler.core.arrays import Interval
from ampler.core.wording import digits
from ampler.report.tables import Cell, ReportTable, estimate_cells, words_cell


@dataclass(frozen=True, slots=True)
class ProbableWords:
    """What is said around the tables: the answer, a sentence for each verdict, and what to know of them."""

    headline: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def probable_words(analysis: Analysis) -> ProbableWords:
    """Return what a report says of probabilities; without a margin, why it gives none."""
    if analysis.unfinished:
        return ProbableWords("How probable differences are is said when the study is finished.", (), ())
    if analysis.single is not None:
        return ProbableWords("How probable differences are cannot be learnt from one instance.", (), ())
    if analysis.settings.margin is None:
        return ProbableWords(NO_MARGIN, (), ())
    bayes = analysis.bayes
    notes = (*footnotes(bayes), ABOUT_RANKING) if bayes.ranking is not None else footnotes(bayes)
    return ProbableWords(bayes_headline(bayes), tuple(bayes_sentences(bayes)), tuple(notes))


def probable_tables(analysis: Analysis) -> tuple[ReportTable, ...]:
    """Return the tables of a report with a margin: the comparisons, other models, rankings."""
    if not analysis.weighs_a_margin:
        return ()
    ranking = ranking_table(analysis.bayes)
    found = (probable_table(analysis.bayes), sensitivity_table(analysis.bayes))
    return found if ranking is None else (*found, ranking)


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
        header=("comparison", "verdict", location_header("mean", bayes.analysis.settings), level, *names),
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
                words_cell("–") if each.robust is None else _robust(shown_interval(each.robust, bayes), bayes),
                *chance_cells(None if each.robust is None else bayes.chances(each.robust.areas)),
                *chance_cells(None if each.signed_rank is None else bayes.chances(each.signed_rank), 2),
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
        *(_dashes(2) if own is None else _cells(shown_mean(own, bayes), shown_interval(own, bayes), bayes)),
        *chance_cells(each.chances),
        *(chance_cells(each.shared_chances) if shared else ()),
        *chance_cells(each.new_chances),
    )


def _dashes(number: int) -> tuple[Cell, ...]:
    return (words_cell("–"),) * number


def _robust(interval: Interval, bayes: Bayes) -> Cell:
    low, high = interval
    return _cells((low + high) / 2, interval, bayes)[1]


def _cells(mean: float, interval: Interval, bayes: Bayes) -> tuple[Cell, ...]:
    return estimate_cells(mean, interval, write=partial(difference_texts, bayes.analysis.settings))


def chance_cells(chances: Chances | None, places: int = 3) -> Iterator[Cell]:
    """Yield the three probabilities, or dashes where they are not known."""
    for side in ("worse", "equivalent", "better"):
        yield Cell("–", -1.0) if chances is None else _chance(chances.of(side), places)


def _chance(value: float, places: int = 3) -> Cell:
    """A probability; what is nearly certain is never written as certain."""
    least = 10.0**-places
    if value < least / 2:
        return Cell(f"<{least:.{places}f}", value)
    return Cell(f">{1 - least:.{places}f}" if value > 1 - least / 2 else f"{value:.{places}f}", value)
