"""The charts of a design: the power for effects of every size, and the power of each test by its rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ampler.app.web.charts import chart, dot, frame, label, line, ticks
from ampler.core.wording import digits
from ampler.design import Design
from ampler.design.words import RankRow
from ampler.report.figures.design import PowerCurve

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 400, 300
POWERS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def power_chart(curve: PowerCurve, fewer: Sequence[Design] = ()) -> Markup:
    """Draw the mean power over the effect between the worst and the best test; `fewer`: with the instances at hand."""
    effects = [design.effect for design in curve.designs]
    marked = curve.marked
    plane = frame(WIDTH, HEIGHT, (0, effects[-1]), (0, 1))
    parts = plane.axes("effect, d", "power", x_ticks=ticks(0, effects[-1]), y_ticks=POWERS)
    worst, best, mean = (
        [(design.effect, getattr(design, name)) for design in curve.designs]
        for name in ("worst_power", "best_power", "mean_power")
    )
    if marked.comparisons > 1:
        parts.append(plane.area(worst, best, "band"))
    if fewer:
        parts.append(plane.path([(design.effect, design.mean_power) for design in fewer], "guide"))
    at = (plane.x(marked.effect), plane.y(marked.mean_power))
    parts += [plane.path(mean, "curve"), line((plane.x.begin, at[1]), at, "guide")]
    parts += [line(at, (at[0], plane.y.begin), "guide"), dot(at)]
    beyond = at[0] > WIDTH * 0.6
    words = f"{digits(marked.mean_power)} for d = {digits(marked.effect)}"
    parts.append(
        label((at[0] + (-10 if beyond else 10), at[1] + 18), words, anchor="end" if beyond else "start", kind="strong")
    )
    said = (
        f"Mean power {digits(marked.mean_power)} for effect {digits(marked.effect)} with {marked.instances} instances"
    )
    return chart(WIDTH, HEIGHT, parts, words=said)


def ranks_chart(rows: Sequence[RankRow], wanted: float, comparisons: int) -> Markup:
    """Draw the power of each test, the one with the smallest p-value first, beside the power that was wanted."""
    plane = frame(WIDTH, HEIGHT, (0.5, comparisons + 0.5), (0, 1))
    whole = sorted({round(at) for at in ticks(1, comparisons)} | {1, comparisons})
    apart = [at for at in whole if at in (1, comparisons) or 1 + comparisons * 0.06 < at < comparisons * 0.94]
    parts = plane.axes("rank of the p-value", "power", x_ticks=apart, y_ticks=POWERS)
    parts.append(line((plane.x.begin, plane.y(wanted)), (plane.x.end, plane.y(wanted)), "target"))
    parts.append(label((plane.x.end, plane.y(wanted) + 17), f"wanted {digits(wanted)}", anchor="end"))
    for row in rows:
        at = (plane.x(row.rank), plane.y(row.power))
        words = f"rank {row.rank}: level {digits(row.level)}, power {digits(row.power)}"
        parts += [line((at[0], plane.y.begin), at, "rule"), dot(at, radius=4, words=words)]
    low, high = rows[0].power, rows[-1].power
    return chart(WIDTH, HEIGHT, parts, words=f"Powers of the tests by rank, from {digits(low)} to {digits(high)}")
