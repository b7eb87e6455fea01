"""How well algorithms perform: profiles, cactus plots of solvers, the runs on one instance, and two measures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.measures import MeasuresAnalysis, Standing
from ampler.core.arrays import Bools, Floats, Runs
from ampler.core.errors import InvalidInput
from ampler.core.failures import Par
from ampler.core.settings import Better, choice
from ampler.core.text import digits
from ampler.report.figures import canvas as fig
from ampler.report.theme import ACCENT, BLUE, INK, MUTED, SERIES, STYLES
from ampler.stats import paired

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ProfileData", "draw_profile", "profile_data"]
__all__ += ["CactusData", "cactus_data", "draw_cactus"]
__all__ += ["CloudData", "cloud_data", "draw_cloud"]
__all__ += ["ParetoData", "draw_pareto", "pareto_data"]

APART = 0.075  # of the height of the axes: two names closer than this would touch


@dataclass(frozen=True, slots=True, eq=False)
class Staircase:
    """A step curve: its name and the values at which it rises, smallest first."""

    name: str
    values: Floats
    counted: bool = False  # the curve counts, instead of telling shares

    def heights(self) -> Floats:
        """Return the height after each finite value."""
        reached = np.arange(1, int(np.isfinite(self.values).sum()) + 1, dtype=float)
        return reached if self.counted else reached / max(len(self.values), 1)


def draw_steps(ax: Axes, curves: Sequence[Staircase], *, end: float, banded: bool = False) -> None:
    """Draw the curves up to the end of the axis, with different colours and line styles, and names at the right.

    Few curves have a band: where 95 % of resamples of their values lie. The bootstrap of a share is binomial.
    """
    from scipy.stats import binom

    tops = []
    for k, curve in enumerate(curves):
        color, style = SERIES[k % len(SERIES)], STYLES[(k + k // len(SERIES)) % len(STYLES)]
        reached = curve.heights()
        values = curve.values[: len(reached)]
        inside = values <= end
        top = float(reached[inside][-1]) if inside.any() else 0.0
        x, y = np.append(values[inside], end), np.append(reached[inside], top)
        first = ax.get_xlim()[0]
        x, y = np.insert(x, 0, first), np.insert(y, 0, 0.0)
        ax.step(x, y, where="post", color=color, linestyle=style)
        if banded and len(curves) <= MAX_BANDS:
            low, high = (binom.ppf(level, len(curve.values), y) / len(curve.values) for level in (0.025, 0.975))
            ax.fill_between(x, low, high, step="post", color=color, alpha=0.13, linewidth=0)
        tops.append((top, -float(np.minimum(curve.values, end).sum()) / max(len(curve.values), 1), curve.name, color))
    # names at the right of the axes in the order of the curves, moved apart where these end close to each other
    highest = max(top for top, *_ in tops) or 1.0
    ordered = sorted(tops, key=lambda curve: curve[:2])
    places: list[float] = []
    for top, *_ in ordered:
        places.append(max(top / highest, places[-1] + APART) if places else top / highest)
    ceiling = 1.0  # from which on names go down so that none touches the next
    for k in reversed(range(len(places))):
        places[k] = min(places[k], ceiling)
        ceiling = places[k] - APART
    for (_, _, name, color), share in zip(ordered, places, strict=True):
        fig.beside(ax, share * highest, name, color=color)


ProfileOf = Literal["instances", "runs"]

NAME_WIDTH = 16  # characters of a name next to its line
MAX_BANDS = 4  # curves whose bands can be distinguished
MAX_CURVES = 8  # curves that can be distinguished
DWARFS = 10.0  # maximum end of the axis in median distances
LARGEST_DISTANCE = 1e300  # larger values are clipped: medians and matplotlib's marks could be infinite
FARTHEST = 0.05  # share of the area that the axis may cut off


@dataclass(frozen=True, slots=True, eq=False)
class ProfileData:
    """Sorted distances of each algorithm to the best value; infinite without a value.

    Distances are ratios where all values are positive, else differences.
    """

    algorithms: tuple[str, ...]  # labels
    distances: tuple[Floats, ...]  # of each algorithm, smallest first: 1 or 0 is the best
    of: ProfileOf
    is_ratio: bool

    def share(self, algorithm: int, distance: float) -> float:
        """Return the share of instances on which an algorithm is within a distance of the best."""
        distances = self.distances[algorithm]
        return float(np.searchsorted(distances, distance, side="right")) / len(distances)

    def leading(self, most: int) -> list[int]:
        """Return the algorithms that are nearest to the best, at most this many, in their order."""
        end = _end(self)  # divided before the sum, which may be infinite
        reach = [float((np.minimum(distances, end) / end).mean()) for distances in self.distances]
        return sorted(sorted(range(len(reach)), key=reach.__getitem__)[:most])

    @property
    def best(self) -> float:
        """The distance of the best itself."""
        return 1.0 if self.is_ratio else 0.0

    @property
    def finding(self) -> str:
        """State the algorithm that is most often the best."""
        shares = [self.share(k, self.best) for k in range(len(self.algorithms))]
        (most, *others), names = fig.first_of(self.algorithms, shares)
        verbs = {"instances": ("is best on", "are each best on")}
        one, several = verbs.get(self.of, ("reaches the best seen in", "each reach the best seen in"))
        return f"{names} {several if others else one} {fig.size_text(shares[most], 'percent', 0)} of {self.of}"


def profile_data(analysis: Analysis, *, of: ProfileOf = "instances", widest: int = NAME_WIDTH) -> ProfileData:
    """Return the performance profile of each algorithm (Dolan & Moré 2002).

    The value of an algorithm on an instance is compared with the best of all algorithms there; with `of="runs"` every
    run next to the best run of all, which shows how often each target is reached. What has no value is never near."""
    choice("of", of, ("instances", "runs"), "it is the unit of the count")
    lower = analysis.settings.better == "lower"
    if of == "instances":  # no value if all runs failed
        values = np.where(solved_cells(analysis), analysis.statistics, np.nan).ravel()
        instance, algorithm = (index.ravel() for index in np.indices(analysis.statistics.shape))
    else:
        runs = recorded_runs(analysis)
        values, instance, algorithm = np.where(runs.ok, runs.value, np.nan), runs.instance, runs.algorithm
    known = np.isfinite(values)
    bests = np.full(int(instance.max()) + 1, np.inf if lower else -np.inf)
    (np.minimum if lower else np.maximum).at(bests, instance[known], values[known])
    value, best = values[known], bests[instance[known]]
    is_ratio = bool((value > 0).all())
    far, near = (value, best) if lower else (best, value)
    distance = np.full(len(values), np.inf)
    distance[known] = far / near if is_ratio else far - near
    names = [row.algorithm for row in analysis.algorithms]
    distances = tuple(np.sort(distance[algorithm == k]) for k in range(len(names)))
    return ProfileData(fig.labels(names, widest), distances, of, is_ratio)


def draw_profile(data: ProfileData, ax: Axes | None = None, *, most: int = MAX_CURVES) -> Axes:
    """Draw the share that each algorithm brings within a distance of the best; higher is better.

    Where there are many algorithms, the `most` that are nearest to the best are drawn.
    """
    with fig.canvas(ax, height=2.7) as ax:
        end = _end(data)
        stretched = _stretch(ax, data, end)
        ax.set_xlim(data.best, end)
        shown = data.leading(most)
        curves = [Staircase(data.algorithms[k], data.distances[k]) for k in shown]
        draw_steps(ax, curves, end=end, banded=data.of == "instances")
        ax.set(ylim=(0, 1.02), ylabel=f"Share of {data.of}")
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        words = "value / best seen" if data.is_ratio else "value − best seen"
        scale = "The axis is logarithmic further out" if stretched else ""
        more = fig.not_shown(len(data.algorithms) - len(shown), "more")
        band = "Bands: pointwise 95 % bootstrap" if data.of == "instances" and len(shown) <= MAX_BANDS else ""
        better = "Higher is better; left end: share as the best"
        fig.describe(ax, data.finding, f"Distance: {words}", scale, better, band, more)
    return ax


def solved_cells(analysis: Analysis) -> Bools:
    """Return which algorithms gave a value on which instances; all that have a statistic, where runs are not kept."""
    has_statistic: Bools = np.isfinite(analysis.statistics)
    runs = analysis.recorded
    if runs is None or runs.ok.all():
        return has_statistic
    index = {row.instance: k for k, row in enumerate(analysis.accuracy)}
    rows = np.array([index.get(name, -1) for name in runs.instances])[runs.instance]
    solved = np.zeros_like(has_statistic)
    chosen = runs.ok & (rows >= 0)
    solved[rows[chosen], runs.algorithm[chosen]] = True
    return has_statistic & solved


def recorded_runs(analysis: Analysis) -> Runs:
    """Return the runs of an analysis; InvalidInput where it does not keep them."""
    if analysis.recorded is None:
        raise InvalidInput("this figure needs the runs; draw it from the result of `analyse`")
    return analysis.recorded


def _end(data: ProfileData) -> float:
    """End of the axis, beyond most of the finite distances."""
    finite = _finite_distances(data)
    if not finite.size:
        return data.best + 1.0
    end = float(np.quantile(finite, 1 - FARTHEST))
    return end if end > data.best else max(float(finite.max()), data.best + 1.0)


def _finite_distances(data: ProfileData) -> Floats:
    finite = np.concatenate([distances[np.isfinite(distances)] for distances in data.distances])
    return np.asarray(np.minimum(finite, LARGEST_DISTANCE))


def _stretch(ax: Axes, data: ProfileData, end: float) -> bool:
    """Make the axis logarithmic beyond a typical distance where the farthest would dwarf the others."""
    best, behind = data.best, _finite_distances(data) - data.best
    typical = float(np.median(behind[behind > 0])) if (behind > 0).any() else 0.0
    if not typical or end - best <= DWARFS * typical:
        return False

    def forward(x: Floats) -> Floats:
        return np.log1p(np.maximum(np.asarray(x) - best, 0.0) / typical)

    ax.set_xscale("function", functions=(forward, lambda y: best + typical * np.expm1(np.minimum(y, 500.0))))
    largest = min(np.ceil(np.log10(end - best)), sys.float_info.max_10_exp)
    powers = range(int(np.floor(np.log10(typical))), int(largest) + 1)
    steps = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    gaps = [gap for gap in steps if typical / 2 <= gap <= end - best]
    gaps = gaps[:: max(1, -(-len(gaps) // 4))]
    marks = [best, *(gap if data.is_ratio and gap >= 2 else best + gap for gap in gaps)]  # round numbers
    ax.set_xticks(marks, [fig.compact(mark, 3) for mark in marks])
    return True


FACTOR = 10.0  # factor of the usual PAR10
WIDE_SPREAD = 30.0  # largest over smallest value, above which the axis is logarithmic


@dataclass(frozen=True, slots=True, eq=False)
class CactusData:
    """Sorted values of the runs of each algorithm, numbers of runs, and PAR scores."""

    algorithms: tuple[str, ...]  # labels
    values: tuple[Floats, ...]  # of each algorithm, smallest first
    runs: tuple[int, ...]  # those that failed included
    par: tuple[float, ...]  # mean over runs, failed ones as factor · cutoff; NaN: the cutoff is not known
    factor: float
    cutoff: float | None

    @property
    def solved(self) -> tuple[int, ...]:
        """Number of runs with a value, for each algorithm."""
        return tuple(len(values) for values in self.values)

    def within(self, algorithm: int, value: float) -> int:
        """Return the number of runs of an algorithm with at most this value."""
        return int(np.searchsorted(self.values[algorithm], value, side="right"))

    @property
    def finding(self) -> str:
        """State the solver with most solved runs, and the best score."""
        shares = [solved / max(runs, 1) for solved, runs in zip(self.solved, self.runs, strict=True)]
        places, names = fig.first_of(self.algorithms, shares)
        most, verb = places[0], "solves" if len(places) == 1 else "solve"
        words = f"{names} {verb} most: {self.solved[most]:,} of {self.runs[most]:,} runs"
        if any(score != score for score in self.par):
            return words
        (best, *_), names = fig.first_of(self.algorithms, self.par, larger=False)
        return f"{words}; best PAR{self.factor:g}: {names}, {digits(self.par[best])}"


def cactus_data(
    analysis: Analysis, *, factor: float | None = None, cutoff: float | None = None, widest: int = NAME_WIDTH
) -> CactusData:
    """Return what each algorithm solves, and within which value (a run time, evaluations): smaller values are better.

    PAR scores take `factor` and `cutoff` from the analysis where failed runs count so; else say the cutoff.
    """
    if analysis.settings.better != "lower":
        raise InvalidInput("a cactus plot is of efforts, of which lower ones are better; draw a profile instead")
    runs, policy = recorded_runs(analysis), analysis.settings.failures
    usual = policy if isinstance(policy, Par) else Par(FACTOR, None)
    failed = runs.value[~runs.ok & np.isfinite(runs.value)]
    longest = float(failed.max()) if failed.size else None  # of a failed run, where solvers are stopped
    factor, cutoff = factor or usual.factor, cutoff or usual.cutoff or longest
    names = [row.algorithm for row in analysis.algorithms]
    own = [runs.algorithm == k for k in range(len(names))]
    values = tuple(np.sort(runs.value[mine & runs.ok]) for mine in own)
    numbers = tuple(int(mine.sum()) for mine in own)

    def score(solved: Floats, number: int) -> float:
        failed = number - len(solved)
        if not number or (failed and cutoff is None):
            return nan
        return float((solved.sum() + failed * factor * (cutoff or 0.0)) / number)

    par = tuple(map(score, values, numbers))
    return CactusData(fig.labels(names, widest), values, numbers, par, factor, cutoff)


def draw_cactus(data: CactusData, ax: Axes | None = None, *, most: int = MAX_CURVES) -> Axes:
    """Draw how many runs each algorithm solves within each value; higher is better, and its count is at its end.

    Where there are many algorithms, the `most` that solve most are drawn.
    """
    values = np.concatenate(data.values) if any(data.solved) else np.array([1.0])
    low, end = float(values.min()), data.cutoff or float(values.max())
    with fig.canvas(ax, height=2.8) as ax:
        is_wide = low > 0 and end > WIDE_SPREAD * low
        if is_wide:
            ax.set_xscale("log")
        ax.set_xlim(low if is_wide else min(0.0, low), max(end, low + 1e-12 * abs(low) or 1.0))
        shown = sorted(sorted(range(len(data.runs)), key=lambda k: -data.solved[k])[:most])
        curves = [Staircase(f"{data.algorithms[k]} {data.solved[k]:,}", data.values[k], counted=True) for k in shown]
        draw_steps(ax, curves, end=end)
        ax.set(ylim=(0, 1.04 * max(data.runs)), ylabel="Runs solved")
        more = fig.not_shown(len(data.runs) - len(shown), "more")
        cutoff = "" if data.cutoff is None else f"Cutoff: {digits(data.cutoff)}"
        fig.describe(ax, data.finding, "within this value", cutoff, more)
    return ax


MAX_CLOUDS = 16  # maximum number of algorithms on a page
FEWEST = 5  # minimum number of values for a density and a box
MOST_DOTS = 400  # maximum number of points per algorithm; beyond, the sorted values are thinned evenly
POINTS = 160  # of a density
ROW = 2.0  # rows of text that one algorithm takes
SEED = 2019  # of the jitter, so that the same analysis gives the same figure


@dataclass(frozen=True, slots=True, eq=False)
class CloudData:
    """The values of each algorithm on one instance, in the order of the runs, and how many runs failed there."""

    instance: str  # label
    algorithms: tuple[str, ...]  # labels
    values: tuple[Floats, ...]
    failed: tuple[int, ...]
    better: Better
    left_out: int = 0

    @property
    def quartiles(self) -> tuple[tuple[float, float, float], ...]:
        """The quartiles of each algorithm; NaN without values."""
        return tuple(map(_quartiles, self.values))

    @property
    def finding(self) -> str:
        """State the best median."""
        medians = [median for _, median, _ in self.quartiles]
        (best, *others), names = fig.first_of(self.algorithms, medians, larger=self.better == "higher")
        verb = "share" if others else "has"
        return f"{self.instance}: {names} {verb} the best median of {len(self.values[best])} runs"


def cloud_data(
    analysis: Analysis, instance: str, *, most: int | None = MAX_CLOUDS, widest: int = fig.WIDEST
) -> CloudData:
    """Return the runs of the algorithms on one instance; those that failed are counted and have no value.

    Of more than `most` algorithms (None: all), those with the best medians there are kept.
    """
    runs, row = recorded_runs(analysis), fig.row_of(analysis, instance)
    here = runs.instance == runs.instances.index(instance)
    own = [here & (runs.algorithm == k) for k in range(len(runs.algorithms))]
    values = [runs.value[mine & runs.ok] for mine in own]
    sign = 1 if analysis.settings.better == "lower" else -1
    medians = [sign * float(np.median(some)) if some.size else np.inf for some in values]
    shown = sorted(sorted(range(len(own)), key=medians.__getitem__)[:most])
    texts = fig.labels(runs.algorithms, widest)
    return CloudData(
        instance=fig.instance_labels(analysis, widest)[row],
        algorithms=tuple(texts[k] for k in shown),
        values=tuple(values[k] for k in shown),
        failed=tuple(int((own[k] & ~runs.ok).sum()) for k in shown),
        better=analysis.settings.better,
        left_out=len(own) - len(shown),
    )


def _quartiles(values: Floats) -> tuple[float, float, float]:
    first, middle, third = np.percentile(values, (25, 50, 75)).tolist() if values.size else (np.nan,) * 3
    return first, middle, third


def density(values: Floats, at: Floats) -> Floats:
    """Return the density of values by normal kernels of Silverman's width.

    >>> bool(density(np.array([1.0, 1.1, 0.9, 1.0, 5.0]), np.array([1.0]))[0] > 0.3)
    True
    """
    low, high = np.percentile(values, (25, 75))
    spread = min(float(values.std(ddof=1)), float(high - low) / 1.34) or float(values.std(ddof=1))
    width = 0.9 * spread * len(values) ** -0.2
    z = (at[:, None] - values[None, :]) / width
    return np.asarray(np.exp(-z * z / 2).mean(axis=1) / (width * np.sqrt(2 * np.pi)))


def draw_cloud(data: CloudData, ax: Axes | None = None) -> Axes:
    """Draw each algorithm as a cloud (density), a box (quartiles) and rain (every run)."""
    with fig.canvas(ax) as ax:
        rng = np.random.default_rng(SEED)
        for index, values in enumerate(data.values):
            _draw_algorithm(ax, index, values, rng)
        fig.lay_rows(ax, data.algorithms)
        for index, number in enumerate(data.failed):
            if number:
                fig.beside(ax, index, f"{number} failed", color=MUTED)
        marks = "Dots: runs; box: quartiles; above: their density"
        more = fig.not_shown(data.left_out, "more algorithms")
        fig.describe(ax, data.finding, f"Value of one run, {data.better} is better", marks, more)
        fig.fit_rows(ax, ROW * len(data.algorithms))
    return ax


def _draw_algorithm(ax: Axes, y: int, values: Floats, rng: np.random.Generator) -> None:
    """Rain below the line of the name, the box on it, the cloud above."""
    shown = values if len(values) <= MOST_DOTS else np.sort(values)[:: -(-len(values) // MOST_DOTS)]
    jitter = y + 0.27 + 0.12 * rng.uniform(-1, 1, len(shown))
    ax.plot(shown, jitter, "o", color=BLUE, markersize=2.6, markeredgewidth=0, alpha=0.6)
    if len(values) < FEWEST:
        return
    first, middle, third = _quartiles(values)
    ax.plot([first, third], [y, y], color=BLUE, linewidth=4, solid_capstyle="butt")
    ax.plot([middle, middle], [y - 0.1, y + 0.1], color=INK, linewidth=1.4, solid_capstyle="butt")
    if np.ptp(values) > 1e-12 * np.abs(values).max():
        x = np.linspace(values.min(), values.max(), POINTS)
        heights = density(values, x)
        ax.fill_between(x, y - 0.12, y - 0.12 - 0.34 * heights / heights.max(), color=BLUE, alpha=0.3, linewidth=0)


# two measures ------------------------------------------------------------------------------------------------------

MARKERS: dict[Standing, tuple[str, str, str]] = {  # marker, colour of its face and of its edge
    "front": ("o", ACCENT, ACCENT),
    "dominated": ("X", "white", MUTED),
    "not known": ("o", "white", INK),
}
KINDS = {"simple": "difference to", "percent": "share more than", "ratio": "log ratio to"}


@dataclass(frozen=True, slots=True)
class ParetoData:
    """Differences to one algorithm: algorithms in rows; estimate, lower and upper limit in columns."""

    algorithms: tuple[str, ...]
    standings: tuple[Standing, ...]
    labels: tuple[str, str]
    x: Floats
    y: Floats
    level: float

    @property
    def finding(self) -> str:
        """Numbers of algorithms on the front and dominated, as text."""
        front, dominated = (self.standings.count(what) for what in ("front", "dominated"))
        return f"{front} of {len(self.standings)} on the Pareto front, {dominated} dominated"


def pareto_data(
    analysis: MeasuresAnalysis, x: str | None = None, y: str | None = None, *, base: str | None = None
) -> ParetoData:
    """Return the map of two measures, by default the first two that are tested.

    The intervals hold jointly over all pairs and both measures, so `base` (by default the first algorithm) may be
    chosen after the results. Differences are those of the analyses: logarithms for ratios.
    """
    if not analysis.front:
        raise InvalidInput("the Pareto map needs all pairs and two tested measures; omit the reference")
    tested = [measure.name for measure in analysis.measures if measure.role != "descriptive"]
    algorithms = tuple(row.algorithm for row in analysis.front)
    names, base = (x or tested[0], y or tested[1]), base or algorithms[0]
    for name, options in ((names[0], tested), (names[1], tested), (base, algorithms)):
        if name not in options:
            raise InvalidInput(f"there is no {name!r} to draw; choose one of {', '.join(options)}")
    level = analysis.alpha / (2 * len(analysis.pairs))

    def coordinates(measure: str) -> Floats:
        own = analysis.analyses[measure]
        method, rows = paired.paired_test(own.settings.paired_test), []
        for name in algorithms:
            if name == base:
                rows.append((0.0, 0.0, 0.0))
                continue
            column = own.differences[:, next(k for k, pair in enumerate(own.pairs) if {*pair} == {name, base})]
            sample = paired.present(column if (name, base) in own.pairs else -column)
            bounds = paired.sample_interval(method, sample, "two-sided", level)
            rows.append((paired.sample_estimate(method, sample), bounds.lower, bounds.upper))
        return np.array(rows)

    standings = tuple(row.standing for row in analysis.front)
    kinds = {measure.name: measure.difference for measure in analysis.measures}
    labels = [f"{name}, {KINDS[kinds[name]]} {base}" for name in names]
    x_values, y_values = coordinates(names[0]), coordinates(names[1])
    return ParetoData(algorithms, standings, (labels[0], labels[1]), x_values, y_values, 1 - analysis.alpha)


def draw_pareto(data: ParetoData, ax: Axes | None = None) -> Axes:
    """Draw a cross for each algorithm; the marker shows whether it is on the front, dominated or not known."""
    with fig.canvas(ax, width=fig.COLUMN, height=3.0) as ax:
        for name, standing, x, y in zip(data.algorithms, data.standings, data.x, data.y, strict=True):
            marker, face, edge = MARKERS[standing]
            ends = [np.nan_to_num(np.abs(side[1:, None] - side[0]), posinf=0.0) for side in (x, y)]
            ax.errorbar(x[0], y[0], xerr=ends[0], yerr=ends[1], color=MUTED, linewidth=0.9, zorder=2)
            ax.plot(x[0], y[0], marker, markerfacecolor=face, markeredgecolor=edge, markersize=6, zorder=3)
            ax.annotate(name, (x[0], y[0]), textcoords="offset points", xytext=(5, 4), color=INK)
        ax.set_ylabel(data.labels[1])
        level = f"Lines: simultaneous {100 * data.level:g} % CIs"
        marks = "Filled: on the front", "Cross: dominated", "Open: not known"
        fig.describe(ax, data.finding, data.labels[0], level, *marks)
    return ax
