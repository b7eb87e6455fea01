"""The tables of a report as values, for every format alike; the comparisons as CSV; posterior probabilities. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import inf, nan
from typing import Any, Literal

import numpy as np

from ampler.analysis import Analysis, Subgroup, units
from ampler.analysis import bayes as posteriors
from ampler.analysis.bayes import SIDES, Bayes, Chances, displayed_chances, verdict_label
from ampler.analysis.fixed_instances import fixed_cells
from ampler.analysis.interim import InterimAnalyses
from ampler.analysis.rows import ComparisonRow, difference_head, rows_of
from ampler.analysis.solvers import about_solvers, solver_cells, solver_table
from ampler.analysis.standings import AlgorithmStanding, rank_text, reading_order, side_by_side
from ampler.analysis.tables import counted, counts_of, displayed_subgroup, subgroup_name
from ampler.analysis.units import estimate_header
from ampler.core.arrays import Interval
from ampler.core.errors import InvalidData
from ampler.core.settings import Settings
from ampler.core.text import alike, digits, escape_formula, short_name_of, without_common
from ampler.report.resources import constants
from ampler.stats.bayes.posterior import Posterior
from ampler.stats.paired import paired_test

MOST_CELLS = 30_000  # of the table of all statistics: a few megabytes


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, its sort key, and whether it is the best of its row or column."""

    text: str
    value: float | str
    best: bool = False
    full_name: str = ""  # the full name of the shortened text
    interval: Interval | None = None  # in the unit of the text


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table with its caption; columns in `words` hold words, all others numbers."""

    name: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: frozenset[int] = frozenset()
    stop: int | None = None  # the row before which rejecting stopped


def table_of(
    name: str, head: Iterable[str], rows: Iterable[Iterable[Any]], *, stop: int | None = None, **values: Any
) -> ReportTable:
    """Return a table of rows of cells, or of values of these; `values` are filled into its caption (captions.toml).

    >>> table_of("unsolved", ("number", "name"), [(3, "d"), (4, "e")]).words
    frozenset({1})
    """
    cells = tuple(tuple(map(as_cell, row)) for row in rows)
    texts = frozenset(k for k, cell in enumerate(cells[0] if cells else ()) if isinstance(cell.value, str))
    return ReportTable(name, caption_of(name, "tables", **values), tuple(head), cells, texts, stop)


def caption_of(name: str, kind: Literal["figures", "tables"], **values: Any) -> str:
    """Return the caption of a figure or a table, which may be one of several of its kind."""
    return str(constants("captions.toml")[kind][name.rstrip("-0123456789")].format(**values))


def _of_texts(name: str, content: Sequence[Any], *words: int, **values: Any) -> ReportTable:
    """A table of texts: its heads and its rows, which have texts in the columns `words` and numbers in the others."""
    head, rows = content
    cells = tuple(tuple(Cell(text, text.removeprefix("<")) for text in row) for row in rows)
    return ReportTable(name, caption_of(name, "tables", **values), head, cells, frozenset(words))


def report_tables(analysis: Analysis) -> dict[str, ReportTable]:
    """Return the tables of a report by name, those that it has."""
    first = comparisons_table(analysis), solvers_table(analysis), *measures_tables(analysis), *family_tables(analysis)
    fixed, cells = None, fixed_cells(analysis)
    if cells is not None:  # interquartile means and probabilities of improvement, about these instances alone
        fixed = _of_texts("fixed", cells, 0, 1, 3)
    standings = standings_table(analysis) if analysis.single is None else None
    details = algorithms_table, accuracy_table, assumptions_table, omnibus_table, statistics_table
    rest = [make(analysis) for make in (*details, excluded_table, unsolved_table, looks_table)]
    every_table = [*first, fixed, standings, *rest, *probable_tables(analysis)]
    return {table.name: table for table in every_table if table is not None}


def comparisons_table(analysis: Analysis) -> ReportTable:
    """Return the comparisons in Holm's order: Table 1 of the paper, with the joint intervals in addition.

    Of a study with interim analyses: verdict, instances used, the repeated interval, sequential p-values."""
    interim, steps = analysis.looks, paired_test(analysis.settings.test).procedure
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    stop = rejected if 0 < rejected < len(analysis.comparisons) else None  # of rejecting
    first, estimate = ("rank", _name_head(analysis), "verdict"), estimate_header(analysis, difference_head(analysis))
    rows: list[tuple[Any, ...]] = []
    if interim is not None:
        for row in rows_of(analysis):
            compared, look = row.comparison, interim.standing(row.pair).look
            sizes = *_estimate_cells(row, analysis), p_cell(compared.p_value), p_cell(compared.p_holm)
            about = compared.rank, row.name, row.verdict_text, look, compared.instances
            rows.append((*about, *sizes, *_effect_cells(row)))
        heads = estimate, "repeated interval", "simultaneous CI", "sequential p", "adjusted p", "d", "d, 95 %"
        effect = interim.course.effect
        relevance = "" if effect is None else f" Equivalent: within d = {digits(effect)}."
        head: Iterable[str] = (*first, "look", "instances", *heads)
        return replace(table_of("interim-comparisons", head, rows, stop=stop, relevance=relevance), name="comparisons")
    for row in rows_of(analysis):
        alpha, verdict = row.comparison.alpha, "–" if analysis.unfinished else row.verdict
        tested = p_cell(row.p_value), Cell(f"{alpha:.2g}", alpha), p_cell(row.p_adjusted), *_effect_cells(row)
        counts = counts_of(row.comparison, analysis)
        rows.append((row.comparison.rank, row.name, verdict, *counts, *_estimate_cells(row, analysis), *tested))
    intervals, p_heads = (f"{steps.level}-level interval", "simultaneous CI"), ("p", "α′", f"p ({steps.name})")
    head = *first, *counted(analysis), estimate, *intervals, *p_heads, "d", "d, 95 %"
    level = 100 * (1 - analysis.settings.family_alpha)
    return table_of("comparisons", head, rows, stop=stop, steps=steps, level=level)


def _effect_cells(row: ComparisonRow) -> tuple[Cell, Cell]:
    """The standardised effect and its interval."""
    _, interval = estimate_cells(row.effect_size, row.effect_interval, write=partial(alike, significant=2))
    return number_cell(row.effect_size, 2), interval


def looks_table(analysis: Analysis) -> ReportTable | None:
    """Return the interim analyses: instances, critical values and verdicts; None without any."""
    interim = analysis.looks
    if interim is None:
        return None
    course, rows = interim.course, []
    for look, limit in enumerate(interim.limits, start=1):
        limits = [float(end) for end in (limit.strictest, limit.mildest, limit.equivalent)]
        numbers: list[float] = [nan] * 4
        if look <= course.done:
            kinds: Any = ("different",), ("no relevant difference",), ("continue", "undecided")
            decided = [sum(interim.number(kind, look) for kind in some) for some in kinds]
            numbers = [*decided, len(course.algorithms[look - 1])]
        rows.append((look, course.looks[look - 1], *limits, *numbers))
    scale = "t" if course.test == "t" else "z"
    critical = [f"|{scale}|, {kind}" for kind in ("strictest", "mildest", "no relevant")]
    head = "look", "instances", *critical, "different", "no relevant difference", "open", "algorithms run"
    return table_of("looks", head, rows, scale=scale)


def interim_of(analysis: Analysis) -> InterimAnalyses:
    """Return the interim analyses; InvalidData for an analysis of a study without them."""
    if analysis.looks is None:
        raise InvalidData("this is about a study with interim analyses (looks = 4), and this study has none")
    return analysis.looks


def algorithms_table(analysis: Analysis) -> ReportTable:
    """Return the algorithms with their runs and mean ranks; the best rank is marked."""
    has_failed, rank = any(row.failures for row in analysis.algorithms), _rank_cells(analysis)
    rows = []
    for row in analysis.algorithms:
        cells = [row.algorithm, row.runs]
        if has_failed:
            failures = ", ".join(f"{count} {status}" for status, count in row.failures.items()) or "0"
            cells.append(Cell(f"{row.solved:,} ({100 * row.solved / row.runs:.0f} %)", row.solved / row.runs))
            cells.append(Cell(failures, sum(row.failures.values())))
        rows.append((*cells, rank(row)))
    head = "algorithm", "runs", *(("gave a value", "failed") if has_failed else ()), "mean rank"
    return table_of("algorithms", head, rows, over="complete instances" if analysis.incomplete else "instances")


def solvers_table(analysis: Analysis) -> ReportTable | None:
    """Return the table of solvers; None where no run failed and none was limited."""
    table = solver_table(analysis)
    if table is None:
        return None

    def number(text: str) -> float:
        first = text.partition("/")[0].replace(",", "")
        return nan if first == "–" else float(first.replace("−", "-"))

    head, rows = solver_cells(table)
    cells = tuple((Cell(name, name), *(Cell(text, number(text)) for text in texts)) for name, *texts in rows)
    return ReportTable("solvers", about_solvers(table), head, cells, frozenset({0}))


def measures_tables(analysis: Analysis) -> Iterator[ReportTable]:
    """Yield the claims and the means of several measures; nothing for a single one."""
    if (joint := analysis.measures) is not None:
        yield _of_texts("measures", joint.cells(), 0, 1, about=joint.about)
        sentence = f". {joint.front_sentence}" if joint.front else ""
        yield _of_texts("front", joint.means(), 0, len(joint.measures) + 1, sentence=sentence)


def family_tables(analysis: Analysis) -> Iterator[ReportTable]:
    """Yield the comparisons of each later family; nothing where no algorithm joined."""
    for family in analysis.families:
        if family.analysis is not None:
            table, about = comparisons_table(family.analysis), f"{family.head} {family.notes}".rstrip()
            yield replace(table, name=f"family-{family.number}", caption=f"{about} {table.caption}")


def standings_table(analysis: Analysis) -> ReportTable:
    """Return the algorithms side by side, the best rank first: mean ± sd, estimate, wins, ties, losses, mean rank."""
    settings, row_of = analysis.settings, {row.subject: row for row in rows_of(analysis)}
    with_reference = settings.reference is not None

    def against(row: AlgorithmStanding) -> Cell:
        return Cell("reference", nan) if row.comparison is None else _estimate_cells(row_of[row.algorithm], analysis)[0]

    columns: dict[str, Callable[[AlgorithmStanding], Cell | str | float]] = {
        "algorithm": lambda row: row.algorithm,
        "mean ± sd": lambda row: Cell(f"{_dash_or(digits, row.mean, 4)} ± {_dash_or(digits, row.sd, 2)}", row.mean),
    }
    if with_reference:
        columns[estimate_header(analysis, "difference")] = against
    if not analysis.unfinished:
        columns |= {"better than": lambda row: row.beats, "worse than": lambda row: row.loses}
    columns |= {"won": lambda row: row.wins.first, "tied": lambda row: row.wins.ties}
    columns |= {"lost": lambda row: row.wins.second, "mean rank": _rank_cells(analysis)}
    sets, letters, known = analysis.rank_sets, analysis.groups, ""
    if sets:
        columns["ranks"] = lambda row: Cell(rank_text(sets[row.algorithm]), sets[row.algorithm][0])
        known += " Ranks are simultaneous confidence sets."
    if letters:
        columns["group"] = lambda row: letters[row.algorithm]
        known += " Algorithms that share a group letter do not differ significantly."
    among = "against the reference (its own row: against all)" if with_reference else "against all others"
    rows, statistic = [[cell(row) for cell in columns.values()] for row in side_by_side(analysis)], settings.statistic
    return table_of("standings", columns, rows, statistic=statistic, among=among, known=known)


def statistics_table(analysis: Analysis) -> ReportTable | None:
    """Return the statistic of every algorithm on every instance, the best marked; None if there are too many."""
    values = analysis.statistics
    if values.size > MOST_CELLS:
        return None
    best = (np.nanmin if analysis.settings.better == "lower" else np.nanmax)(values, axis=1)
    rows = [
        (name, *(Cell(_dash_or(digits, value, 4), value, best=value == best[i]) for value in values[i].tolist()))
        for i, name in ordered_instances(analysis)
    ]
    header = ("instance", *(row.algorithm for row in analysis.algorithms))
    return table_of("statistics", header, rows, statistic=analysis.settings.statistic)


def accuracy_table(analysis: Analysis) -> ReportTable:
    """Return the standard errors and the runs on each instance."""
    factor, rows = units.table_factor(analysis.settings), []
    for i, name in ordered_instances(analysis):
        row = analysis.accuracy[i]
        errors = factor * row.error, factor * row.guarded_error
        worst = "–" if row.worst is None else " × ".join(row.worst)
        rows.append((name, sum(row.runs), *errors, worst, "yes" if row.at_budget else ""))
    largest = units.unit_header("largest SE", analysis.settings)
    return table_of("accuracy", ("instance", "runs", largest, "guarded", "worst pair", "at budget"), rows)


def assumptions_table(analysis: Analysis) -> ReportTable:
    """Return the basis of each test: skewness, run noise, and equivalence if requested."""
    settings, diagnoses = analysis.settings, analysis.diagnoses
    columns: dict[str, Callable[[Any], Cell | str | int]] = {
        "comparison": _pair_text,
        "skewness": lambda row: number_cell(row.skewness, 2),
        "run noise": lambda row: Cell(_dash_or(units.noise_text, row.noise_share), row.noise_share),
    }
    if any(row.equivalence is not None for row in diagnoses):
        equivalence = f"p of equivalence ({paired_test(settings.test).procedure.name})"
        columns[equivalence] = lambda row: p_cell(row.equivalence.p_holm)
        columns["equivalent"] = lambda row: "yes" if row.equivalence.established else "no"
    if any(row.unsolved for row in diagnoses):
        columns["instances neither solved"] = lambda row: row.unsolved
    bias = ""
    if any(math.isfinite(row.all_runs) for row in diagnoses):
        bias = caption_of("stopped", "tables")
        by_all = units.location_header("mean by all runs", settings)
        columns[by_all] = lambda row: _difference_cell(row.all_runs, settings)
        columns["by the first runs"] = lambda row: _difference_cell(row.first_runs, settings)
    rows = [[cell(row) for cell in columns.values()] for row in diagnoses]
    return table_of("assumptions", columns, rows, bias=bias)


def omnibus_table(analysis: Analysis) -> ReportTable | None:
    """Return the omnibus tests, which decide nothing; None if there are too few complete instances."""
    if analysis.omnibus is None:
        return None
    friedman, anova = analysis.omnibus.friedman, analysis.omnibus.anova
    ties, ranked = ", corrected for ties" if friedman.has_ties else "", friedman.corrected
    tests = [
        (f"Friedman{ties}", ranked.statistic, (friedman.freedom,), ranked.p_value),
        (f"Iman–Davenport{ties}", ranked.iman_davenport, friedman.iman_davenport_freedom, ranked.iman_davenport_p),
        ("Block ANOVA", anova.statistic, anova.freedom, anova.p_value),
    ]
    rows = [
        (test, number_cell(statistic, 4), Cell(", ".join(map(str, freedom)), float(freedom[0])), p_cell(p))
        for test, statistic, freedom, p in tests
    ]
    complete = f" They use the {analysis.omnibus.instances} complete instances." if analysis.incomplete else ""
    return table_of("omnibus", ("test", "statistic", "degrees of freedom", "p"), rows, complete=complete)


def exploratory_tables(analysis: Analysis) -> Iterator[ReportTable]:
    """Yield the exploratory tables: subgroups, other choices, other treatments of failed runs."""
    if analysis.subgroups:
        estimate = estimate_header(analysis, difference_head(analysis))
        head: tuple[str, ...] = ("feature", "value", "instances", _name_head(analysis), estimate, "interval", "p")
        rows: list[tuple[Any, ...]] = []
        for group in analysis.subgroups:
            cells = *_estimate_cells(displayed_subgroup(group, analysis), analysis), p_cell(group.p_value)
            rows.append((group.feature, group.value, group.instances, subgroup_name(group, analysis), *cells))
        yield table_of("subgroups", head, rows, level=100 * (1 - analysis.settings.alpha))
    if analysis.stability:
        head, rows, pairs = ("test", "difference", "statistic", "decisions that stay the same"), [], len(analysis.pairs)
        for other in analysis.stability:
            same = Cell(other.note, -1.0) if other.note else Cell(f"{other.same} of {pairs}", float(other.same))
            rows.append((other.test, other.difference, other.statistic, same))
        yield table_of("stability", head, rows)
    if analysis.other_policies:
        head, rows = ("failed runs", "instances", "decisions that change"), []
        for policy in analysis.other_policies:
            changed = [" × ".join(pair) + " (reverses)" * (pair in policy.reversed) for pair in policy.changed]
            rows.append((policy.failed_runs, policy.instances, policy.note or ", ".join(changed) or "none"))
        yield table_of("policies", head, rows)


def excluded_table(analysis: Analysis) -> ReportTable | None:
    """Return the instances with missing algorithms, and the reasons; None if there are none."""
    reasons = [("no comparison", *item) for item in analysis.excluded.items()]
    reasons += [("some comparisons", *item) for item in analysis.incomplete.items()]
    short = _short_names(analysis)
    rows = [(Cell(short.get(name, name), name.casefold(), full_name=name), used, why) for used, name, why in reasons]
    return table_of("excluded", ("instance", "used in", "why"), rows) if reasons else None


def unsolved_table(analysis: Analysis) -> ReportTable | None:
    """Return the instances on which both algorithms of a pair always failed; None if there are none."""
    short, unsolved = _short_names(analysis), analysis.unsolved.items()
    rows = [
        (" × ".join(pair), len(names), ", ".join(short.get(name, name) for name in names)) for pair, names in unsolved
    ]
    return table_of("unsolved", ("comparison", "instances neither solved", "which"), rows) if rows else None


def ordered_instances(analysis: Analysis) -> list[tuple[int, Cell]]:
    """Return the index and name of each instance, without the folder and ending that all share, in their order."""
    names = [row.instance for row in analysis.accuracy]
    short = without_common(names)
    return [(i, Cell(short[i], short[i].casefold(), full_name=names[i])) for i in reading_order(analysis)]


def _short_names(analysis: Analysis) -> Mapping[str, str]:
    """The short name of each instance, excluded ones included."""
    return short_name_of(tuple(dict.fromkeys([*(row.instance for row in analysis.accuracy), *analysis.excluded])))


# cells ------------------------------------------------------------------------------------------------------------


def as_cell(value: Cell | str | int | float) -> Cell:
    """Return a cell: words, sorted without regard to case, a number of things, or any other number."""
    if isinstance(value, str):
        return Cell(value, value.casefold())
    if isinstance(value, int):
        return Cell(f"{value:,}", value)
    return value if isinstance(value, Cell) else number_cell(value)


def number_cell(value: float, significant: int = 3) -> Cell:
    """A number, or a dash where it is not known."""
    return Cell(_dash_or(digits, value, significant), value)


def p_cell(value: float) -> Cell:
    """A p-value, with two digits."""
    text = "–" if math.isnan(value) else f"<{units.SMALLEST_P}" if value == 0 else f"{value:.2g}".replace("e-0", "e-")
    return Cell(text.replace("-", "−"), value)


def estimate_cells(
    estimate: float, *intervals: Interval, write: Callable[..., tuple[str, ...]] = alike
) -> tuple[Cell, ...]:
    """An estimate and its intervals, written so that they have the same decimals."""
    first, *texts = (text.replace("-", "−") for text in write(estimate, *chain(*intervals)))
    cells = [Cell("–" if math.isnan(estimate) else first, estimate)]
    for (low, high), *ends in zip(intervals, texts[::2], texts[1::2], strict=True):
        middle = float(np.clip((low + high) / 2 if math.isfinite(low) and math.isfinite(high) else low, -1e308, 1e308))
        text = "–" if math.isnan(low) or math.isnan(high) else f"[{', '.join(ends)}]"
        cells.append(Cell(text, middle, interval=(low, high)))
    return tuple(cells)


def _estimate_cells(compared: ComparisonRow | Subgroup, analysis: Analysis) -> tuple[Cell, ...]:
    """The estimate of a comparison and its intervals in their unit."""
    both = (compared.interval, compared.joint_interval) if isinstance(compared, ComparisonRow) else (compared.interval,)
    intervals = [units.interval_in_unit(interval, analysis) for interval in both]
    estimate = units.estimate_in_unit(compared.estimate, analysis)
    return estimate_cells(estimate, *intervals, write=partial(units.texts_in_unit, analysis))


def _difference_cell(value: float, settings: Settings) -> Cell:
    """A difference in its unit."""
    in_unit = units.value_in_unit(value, settings)
    return Cell(_dash_or(lambda number: units.difference_texts(settings, number)[0], in_unit), in_unit)


def _name_head(analysis: Analysis) -> str:
    reference = analysis.settings.reference
    return "comparison" if reference is None else f"compared with {reference}"


def _pair_text(compared: Any) -> str:
    return f"{compared.first} × {compared.second}"


def _rank_cells(analysis: Analysis) -> Callable[[Any], Cell]:
    best = nan if analysis.unfinished else min(row.mean_rank for row in analysis.algorithms)
    return lambda row: Cell(_dash_or("{:.2f}".format, row.mean_rank), row.mean_rank, best=row.mean_rank == best)


def _dash_or(write: Callable[..., str], value: float, *options: int) -> str:
    """A number as text with a minus sign, or a dash where it is not known."""
    return "–" if math.isnan(value) else write(value, *options).replace("-", "−")


# probabilities --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProbableWords:
    """Text around the tables: the answer, a sentence for each verdict, and warnings."""

    headline: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def probable_words(analysis: Analysis) -> ProbableWords:
    """Return the text about probabilities; without a margin, the reason for none."""
    if analysis.unfinished:
        return ProbableWords("Posteriors are computed when the study is finished.", (), ())
    if analysis.single is not None:
        return ProbableWords("How probable differences are cannot be learnt from one instance.", (), ())
    if analysis.settings.margin is None:
        return ProbableWords(posteriors.NO_MARGIN, (), ())
    bayes = analysis.bayes
    notes = posteriors.footnotes(bayes), () if bayes.ranking is None else (posteriors.ABOUT_RANKING,)
    sentences = tuple(posteriors.bayes_sentences(bayes))
    return ProbableWords(posteriors.bayes_headline(bayes), sentences, tuple(chain(*notes)))


def probable_tables(analysis: Analysis) -> tuple[ReportTable, ...]:
    """Return the tables of a report with a margin: the comparisons, other models, rankings."""
    if not analysis.weighs_a_margin:
        return ()
    tables = probable_table(analysis.bayes), sensitivity_table(analysis.bayes), ranking_table(analysis.bayes)
    return tuple(table for table in tables if table is not None)


def probable_table(bayes: Bayes) -> ReportTable:
    """Return the comparisons with their probabilities, in Holm's order."""
    mean = units.location_header("mean", bayes.analysis.settings), f"{digits(100 * bayes.level)} % credible interval"
    has_shared, rows = any(row.shared is not None for row in bayes.comparisons), []
    for row in bayes.comparisons:
        kinds = row.chances, *([row.shared_chances] if has_shared else []), row.new_chances
        cells = chain.from_iterable(_chance_cells(chances, bayes) for chances in kinds)
        rows.append((_pair_text(row), verdict_label(row, bayes), *_posterior_cells(row.posterior, bayes), *cells))
    groups = "", *(["shared: "] if has_shared else []), "new instance: "
    head = "comparison", "verdict", *mean, *(f"{group}{side}" for group in groups for side in SIDES)
    return table_of("probable", head, rows)


