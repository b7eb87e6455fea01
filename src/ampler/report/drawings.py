"""The figures of a report, and the values in their captions (captions.toml)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.analysis import Analysis, Comparison, Diagnosis
from ampler.analysis.bayes import Bayes, Probable
from ampler.analysis.compare import smallest_sample
from ampler.analysis.rows import rows_of
from ampler.analysis.units import measure_text
from ampler.core.errors import AmplerError, InvalidData, InvalidInput
from ampler.core.text import amount
from ampler.design import achieved_power
from ampler.report.figures import accuracy, intervals, pairs, performance, planning, probabilities, ranks
from ampler.report.tables import caption_of
from ampler.stats.paired import FEWEST, paired_test
from ampler.stats.summaries import is_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE = "file"  # section of the figures that are files only
MAX_FEATURES = 4
MAX_COMPARISONS = 24  # in one figure; more are counted
DETAILED = 4  # comparisons displayed by instance
SKEWED = "the most skewed differences"
FEWEST_STEPS = 4  # numbers of runs that make a curve


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its file name, its section, its caption, and a description.

    It is drawn on demand, by `draw`.
    """

    name: str
    section: str
    caption: str
    summary: str
    draw: Callable[[], Axes]


def drawings(analysis: Analysis) -> Iterator[Drawing]:
    """Yield the figures of a page, which draws rows and pairs itself; one at a time is in memory."""
    return (drawing for drawing in _drawings(analysis) if drawing.section != FILE)


def _drawings(analysis: Analysis) -> Iterator[Drawing]:
    """Every figure of a report but the verdict, in its order."""
    if np.nanmax(np.abs(analysis.statistics), initial=0.0) > pairs.LARGEST:
        raise InvalidData(f"a report shows values up to {pairs.LARGEST:g}, but some are larger; scale the values down")
    if analysis.unfinished:
        yield from _accuracy(analysis)
        yield from _least_accurate(analysis)
        return
    yield from _adaptive(analysis)
    steps, level = paired_test(analysis.settings.test).procedure, 100 * (1 - analysis.settings.family_alpha)
    draw, data = intervals.draw_intervals, intervals.intervals_data(analysis, most=MAX_COMPARISONS)
    yield drawing_of("intervals", FILE, partial(draw, interval="both"), data, steps=steps, level=level)
    if analysis.single is not None:
        yield from _least_accurate(analysis)
        return
    yield from _power(analysis)
    yield from _probable(analysis)
    yield from _accuracy(analysis)
    yield from _least_accurate(analysis)
    if len(numbers := {runs for row in analysis.accuracy for runs in row.runs}) > 1 and max(numbers) > 1:
        yield drawing_of("runs", "more", accuracy.draw_runs, accuracy.runs_data(analysis))
    if analysis.measures is not None and analysis.measures.front:
        yield drawing_of("pareto", "evidence", performance.draw_pareto, performance.pareto_data(analysis.measures))
    yield from _ranks(analysis)
    yield from _performance(analysis)
    yield from subgroup_drawings(analysis)
    yield from _pairs(analysis)


def figures_of(analysis: Analysis) -> Iterator[Drawing]:
    """Yield the figures that become files: the rows with which a page begins, called verdict, and all of a report."""
    data, measure = intervals.verdict_data(analysis), measure_text(analysis, counts=False)
    verdict = drawing_of("verdict", FILE, intervals.draw_verdict, data)
    for drawing in chain([verdict], _drawings(analysis)):
        yield replace(drawing, draw=partial(_with_measure, drawing.draw, measure))


def _with_measure(draw: Callable[[], Axes], measure: str) -> Axes:
    """A separate figure states the measure below it."""
    from ampler.report.figures.canvas import LETTERS, WORDS, figure_of, in_lines, literal
    from ampler.report.theme import MUTED

    ax = draw()
    figure = figure_of(ax)
    width, height = figure.get_size_inches()
    lines = in_lines(literal(measure), width - 0.2)
    if figure.get_layout_engine() is None:  # laid out in inches: the line goes below
        taller = height + WORDS * (len(lines) + 0.4)
        figure.set_size_inches(width, taller)
        for axes in figure.axes:
            box, share = axes.get_position(), height / taller
            axes.set_position((box.x0, 1 - share * (1 - box.y0), box.width, share * box.height))
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=LETTERS, color=MUTED)
    return ax


