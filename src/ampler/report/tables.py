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

from ampler.analysis import Analysis, OtherPolicy, Subgroup, units
from ampler.analysis.bayes import (
    ABOUT_RANKING,
    NO_MARGIN,
    SIDES,
    Bayes,
    Chances,
    Probable,
    bayes_headline,
    bayes_sentences,
    bounds_in_unit,
    displayed_chances,
    footnotes,
    mean_in_unit,
    verdict_label,
)
from ampler.analysis.fixed_instances import fixed_cells
from ampler.analysis.interim import InterimAnalyses
from ampler.analysis.rows import ComparisonRow, difference_head, rows_of
from ampler.analysis.solvers import about_solvers, solver_cells, solver_table
from ampler.analysis.standings import AlgorithmStanding, rank_text, reading_order, side_by_side
from ampler.analysis.tables import counted, counts_of, displayed_subgroup, subgroup_name
from ampler.analysis.units import (
    difference_texts,
    estimate_header,
    estimate_in_unit,
    interval_in_unit,
    location_header,
    noise_text,
    table_factor,
    texts_in_unit,
    unit_header,
    value_in_unit,
)
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


Columns = Mapping[str, Callable[[Any], "Cell | str | int | float"]]


def table_of(
    name: str, items: Iterable[Any], columns: Columns, *, stop: int | None = None, **values: Any
) -> ReportTable:
    """Return a table with a row for each item; columns are heads with what makes their cells, or values of these.

    `values` are filled into its caption (captions.toml).

    >>> table_of("unsolved", [3, 4], {"number": lambda item: item, "name": lambda item: "abcde"[item]}).words
    frozenset({1})
    """
    rows = tuple(tuple(as_cell(cell(item)) for cell in columns.values()) for item in items)
    texts = frozenset(k for k, cell in enumerate(rows[0] if rows else ()) if isinstance(cell.value, str))
    return ReportTable(name, caption_of(name, "tables", **values), tuple(columns), rows, texts, stop)


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
    every_table: list[ReportTable | None] = [
        comparisons_table(analysis),
        solvers_table(analysis),
        *measures_tables(analysis),
        *family_tables(analysis),
        fixed_table(analysis),
        standings_table(analysis) if analysis.single is None else None,
        algorithms_table(analysis),
        accuracy_table(analysis),
        assumptions_table(analysis),
        omnibus_table(analysis),
        statistics_table(analysis),
        excluded_table(analysis),
        unsolved_table(analysis),
        looks_table(analysis),
        *probable_tables(analysis),
    ]
    return {table.name: table for table in every_table if table is not None}


def comparisons_table(analysis: Analysis) -> ReportTable:
    """Return the comparisons in Holm's order: Table 1 of the paper, with the joint intervals in addition.

    Of a study with interim analyses: verdict, instances used, the repeated interval, sequential p-values."""
    interim, steps = analysis.looks, paired_test(analysis.settings.test).procedure
    first: Columns = {"rank": lambda row: row.comparison.rank, _name_head(analysis): lambda row: row.name}
    rejected = sum(comparison.rejected for comparison in analysis.comparisons)
    stop = rejected if 0 < rejected < len(analysis.comparisons) else None  # of rejecting
    heads = estimate_header(analysis, difference_head(analysis)), "repeated interval", "simultaneous CI"
    if interim is not None:
        columns: Columns = {
            "verdict": lambda row: row.verdict_text,
            "look": lambda row: interim.standing(row.pair).look,
            "instances": lambda row: row.comparison.instances,
            **_columns(heads, lambda row: _estimate_cells(row, analysis)),
            "sequential p": lambda row: p_cell(row.comparison.p_value),
            "adjusted p": lambda row: p_cell(row.comparison.p_holm),
        }
        effect = interim.course.effect
        about: dict[str, Any] = {"relevance": "" if effect is None else f" Equivalent: within d = {digits(effect)}."}
        table = table_of("interim-comparisons", rows_of(analysis), {**first, **columns, **EFFECTS}, stop=stop, **about)
        return replace(table, name="comparisons")
    columns = {
        "verdict": lambda row: "–" if analysis.unfinished else row.verdict,
        **_columns(counted(analysis), lambda row: [as_cell(number) for number in counts_of(row.comparison, analysis)]),
        **_columns((heads[0], f"{steps.level}-level interval", heads[2]), lambda row: _estimate_cells(row, analysis)),
        "p": lambda row: p_cell(row.p_value),
        "α′": lambda row: Cell(f"{row.comparison.alpha:.2g}", row.comparison.alpha),
        f"p ({steps.name})": lambda row: p_cell(row.p_adjusted),
    }
    level = 100 * (1 - analysis.settings.family_alpha)
    return table_of(
        "comparisons", rows_of(analysis), {**first, **columns, **EFFECTS}, stop=stop, steps=steps, level=level
    )


