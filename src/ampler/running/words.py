"""A study that runs, in words: how far it is, what it gave, what a first look at its algorithms found. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ampler.core.layout import TextTable, table_of
from ampler.core.wording import count, count_are, short_duration

if TYPE_CHECKING:
    from ampler.core.values import Progress
    from ampler.running.check import FirstRun, Inspection
    from ampler.study.failing import CommonFailure


def under_way(progress: Progress) -> str:
    """Say how far a study is, in one line.

    >>> from ampler.running import Progress
    >>> under_way(Progress(40, 12, runs=8419, new=300, seconds=75, rate=41.3, error=0.062, target=0.05, left=5400))
    '12 of 40 instances, 8,419 runs, 41 runs/s, worst SE 0.062 (target 0.05), about 1 h 30 min left'
    """
    return ", ".join(
        [
            f"{progress.finished} of {progress.instances} instances",
            f"{progress.runs:,} runs",
            f"{progress.rate:.{0 if progress.rate >= 10 else 2}f} runs/s",
            *([] if progress.error is None else [f"worst SE {progress.error:.3g} (target {progress.target:g})"]),
            *([f"{progress.failures:,} failed"] if progress.failures else []),
            *([] if progress.left is None else [f"about {short_duration(progress.left)} left"]),
        ]
    )


def carried_out(
    name: str, progress: Progress, reasons: Collection[str], where: str, failure: CommonFailure | None = None
) -> str:
    """Say what was done, and what a reader must know: instances whose budget ran out, runs that failed.

    `reasons` are those for which the instances ended; `where` is the file that keeps the runs; `failure` is the
    commonest reason of failed runs.
    """
    why = "" if failure is None else f", {failure}"
    short = sum(reason == "budget spent" for reason in reasons)
    return " ".join(
        [
            f"{name}: {_all_finished(progress.instances)}; {count_are(progress.runs, 'run')} recorded in {where},"
            f" {progress.new:,} of them new.",
            *([f"On {short} of them the budget was spent before the accuracy was reached."] if short else []),
            *([f"{count(progress.failures, 'run')} failed and gave no value{why}."] if progress.failures else []),
        ]
    )


def _all_finished(instances: int) -> str:
    return "its instance is finished" if instances == 1 else f"all {instances} instances are finished"


def measures(finding: FirstRun) -> str:
    """Say which measures an algorithm reports besides its value."""
    names = ", ".join(finding.first.measures or ())
    return f"{finding.algorithm.name} reports {names}: all are kept, the value decides."


def read_from(finding: FirstRun) -> str:
    """Say which line a value was read from, for people to see whether it is the right one."""
    return f"{finding.algorithm.name}: {_value(finding.first.value)} was read from the line {finding.line!r}."


def first_runs_kept(inspection: Inspection, where: str) -> str:
    """Say of how many algorithms the first runs, which are one or two, are the study's own."""
    recorded, all_ = sum(finding.recorded for finding in inspection.findings), len(inspection.findings)
    all_of_them = "both" if all_ == 2 else f"all {all_}"
    whose = all_of_them if recorded == all_ else f"{recorded} of {all_}"
    return f"The first runs of {whose} algorithms are recorded in {where}, as the study's own."


def first_run_columns(inspection: Inspection) -> TextTable:
    """Return what each algorithm gave: its name, value, seconds, and a remark."""
    rows = [
        [finding.algorithm.name, _value(finding.first.value), f"{finding.seconds:.3g}", finding.remark]
        for finding in inspection.findings
    ]
    return table_of(["algorithm", "value", "seconds", "remark"], rows, words=[3])


def _value(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
