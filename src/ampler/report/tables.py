"""The tables of a report as values, for HTML and Markdown alike. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ampler.analysis import Analysis, OtherPolicy
from ampler.analysis.counts import counted, counts_of
from ampler.analysis.ordering import told_order
from ampler.analysis.standings import AlgorithmStanding, side_by_side
from ampler.analysis.units import (
    as_shown,
    difference_texts,
    estimate_header,
    estimate_in_unit,
    in_table,
    interval_in_unit,
    location_header,
    supported,
    table_factor,
    texts_in_unit,
    unit_header,
)
from ampler.core.arrays import Interval
from ampler.core.choices import Status
from ampler.core.names import known_as, without_common
from ampler.core.settings import AnalysisSettings
from ampler.core.wording import alike, digits
from ampler.stats.paired import paired_test

DIGITS = 3
SMALLEST_P = "1e−300"  # below it there are no numbers
MOST_CELLS = 30_000  # of the table of all statistics: a few megabytes


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell, what it is sorted by, and whether it is the best of its row or column."""

    text: str
    value: float | str
    best: bool = False
    whole: str = ""  # the name of which the text is the telling part


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table with its caption; columns in `words` hold words, all others numbers."""

    name: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: frozenset[int] = frozenset()
    stop: int | None = None  # the row before which rejecting stopped


def comparisons_table(analysis: Analysis) -> ReportTable:
    """Return the comparisons in Holm's order: Table 1 of the paper, with the joint intervals besides."""
    if analysis.looks is not None:
        from ampler.report.looks import looked_table

        return looked_table(analysis)
    estimate, written = estimate_header(analysis), partial(texts_in_unit, analysis)
    rejected = sum(each.rejected for each in analysis.comparisons)
    steps = paired_test(analysis.settings.test).procedure
    header = (
        *("rank", "comparison", "decision", *counted(analysis), estimate),
        *(f"{steps.level}-level interval", "joint interval", "p", "α′", f"p ({steps.name})", "d", "d, 95 %"),
    )
    return ReportTable(
        name="comparisons",
        caption=f"All comparisons in {steps.order}. {steps.about}; the joint intervals hold all together with"
        f" {100 * (1 - analysis.settings.family_alpha):g} %."
        " The intervals of d are not adjusted.",
        header=header,
        rows=tuple(
            (
                Cell(str(each.rank), each.rank),
                words_cell(f"{each.first} × {each.second}"),
                words_cell("–" if analysis.unfinished else "rejected" if each.rejected else "not rejected"),
                *(Cell(str(number), number) for number in counts_of(each, analysis)),
                *estimate_cells(each.estimate, each.interval, each.joint_interval, write=written),
                p_cell(supported(each.p_value, each.instances, analysis.settings)),
                Cell(f"{each.alpha:.2g}", each.alpha),
                p_cell(supported(each.p_holm, each.instances, analysis.settings)),
                number_cell(each.effect_size, 2),
                estimate_cells(each.effect_size, each.effect_interval, write=partial(alike, significant=2))[1],
            )
            for each in in_table(analysis)
        ),
        words=frozenset({1, 2}),
        stop=rejected if 0 < rejected < len(analysis.comparisons) else None,
    )


def algorithms_table(analysis: Analysis) -> ReportTable:
    """Return the algorithms with their runs and mean ranks; the best rank is marked."""
    best = min(row.mean_rank for row in analysis.algorithms)
    over = "complete instances" if analysis.incomplete else "instances"
    failed = any(row.failures for row in analysis.algorithms)
    header = ("algorithm", "runs", *(("gave a value", "failed") if failed else ()), "mean rank")
    return ReportTable(
        name="algorithms",
        caption=f"Runs of each algorithm and its mean rank over the {over} (1 is best).",
        header=header,
        rows=tuple(
            (
                words_cell(row.algorithm),
                Cell(f"{row.runs:,}", row.runs),
                *((_solved(row.solved, row.runs), _failures(row.failures)) if failed else ()),
                Cell(_rank(row.mean_rank), row.mean_rank, best=row.mean_rank == best),
            )
            for row in analysis.algorithms
        ),
        words=frozenset({0}),
    )


