"""Figures of single pairs: their differences on one instance and on all, both values, and what the t-test rests on."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.units import exchanged
from ampler.core.arrays import Bools, Floats, Interval
from ampler.core.errors import InvalidInput
from ampler.core.settings import Better, choice, share
from ampler.core.text import named
from ampler.report.axis import axis_of
from ampler.report.figures import canvas as fig
from ampler.report.theme import BLUE, GREY, MUTED, ORANGE, PAPER, VERDICTS
from ampler.stats.descriptive import location
from ampler.stats.paired import ESTIMANDS, FEWEST, present

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["InstanceDifferences", "draw_instance_differences", "instance_differences_data"]
__all__ += ["PairDifferences", "draw_pair_differences", "pair_differences_data"]
__all__ += ["ScatterData", "draw_scatter", "scatter_data"]
__all__ += ["QuantileData", "draw_quantiles", "quantiles_data"]
__all__ += ["BootstrapData", "bootstrap_data", "draw_bootstrap"]

PairOrder = Literal["given", "estimate", "error"]
InstanceOrder = Literal["difference", "given", "name"]

LEVEL = 0.95  # of an interval on one instance
MOST = 60  # pairs that can still be distinguished on one page
DOT: dict[str, Any] = {"markersize": 4, "markeredgecolor": PAPER, "markeredgewidth": 0.3}


@dataclass(frozen=True, slots=True, eq=False)
class InstanceDifferences:
    """The difference of each pair that has an instance, with its standard error and interval (normal, unadjusted)."""

    instance: str
    pairs: tuple[str, ...]  # labels
    left_out: int
    estimates: Floats
    errors: Floats  # NaN: not known
    lower: Floats
    upper: Floats
    level: float
    wanted: float | None  # se
    name: str
    difference: str

    @property
    def finding(self) -> str:
        """State the number of differences whose own interval excludes zero."""
        clear = int(((self.lower > 0) | (self.upper < 0)).sum())
        if not np.isfinite(self.errors).any():
            return f"{self.instance}: the differences"
        return f"{self.instance}: {clear} of {len(self.pairs)} intervals are clear of zero"


@dataclass(frozen=True, slots=True, eq=False)
class PairDifferences:
    """Difference of one pair on each instance with its standard error, and the verdict of the family."""

    pair: str
    instances: tuple[str, ...]  # labels
    differences: Floats
    errors: Floats  # NaN: not known
    estimate: float
    estimate_of: str
    joint: Interval
    alpha: float
    name: str
    difference: str
    first_better: int = 0  # instances
    names: tuple[str, ...] = ("first", "second")  # labels

    @property
    def finding(self) -> str:
        """State the wins of both algorithms."""
        size = len(self.differences)
        return _who_wins(self.names, self.first_better, size - int((self.differences == 0).sum()), size)


def _who_wins(names: tuple[str, ...], wins: int, untied: int, instances: int) -> str:
    """State the wins, without ties."""
    losses = untied - wins
    if wins == losses:
        return f"{named(names)} are each better on {wins} of {instances} instances"
    winner, loser = names if wins > losses else names[::-1]
    return f"{winner} is better than {loser} on {max(wins, losses)} of {instances} instances"


def instance_differences_data(
    analysis: Analysis,
    instance: str,
    *,
    order: PairOrder = "given",
    level: float = LEVEL,
    most: int | None = MOST,
    widest: int = fig.WIDEST,
) -> InstanceDifferences:
    """Return the difference of every pair on one instance; the intervals are estimate ± z·SE, unadjusted.

    `order` is that of the pairs ("given"), by "estimate", or by "error", largest first.
    """
    from scipy.special import ndtri

    choice("order", order, ("given", "estimate", "error"), "it is the order of the rows")
    share("level", level, "0.95 is usual")
    row = fig.row_of(analysis, instance)
    phi, errors = fig.display_sign(analysis) * analysis.differences[row], analysis.errors[row]
    keys = {"given": np.arange(len(phi)), "estimate": phi, "error": -errors}
    present_pairs = np.flatnonzero(~np.isnan(phi))
    columns = present_pairs[np.argsort(keys[order][present_pairs], kind="stable")][:most]
    reach = float(ndtri((1 + level) / 2)) * errors[columns]
    return InstanceDifferences(
        instance=fig.instance_labels(analysis, widest)[row],
        pairs=fig.pair_labels(analysis, [analysis.pairs[column] for column in columns], widest),
        left_out=len(present_pairs) - len(columns),
        estimates=phi[columns],
        errors=errors[columns],
        lower=phi[columns] - reach,
        upper=phi[columns] + reach,
        level=level,
        wanted=analysis.settings.se,
        name=fig.difference_name(analysis),
        difference=fig.unit_of(analysis),
    )


def draw_instance_differences(data: InstanceDifferences, ax: Axes | None = None) -> Axes:
    """Draw the difference of every pair on one instance: ± one standard error thick, the interval thin."""
    with fig.canvas(ax) as ax:
        places, phi, errors = np.arange(len(data.pairs)), data.estimates, data.errors
        over = np.nan_to_num(errors) > (math.inf if data.wanted is None else data.wanted)
        ax.axvline(0.0, color=MUTED, linewidth=0.9)
        for chosen, color, marker in ((~over, BLUE, "o"), (over, ORANGE, "^")):
            known = chosen & np.isfinite(errors)
            ax.hlines(places[known], data.lower[known], data.upper[known], color=color, linewidth=0.7)
            ax.hlines(places[known], (phi - errors)[known], (phi + errors)[known], color=color, linewidth=2.4)
            ax.plot(phi[chosen], places[chosen], marker, color=color, **DOT)
        fig.lay_rows(ax, data.pairs)
        rows = list(zip(data.lower.tolist(), phi.tolist(), data.upper.tolist(), strict=True))
        split = fig.write_axis(ax, axis_of(rows, data.difference, always=(0.0,), most=4), data.difference)
        marks = f"±SE and {100 * data.level:g} % interval, unadjusted" if np.isfinite(errors).any() else ""
        triangles = f"Triangles: SE above {data.wanted:g}" if over.any() else ""
        left_out = fig.not_shown(data.left_out, "more pairs")
        fig.describe(ax, data.finding, data.name, marks, triangles, left_out, split)
        fig.fit_rows(ax, len(data.pairs), labels=data.pairs)
    return ax


def pair_differences_data(
    analysis: Analysis, first: str, second: str, *, order: InstanceOrder = "difference", widest: int = fig.WIDEST
) -> PairDifferences:
    """Return the difference of one pair on every instance, by "difference" (smallest first), "given" or by "name"."""
    choice("order", order, ("difference", "given", "name"), "it is the order of the rows")
    column, sign = column_of(analysis, first, second)
    comparison = next(row for row in analysis.comparisons if row.pair == analysis.pairs[column])
    comparison = comparison if sign > 0 else exchanged(comparison)
    names, phi = fig.instance_labels(analysis, widest), sign * analysis.differences[:, column]
    keys = {
        "difference": lambda index: phi[index],
        "given": lambda index: index,
        "name": lambda index: names[index].casefold(),
    }
    places = sorted(np.flatnonzero(~np.isnan(phi)).tolist(), key=keys[order])
    both = fig.labels([first, second], NAME_WIDTH)
    return PairDifferences(
        pair=" − ".join(both),
        instances=tuple(names[index] for index in places),
        differences=phi[places],
        errors=analysis.errors[places, column],
        estimate=comparison.estimate,
        estimate_of=comparison.estimate_of,
        joint=comparison.joint_interval,
        alpha=analysis.settings.family_alpha,
        name=fig.difference_name(analysis, first, second),
        difference=fig.unit_of(analysis),
        first_better=int((phi > 0 if analysis.settings.better == "higher" else phi < 0).sum()),
        names=both,
    )


def draw_pair_differences(data: PairDifferences, ax: Axes | None = None) -> Axes:
    """Draw the difference of one pair on every instance ± one standard error, and the estimate over all of them.

    Instances are rows; more than 40 become a strip without names.
    """
    size, phi = len(data.instances), data.differences
    has_names, has_estimate = size <= fig.NAMED, not ESTIMANDS[data.estimate_of].is_share
    has_band, known = all(map(math.isfinite, data.joint)), np.isfinite(data.errors)
    with fig.canvas(ax, width=fig.COLUMN, height=2.6) as ax:
        line, band, bars = (ax.axvline, ax.axvspan, ax.hlines) if has_names else (ax.axhline, ax.axhspan, ax.vlines)
        if has_estimate:
            line(data.estimate, color=ORANGE, linestyle="--", linewidth=1.1)
            if has_band:
                band(*data.joint, color=ORANGE, alpha=0.14, linewidth=0)
        line(0.0, color=MUTED, linewidth=0.9)
        places = np.arange(size)
        bars(places[known], (phi - data.errors)[known], (phi + data.errors)[known], color=BLUE, linewidth=0.9)
        ax.plot(*((phi, places) if has_names else (places, phi)), "o", color=BLUE, **DOT)
        if has_names:
            fig.lay_rows(ax, data.instances)
        else:
            fig.lay_strip(ax, size)
        fig.write_in_unit(ax.xaxis if has_names else ax.yaxis, data.difference)
        marks = "Lines: ± standard error" if known.any() else ""
        if has_estimate:
            marks += f"{'; dashed' if marks else 'Dashed'}: {data.estimate_of}"
            marks += f"; band: simultaneous {100 * (1 - data.alpha):g} % CI" if has_band else ""
        strip = "" if has_names else f"{size} instances, by the size of the difference"
        fig.describe(ax, data.finding, data.name, strip, marks)
        if has_names:
            fig.fit_rows(ax, size)
    return ax


def column_of(analysis: Analysis, first: str, second: str) -> tuple[int, float]:
    """Return the index of a pair, and the sign of its differences in this order; InvalidInput names some pairs."""
    if (second, first) in analysis.pairs:
        return analysis.pairs.index((second, first)), -1.0
    if (first, second) not in analysis.pairs:
        known = ", ".join(f"({one!r}, {other!r})" for one, other in analysis.pairs[:3])
        raise InvalidInput(f"the pair must be one of the analysis, such as {known}, got ({first!r}, {second!r})")
    return analysis.pairs.index((first, second)), 1.0


# both values of a pair --------------------------------------------------------------------------------------------

NAME_WIDTH = 20  # characters of a name on an axis
WIDE_SPREAD = 50.0  # largest over smallest value, above which both axes are logarithmic
BEYOND = 0.04  # of the range, around the values
LARGEST = 1e305  # end of an axis that matplotlib can draw
FAR = 1e200  # beyond it matplotlib's own marks of a logarithmic axis may be infinite


@dataclass(frozen=True, slots=True, eq=False)
class ScatterData:
    """The statistic of two algorithms on each instance that both have."""

    names: tuple[str, ...]  # labels
    instances: tuple[str, ...]  # labels
    first: Floats
    second: Floats
    statistic: str
    better: Better

    @property
    def wins(self) -> tuple[int, int, int]:
        """Numbers of wins of the first, ties, and wins of the second."""
        return int(self.ahead.sum()), int((self.first == self.second).sum()), int(self.behind.sum())

    @property
    def ahead(self) -> Bools:
        """Instances on which the first is better."""
        return self.first < self.second if self.better == "lower" else self.first > self.second

    @property
    def behind(self) -> Bools:
        """Instances on which the second is better."""
        return np.asarray(~self.ahead & (self.first != self.second))

    @property
    def finding(self) -> str:
        """Text of the wins."""
        won, _, lost = self.wins
        return _who_wins(self.names, won, won + lost, len(self.first))


def scatter_data(analysis: Analysis, first: str, second: str, *, widest: int = NAME_WIDTH) -> ScatterData:
    """Return the values of two algorithms on the instances that both have, any two of the analysis."""
    names = [row.algorithm for row in analysis.algorithms]
    for name in (first, second):
        if name not in names:
            raise InvalidInput(f"the algorithms must be of the analysis, such as {names[0]!r}, got {name!r}")
    x, y = (analysis.statistics[:, names.index(name)] for name in (first, second))
    both = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    instances = fig.instance_labels(analysis)
    return ScatterData(
        names=fig.labels([first, second], widest),
        instances=tuple(instances[k] for k in both),
        first=x[both],
        second=y[both],
        statistic=analysis.settings.statistic_name,
        better=analysis.settings.better,
    )


def draw_scatter(data: ScatterData, ax: Axes | None = None) -> Axes:
    """Draw a scatter plot with the diagonal of equality, and name the better algorithm on each side."""
    from matplotlib.ticker import MaxNLocator

    values = np.concatenate([data.first, data.second])
    low, high = float(values.min()), float(values.max())
    with fig.canvas(ax, width=fig.COLUMN, height=fig.COLUMN + 0.35) as ax:
        if low > 0 and high > WIDE_SPREAD * low:
            ax.set_xscale("log")
            ax.set_yscale("log")
            factor = high**BEYOND / low**BEYOND  # the ratio itself may be infinite
            low, high = low / factor, max(high, min(high * factor, LARGEST))
        else:
            margin = BEYOND * (high - low) or abs(low) or 1.0
            low, high = low - margin, high + margin
        ax.set(xlim=(low, high), ylim=(low, high))  # before the values: matplotlib's own margins may be infinite
        if high > FAR and ax.get_xscale() == "log":
            powers = MaxNLocator(4, integer=True).tick_values(math.log10(low), math.log10(high))
            marks = [10.0**power for power in powers[1:-1]]  # the outer ones lie outside the axis
            ax.set(xticks=marks, yticks=marks)
        ax.plot([low, high], [low, high], color=MUTED, linewidth=0.9)
        chosen_of = {"better": data.ahead, "worse": data.behind, "inconclusive": ~data.ahead & ~data.behind}
        for verdict, chosen in chosen_of.items():
            color, marker = VERDICTS[verdict]
            ax.plot(data.first[chosen], data.second[chosen], marker, color=color, markersize=4.2, alpha=0.8)
        ax.set_aspect("equal")
        ax.set_ylabel(f"{data.names[1]}, {data.statistic}")
        above, below = data.names if data.better == "lower" else data.names[::-1]
        ax.text(0.03, 0.97, f"{above} better", transform=ax.transAxes, ha="left", va="top", color=MUTED)
        ax.text(0.97, 0.03, f"{below} better", transform=ax.transAxes, ha="right", va="bottom", color=MUTED)
        note = "A mark is an instance; on the line both are equal"
        fig.describe(ax, data.finding, f"{data.names[0]}, {data.statistic}", note)
    return ax


# normality of the differences ---------------------------------------------------------------------------------------

BAND = 0.95  # pointwise level of the band in which normal differences lie
RESAMPLES = 4000
BLOCK = 2_000_000  # values resampled at once: many instances take no more memory than few
FLAT = 1e-11  # a range below this share of the means is rounding: there are no bins to distinguish
NARROWEST = sys.float_info.min  # nor are there below the smallest number of full precision
BINS = 40
SEED = 2019  # so that the same analysis gives the same figure


@dataclass(frozen=True, slots=True, eq=False)
class QuantileData:
    """The ordered differences of a pair against normal quantiles, with the pointwise band of a normal sample."""

    pair: str
    theoretical: Floats  # standard normal quantiles
    observed: Floats  # differences, smallest first
    lower: Floats
    upper: Floats
    mean: float
    sd: float
    skewness: float
    name: str
    difference: str

    @property
    def outside(self) -> Bools:
        """Differences outside the band of a normal distribution."""
        return (self.observed < self.lower) | (self.observed > self.upper)

    @property
    def finding(self) -> str:
        """State the skewness, and the number of differences outside the band."""
        skewness = f"skewness {self.skewness:.1f}".replace("-", "−")
        return f"{self.pair}: {skewness}, {int(self.outside.sum())} of {len(self.observed)} outside the band"


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapData:
    """The means of resampled instances, and the normal distribution that the t-test takes them to have."""

    pair: str
    means: Floats
    mean: float
    error: float  # sd/√N
    skewness: float  # of the resampled means
    name: str
    difference: str

    @property
    def finding(self) -> str:
        """State the deviation of the mean from normality."""
        if np.isnan(self.skewness):
            return f"{self.pair}: the mean never varies"
        skewness = f"{self.skewness:.2f}".replace("-", "−")
        return f"{self.pair}: the mean has skewness {skewness}"


def quantiles_data(analysis: Analysis, first: str, second: str) -> QuantileData:
    """Return a pair's differences against the quantiles of the normal distribution (QQ plot).

    The band holds the value of each rank in 95 % of normal samples with this mean and standard deviation.
    """
    from scipy.special import betaincinv, ndtri

    column, sign = column_of(analysis, first, second)
    observed = np.sort(_differences_of(analysis, first, second))
    mean, sd = _location(observed)
    n, rank = len(observed), np.arange(1, len(observed) + 1)
    low, high = (betaincinv(rank, n + 1 - rank, tail) for tail in ((1 - BAND) / 2, (1 + BAND) / 2))
    return QuantileData(
        pair=" − ".join(fig.labels([first, second], 18)),
        theoretical=ndtri((rank - 0.5) / n),
        observed=observed,
        lower=np.asarray(mean + sd * ndtri(low), float),
        upper=np.asarray(mean + sd * ndtri(high), float),
        mean=mean,
        sd=sd,
        skewness=sign * analysis.diagnoses[column].skewness,
        name=fig.difference_name(analysis, first, second),
        difference=fig.unit_of(analysis),
    )


def draw_quantiles(data: QuantileData, ax: Axes | None = None) -> Axes:
    """Draw the QQ plot of a pair's differences with the band of normal samples."""
    with fig.canvas(ax) as ax:
        ax.fill_between(data.theoretical, data.lower, data.upper, color=GREY, alpha=0.2, linewidth=0)
        ends = np.array([data.theoretical[0], data.theoretical[-1]])
        ax.plot(ends, data.mean + data.sd * ends, color=GREY, linewidth=0.8)
        outside = data.outside
        ax.plot(data.theoretical[~outside], data.observed[~outside], "o", color=BLUE)
        ax.plot(data.theoretical[outside], data.observed[outside], "^", color=ORANGE, markersize=4.4)
        triangles = ". Triangles: outside the band" if outside.any() else ""
        fig.describe(ax, data.finding, "Normal quantile", f"Band: 95 % of normal samples{triangles}")
        ax.set_ylabel(data.name.partition(",")[0])
        fig.write_in_unit(ax.yaxis, data.difference)
    return ax


