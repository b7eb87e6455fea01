"""The figures of a report: which are drawn, and what their captions say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.bayes import Bayes, Probable
from ampler.analysis.compare import smallest_sample
from ampler.analysis.look_words import tally
from ampler.analysis.units import measure_in_words
from ampler.analysis.words import headline
from ampler.core.errors import AmplerError
from ampler.core.wording import amount
from ampler.design import achieved_power
from ampler.report import figures as plots
from ampler.stats.paired import FEWEST, paired_test
from ampler.stats.summaries import is_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_FEATURES = 4
COMPARED = 24  # comparisons in one figure; more are counted
DETAILED = 4  # comparisons that are shown instance by instance
FEWEST_STEPS = 4  # numbers of runs that make a curve


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its name (fit for a file), the section it belongs to, its caption, and what it shows in words.

    It is drawn when `draw` is called: who wants one of them waits for no other.
    """

    name: str
    section: str
    caption: str
    words: str
    draw: Callable[[], Axes]


def drawings(analysis: Analysis) -> Iterator[Drawing]:
    """Yield the figures of a report; who draws one after the other has one at a time in memory."""
    measure = measure_in_words(analysis)
    yield from (replace(each, caption=f"{each.caption} {measure}.") for each in _drawings(analysis))


def _drawings(analysis: Analysis) -> Iterator[Drawing]:
    if analysis.unfinished:
        yield from (*_accuracy(analysis), *_worst(analysis), *_convergence(analysis), *_cloud(analysis))
        return
    yield from _course(analysis)
    yield from _looks(analysis)
    yield _intervals(analysis)
    if analysis.single is not None:
        yield from _worst(analysis)
        yield from _cloud(analysis)
        return
    yield from _power(analysis)
    yield from _probable(analysis)
    yield from _accuracy(analysis)
    yield from _worst(analysis)
    yield from _convergence(analysis)
    yield from _cloud(analysis)
    yield from _runs(analysis)
    yield from _ranks(analysis)
    yield from _field(analysis)
    yield from _subgroups(analysis)
    for place, (first, second, why) in enumerate(telling_pairs(analysis), start=1):
        yield _pair(analysis, place, first, second, why)
        yield from _assumptions(analysis, place, first, second)


def figures_of(analysis: Analysis) -> Iterator[Drawing]:
    """Yield the figures that become files: the rows with which a page begins, called verdict, and all of a report."""
    caption, words = "All comparisons, as a page begins with them.", f"{headline(analysis)}."
    verdict = partial(plots.draw_verdict, plots.verdict_data(analysis))
    measure = measure_in_words(analysis)
    for each in chain([Drawing("verdict", "comparisons", caption, words, verdict)], drawings(analysis)):
        yield replace(each, draw=partial(_with_measure, each.draw, measure))


def _with_measure(draw: Callable[[], Axes], measure: str) -> Axes:
    """A figure that stands alone says below what was measured."""
    from ampler.report.figures.colours import MUTED
    from ampler.report.figures.labels import literal
    from ampler.report.figures.style import LETTERS
    from ampler.report.figures.titles import WORDS, in_lines

    ax = draw()
    figure = ax.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches()
    lines = in_lines(literal(measure), width - 0.2)
    if figure.get_layout_engine() is None:  # whose words stand in inches: the line goes below them
        taller = height + WORDS * (len(lines) + 0.4)
        figure.set_size_inches(width, taller)
        for each in figure.axes:
            box = each.get_position()
            share = height / taller
            each.set_position((box.x0, 1 - share * (1 - box.y0), box.width, share * box.height))
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=LETTERS, color=MUTED)
    return ax


def telling_pairs(analysis: Analysis) -> list[tuple[str, str, str]]:
    """Return the pairs a reader wants to see instance by instance, each once, with the reason.

    They are the first in Holm's order, the last rejected, the first not rejected, and the most skewed.
    """
    found = [each for each in analysis.comparisons if each.instances >= FEWEST]
    rejected = sum(each.rejected for each in found)
    tested = {(each.first, each.second) for each in found}
    diagnoses = [each for each in analysis.diagnoses if (each.first, each.second) in tested]
    skewness = [0.0 if math.isnan(each.skewness) else abs(each.skewness) for each in diagnoses]
    most = diagnoses[int(np.argmax(skewness))]
    wanted = [
        (found[0].first, found[0].second, "the smallest p-value"),
        *([(found[rejected - 1].first, found[rejected - 1].second, "the last rejected")] if rejected else []),
        *([(found[rejected].first, found[rejected].second, "the first not rejected")] if rejected < len(found) else []),
        (most.first, most.second, "the most skewed differences"),
    ]
    reasons: dict[tuple[str, str], list[str]] = {}
    for first, second, why in wanted:
        reasons.setdefault((first, second), []).append(why)
    return [(first, second, " and ".join(why)) for (first, second), why in list(reasons.items())[:DETAILED]]


