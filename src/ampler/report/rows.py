"""The comparisons as a figure that is also a table: lines, axis, margin, rugs and notes. Pure.

With a reference, for two algorithms and on one instance a line is a comparison. Where all are compared with all, a line
is an algorithm: its difference from the leader, its group, and its decisions against every other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.rows import ComparisonRow, difference_head, difference_unit, rows_of
from ampler.analysis.standings import rank_text, ranked_names
from ampler.analysis.text import findings, leaders
from ampler.analysis.units import quantity_text
from ampler.core.arrays import Floats, Interval, Pair
from ampler.core.text import digits, shortened, without_common
from ampler.core.verdicts import MARKS, Finding, opposite
from ampler.report.axis import Axis, axis_of
from ampler.stats.paired import ESTIMANDS, paired_test

MAX_ROWS = 30  # lines that are not folded away, and algorithms whose decisions stand next to them
MAX_LABELLED = 16  # lines of which the decisions leave room for many marks
MAX_MATRIX = 60  # algorithms of which a page has all decisions
MAX_HEAD = 18  # maximum length of a name in a heading
WIDER = 2.5  # times the range of the intervals that the rugs may take
MAX_SPOTS = 400  # maximum number of instances drawn as dots
RUG_SHARES = (0.1, 0.25)  # of the instances on each side that may lie outside of the axis
UNITS = {"simple": "difference", "percent": "difference, %", "ratio": "factor", "points": "percentage points"}
UNITS["share"] = "share of instances, %"
ORDER: tuple[Finding, ...] = ("better", "worse", "equivalent", "inconclusive", "not compared")


@dataclass(frozen=True, slots=True)
class Decision:
    """Verdict on an algorithm against another: a cell of the matrix."""

    verdict: Finding
    label: str
    key: str  # link target of the pair; empty: none

    @property
    def mark(self) -> str:
        """The mark of the verdict."""
        return MARKS.get(self.verdict, "–")


@dataclass(frozen=True, slots=True)
class Spot:
    """One instance of a comparison: both values, their difference and its standard error."""

    name: str
    full_name: str
    subject: str
    other: str
    first: float
    second: float
    difference: float
    error: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the figure; the leader has no row."""

    name: str
    row: ComparisonRow | None
    thin: Interval | None = None  # simultaneous
    thick: Interval | None = None  # at the level of Holm's procedure; of an unfinished study the standard error
    rug: tuple[float, ...] = ()  # the difference on each instance, sorted
    spots: tuple[Spot, ...] = ()  # the same of two algorithms, whose instances are the figure
    standing: str = "–"  # of the first algorithm, in place of a difference: only an undisputed leader is called so
    rank: str = ""
    group: str = ""
    decisions: tuple[Decision | None, ...] = ()  # against all algorithms in the order of the lines


@dataclass(frozen=True, slots=True)
class Forest:
    """All lines with their heads and their axis.

    Those from `shown` on are folded away.
    """

    lines: tuple[Line, ...]
    shown: int
    noun: str  # kind of a line
    name_head: str
    estimate_head: str
    p_head: str
    axis_head: str
    axis: Axis
    neutral: float
    margin: tuple[float, float] | None
    sides: tuple[str, str]  # labels of both sides: better and worse, or worse and better
    notes: tuple[str, ...]
    rug_notes: tuple[str, ...]
    unit: str
    is_finished: bool

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """The comparisons of the lines."""
        return tuple(line.row for line in self.lines if line.row is not None)

    @property
    def folded(self) -> tuple[Line, ...]:
        """The lines that are folded away."""
        return self.lines[self.shown :]

    @property
    def ranked(self) -> bool:
        """Whether a line is an algorithm among all."""
        return self.lines[0].row is None

    @property
    def is_wide(self) -> bool:
        """Whether the decisions have no room next to the lines."""
        return len(self.lines) > MAX_ROWS


def pair_key(row: ComparisonRow) -> str:
    """Return the name of the place where a pair is shown."""
    return f"pair-of-{row.comparison.rank}"