def telling_pairs(analysis: Analysis) -> list[tuple[str, str, str]]:
    """Return the pairs a reader wants to see instance by instance, each once, with its subject first and the reason.

    They are the first in Holm's order, the last rejected, the first not rejected, and the most skewed.
    """
    tested = [row for row in analysis.comparisons if row.instances >= FEWEST]
    rejected, names = sum(row.rejected for row in tested), {(row.first, row.second) for row in tested}
    diagnoses = [row for row in analysis.diagnoses if (row.first, row.second) in names]
    chosen: list[tuple[Comparison | Diagnosis, str]] = [
        (tested[0], "the smallest p-value"),
        *([(tested[rejected - 1], "the last rejected")] if rejected else []),
        *([(tested[rejected], "the first not rejected")] if rejected < len(tested) else []),
        (max(diagnoses, key=lambda row: abs(np.nan_to_num(row.skewness))), SKEWED),
    ]
    reasons: dict[tuple[str, str], list[str]] = {}
    for pair, why in chosen:
        reasons.setdefault((pair.first, pair.second), []).append(why)
    pairs = [(first, second, " and ".join(why)) for (first, second), why in list(reasons.items())[:DETAILED]]
    return pairs if analysis.settings.reference is None else [(second, first, why) for first, second, why in pairs]


def drawing_of(name: str, section: str, draw: Callable[[Any], Axes], data: Any, **values: Any) -> Drawing:
    """Return a drawing of data, with its title as text; `values` are those of its caption."""
    caption = caption_of(name, "figures", **values)
    summary = data.finding.replace(r"\$", "$").removesuffix(".")
    return Drawing(name, section, caption, f"{summary}.", partial(draw, data))


def _adaptive(analysis: Analysis) -> Iterator[Drawing]:
    """What a pilot showed and where the runs went; how statistics met their boundaries, and what stopped when."""
    if (course := analysis.course) is not None:
        detect, data = amount(course.detect, course.difference), planning.pilot_data(analysis)
        yield drawing_of("pilot", "course", planning.draw_pilot, data, detect=detect)
        yield drawing_of("spending", "course", planning.draw_spending, planning.spending_data(analysis))
    if analysis.looks is not None:
        scale = "t" if analysis.looks.course.test == "t" else "normal scores of p"
        paths, stops = planning.look_paths_data(analysis), planning.look_stops_data(analysis)
        yield drawing_of("look-paths", "course", planning.draw_look_paths, paths, scale=scale)
        yield drawing_of("look-stops", "course", planning.draw_look_stops, stops)


def _accuracy(analysis: Analysis) -> Iterator[Drawing]:
    if np.isfinite(analysis.errors).any():
        data = accuracy.accuracy_data(analysis, order="feature")
        yield drawing_of("accuracy", "more", accuracy.draw_accuracy, data)


def _least_accurate(analysis: Analysis) -> Iterator[Drawing]:
    """Pairs, errors and runs on the instance with the largest standard error, if informative."""
    has_errors, runs = np.isfinite(analysis.errors).any(), analysis.recorded
    worst = max(analysis.accuracy, key=lambda row: -1.0 if math.isnan(row.error) else row.error)
    if has_errors:
        order: pairs.PairOrder = "given" if analysis.settings.reference is not None else "error"
        data = pairs.instance_differences_data(analysis, worst.instance, order=order, most=MAX_COMPARISONS)
        yield drawing_of("instance", "more", pairs.draw_instance_differences, data, instance=data.instance)
    has_curve = analysis.single is None and has_errors and is_named(analysis.settings.statistic_name)
    if has_curve and runs is not None and runs.shared is None:
        curve = accuracy.convergence_data(analysis)
        if len(curve.runs) >= FEWEST_STEPS and np.isfinite(curve.largest[-1]):
            yield drawing_of("convergence", "more", accuracy.draw_convergence, curve, instance=curve.instance)
    if runs is not None and max(max(row.runs) for row in analysis.accuracy) > 1:
        cloud = performance.cloud_data(analysis, worst.instance)
        yield drawing_of("cloud", "more", performance.draw_cloud, cloud, instance=cloud.instance)


def _performance(analysis: Analysis) -> Iterator[Drawing]:
    """Usual figures of the field: performance profile, cactus plot, scatter plot."""
    yield drawing_of("profile", "evidence", performance.draw_profile, performance.profile_data(analysis))
    if analysis.settings.better == "lower" and any(row.failures for row in analysis.algorithms):
        yield drawing_of("cactus", "evidence", performance.draw_cactus, performance.cactus_data(analysis))
    first, second, why = telling_pairs(analysis)[0]
    data = pairs.scatter_data(analysis, first, second)
    yield drawing_of("scatter", FILE, pairs.draw_scatter, data, first=first, second=second, why=why)