def _course(analysis: Analysis) -> Iterator[Drawing]:
    """What a pilot showed and where the runs went, of a study that found its own size."""
    course = analysis.course
    if course is None:
        return
    what = amount(course.detect, course.difference)
    caption = (
        f"What the pilot showed: means and intervals at its share of the joint level; within the band differences are"
        f" smaller than {what}. Diamonds: clear already."
    )
    words = f"{sum(course.clear)} of {len(course.clear)} comparisons were clear after {course.pilot} instances."
    yield Drawing("pilot", "course", caption, words, partial(plots.draw_pilot, plots.pilot_data(analysis)))
    data = plots.spending_data(analysis)
    caption = (
        "Where the runs went: in the pilot, added on its instances after the decision, and on the other instances."
    )
    words = f"{data.total:,} runs, {sum(data.pilot):,} of them in the pilot."
    yield Drawing("spending", "course", caption, words, partial(plots.draw_spending, data))


def _looks(analysis: Analysis) -> Iterator[Drawing]:
    """The way of the statistics to their boundaries, and what stopped when, of a study with looks."""
    if analysis.looks is None:
        return
    scale = "t" if analysis.looks.course.test == "t" else "normal scores of p"
    caption = (
        f"The test statistics ({scale}) at each look. Beyond the whole line a comparison is different at the level of"
        " all comparisons, beyond the dashed one at alpha itself, which others that are decided leave it; in the band"
        " it has no relevant difference."
    )
    words = tally(analysis.looks)
    yield Drawing(
        "look-paths", "course", caption, words, partial(plots.draw_look_paths, plots.look_paths_data(analysis))
    )
    caption = "On how many instances each comparison was decided, and how; dotted: the looks."
    yield Drawing(
        "look-stops", "course", caption, words, partial(plots.draw_look_stops, plots.look_stops_data(analysis))
    )


def _intervals(analysis: Analysis) -> Drawing:
    rejected = sum(each.rejected for each in analysis.comparisons)
    draw = partial(plots.draw_intervals, plots.intervals_data(analysis, most=COMPARED), interval="both")
    level = f"{100 * (1 - analysis.settings.family_alpha):g} %"
    steps = paired_test(analysis.settings.test).procedure
    caption = (
        f"Estimates of all comparisons in {steps.order}. Thick intervals have the {steps.level} level of their rank and"
        f" agree with the decision; thin ones hold jointly with {level}. Triangles: rejected null hypotheses."
    )
    return Drawing(
        "intervals",
        "comparisons",
        caption,
        f"{rejected} of {len(analysis.comparisons)} null hypotheses are rejected.",
        draw,
    )


def _accuracy(analysis: Analysis) -> Iterator[Drawing]:
    known = analysis.errors[np.isfinite(analysis.errors)]
    if not known.size:
        return
    draw = partial(plots.draw_accuracy, plots.accuracy_data(analysis, order="feature"))
    words = f"Standard errors from {known.min():.3g} to {known.max():.3g} on {analysis.instances} instances."
    yield Drawing(
        "accuracy",
        "accuracy",
        "Standard errors of the differences of all pairs on each instance, and the runs spent there (bold: the whole"
        " budget).",
        words,
        draw,
    )


def _worst(analysis: Analysis) -> Iterator[Drawing]:
    """The pairs on the instance that is known least."""
    if not np.isfinite(analysis.errors).any():
        return
    worst = _least_known(analysis)
    order: Literal["given", "error"] = "given" if analysis.settings.reference is not None else "error"
    data = plots.instance_differences_data(analysis, worst, order=order, most=COMPARED)
    yield Drawing(
        "instance",
        "accuracy",
        f"The instance with the largest standard error, {data.instance}: the difference of each pair ± its standard"
        " error, and its interval.",
        f"{len(data.pairs)} differences with intervals on instance {data.instance}.",
        partial(plots.draw_instance_differences, data),
    )


def _least_known(analysis: Analysis) -> str:
    """The instance with the largest standard error."""
    return max(analysis.accuracy, key=lambda row: -1.0 if math.isnan(row.error) else row.error).instance


