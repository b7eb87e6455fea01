"""The figure of the runs on one instance: every value, its quartiles, and how densely values lie (a raincloud)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.core.arrays import Floats
from ampler.core.choices import Better
from ampler.core.errors import InvalidInput
from ampler.report.figures.colours import BLUE, INK, MUTED
from ampler.report.figures.labels import WIDEST, first_of, instance_labels, labels
from ampler.report.figures.profile import recorded_runs
from ampler.report.figures.rows import beside, fit_rows, lay_rows
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 16  # algorithms that one page holds
FEWEST = 5  # values from which on a density and a box say something
MOST_DOTS = 400  # values of an algorithm that are drawn one by one; beyond, every so-many-th of the sorted ones
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
        return tuple(_quartiles(found) for found in self.values)

    @property
    def finding(self) -> str:
        """Who has the best median there."""
        medians = [median for _, median, _ in self.quartiles]
        (best, *others), names = first_of(self.algorithms, medians, larger=self.better == "higher")
        verb = "share" if others else "has"
        return f"{self.instance}: {names} {verb} the best median of {len(self.values[best])} runs"


def cloud_data(analysis: Analysis, instance: str, *, most: int | None = MOST, widest: int = WIDEST) -> CloudData:
    """Return the runs of the algorithms on one instance; those that failed are counted and have no value.

    Of more than `most` algorithms (None: all), those with the best medians there are kept.
    """
    runs = recorded_runs(analysis)
    names = [row.instance for row in analysis.accuracy]
    if instance not in names:
        raise InvalidInput(f"the instance must be one that is used, such as {names[0]!r}, got {instance!r}")
    here = runs.instance == runs.instances.index(instance)
    mine = [here & (runs.algorithm == k) for k in range(len(runs.algorithms))]
    sign = 1 if analysis.settings.better == "lower" else -1
    medians = [sign * float(np.median(runs.value[own & runs.ok])) if (own & runs.ok).any() else np.inf for own in mine]
    kept = sorted(sorted(range(len(mine)), key=medians.__getitem__)[:most])
    texts = labels(runs.algorithms, widest)
    return CloudData(
        instance=instance_labels(analysis, widest)[names.index(instance)],
        algorithms=tuple(texts[k] for k in kept),
        values=tuple(runs.value[mine[k] & runs.ok] for k in kept),
        failed=tuple(int((mine[k] & ~runs.ok).sum()) for k in kept),
        better=analysis.settings.better,
        left_out=len(mine) - len(kept),
    )


def _quartiles(values: Floats) -> tuple[float, float, float]:
    first, middle, third = np.percentile(values, (25, 50, 75)).tolist() if values.size else (np.nan,) * 3
    return first, middle, third


def density(values: Floats, at: Floats) -> Floats:
    """Return how densely values lie, by normal kernels of Silverman's width.

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
    with canvas(ax) as ax:
        rng = np.random.default_rng(SEED)
        for place, values in enumerate(data.values):
            _draw_algorithm(ax, place, values, rng)
        lay_rows(ax, data.algorithms)
        for place, number in enumerate(data.failed):
            if number:
                beside(ax, place, f"{number} failed", color=MUTED)
        more = f"{data.left_out} more algorithms are not shown" if data.left_out else ""
        entitle(ax, data.finding)
        explain(
            ax, f"Value of one run, {data.better} is better", "Dots: runs; box: quartiles; above: their density", more
        )
        fit_rows(ax, ROW * len(data.algorithms))
    return ax


def _draw_algorithm(ax: Axes, place: int, values: Floats, rng: np.random.Generator) -> None:
    """Rain below the line of the name, the box on it, the cloud above."""
    shown = values if len(values) <= MOST_DOTS else np.sort(values)[:: -(-len(values) // MOST_DOTS)]
    heights = place + 0.27 + 0.12 * rng.uniform(-1, 1, len(shown))
    ax.plot(shown, heights, "o", color=BLUE, markersize=2.6, markeredgewidth=0, alpha=0.6)
    if len(values) < FEWEST:
        return
    first, middle, third = _quartiles(values)
    ax.plot([first, third], [place, place], color=BLUE, linewidth=4, solid_capstyle="butt")
    ax.plot([middle, middle], [place - 0.1, place + 0.1], color=INK, linewidth=1.4, solid_capstyle="butt")
    if np.ptp(values) > 1e-12 * np.abs(values).max():
        x = np.linspace(values.min(), values.max(), POINTS)
        y = density(values, x)
        ax.fill_between(x, place - 0.12, place - 0.12 - 0.34 * y / y.max(), color=BLUE, alpha=0.3, linewidth=0)
