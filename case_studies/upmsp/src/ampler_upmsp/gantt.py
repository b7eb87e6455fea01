"""A schedule drawn as a Gantt chart: first its bars as data, then the drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ampler_upmsp.instance import Instance
from ampler_upmsp.solution import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SETUP, PROCESSING, LAST = "#bdbdbd", "#0072b2", "#d55e00"  # grey, blue, vermilion: Okabe & Ito's palette
NARROW = 0.02  # of the makespan: a bar that is narrower has no room for its job's number


@dataclass(frozen=True, slots=True)
class Bar:
    """One job on its machine: the setup before it and the time it is processed."""

    machine: int
    job: int
    setup_start: int
    start: int
    end: int


def gantt_data(instance: Instance, solution: Solution) -> tuple[Bar, ...]:
    """Return the bars of a schedule, machine by machine."""
    bars = []
    for machine, sequence in enumerate(solution.sequences):
        clock, before = 0, None
        for job in sequence:
            setup = instance.first_setup[machine, job] if before is None else instance.setup[machine, before, job]
            start = clock + int(setup)
            end = start + int(instance.processing[machine, job])
            bars.append(Bar(machine, job, clock, start, end))
            clock, before = end, job
    return tuple(bars)


def draw_gantt(bars: tuple[Bar, ...], ax: Axes | None = None) -> Axes:
    """Draw the bars, with their jobs where there is room; the machine that ends last is marked by its colour."""
    machines, makespan = max(bar.machine for bar in bars) + 1, max(bar.end for bar in bars)
    ax = ax or _axes(machines)
    last = {bar.machine for bar in bars if bar.end == makespan}
    for bar in bars:
        ax.barh(bar.machine, bar.start - bar.setup_start, left=bar.setup_start, height=0.4, color=SETUP)
        colour = LAST if bar.machine in last else PROCESSING
        ax.barh(bar.machine, bar.end - bar.start, left=bar.start, height=0.8, color=colour, edgecolor="white")
        if bar.end - bar.start > NARROW * makespan:
            middle = (bar.start + bar.end) / 2
            ax.text(middle, bar.machine, str(bar.job), ha="center", va="center", fontsize=6, color="white")
    ax.axvline(makespan, color=LAST, linewidth=0.8, linestyle="--")
    ax.set_xlabel("time", fontsize=8)
    ax.set_ylabel("machine", fontsize=8)
    ax.set_xlim(0, 1.01 * makespan)
    ax.set_yticks(range(machines))
    ax.tick_params(labelsize=7)
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    _legend(ax, makespan)
    return ax


def _axes(machines: int) -> Axes:
    from ampler.report.figures.canvas import sheet

    return sheet(figsize=(7.2, 0.8 + 0.24 * machines), layout="constrained").subplots()


def _legend(ax: Axes, makespan: int) -> None:
    from matplotlib.patches import Patch

    kinds = {"processing": PROCESSING, f"the machine that ends last, at {makespan}": LAST, "setup": SETUP}
    handles = [Patch(color=colour, label=label) for label, colour in kinds.items()]
    ax.legend(handles=handles, ncols=3, fontsize=7, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))
