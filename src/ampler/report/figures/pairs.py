"""Figures of single differences: every pair on one instance, and one pair on every instance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ampler.analysis import Analysis, Comparison
from ampler.core.arrays import Codes, Floats, Interval
from ampler.core.checks import choice, share
from ampler.core.errors import InvalidInput
from ampler.core.wording import named
from ampler.report.axis import axis_of
from ampler.report.figures.colours import BLUE, MUTED, ORANGE, PAPER
from ampler.report.figures.labels import WIDEST, instance_labels, labels, pair_labels
from ampler.report.figures.numbers import difference_name, unit_of, write_in_unit
from ampler.report.figures.rows import NAMED, fit_rows, lay_rows
from ampler.report.figures.split import split_words, write_axis
from ampler.report.figures.style import COLUMN, canvas
from ampler.report.figures.titles import entitle, explain
from ampler.stats.paired import ESTIMANDS, FEWEST, present

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PairOrder = Literal["given", "estimate", "error"]
InstanceOrder = Literal["difference", "given", "name"]

LEVEL = 0.95  # of an interval on one instance
MOST = 60  # pairs that can still be told apart on one page


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
        """How many differences there are clear of zero by themselves."""
        clear = int(((self.lower > 0) | (self.upper < 0)).sum())
        if not np.isfinite(self.errors).any():
            return f"{self.instance}: the differences"
        return f"{self.instance}: {clear} of {len(self.pairs)} intervals are clear of zero"


@dataclass(frozen=True, slots=True, eq=False)
class PairDifferences:
    """The difference of one pair on each of its instances with its standard error, and what the family says of it."""

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
    names: tuple[str, str] = ("first", "second")  # labels

    @property
    def finding(self) -> str:
        """On how many instances which of the two is better."""
        ahead, size = self.first_better, len(self.differences)
        behind = size - ahead - int((self.differences == 0).sum())
        if ahead == behind:
            return f"{named(self.names)} are each better on {ahead} of {size} instances"
        winner, wins = (self.names[0], ahead) if ahead >= behind else (self.names[1], behind)
        loser = self.names[1] if ahead >= behind else self.names[0]
        return f"{winner} is better than {loser} on {wins} of {size} instances"


def instance_differences_data(
    analysis: Analysis,
    instance: str,
    *,
    order: PairOrder = "given",
    level: float = LEVEL,
    most: int | None = MOST,
    widest: int = WIDEST,
) -> InstanceDifferences:
    """Return what is known of every pair on one instance; the intervals are estimate ± z·SE, unadjusted.

    `order` is that of the pairs ("given"), by "estimate", or by "error", largest first.
    """
    from scipy.special import ndtri

    choice("order", order, ("given", "estimate", "error"), "it says how the rows follow each other")
    share("level", level, "0.95 is usual")
    row = _row_of(analysis, instance)
    phi, errors = analysis.differences[row], analysis.errors[row]
    keys = {"given": np.arange(len(phi)), "estimate": phi, "error": -errors}
    there = np.flatnonzero(~np.isnan(phi))
    places = there[np.argsort(keys[order][there], kind="stable")][:most]
    reach = float(ndtri((1 + level) / 2)) * errors[places]
    return InstanceDifferences(
        instance=instance_labels(analysis, widest)[row],
        pairs=pair_labels(analysis, [analysis.pairs[place] for place in places], widest),
        left_out=len(there) - len(places),
        estimates=phi[places],
        errors=errors[places],
        lower=phi[places] - reach,
        upper=phi[places] + reach,
        level=level,
        wanted=analysis.settings.se,
        name=difference_name(analysis),
        difference=unit_of(analysis),
    )


def draw_instance_differences(data: InstanceDifferences, ax: Axes | None = None) -> Axes:
    """Draw the difference of every pair on one instance: ± one standard error thick, the interval thin."""
    with canvas(ax) as ax:
        places = np.arange(len(data.pairs))
        over = np.nan_to_num(data.errors) > (math.inf if data.wanted is None else data.wanted)
        ax.axvline(0.0, color=MUTED, linewidth=0.9)
        for chosen, color, marker in ((~over, BLUE, "o"), (over, ORANGE, "^")):
            known = chosen & np.isfinite(data.errors)
            low, high = data.estimates - data.errors, data.estimates + data.errors
            ax.hlines(places[known], data.lower[known], data.upper[known], color=color, linewidth=0.7)
            ax.hlines(places[known], low[known], high[known], color=color, linewidth=2.4)
            _dots(ax, data.estimates[chosen], places[chosen], color=color, marker=marker)
        lay_rows(ax, data.pairs)
        rows = list(zip(*(some.tolist() for some in (data.lower, data.estimates, data.upper)), strict=True))
        axis = axis_of(rows, data.difference, always=(0.0,), most=4)
        write_axis(ax, axis, data.difference)
        has_errors = bool(np.isfinite(data.errors).any())
        words = [data.name, f"±SE and {100 * data.level:g} % interval, unadjusted" if has_errors else ""]
        words += [f"Triangles: SE above {data.wanted:g}"] if over.any() else []
        words += [f"{data.left_out} more pairs are not shown"] if data.left_out else []
        explain(ax, *words, split_words(axis))
        entitle(ax, data.finding)
        fit_rows(ax, len(data.pairs), labels=data.pairs)
    return ax


def pair_differences_data(
    analysis: Analysis, first: str, second: str, *, order: InstanceOrder = "difference", widest: int = WIDEST
) -> PairDifferences:
    """Return the difference of one pair on every instance, by "difference" (smallest first), "given" or by "name"."""
    choice("order", order, ("difference", "given", "name"), "it says how the rows follow each other")
    column, found = column_of(analysis, first, second), comparison_of(analysis, first, second)
    names = instance_labels(analysis, widest)
    phi = analysis.differences[:, column]
    keys = {
        "difference": lambda place: phi[place],
        "given": lambda place: place,
        "name": lambda place: names[place].casefold(),
    }
    places = sorted(np.flatnonzero(~np.isnan(phi)).tolist(), key=keys[order])
    both, ahead = labels([first, second], 20), phi > 0 if analysis.settings.better == "higher" else phi < 0
    return PairDifferences(
        pair=" − ".join(both),
        instances=tuple(names[place] for place in places),
        differences=phi[places],
        errors=analysis.errors[places, column],
        estimate=found.estimate,
        estimate_of=found.estimate_of,
        joint=found.joint_interval,
        alpha=analysis.settings.family_alpha,
        name=difference_name(analysis),
        difference=unit_of(analysis),
        first_better=int(ahead.sum()),
        names=(both[0], both[1]),
    )


def draw_pair_differences(data: PairDifferences, ax: Axes | None = None) -> Axes:
    """Draw the difference of one pair on every instance ± one standard error, and the estimate over all of them.

    Instances are rows; more than 40 become a strip without names.
    """
    size = len(data.instances)
    named = size <= NAMED
    with canvas(ax, width=COLUMN, height=2.6) as ax:
        if not ESTIMANDS[data.estimate_of].is_share:
            _draw_estimate(ax, data, across=not named)
        (ax.axvline if named else ax.axhline)(0.0, color=MUTED, linewidth=0.9)
        _draw_differences(ax, data, across=not named)
        if named:
            lay_rows(ax, data.instances)
        else:
            ax.set_xlim(-0.7, size - 0.3)
            ax.set_xticks([])
            ax.grid(axis="x", visible=False)
        write_in_unit(ax.xaxis if named else ax.yaxis, data.difference)
        entitle(ax, data.finding)
        explain(ax, data.name, "" if named else f"{size} instances, by the size of the difference", _legend_of(data))
        if named:
            fit_rows(ax, size)
    return ax


def _draw_differences(ax: Axes, data: PairDifferences, *, across: bool) -> None:
    places, known = np.arange(len(data.differences)), np.isfinite(data.errors)
    low, high = data.differences - data.errors, data.differences + data.errors
    lines = ax.vlines if across else ax.hlines
    lines(places[known], low[known], high[known], color=BLUE, linewidth=0.9)
    x, y = (places, data.differences) if across else (data.differences, places)
    _dots(ax, x, y, color=BLUE, marker="o")


def _draw_estimate(ax: Axes, data: PairDifferences, *, across: bool) -> None:
    low, high = data.joint
    line, band = (ax.axhline, ax.axhspan) if across else (ax.axvline, ax.axvspan)
    line(data.estimate, color=ORANGE, linestyle="--", linewidth=1.1)
    if math.isfinite(low) and math.isfinite(high):
        band(low, high, color=ORANGE, alpha=0.14, linewidth=0)


def _legend_of(data: PairDifferences) -> str:
    """What the marks are, in words."""
    errors = "Lines: ± standard error" if np.isfinite(data.errors).any() else ""
    if ESTIMANDS[data.estimate_of].is_share:
        return errors
    band = f"; band: joint {100 * (1 - data.alpha):g} % interval" if all(map(math.isfinite, data.joint)) else ""
    return f"{errors}{'; dashed' if errors else 'Dashed'}: {data.estimate_of}{band}"


def column_of(analysis: Analysis, first: str, second: str) -> int:
    """Return the place of a pair; InvalidInput names the pairs there are."""
    if (first, second) not in analysis.pairs:
        known = ", ".join(f"({one!r}, {other!r})" for one, other in analysis.pairs[:3])
        raise InvalidInput(
            f"the pair must be one of the analysis, such as {known}, got ({first!r}, {second!r}); pairs are"
            " (reference, other), or (earlier, later) in the order of the algorithms"
        )
    return analysis.pairs.index((first, second))


def differences_of(analysis: Analysis, column: int) -> Floats:
    """Return the differences of a pair on the instances it has, two or more."""
    found = present(analysis.differences[:, column])
    if len(found) < FEWEST:
        raise InvalidInput(
            f"a pair must have {FEWEST} instances to look at its differences, got {len(found)} for"
            f" {' × '.join(analysis.pairs[column])}; choose another pair"
        )
    return found


def comparison_of(analysis: Analysis, first: str, second: str) -> Comparison:
    """Return the comparison of a pair."""
    return next(each for each in analysis.comparisons if (each.first, each.second) == (first, second))


def _row_of(analysis: Analysis, instance: str) -> int:
    names = [row.instance for row in analysis.accuracy]
    if instance not in names:
        raise InvalidInput(f"the instance must be one that is used, such as {names[0]!r}, got {instance!r}")
    return names.index(instance)


def _dots(ax: Axes, x: Floats | Codes, y: Floats | Codes, *, color: str, marker: str) -> None:
    ax.plot(x, y, marker, color=color, markersize=4, markeredgecolor=PAPER, markeredgewidth=0.3)