def _convergence(analysis: Analysis) -> Iterator[Drawing]:
    """How the errors fell on the instance that is known least; not where they say nothing."""
    if not np.isfinite(analysis.errors).any() or analysis.recorded is None or analysis.recorded.shared is not None:
        return
    if not is_named(analysis.settings.statistic_name):
        return
    data = plots.convergence_data(analysis)
    if len(data.runs) < FEWEST_STEPS or not np.isfinite(data.largest[-1]):
        return
    caption = (
        f"How the standard errors fell with the runs on {data.instance}, the instance that is known least;"
        " thick: the largest error of all pairs."
    )
    yield Drawing("convergence", "accuracy", caption, f"{data.finding}.", partial(plots.draw_convergence, data))


def _cloud(analysis: Analysis) -> Iterator[Drawing]:
    """The runs on the instance that is known least; nothing where there is one value of each."""
    if analysis.recorded is None or max(max(row.runs) for row in analysis.accuracy) < 2:
        return
    worst = _least_known(analysis)
    data = plots.cloud_data(analysis, worst)
    caption = f"Every run on {data.instance}: dots, their quartiles as a box, and how densely they lie."
    yield Drawing("cloud", "accuracy", caption, f"{data.finding}.", partial(plots.draw_cloud, data))


def _field(analysis: Analysis) -> Iterator[Drawing]:
    """What readers of the field look for: the profile of all, what solvers solve, one against another."""
    profile = plots.profile_data(analysis)
    caption = (
        "Performance profile: the share of instances on which each algorithm is within a distance of the best of all;"
        " higher is better, and at the left it is the share on which it is the best."
    )
    yield Drawing("profile", "together", caption, f"{profile.finding}.", partial(plots.draw_profile, profile))
    if analysis.settings.better == "lower" and any(row.failures for row in analysis.algorithms):
        cactus = plots.cactus_data(analysis)
        caption = "Cactus plot: how many runs each algorithm solves within a value; its count stands at the end."
        yield Drawing("cactus", "together", caption, f"{cactus.finding}.", partial(plots.draw_cactus, cactus))
    first, second, why = telling_pairs(analysis)[0]
    scatter = plots.scatter_data(analysis, first, second)
    caption = f"{second} against {first} ({why}): each mark is an instance, and on the line both are equal."
    yield Drawing("scatter", "instances", caption, f"{scatter.finding}.", partial(plots.draw_scatter, scatter))


def _runs(analysis: Analysis) -> Iterator[Drawing]:
    """How many runs there were of each; nothing where every cell has the same number."""
    numbers = {runs for row in analysis.accuracy for runs in row.runs}
    if len(numbers) < 2 or max(numbers) < 2:
        return
    caption = "Runs of each algorithm on the instances: a dot for each number that occurs, quartiles, median, total."
    words = ", ".join(f"{row.algorithm}: {row.runs} runs" for row in analysis.algorithms[:5])
    yield Drawing("runs", "accuracy", caption, words, partial(plots.draw_runs, plots.runs_data(analysis)))


def _power(analysis: Analysis) -> Iterator[Drawing]:
    settings = analysis.settings
    if analysis.course is not None:  # its power was for a difference, and its tests are others
        return
    effect = settings.effect if settings.effect is not None else analysis.detectable_effect
    fewest = smallest_sample(analysis.comparisons)
    try:
        design = achieved_power(
            instances=fewest,
            comparisons=len(analysis.pairs),
            effect=effect,
            alpha=settings.family_alpha,
            alternative=settings.alternative,
            test=settings.test,
        )
        draw = partial(plots.draw_power_curve, plots.power_curve_data(design))
    except AmplerError:  # too few instances for any power
        return
    planned = "planned for" if settings.effect is not None else f"found with mean power {settings.power:g}"
    number = f"{fewest} instances" + (", the fewest of a comparison," if analysis.incomplete else "")
    caption = (
        f"The power of {number} for effects of every size, marked at the effect {planned}: what was not found may be"
        " there if it is small."
    )
    yield Drawing("power", "comparisons", caption, f"Mean power {design.power:.2f} for d = {effect:.2f}.", draw)


def _probable(analysis: Analysis) -> Iterator[Drawing]:
    """Where a margin asks for it: all comparisons, the rankings, and the pair that is hardest to decide."""
    if not analysis.weighs_a_margin:
        return
    bayes = analysis.bayes
    chosen = hardest_pair(bayes)
    if chosen is not None:
        yield _all_probable(analysis)
    if bayes.ranking is not None:
        words = f"{bayes.ranking.algorithms[0]} is the best of all with probability {bayes.ranking.best[0]:.2f}."
        caption = (
            "By rankings alone (Plackett–Luce): how probably each algorithm is better than each other, the probability"
            " to be the best of all, and the chance to be first on an instance."
        )
        yield Drawing("best", "probable", caption, words, partial(plots.draw_best, plots.best_data(analysis)))
    if chosen is not None:
        yield _simplex(analysis, chosen)