def ranking_table(bayes: Bayes) -> ReportTable | None:
    """Return the algorithms by rankings alone, best first; None if they cannot be told."""
    if (ranking := bayes.ranking) is None:
        return None
    ranked = zip(ranking.algorithms, ranking.win, ranking.best, strict=True)
    rows = [(name, _chance(win, 2), _chance(best, 2)) for name, win, best in ranked]
    heads = "algorithm", "first on an instance", "best of all"
    return table_of("ranking", heads, rows, instances=ranking.instances)


def sensitivity_table(bayes: Bayes) -> ReportTable:
    """Return the comparisons by other models."""
    rows = []
    for row, models in zip(bayes.comparisons, bayes.sensitivity, strict=False):
        robust = None if models.robust is None else bayes.chances(models.robust.areas)
        signed = None if models.signed_rank is None else bayes.chances(models.signed_rank)
        chances = *_chance_cells(robust, bayes), *_chance_cells(signed, bayes, 2)
        rows.append((_pair_text(row), verdict_label(row, bayes), _posterior_cells(models.robust, bayes)[1], *chances))
    sides = [f"{group}: {side}" for group in ("robust", "signed-rank") for side in SIDES]
    return table_of("sensitivity", ("comparison", "verdict", "robust interval", *sides), rows)