def standings_table(analysis: Analysis) -> ReportTable:
    """Return the algorithms side by side, the best rank first: mean ± sd, estimate, wins, ties, losses, mean rank."""
    found, ours = side_by_side(analysis), analysis.settings.reference
    best = min((row.mean_rank for row in found if not math.isnan(row.mean_rank)), default=math.nan)
    among = "against the reference (its own: against all others)" if ours is not None else "against all others"
    return ReportTable(
        name="standings",
        caption=f"Side by side: the {analysis.settings.statistic} over the instances with its standard deviation, the"
        f" comparisons, instances won, tied and lost {among}, and the mean rank (1 is best).",
        header=(
            *("algorithm", "mean ± sd"),
            *((estimate_header(analysis, "difference"),) if ours is not None else ()),
            *("beats", "loses to", "won", "tied", "lost", "mean rank"),
        ),
        rows=tuple(
            (
                words_cell(row.algorithm),
                Cell(f"{_value(row.mean)} ± {_rough(row.sd)}", row.mean),
                *((_against(row, analysis),) if ours is not None else ()),
                *(Cell(str(number), number) for number in (row.beats, row.loses)),
                *(Cell(str(number), number) for number in (row.wins.first, row.wins.ties, row.wins.second)),
                Cell(_rank(row.mean_rank), row.mean_rank, best=row.mean_rank == best),
            )
            for row in found
        ),
        words=frozenset({0}),
    )


def _against(row: AlgorithmStanding, analysis: Analysis) -> Cell:
    """The estimate of the comparison with the reference, which has none itself."""
    if row.comparison is None:
        return Cell("reference", math.nan)
    found = row.comparison
    shown, joint = estimate_in_unit(found.estimate, analysis), interval_in_unit(found.joint_interval, analysis)
    return estimate_cells(shown, joint, write=partial(texts_in_unit, analysis))[0]


def statistics_table(analysis: Analysis) -> ReportTable | None:
    """Return the statistic of every algorithm on every instance, the best marked; None if there are too many."""
    values = analysis.statistics
    if values.size > MOST_CELLS:
        return None
    best = np.nanmin(values, axis=1) if analysis.settings.better == "lower" else np.nanmax(values, axis=1)
    return ReportTable(
        name="statistics",
        caption=f"The {analysis.settings.statistic} of each algorithm on each instance; the best is bold.",
        header=("instance", *(row.algorithm for row in analysis.algorithms)),
        rows=tuple(
            (
                name,
                *(Cell(_value(value), value, best=value == best[i]) for value in values[i].tolist()),
            )
            for i, name in told_instances(analysis)
        ),
        words=frozenset({0}),
    )


def accuracy_table(analysis: Analysis) -> ReportTable:
    """Return how accurately the differences on each instance are known, and the runs it took."""
    settings, factor = analysis.settings, table_factor(analysis.settings)
    return ReportTable(
        name="accuracy",
        caption="Runs on each instance and the largest standard error of a difference there: plain, and guarded against"
        " variances that look small by luck.",
        header=("instance", "runs", unit_header("largest SE", settings), "guarded", "worst pair", "at budget"),
        rows=tuple(
            (
                name,
                Cell(f"{sum(row.runs):,}", sum(row.runs)),
                number_cell(factor * row.error),
                number_cell(factor * row.guarded_error),
                words_cell("–" if row.worst is None else " × ".join(row.worst)),
                words_cell("yes" if row.at_budget else ""),
            )
            for row, name in ((analysis.accuracy[i], name) for i, name in told_instances(analysis))
        ),
        words=frozenset({0, 4, 5}),
    )


def assumptions_table(analysis: Analysis) -> ReportTable:
    """Return what the test of each pair rests on: skewness, run noise, and equivalence where it was asked for."""
    asked = any(each.equivalence is not None for each in analysis.diagnoses)
    failed = any(each.unsolved for each in analysis.diagnoses)
    steps = paired_test(analysis.settings.test).procedure
    within = (f"p of equivalence ({steps.name})", "equivalent") if asked else ()
    stopped, settings = any(math.isfinite(each.all_runs) for each in analysis.diagnoses), analysis.settings
    header = (
        *("comparison", "skewness", "run noise", *within),
        *(("instances neither solved",) if failed else ()),
        *((location_header("mean by all runs", settings), "by the first runs") if stopped else ()),
    )
    bias = (
        " Values decided when runs ended, which biases them: the means by all runs as they are and by the first runs."
    )
    return ReportTable(
        name="assumptions",
        caption="Skewness of the differences over the instances, and run noise: the mean squared standard error as a"
        f" share of their variance (above 25 % it costs power).{bias if stopped else ''}",
        header=header,
        rows=tuple(
            (
                words_cell(f"{each.first} × {each.second}"),
                number_cell(each.skewness, 2),
                _share(each.noise_share),
                *(
                    (p_cell(each.equivalence.p_holm), words_cell("yes" if each.equivalence.established else "no"))
                    if each.equivalence is not None
                    else ()
                ),
                *((Cell(str(each.unsolved), each.unsolved),) if failed else ()),
                *(_difference(runs, settings) for runs in (each.all_runs, each.first_runs) if stopped),
            )
            for each in analysis.diagnoses
        ),
        words=frozenset({0, 4} if asked else {0}),
    )