def forest_of(
    analysis: Analysis, *, most: int = MAX_ROWS, key_of: Callable[[ComparisonRow], str] = lambda row: ""
) -> Forest:
    """Return the comparisons as lines; `key_of` names the place where the instances of a pair are shown."""
    settings, unit, every_row = analysis.settings, difference_unit(analysis), rows_of(analysis)
    is_board = settings.reference is None and len(analysis.comparisons) > 1 and analysis.single is None
    names = ranked_names(analysis) if is_board else []  # of all with all a line is an algorithm
    rows = rows_of(analysis, leader=names[0]) if names else every_row
    rows = [replace(row, key=key_of(row)) for row in rows]
    sign = 1 if settings.better == "lower" else -1
    if names:
        rows.sort(key=lambda row: names.index(row.subject))
    else:  # by verdict, those with one value of it as a staircase
        rows.sort(key=lambda row: (ORDER.index(row.verdict), sign * row.estimate if row.is_known else np.inf))
    lines = [_line(row, analysis) for row in rows]
    if names:
        decisions = _matrix(analysis, names, every_row, key_of)
        sets, letters = analysis.rank_sets, analysis.groups
        is_leader = not analysis.unfinished and leaders(findings(analysis)) == names[:1]  # who shares it is none
        lines = [Line(names[0], None, standing="leader" if is_leader else "–"), *lines]
        ranks = [rank_text(sets[line.name]) if line.name in sets else "" for line in lines]
        lines = [
            replace(line, rank=rank, group=letters.get(line.name, ""), decisions=decided)
            for line, rank, decided in zip(lines, ranks, decisions, strict=True)
        ]
    estimand = ESTIMANDS[rows[0].comparison.estimate_of]
    margin = None if settings.margin is None or unit == "share" else (-settings.margin, settings.margin)
    axis = _axis(lines, unit, (estimand.neutral, *(margin or ())))
    if len(rows) == 1 and lines[0].rug and len(lines[0].rug) <= MAX_SPOTS:
        spots, (low, high) = spots_of(analysis, rows[0]), lines[0].thin or (rows[0].estimate,) * 2
        lines = [replace(lines[0], rug=(), spots=spots)]
        ends = low, rows[0].estimate, high
        axis = axis_of_spots(spots, unit, ends, always=(estimand.neutral, *(margin or ())))
    base = names[0] if names else settings.reference
    rug, (low, high) = [value for line in lines for value in line.rug], (axis.panels[0].low, axis.panels[-1].high)
    rug_notes = ["strokes: one for each instance"] if rug else []
    if any(not low <= value <= high for value in rug):
        rug_notes.append("arrowheads: more instances beyond the axis")
    return Forest(
        lines=tuple(lines),
        shown=len(lines) if len(lines) <= most + 1 else most,
        noun="algorithm" if names else "comparison",
        name_head="algorithm" if names else "pair" if base is None else f"compared with {shortened(base, MAX_HEAD)}",
        estimate_head=shortened(difference_head(analysis, base), 2 * MAX_HEAD),
        p_head=f"p ({paired_test(settings.test).procedure.name})",
        axis_head=axis_head(analysis, axis, unit),
        axis=axis,
        neutral=estimand.neutral,
        margin=margin,
        sides=sides_of(analysis),
        notes=tuple(_notes(analysis, axis, margin, lines)),
        rug_notes=tuple(rug_notes),
        unit=unit,
        is_finished=not analysis.unfinished,
    )


def axis_head(analysis: Analysis, axis: Axis, unit: str) -> str:
    """Return what an axis of differences measures."""
    kind = "change, %" if unit == "ratio" and all(not mark.text.startswith("×") for mark in axis.marks) else UNITS[unit]
    return f"{shortened(analysis.measure, MAX_HEAD)}: {kind}"


def sides_of(analysis: Analysis) -> tuple[str, str]:
    """Return the verdict words for the left and the right side of zero."""
    return ("better", "worse") if analysis.settings.better == "lower" else ("worse", "better")


def axis_of_spots(
    spots: Sequence[Spot], unit: str, *intervals: tuple[float, float, float], always: tuple[float, ...] = (0.0,)
) -> Axis:
    """Return the axis of the instances of one comparison, with its interval."""
    return axis_of([*((spot.difference,) * 3 for spot in spots), *intervals], unit, always=always, split=False)


def spots_of(analysis: Analysis, row: ComparisonRow) -> tuple[Spot, ...]:
    """Return the instances on which both have values, the smallest difference first."""
    algorithms, names = [row.algorithm for row in analysis.algorithms], [row.instance for row in analysis.accuracy]
    one, other = (analysis.statistics[:, algorithms.index(name)].tolist() for name in (row.subject, row.other))
    phi, errors = pair_differences(analysis, row.subject, row.other), analysis.errors[:, analysis.pairs.index(row.pair)]
    short, known = without_common(names), np.flatnonzero(~np.isnan(phi))
    return tuple(
        Spot(short[i], names[i], row.subject, row.other, one[i], other[i], float(phi[i]), float(errors[i]))
        for i in known[np.argsort(phi[known], kind="stable")].tolist()
    )