def _columns(heads: Iterable[str], cells: Callable[[Any], Sequence[Cell]]) -> dict[str, Callable[[Any], Cell]]:
    """Columns whose cells are made together."""
    return {head: lambda item, index=index: cells(item)[index] for index, head in enumerate(heads)}  # type: ignore[misc]


EFFECTS: Columns = {
    "d": lambda row: number_cell(row.effect_size, 2),
    "d, 95 %": lambda row: estimate_cells(row.effect_size, row.effect_interval, write=partial(alike, significant=2))[1],
}


def looks_table(analysis: Analysis) -> ReportTable | None:
    """Return the interim analyses: instances, critical values and verdicts; None without any."""
    interim = analysis.looks
    if interim is None:
        return None
    course = interim.course
    scale = "t" if course.test == "t" else "z"

    def number(*kinds: Any) -> Callable[[int], float]:
        return lambda look: sum(interim.number(kind, look) for kind in kinds) if look <= course.done else nan

    return table_of(
        "looks",
        range(1, len(interim.limits) + 1),
        {
            "look": lambda look: look,
            "instances": lambda look: course.looks[look - 1],
            f"|{scale}|, strictest": lambda look: float(interim.limits[look - 1].strictest),
            f"|{scale}|, mildest": lambda look: float(interim.limits[look - 1].mildest),
            f"|{scale}|, no relevant": lambda look: float(interim.limits[look - 1].equivalent),
            "different": number("different"),
            "no relevant difference": number("no relevant difference"),
            "open": number("continue", "undecided"),
            "algorithms run": lambda look: len(course.algorithms[look - 1]) if look <= course.done else nan,
        },
        scale=scale,
    )


def interim_of(analysis: Analysis) -> InterimAnalyses:
    """Return the interim analyses; InvalidData for an analysis of a study without them."""
    if analysis.looks is None:
        raise InvalidData("this is about a study with interim analyses (looks = 4), and this study has none")
    return analysis.looks


def algorithms_table(analysis: Analysis) -> ReportTable:
    """Return the algorithms with their runs and mean ranks; the best rank is marked."""
    failed: Columns = {
        "gave a value": lambda row: Cell(
            f"{row.solved:,} ({100 * row.solved / row.runs:.0f} %)", row.solved / row.runs
        ),
        "failed": lambda row: Cell(
            ", ".join(f"{count} {status}" for status, count in row.failures.items()) or "0", sum(row.failures.values())
        ),
    }
    return table_of(
        "algorithms",
        analysis.algorithms,
        {
            "algorithm": lambda row: row.algorithm,
            "runs": lambda row: row.runs,
            **(failed if any(row.failures for row in analysis.algorithms) else {}),
            "mean rank": _rank_cells(analysis),
        },
        over="complete instances" if analysis.incomplete else "instances",
    )


def solvers_table(analysis: Analysis) -> ReportTable | None:
    """Return the table of solvers; None where no run failed and none was limited."""
    table = solver_table(analysis)
    if table is None:
        return None
    head, rows = solver_cells(table)
    cells = tuple(tuple(Cell(text, text if k == 0 else _sorted_by(text)) for k, text in enumerate(row)) for row in rows)
    return ReportTable("solvers", about_solvers(table), head, cells, frozenset({0}))


def fixed_table(analysis: Analysis) -> ReportTable | None:
    """Return interquartile means and probabilities of improvement; None unless they are about these instances."""
    return None if (fixed := fixed_cells(analysis)) is None else _of_texts("fixed", fixed, 0, 1, 3)


def measures_tables(analysis: Analysis) -> Iterator[ReportTable]:
    """Yield the claims and the means of several measures; nothing where there is one."""
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


def _sorted_by(text: str) -> float:
    number = text.partition("/")[0].replace(",", "")
    return nan if number == "–" else float(number.replace("−", "-"))