def omnibus_table(analysis: Analysis) -> ReportTable | None:
    """Return the tests of all algorithms together, which decide nothing here; None if too few instances have all."""
    if analysis.omnibus is None:
        return None
    friedman, anova = analysis.omnibus.friedman, analysis.omnibus.anova
    ties = ", corrected for ties" if friedman.has_ties else ""
    found = [
        (f"Friedman{ties}", friedman.corrected.statistic, f"{friedman.freedom}", friedman.corrected.p_value),
        (
            f"Iman–Davenport{ties}",
            friedman.corrected.iman_davenport,
            ", ".join(map(str, friedman.iman_davenport_freedom)),
            friedman.corrected.iman_davenport_p,
        ),
        ("Block ANOVA", anova.statistic, ", ".join(map(str, anova.freedom)), anova.p_value),
    ]
    return ReportTable(
        name="omnibus",
        caption="Do the algorithms differ at all? These tests stand beside the comparisons and do not gate them."
        + (f" They use the {analysis.omnibus.instances} complete instances." if analysis.incomplete else ""),
        header=("test", "statistic", "degrees of freedom", "p"),
        rows=tuple(
            (words_cell(name), number_cell(statistic, 4), Cell(freedom, freedom), p_cell(p))
            for name, statistic, freedom, p in found
        ),
        words=frozenset({0}),
    )


def exploratory_tables(analysis: Analysis) -> Iterator[ReportTable]:
    """Yield the tables that are for forming ideas: subgroups, other choices, failed runs counted otherwise."""
    if analysis.subgroups:
        yield _subgroups_table(analysis)
    if analysis.stability:
        yield _stability_table(analysis)
    if analysis.other_policies:
        yield _policies_table(analysis)


def excluded_table(analysis: Analysis) -> ReportTable | None:
    """Return the instances that some algorithm lacks, and why; None if there are none."""
    reasons = [("no comparison", *each) for each in analysis.excluded.items()]
    reasons += [("some comparisons", *each) for each in analysis.incomplete.items()]
    if not reasons:
        return None
    short = _short_names(analysis)
    return ReportTable(
        name="excluded",
        caption="Instances that some algorithm lacks: a comparison uses those that have values of both algorithms.",
        header=("instance", "used in", "why"),
        rows=tuple((_known(name, short), words_cell(use), words_cell(reason)) for use, name, reason in reasons),
        words=frozenset({0, 1, 2}),
    )


def unsolved_table(analysis: Analysis) -> ReportTable | None:
    """Return the instances on which neither algorithm of a pair gave a value; None if there are none."""
    if not analysis.unsolved:
        return None
    short = _short_names(analysis)
    return ReportTable(
        name="unsolved",
        caption="Instances on which neither algorithm of a pair gave a value: there the difference is what failed runs"
        " count as, not what was measured.",
        header=("comparison", "instances neither solved", "which"),
        rows=tuple(
            (
                words_cell(" × ".join(pair)),
                Cell(str(len(names)), len(names)),
                words_cell(", ".join(short.get(name, name) for name in names)),
            )
            for pair, names in analysis.unsolved.items()
        ),
        words=frozenset({0, 2}),
    )


def _subgroups_table(analysis: Analysis) -> ReportTable:
    return ReportTable(
        name="subgroups",
        caption=f"Every comparison on groups of instances. Exploratory: p and {100 * (1 - analysis.settings.alpha):g} %"
        " intervals are not adjusted.",
        header=(
            "feature",
            "value",
            "instances",
            "comparison",
            estimate_header(analysis, "estimate"),
            "interval",
            "p",
        ),
        rows=tuple(
            (
                words_cell(each.feature),
                words_cell(each.value),
                Cell(str(each.instances), each.instances),
                words_cell(f"{each.first} × {each.second}"),
                *estimate_cells(
                    estimate_in_unit(each.estimate, analysis),
                    interval_in_unit(each.interval, analysis),
                    write=partial(texts_in_unit, analysis),
                ),
                p_cell(each.p_value),
            )
            for each in analysis.subgroups
        ),
        words=frozenset({0, 1, 3}),
    )


def _stability_table(analysis: Analysis) -> ReportTable:
    pairs = len(analysis.pairs)
    return ReportTable(
        name="stability",
        caption="Would another test, difference or statistic have decided otherwise? Holm at the same level.",
        header=("test", "difference", "statistic", "decisions that stay the same"),
        rows=tuple(
            (
                *(words_cell(word) for word in (each.test, each.difference, each.statistic)),
                Cell(each.note, -1.0) if each.note else Cell(f"{each.same} of {pairs}", float(each.same)),
            )
            for each in analysis.stability
        ),
        words=frozenset({0, 1, 2}),
    )


