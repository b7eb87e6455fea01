"""Figures of what the t-test rests on: the differences against a normal distribution, and their mean resampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.core.arrays import Floats
from ampler.core.errors import InvalidInput
from ampler.report.figures.colours import BLUE, GREY, ORANGE
from ampler.report.figures.labels import labels
from ampler.report.figures.numbers import difference_name, unit_of, write_in_unit
from ampler.report.figures.pairs import column_of, differences_of
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain
from ampler.stats.location import location

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BAND = 0.95  # pointwise level of the band in which normal differences lie
RESAMPLES = 4000
FLAT = 1e-11  # a range below this share of the means is rounding: there are no bins to tell apart
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
    def finding(self) -> str:
        """How skewed the differences are, and how many lie where those of a normal distribution seldom do."""
        outside = int(((self.observed < self.lower) | (self.observed > self.upper)).sum())
        skewed = f"skewness {self.skewness:.1f}".replace("-", "−")
        return f"{self.pair}: {skewed}, {outside} of {len(self.observed)} outside the band"


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
        """How far the mean is from normal."""
        if np.isnan(self.skewness):
            return f"{self.pair}: the mean never varies"
        skewed = f"{self.skewness:.2f}".replace("-", "−")
        return f"{self.pair}: the mean has skewness {skewed}"


def quantiles_data(analysis: Analysis, first: str, second: str) -> QuantileData:
    """Return a pair's differences against the quantiles of the normal distribution (QQ plot).

    The band holds the value of each rank in 95 % of normal samples with this mean and standard deviation.
    """
    from scipy.special import betaincinv, ndtri

    column = column_of(analysis, first, second)
    observed = np.sort(differences_of(analysis, column))
    n = len(observed)
    mean, sd = _location(observed)
    rank = np.arange(1, n + 1)
    low, high = (betaincinv(rank, n + 1 - rank, tail) for tail in ((1 - BAND) / 2, (1 + BAND) / 2))
    return QuantileData(
        pair=_pair(first, second),
        theoretical=ndtri((rank - 0.5) / n),
        observed=observed,
        lower=np.asarray(mean + sd * ndtri(low), float),
        upper=np.asarray(mean + sd * ndtri(high), float),
        mean=mean,
        sd=sd,
        skewness=analysis.diagnoses[column].skewness,
        name=difference_name(analysis),
        difference=unit_of(analysis),
    )


def draw_quantiles(data: QuantileData, ax: Axes | None = None) -> Axes:
    """Draw the QQ plot of a pair's differences with the band of normal samples."""
    with canvas(ax) as ax:
        ax.fill_between(data.theoretical, data.lower, data.upper, color=GREY, alpha=0.2, linewidth=0)
        ends = np.array([data.theoretical[0], data.theoretical[-1]])
        ax.plot(ends, data.mean + data.sd * ends, color=GREY, linewidth=0.8)
        outside = (data.observed < data.lower) | (data.observed > data.upper)
        ax.plot(data.theoretical[~outside], data.observed[~outside], "o", color=BLUE)
        ax.plot(data.theoretical[outside], data.observed[outside], "^", color=ORANGE, markersize=4.4)
        words = "Triangles: outside the band" if outside.any() else ""
        explain(ax, "Normal quantile", f"Band: 95 % of normal samples. {words}".rstrip(" ."))
        ax.set_ylabel(data.name.partition(",")[0])
        write_in_unit(ax.yaxis, data.difference)
        entitle(ax, data.finding)
    return ax


def bootstrap_data(
    analysis: Analysis,
    first: str,
    second: str,
    *,
    resamples: int = RESAMPLES,
    rng: np.random.Generator | int = SEED,
) -> BootstrapData:
    """Return the mean difference of a pair over resampled instances: is it as normal as the t-test takes it to be?"""
    if resamples < 2:
        raise InvalidInput(f"resamples must be two or more, got {resamples!r}; {RESAMPLES} are plenty")
    column = column_of(analysis, first, second)
    phi = differences_of(analysis, column)
    mean, sd = _location(phi)
    means = _resampled_means(phi, resamples, np.random.default_rng(rng))
    return BootstrapData(
        pair=_pair(first, second),
        means=means,
        mean=mean,
        error=float(sd / np.sqrt(len(phi))),
        skewness=_skewness(means),
        name=difference_name(analysis),
        difference=unit_of(analysis),
    )


def draw_bootstrap(data: BootstrapData, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the resampled means with the normal curve that the t-test relies on."""
    with canvas(ax) as ax:
        varies = np.ptp(data.means) > FLAT * np.abs(data.means).max()
        if varies:
            _draw_distribution(ax, data)
        else:
            ax.axvline(data.mean, color=BLUE, label="All resampled means")
        ax.set_yticks([])
        ax.grid(axis="y", visible=False)
        write_in_unit(ax.xaxis, data.difference)
        entitle(ax, data.finding)
        explain(
            ax,
            f"Mean {data.name.partition(',')[0].lower()}, resampled",
            "Dashed: as the t-test takes it to be" if varies else "",
        )
    return ax


def _pair(first: str, second: str) -> str:
    return " − ".join(labels([first, second], 18))


def _location(differences: Floats) -> tuple[float, float]:
    mean, sd, exponent = location(differences)
    return float(np.ldexp(mean, exponent)), float(np.ldexp(sd, exponent))


def _resampled_means(differences: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """In blocks, so that a study of many instances takes no more memory than one of few."""
    n = len(differences)
    block = max(1, 2_000_000 // n)
    means = [
        differences[rng.integers(0, n, (min(block, resamples - done), n))].mean(axis=1)
        for done in range(0, resamples, block)
    ]
    return np.concatenate(means)


def _skewness(values: Floats) -> float:
    _, sd = _location(values)
    return float(np.mean(((values - values.mean()) / sd) ** 3)) if sd else float("nan")


def _draw_distribution(ax: Axes, data: BootstrapData) -> None:
    heights, edges = np.histogram(data.means, bins=BINS, density=True)
    ax.stairs(heights, edges, fill=True, color=BLUE, alpha=0.4, label="Resampled")
    x = np.linspace(edges[0], edges[-1], 121)
    z = (x - data.mean) / data.error
    curve = np.exp(-z * z / 2) / (data.error * np.sqrt(2 * np.pi))
    ax.plot(x, curve, color=ORANGE, linestyle="--", label="Normal")
    if edges[0] <= 0 <= edges[-1]:
        ax.axvline(0.0, color=GREY, linewidth=0.8)