def bootstrap_data(
    analysis: Analysis,
    first: str,
    second: str,
    *,
    resamples: int = RESAMPLES,
    rng: np.random.Generator | int = SEED,
) -> BootstrapData:
    """Return the mean difference of a pair over resampled instances, to check its normality."""
    if resamples < 2:
        raise InvalidInput(f"resamples must be two or more, got {resamples!r}; {RESAMPLES} are plenty")
    phi, rng = _differences_of(analysis, first, second), np.random.default_rng(rng)
    mean, sd = _location(phi)
    block = max(1, BLOCK // len(phi))
    sizes = [(min(block, resamples - done), len(phi)) for done in range(0, resamples, block)]
    means = np.concatenate([phi[rng.integers(0, len(phi), size)].mean(axis=1) for size in sizes])
    _, spread = _location(means)
    return BootstrapData(
        pair=" − ".join(fig.labels([first, second], 18)),
        means=means,
        mean=mean,
        error=float(sd / np.sqrt(len(phi))),
        skewness=float(np.mean(((means - means.mean()) / spread) ** 3)) if spread else math.nan,
        name=fig.difference_name(analysis, first, second),
        difference=fig.unit_of(analysis),
    )


def draw_bootstrap(data: BootstrapData, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the resampled means with the normal curve that the t-test relies on."""
    with fig.canvas(ax) as ax:
        varies = np.ptp(data.means) > max(FLAT * np.abs(data.means).max(), NARROWEST)
        if varies:
            heights, edges = np.histogram(data.means, bins=BINS, density=True)
            ax.stairs(heights, edges, fill=True, color=BLUE, alpha=0.4, label="Resampled")
            x = np.linspace(edges[0], edges[-1], 121)
            curve = np.exp(-(((x - data.mean) / data.error) ** 2) / 2) / (data.error * np.sqrt(2 * np.pi))
            ax.plot(x, curve, color=ORANGE, linestyle="--", label="Normal")
            if edges[0] <= 0 <= edges[-1]:
                ax.axvline(0.0, color=GREY, linewidth=0.8)
        else:
            ax.axvline(data.mean, color=BLUE, label="All resampled means")
        ax.set_yticks([])
        ax.grid(axis="y", visible=False)
        fig.write_in_unit(ax.xaxis, data.difference)
        dashed = "Dashed: as the t-test takes it to be" if varies else ""
        fig.describe(ax, data.finding, f"Mean {data.name.partition(',')[0].lower()}, resampled", dashed)
    return ax


def _differences_of(analysis: Analysis, first: str, second: str) -> Floats:
    """The differences of a pair on the instances it has, two or more."""
    column, sign = column_of(analysis, first, second)
    phi = sign * present(analysis.differences[:, column])
    if len(phi) < FEWEST:
        few = f"{len(phi)} for {first} × {second}"
        raise InvalidInput(f"the differences of a pair need {FEWEST} instances, got {few}; choose another pair")
    return phi


def _location(differences: Floats) -> tuple[float, float]:
    mean, sd, exponent = location(differences)
    return float(np.ldexp(mean, exponent)), float(np.ldexp(sd, exponent))