def mark_text(spot: Spot, unit: str) -> str:
    """Return the label of an instance's mark: both values and the difference."""
    of_error = "simple" if unit == "ratio" else unit  # of a logarithm
    error = "" if np.isnan(spot.error) else f" ± {quantity_text(spot.error, of_error)}"
    values = f"{spot.subject}: {digits(spot.first, 4)}\n{spot.other}: {digits(spot.second, 4)}"
    return f"{spot.name}\n{values}\ndifference {quantity_text(spot.difference, unit)}{error}"


def _line(row: ComparisonRow, analysis: Analysis) -> Line:
    """A comparison with its intervals and its rug."""
    if not row.is_known:
        return Line(row.name, row)
    estimand, phi = ESTIMANDS[row.comparison.estimate_of], pair_differences(analysis, row.subject, row.other)
    phi = phi[np.isfinite(phi)]
    thin, thick = (None if np.isnan(ends[0]) else ends for ends in (row.joint_interval, row.interval))
    if analysis.unfinished and estimand.name == "mean" and len(phi) > 1:
        error = float(phi.std(ddof=1)) / len(phi) ** 0.5
        thick = row.estimate - error, row.estimate + error
    has_rug = not estimand.is_share and analysis.single is None
    return Line(row.name, row, thin, thick, tuple(np.sort(phi).tolist()) if has_rug else ())


def pair_differences(analysis: Analysis, first: str, second: str) -> Floats:
    """Return the difference first − second on every instance."""
    pair = first, second
    if pair in analysis.pairs:
        return analysis.differences[:, analysis.pairs.index(pair)]
    return 0.0 - analysis.differences[:, analysis.pairs.index(pair[::-1])]


def _axis(lines: Sequence[Line], unit: str, always: tuple[float, ...]) -> Axis:
    """The axis of the intervals, with as much of the rugs as leaves the intervals readable."""

    def axis(share: float | None) -> Axis:
        ends = []
        for line in lines:
            if line.row is not None:
                low, high = line.thin or line.thick or (line.row.estimate,) * 2
                if share is not None and line.rug:
                    beyond = np.quantile(line.rug, [share, 1 - share])
                    low, high = min(low, float(beyond[0])), max(high, float(beyond[1]))
                ends.append((low, line.row.estimate, high))
        return axis_of(ends, unit, always=always, most=5 if len(lines) <= MAX_LABELLED else 3)

    def width(axis: Axis) -> float:
        panel = next((panel for panel in axis.panels if panel.low <= always[0] <= panel.high), axis.panels[0])
        return panel.high - panel.low

    bare = axis(None)
    for share in (0.0, *RUG_SHARES):
        wide = axis(share)
        if len(wide.panels) == len(bare.panels) and width(wide) <= WIDER * width(bare):
            return wide
    return bare


def _matrix(
    analysis: Analysis, names: Sequence[str], rows: Sequence[ComparisonRow], key_of: Callable[[ComparisonRow], str]
) -> list[tuple[Decision | None, ...]]:
    """The decisions, by algorithm and other; none of an unfinished study, or of more than a page can bear."""
    if analysis.unfinished or len(names) > MAX_MATRIX:
        return [()] * len(names)
    cells: dict[Pair, Decision] = {}
    for row in rows:
        first, second = row.pair
        key = key_of(row)
        for one, other, verdict in ((first, second, row.verdict), (second, first, opposite(row.verdict))):
            than = "than" if verdict in ("better", "worse") else "against"
            cells[one, other] = Decision(verdict, f"{one}: {verdict} {than} {other}", key)
    return [tuple(cells.get((name, other)) for other in names) for name in names]


def _notes(analysis: Analysis, axis: Axis, margin: tuple[float, float] | None, lines: Sequence[Line]) -> list[str]:
    """Short description of the figure."""
    unit, repeated = difference_unit(analysis), "" if analysis.looks is None else ", repeated over the interim analyses"
    level = f"simultaneous {digits(100 * (1 - analysis.settings.family_alpha))} % CI{repeated}"
    if analysis.unfinished:
        notes = ["Bars: ± one standard error so far", "verdicts follow at the end or at a planned interim analysis"]
    elif analysis.single is not None:
        notes = [f"Bars: {level}"]
    else:
        notes = [f"Thin: {level}", f"thick: {paired_test(analysis.settings.test).procedure.level} level"]
    if margin is not None:
        notes.append(f"band: the margin, {' to '.join(quantity_text(end, unit) for end in margin)}")
    if axis.is_split:
        notes.append("the axis is split at ╱╱ into two scales")
    if not all(axis.holds(end) for line in lines for end in line.thin or ()):
        notes.append("an arrowhead: the interval ends beyond the axis")
    if lines[0].group:
        notes.append("algorithms that share a letter do not differ significantly")
    return notes