def _power(analysis: Analysis) -> Iterator[Drawing]:
    settings, fewest = analysis.settings, smallest_sample(analysis.comparisons)
    if analysis.course is not None:  # its power was planned for a difference
        return
    try:
        design = achieved_power(
            instances=fewest,
            comparisons=len(analysis.pairs),
            effect=settings.effect if settings.effect is not None else analysis.detectable_effect,
            alpha=settings.family_alpha,
            alternative=settings.alternative,
            test=settings.test,
        )
        data = planning.power_curve_data(design)
    except AmplerError:  # too few instances for any power
        return
    planned = "planned for" if settings.effect is not None else f"found with mean power {settings.power:g}"
    number = f"{fewest} instances" + (", the fewest of a comparison," if analysis.incomplete else "")
    yield drawing_of("power", "trust", planning.draw_power_curve, data, number=number, planned=planned)


def _probable(analysis: Analysis) -> Iterator[Drawing]:
    """With a margin: all comparisons, the rankings, and the most uncertain pair."""
    if not analysis.weighs_a_margin:
        return
    hardest = hardest_pair(analysis.bayes)
    if hardest is not None:
        yield drawing_of("probable", "probable", probabilities.draw_probable, probabilities.probable_data(analysis))
    if analysis.bayes.ranking is not None:
        yield drawing_of("best", "probable", probabilities.draw_best, probabilities.best_data(analysis))
    if hardest is not None:
        simplex = probabilities.simplex_data(analysis, hardest.first, hardest.second)
        yield drawing_of("simplex", "probable", probabilities.draw_simplex, simplex, pair=hardest)


def hardest_pair(bayes: Bayes) -> Probable | None:
    """Return the most uncertain comparison among the inconclusive ones, or among all."""

    def certainty(comparison: Probable) -> float:
        chances = comparison.chances
        return math.nan if chances is None else max(chances.worse, chances.equivalent, chances.better)

    known = [comparison for comparison in bayes.comparisons if comparison.chances is not None]
    undecided = [comparison for comparison in known if not comparison.claims]
    return max(undecided, key=certainty) if undecided else min(known, key=certainty, default=None)


def _ranks(analysis: Analysis) -> Iterator[Drawing]:
    if len(analysis.algorithms) > 2 and analysis.omnibus is not None:
        with suppress(InvalidInput):  # more groups than anyone can distinguish
            data = ranks.ranks_data(analysis, groups="decisions")
            passes = any(len(group) <= group[-1] - group[0] for group in data.members)  # gaps in a group
            dots = " (on a bar with dots: those with a dot)" if passes else ""
            yield drawing_of("ranks", "evidence", ranks.draw_ranks, data, unit=data.unit, dots=dots)


def subgroup_drawings(analysis: Analysis) -> Iterator[Drawing]:
    """Yield a figure for each feature of the instances."""
    features = dict.fromkeys(group.feature for group in analysis.subgroups)
    for number, feature in enumerate(islice(features, MAX_FEATURES), start=1):
        data = intervals.subgroups_data(analysis, feature)
        yield drawing_of(f"subgroups-{number}", "exploration", intervals.draw_subgroups, data, feature=feature)


def _pairs(analysis: Analysis) -> Iterator[Drawing]:
    """Selected pairs: differences on each instance, QQ plot and resampled means."""
    for number, (first, second, why) in enumerate(telling_pairs(analysis), start=1):
        section, names = "trust" if SKEWED in why else "more", {"first": first, "second": second}
        data = pairs.pair_differences_data(analysis, first, second)
        error = " ± its standard error" if np.isfinite(data.errors).any() else ""
        yield drawing_of(f"pair-{number}", FILE, pairs.draw_pair_differences, data, why=why, error=error, **names)
        quantiles = pairs.quantiles_data(analysis, first, second)
        yield drawing_of(f"assumptions-{number}", section, pairs.draw_quantiles, quantiles, **names)
        means = pairs.bootstrap_data(analysis, first, second)
        yield drawing_of(f"resampled-{number}", section, pairs.draw_bootstrap, means, **names)


def pair_drawings(analysis: Analysis, index: int) -> Iterator[Drawing]:
    """Yield the differences of a comparison on every instance and their quantiles, by its place in Holm's order."""
    row = rows_of(analysis)[index - 1]
    differences = pairs.pair_differences_data(analysis, row.subject, row.other)
    yield drawing_of(f"differences-of-{index}", FILE, pairs.draw_pair_differences, differences)
    quantiles = pairs.quantiles_data(analysis, row.subject, row.other)
    yield drawing_of(f"quantiles-of-{index}", FILE, pairs.draw_quantiles, quantiles)