def _posterior_cells(posterior: Posterior | None, bayes: Bayes) -> tuple[Cell, ...]:
    if posterior is None:
        return (Cell("–", nan),) * 2
    write = partial(units.difference_texts, bayes.analysis.settings)
    mean, bounds = posteriors.mean_in_unit(posterior, bayes), posteriors.bounds_in_unit(posterior, bayes)
    return estimate_cells(mean, bounds, write=write)


def _chance_cells(chances: Chances | None, bayes: Bayes, places: int = 3) -> list[Cell]:
    """The three probabilities, or dashes where they are not known."""
    shown = displayed_chances(chances, bayes)
    return [Cell("–", -1.0) if shown is None else _chance(shown.of(side), places) for side in SIDES]


def _chance(value: float, places: int = 3) -> Cell:
    """A probability; what is nearly certain is never written as certain."""
    least = 10.0**-places
    if value < least / 2:
        return Cell(f"<{least:.{places}f}", value)
    return Cell(f">{1 - least:.{places}f}" if value > 1 - least / 2 else f"{value:.{places}f}", value)


# CSV --------------------------------------------------------------------------------------------------------------


def comparisons_csv(analysis: Analysis, *, bayes: bool = False) -> str:
    """Return the comparisons in Holm's order, one row each; names that would be formulas begin with an apostrophe.

    What is infinite or unknown, such as the open end of a one-sided interval, is an empty cell. With `bayes` each row
    continues with the posterior probabilities of it."""
    import pandas as pd

    table = analysis.table().replace({inf: nan, -inf: nan})
    for column in ("first", "second", "estimate_of", "verdict"):
        table[column] = table[column].map(escape_formula)
    if bayes:
        rows = analysis.bayes.comparisons
        own = [(nan,) * 3 if row.posterior is None else (row.posterior.mean, *row.posterior.interval) for row in rows]
        columns = pd.DataFrame(own, columns=["posterior_mean", "credible_lower", "credible_upper"])
        for name, kind in (("mean", "chances"), ("shared", "shared_chances"), ("new_instance", "new_chances")):
            for side in SIDES:
                columns[f"{name}_{side}"] = [getattr(row, kind) and getattr(row, kind).of(side) for row in rows]
        columns["bayes_verdict"] = [row.verdict for row in rows]
        table = table.join(columns)  # later families have none
    return str(table.to_csv(index=False, lineterminator="\n"))