def hardest_pair(bayes: Bayes) -> Probable | None:
    """Return the comparison whose verdict is hardest: of those undecided, or of all, the one nearest to certainty."""
    found = [each for each in bayes.comparisons if each.chances is not None]
    undecided = [each for each in found if not each.claims]
    if not found:
        return None
    return max(undecided, key=_certainty) if undecided else min(found, key=_certainty)


def _certainty(each: Probable) -> float:
    assert each.chances is not None
    return max(each.chances.worse, each.chances.equivalent, each.chances.better)


def _all_probable(analysis: Analysis) -> Drawing:
    caption = (
        "What is believed of each difference, beside the margin (band): its mean over instances (thick) and its value"
        " on a new instance (thin), with the probabilities of both sides of the margin and between."
    )
    claims = sum(each.claims for each in analysis.bayes.comparisons)
    words = f"{claims} of {len(analysis.comparisons)} comparisons have a verdict."
    return Drawing("probable", "probable", caption, words, partial(plots.draw_probable, plots.probable_data(analysis)))


def _simplex(analysis: Analysis, each: Probable) -> Drawing:
    data = plots.simplex_data(analysis, each.first, each.second)
    caption = (
        f"The Bayesian signed-rank test of {each.first} × {each.second}, the pair that is hardest to decide: each draw"
        " gives the shares of pairs of instances that average below, within and above the margin; at the corners, how"
        " often that share is the largest."
    )
    found = data.largest
    words = f"Largest: {found.worse:.2f}, {found.equivalent:.2f}, {found.better:.2f}."
    return Drawing("simplex", "probable", caption, words, partial(plots.draw_simplex, data))


def _ranks(analysis: Analysis) -> Iterator[Drawing]:
    if len(analysis.algorithms) < 3 or analysis.omnibus is None:
        return
    data = plots.ranks_data(analysis)
    caption = (
        "Mean ranks over the instances, 1 is best. Algorithms under a common bar are not told apart by Nemenyi's test,"
        " which stands beside the comparisons above."
    )
    words = f"Best mean rank {data.mean_ranks[0]:.2f}, critical difference {data.critical_difference:.2f}."
    yield Drawing("ranks", "together", caption, words, partial(plots.draw_ranks, data))


def _subgroups(analysis: Analysis) -> Iterator[Drawing]:
    features = list(dict.fromkeys(each.feature for each in analysis.subgroups))
    for place, feature in enumerate(features[:MOST_FEATURES], start=1):
        data = plots.subgroups_data(analysis, feature)
        caption = f"The comparisons on the groups of instances by {feature}. Exploratory: nothing is adjusted."
        words = f"{len(data.groups)} groups by {feature}."
        yield Drawing(f"subgroups-{place}", "exploration", caption, words, partial(plots.draw_subgroups, data))


def _pair(analysis: Analysis, place: int, first: str, second: str, why: str) -> Drawing:
    data = plots.pair_differences_data(analysis, first, second)
    error = " ± its standard error" if np.isfinite(data.errors).any() else ""
    caption = f"{first} × {second} ({why}): the difference on each instance{error}."
    words = f"Differences from {data.differences.min():.3g} to {data.differences.max():.3g}."
    return Drawing(f"pair-{place}", "instances", caption, words, partial(plots.draw_pair_differences, data))


def _assumptions(analysis: Analysis, place: int, first: str, second: str) -> Iterator[Drawing]:
    """QQ plot and resampled means."""
    quantiles = plots.quantiles_data(analysis, first, second)
    caption = (
        f"{first} × {second}: the differences against normal quantiles, triangles outside the pointwise 95 % band of"
        " normal samples."
    )
    words = f"Skewness {quantiles.skewness:.2f}."
    yield Drawing(f"assumptions-{place}", "assumptions", caption, words, partial(plots.draw_quantiles, quantiles))
    means = plots.bootstrap_data(analysis, first, second)
    caption = f"{first} × {second}: the mean over resampled instances, which the t-test takes to be normal."
    words = f"Skewness of the resampled means {means.skewness:.2f}."
    yield Drawing(f"resampled-{place}", "assumptions", caption, words, partial(plots.draw_bootstrap, means))