def _policies_table(analysis: Analysis) -> ReportTable:
    return ReportTable(
        name="policies",
        caption="Would the conclusion differ if failed runs counted otherwise?",
        header=("failed runs", "instances", "decisions that change"),
        rows=tuple(
            (
                words_cell(each.failed_runs),
                Cell(str(each.instances), each.instances),
                words_cell(each.note or ", ".join(_changed(each)) or "none"),
            )
            for each in analysis.other_policies
        ),
        words=frozenset({0, 2}),
    )


def told_instances(analysis: Analysis) -> list[tuple[int, Cell]]:
    """Return the places and names of the instances, in the order in which they are told."""
    names = instance_cells(analysis)
    return [(place, names[place]) for place in told_order(analysis)]


def instance_cells(analysis: Analysis) -> list[Cell]:
    """Return the names of the instances without the folder and ending that they share."""
    wholes = [row.instance for row in analysis.accuracy]
    return [
        Cell(name, name.casefold(), whole=whole) for name, whole in zip(without_common(wholes), wholes, strict=True)
    ]


def _short_names(analysis: Analysis) -> Mapping[str, str]:
    """What each instance is known as, those included that were left out."""
    return known_as(tuple(dict.fromkeys([*(row.instance for row in analysis.accuracy), *analysis.excluded])))


def _known(name: str, short: Mapping[str, str]) -> Cell:
    return Cell(short.get(name, name), name.casefold(), whole=name)


def words_cell(text: str) -> Cell:
    """Words, sorted without regard to case."""
    return Cell(text, text.casefold())


def number_cell(value: float, significant: int = DIGITS) -> Cell:
    """A number, or a dash where it is not known."""
    text = "–" if math.isnan(value) else digits(value, significant).replace("-", "−")
    return Cell(text, value)


def estimate_cells(
    estimate: float, *intervals: Interval, write: Callable[..., tuple[str, ...]] = alike
) -> tuple[Cell, ...]:
    """An estimate and its intervals, written so that they have the same decimals."""
    ends = [end for interval in intervals for end in interval]
    first, *texts = (text.replace("-", "−") for text in write(estimate, *ends))
    pairs = zip(texts[::2], texts[1::2], strict=True)
    shown = Cell("–" if math.isnan(estimate) else first, estimate)
    return shown, *(_interval(*each) for each in zip(intervals, pairs, strict=True))


def _interval(interval: Interval, texts: tuple[str, str]) -> Cell:
    """An interval, sorted by its middle."""
    low, high = interval
    middle = float(np.clip((low + high) / 2 if math.isfinite(low) and math.isfinite(high) else low, -1e308, 1e308))
    return Cell("–" if any(map(math.isnan, interval)) else f"[{', '.join(texts)}]", middle)


def _difference(value: float, asked: AnalysisSettings) -> Cell:
    """A difference in its unit."""
    shown = as_shown(value, asked)
    (text,) = difference_texts(asked, shown)
    return Cell("–" if math.isnan(value) else text.replace("-", "−"), shown)


def _value(value: float) -> str:
    return "–" if math.isnan(value) else digits(value, 4)


def _rough(value: float) -> str:
    return "–" if math.isnan(value) else digits(value, 2)


def _rank(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"


def p_text(value: float) -> str:
    """Write a p-value with two digits.

    >>> p_text(0.0394), p_text(1.63e-05), p_text(math.nan)
    ('0.039', '1.6e−5', '–')
    """
    if value == 0:
        return f"<{SMALLEST_P}"
    return "–" if math.isnan(value) else f"{value:.2g}".replace("e-0", "e-").replace("-", "−")


def p_cell(value: float) -> Cell:
    """A p-value, with two digits."""
    return Cell(p_text(value), value)


def _share(value: float) -> Cell:
    return Cell("–" if math.isnan(value) else f"{100 * value:,.0f} %", value)  # an estimate may exceed 100 %


def _changed(other: OtherPolicy) -> Iterator[str]:
    for pair in other.changed:
        yield f"{' × '.join(pair)}{' (reverses)' if pair in other.reversed else ''}"


def _solved(solved: int, runs: int) -> Cell:
    return Cell(f"{solved:,} ({100 * solved / runs:.0f} %)", solved / runs)


def _failures(failures: Mapping[Status, int]) -> Cell:
    words = [f"{count} {status}" for status, count in failures.items()]
    return Cell(", ".join(words) or "0", sum(failures.values()))