def standings_table(analysis: Analysis) -> ReportTable:
    """Return the algorithms side by side, the best rank first: mean ± sd, estimate, wins, ties, losses, mean rank."""
    with_reference = analysis.settings.reference is not None
    rows = {row.subject: row for row in rows_of(analysis)}

    def against(row: AlgorithmStanding) -> Cell:
        return Cell("reference", nan) if row.comparison is None else _estimate_cells(rows[row.algorithm], analysis)[0]

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
    statistic = analysis.settings.statistic
    return table_of("standings", side_by_side(analysis), columns, statistic=statistic, among=among, known=known)


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
    caption = caption_of("statistics", "tables", statistic=analysis.settings.statistic)
    header = ("instance", *(row.algorithm for row in analysis.algorithms))
    return ReportTable("statistics", caption, header, tuple(rows), frozenset({0}))


def accuracy_table(analysis: Analysis) -> ReportTable:
    """Return how accurately the differences on each instance are known, and the runs it took."""
    factor, rows = table_factor(analysis.settings), analysis.accuracy
    return table_of(
        "accuracy",
        [(name, rows[i]) for i, name in ordered_instances(analysis)],
        {
            "instance": lambda item: item[0],
            "runs": lambda item: sum(item[1].runs),
            unit_header("largest SE", analysis.settings): lambda item: factor * item[1].error,
            "guarded": lambda item: factor * item[1].guarded_error,
            "worst pair": lambda item: "–" if item[1].worst is None else " × ".join(item[1].worst),
            "at budget": lambda item: "yes" if item[1].at_budget else "",
        },
    )


def assumptions_table(analysis: Analysis) -> ReportTable:
    """Return what the test of each pair rests on: skewness, run noise, and equivalence where it was requested."""
    settings, diagnoses = analysis.settings, analysis.diagnoses
    columns: dict[str, Callable[[Any], Cell | str | int]] = {
        "comparison": _pair_text,
        "skewness": lambda row: number_cell(row.skewness, 2),
        "run noise": lambda row: Cell(_dash_or(noise_text, row.noise_share), row.noise_share),
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
        columns[location_header("mean by all runs", settings)] = lambda row: _difference_cell(row.all_runs, settings)
        columns["by the first runs"] = lambda row: _difference_cell(row.first_runs, settings)
    return table_of("assumptions", diagnoses, columns, bias=bias)


def omnibus_table(analysis: Analysis) -> ReportTable | None:
    """Return the tests of all algorithms together, which decide nothing here; None if too few instances have all."""
    if analysis.omnibus is None:
        return None
    friedman, anova = analysis.omnibus.friedman, analysis.omnibus.anova
    ties, ranked = ", corrected for ties" if friedman.has_ties else "", friedman.corrected
    tests = [
        (f"Friedman{ties}", ranked.statistic, (friedman.freedom,), ranked.p_value),
        (f"Iman–Davenport{ties}", ranked.iman_davenport, friedman.iman_davenport_freedom, ranked.iman_davenport_p),
        ("Block ANOVA", anova.statistic, anova.freedom, anova.p_value),
    ]
    return table_of(
        "omnibus",
        tests,
        {
            "test": lambda test: test[0],
            "statistic": lambda test: number_cell(test[1], 4),
            "degrees of freedom": lambda test: Cell(", ".join(map(str, test[2])), float(test[2][0])),
            "p": lambda test: p_cell(test[3]),
        },
        complete=f" They use the {analysis.omnibus.instances} complete instances." if analysis.incomplete else "",
    )


def exploratory_tables(analysis: Analysis) -> Iterator[ReportTable]:
    """Yield the tables that are for forming ideas: subgroups, other choices, failed runs counted otherwise."""
    if analysis.subgroups:
        heads = estimate_header(analysis, difference_head(analysis)), "interval"
        columns: Columns = {
            "feature": lambda row: row.feature,
            "value": lambda row: row.value,
            "instances": lambda row: row.instances,
            _name_head(analysis): lambda row: subgroup_name(row, analysis),
            **_columns(heads, lambda row: _estimate_cells(displayed_subgroup(row, analysis), analysis)),
            "p": lambda row: p_cell(row.p_value),
        }
        yield table_of("subgroups", analysis.subgroups, columns, level=100 * (1 - analysis.settings.alpha))
    if analysis.stability:
        pairs = len(analysis.pairs)
        columns = {
            "test": lambda row: row.test,
            "difference": lambda row: row.difference,
            "statistic": lambda row: row.statistic,
            "decisions that stay the same": lambda row: (
                Cell(row.note, -1.0) if row.note else Cell(f"{row.same} of {pairs}", float(row.same))
            ),
        }
        yield table_of("stability", analysis.stability, columns)
    if analysis.other_policies:
        columns = {
            "failed runs": lambda row: row.failed_runs,
            "instances": lambda row: row.instances,
            "decisions that change": lambda row: row.note or ", ".join(_changes(row)) or "none",
        }
        yield table_of("policies", analysis.other_policies, columns)


def excluded_table(analysis: Analysis) -> ReportTable | None:
    """Return the instances that some algorithm lacks, and why; None if there are none."""
    reasons = [("no comparison", *item) for item in analysis.excluded.items()]
    reasons += [("some comparisons", *item) for item in analysis.incomplete.items()]
    short = _short_names(analysis)
    columns: Columns = {
        "instance": lambda item: Cell(short.get(item[1], item[1]), item[1].casefold(), full_name=item[1]),
        "used in": lambda item: item[0],
        "why": lambda item: item[2],
    }
    return table_of("excluded", reasons, columns) if reasons else None


def unsolved_table(analysis: Analysis) -> ReportTable | None:
    """Return the instances on which neither algorithm of a pair gave a value; None if there are none."""
    short = _short_names(analysis)
    columns: Columns = {
        "comparison": lambda item: " × ".join(item[0]),
        "instances neither solved": lambda item: len(item[1]),
        "which": lambda item: ", ".join(short.get(name, name) for name in item[1]),
    }
    return table_of("unsolved", analysis.unsolved.items(), columns) if analysis.unsolved else None


def ordered_instances(analysis: Analysis) -> list[tuple[int, Cell]]:
    """Return the index and name of each instance, without the folder and ending that all share, in their order."""
    names = [row.instance for row in analysis.accuracy]
    short = without_common(names)
    return [(i, Cell(short[i], short[i].casefold(), full_name=names[i])) for i in reading_order(analysis)]


def _short_names(analysis: Analysis) -> Mapping[str, str]:
    """What each instance is known as, those included that were left out."""
    return short_name_of(tuple(dict.fromkeys([*(row.instance for row in analysis.accuracy), *analysis.excluded])))


def _changes(other: OtherPolicy) -> Iterator[str]:
    for pair in other.changed:
        yield f"{' × '.join(pair)}{' (reverses)' if pair in other.reversed else ''}"


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
    ends = [end for interval in intervals for end in interval]
    first, *texts = (text.replace("-", "−") for text in write(estimate, *ends))
    limits = zip(intervals, zip(texts[::2], texts[1::2], strict=True), strict=True)
    return Cell("–" if math.isnan(estimate) else first, estimate), *(_interval_cell(*interval) for interval in limits)


def _interval_cell(interval: Interval, texts: tuple[str, str]) -> Cell:
    """An interval, sorted by its middle."""
    low, high = interval
    middle = float(np.clip((low + high) / 2 if math.isfinite(low) and math.isfinite(high) else low, -1e308, 1e308))
    return Cell("–" if any(map(math.isnan, interval)) else f"[{', '.join(texts)}]", middle, interval=interval)


def _estimate_cells(compared: ComparisonRow | Subgroup, analysis: Analysis) -> tuple[Cell, ...]:
    """The estimate of a comparison and its intervals in their unit."""
    both = (compared.interval, compared.joint_interval) if isinstance(compared, ComparisonRow) else (compared.interval,)
    intervals = [interval_in_unit(interval, analysis) for interval in both]
    estimate = estimate_in_unit(compared.estimate, analysis)
    return estimate_cells(estimate, *intervals, write=partial(texts_in_unit, analysis))


def _difference_cell(value: float, settings: Settings) -> Cell:
    """A difference in its unit."""
    in_unit = value_in_unit(value, settings)
    return Cell(_dash_or(lambda number: difference_texts(settings, number)[0], in_unit), in_unit)


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


# what is probable ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProbableWords:
    """What is said around the tables: the answer, a sentence for each verdict, and what to know of them."""

    headline: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def probable_words(analysis: Analysis) -> ProbableWords:
    """Return what a report says of probabilities; without a margin, why it gives none."""
    if analysis.unfinished:
        return ProbableWords("Posteriors are computed when the study is finished.", (), ())
    if analysis.single is not None:
        return ProbableWords("How probable differences are cannot be learnt from one instance.", (), ())
    if analysis.settings.margin is None:
        return ProbableWords(NO_MARGIN, (), ())
    bayes = analysis.bayes
    notes = footnotes(bayes), () if bayes.ranking is None else (ABOUT_RANKING,)
    return ProbableWords(bayes_headline(bayes), tuple(bayes_sentences(bayes)), tuple(chain(*notes)))


def probable_tables(analysis: Analysis) -> tuple[ReportTable, ...]:
    """Return the tables of a report with a margin: the comparisons, other models, rankings."""
    if not analysis.weighs_a_margin:
        return ()
    tables = probable_table(analysis.bayes), sensitivity_table(analysis.bayes), ranking_table(analysis.bayes)
    return tuple(table for table in tables if table is not None)


def probable_table(bayes: Bayes) -> ReportTable:
    """Return the comparisons with their probabilities, in Holm's order."""
    heads = location_header("mean", bayes.analysis.settings), f"{digits(100 * bayes.level)} % credible interval"
    columns: dict[str, Callable[[Probable], Cell | str]] = {
        "comparison": _pair_text,
        "verdict": lambda row: verdict_label(row, bayes),
        **_columns(heads, lambda row: _posterior_cells(row.posterior, bayes)),
        **_chance_columns("", lambda row: row.chances, bayes),
    }
    if any(row.shared is not None for row in bayes.comparisons):
        columns |= _chance_columns("shared: ", lambda row: row.shared_chances, bayes)
    columns |= _chance_columns("new instance: ", lambda row: row.new_chances, bayes)
    return table_of("probable", bayes.comparisons, columns)


def ranking_table(bayes: Bayes) -> ReportTable | None:
    """Return the algorithms by rankings alone, best first; None if they cannot be told."""
    if (ranking := bayes.ranking) is None:
        return None
    columns: Columns = {
        "algorithm": lambda item: item[0],
        "first on an instance": lambda item: _chance(item[1], 2),
        "best of all": lambda item: _chance(item[2], 2),
    }
    rows = zip(ranking.algorithms, ranking.win, ranking.best, strict=True)
    return table_of("ranking", rows, columns, instances=ranking.instances)


def sensitivity_table(bayes: Bayes) -> ReportTable:
    """Return the comparisons by other models."""

    def chances(item: Any, kind: str) -> Chances | None:
        model = getattr(item[1], kind)
        return None if model is None else bayes.chances(model.areas if kind == "robust" else model)

    columns: Columns = {
        "comparison": lambda item: _pair_text(item[0]),
        "verdict": lambda item: verdict_label(item[0], bayes),
        "robust interval": lambda item: _posterior_cells(item[1].robust, bayes)[1],
        **_chance_columns("robust: ", lambda item: chances(item, "robust"), bayes),
        **_chance_columns("signed-rank: ", lambda item: chances(item, "signed_rank"), bayes, 2),
    }
    return table_of("sensitivity", list(zip(bayes.comparisons, bayes.sensitivity, strict=False)), columns)


def _posterior_cells(posterior: Posterior | None, bayes: Bayes) -> tuple[Cell, ...]:
    if posterior is None:
        return (Cell("–", nan),) * 2
    write = partial(difference_texts, bayes.analysis.settings)
    return estimate_cells(mean_in_unit(posterior, bayes), bounds_in_unit(posterior, bayes), write=write)


def _chance_columns(
    group: str, chances: Callable[[Any], Chances | None], bayes: Bayes, places: int = 3
) -> dict[str, Callable[[Any], Cell]]:
    """The three probabilities of each row."""
    heads = (f"{group}{name}" for name in SIDES)
    return _columns(heads, lambda item: chance_cells(displayed_chances(chances(item), bayes), places))


def chance_cells(chances: Chances | None, places: int = 3) -> list[Cell]:
    """Return the three probabilities, or dashes where they are not known."""
    return [Cell("–", -1.0) if chances is None else _chance(chances.of(side), places) for side in SIDES]


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
    rows = [_probabilities(comparison) for comparison in analysis.bayes.comparisons] if bayes else [{}]
    for name in rows[0]:
        table[name] = pd.Series([row[name] for row in rows])  # later families have none
    return str(table.to_csv(index=False, lineterminator="\n"))


def _probabilities(comparison: Probable) -> dict[str, float | str | None]:
    """What is probable of the mean over instances, by the posterior alone and the shared one, and on a new instance."""
    own = comparison.posterior
    mean, low, high = (None,) * 3 if own is None else (own.mean, *own.interval)
    row: dict[str, float | str | None] = {"posterior_mean": mean, "credible_lower": low, "credible_upper": high}
    for kind in ("mean", "shared", "new_instance"):
        chances = {"mean": comparison.chances, "shared": comparison.shared_chances}.get(kind, comparison.new_chances)
        row |= {f"{kind}_{side}": None if chances is None else chances.of(side) for side in SIDES}
    return row | {"bayes_verdict": comparison.verdict}
