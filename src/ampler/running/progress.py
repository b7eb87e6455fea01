"""Progress of a running study: as values, as text, and as a bar in a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ampler.core.contracts import target_error
from ampler.core.plan import Plan
from ampler.core.runs import Finished, Observation, Progress, RunKey, Tally
from ampler.core.text import count, short_duration

if TYPE_CHECKING:
    from ampler.running.instance import InstanceRun, RunTimes
    from ampler.study.failure_patterns import CommonFailure

WINDOW = 20.0  # seconds over which the rate is measured
WARM = 5.0  # seconds after which the rate is reliable

MAX_COLUMNS = 79  # width of a progress line: the terminal may need the last column
LINE_INTERVAL = 10.0  # seconds between lines of progress where nothing can be overwritten


class ProgressMeter:
    """Counts what is recorded and finished, and predicts the rest."""

    def __init__(
        self, plan: Plan, tally: Iterable[Tally], failed: Iterable[RunKey], superseded: Iterable[RunKey] = ()
    ) -> None:
        self._instances = len(plan.instances)
        self._target = target_error(plan.rule)
        self._runs = sum(cell.runs for cell in tally)
        self._failed = set(failed)
        self._superseded = set(superseded)  # recorded runs that do not count
        self._new = 0
        self._counts: dict[str, Mapping[str, int]] = {}  # runs of each algorithm on each finished instance
        self._spent: Counter[str] = Counter()  # … and on all of them together
        self._predicted: dict[str, tuple[int, Counter[str], float | None]] = {}  # after a round: remaining runs, error
        self._rate = RunRate()
        self._began = time.monotonic()

    def add(self, durable: Iterable[Observation]) -> None:
        """Count runs that are recorded."""
        for observation in durable:
            self._new += 1
            self._runs += observation.attempt == 0 or observation.key in self._superseded
            self._superseded.discard(observation.key)
            if observation.status == "ok":
                self._failed.discard(observation.key)
            else:
                self._failed.add(observation.key)

    def finish(self, done: Finished) -> None:
        """Count an instance that is finished."""
        self.reopen([done.instance])
        self._counts[done.instance] = done.counts
        self._spent.update(done.counts)
        self._predicted.pop(done.instance, None)

    def reopen(self, instances: Iterable[str]) -> None:
        """Count instances no longer as finished: more is requested on them."""
        for name in instances:
            self._spent.subtract(self._counts.pop(name, {}))

    def requested(self, instances: Collection[str]) -> None:
        """Note which instances were requested so far."""
        self._instances = len(instances)

    def progress(self, under_way: Collection[InstanceRun], waiting: int, times: RunTimes, workers: int) -> Progress:
        """Return the progress of the study; rules predict the rest once per round of an instance."""
        seconds = time.monotonic() - self._began
        for instance in under_way:
            if instance.name not in self._predicted or self._predicted[instance.name][0] != instance.rounds:
                prediction = Counter(instance.expected()), instance.error()
                self._predicted[instance.name] = (instance.rounds, *prediction)
        predicted = [self._predicted[instance.name] for instance in under_way]
        rate = self._rate.at(seconds, self._new)
        left = planned = None
        begun = len(self._counts) + len(under_way)
        if begun or not waiting:
            rest: Counter[str] = sum((runs for _, runs, _ in predicted), Counter())
            # waiting instances cost the mean of those begun
            full = self._spent + rest + sum((Counter(instance.requested) for instance in under_way), Counter())
            per_begun = waiting / begun if waiting else 0.0
            runs_left = rest.total() + full.total() * per_begun
            planned = self._runs + round(runs_left)
            # Runs so short that the driver is the slower part are predicted by their rate of arrival.
            by_time = (times.total(rest) + times.total(full) * per_begun) / workers
            left = max(by_time, runs_left / self._rate.last if self._rate.last else 0.0)
        return Progress(
            instances=self._instances,
            finished=len(self._counts),
            runs=self._runs,
            new=self._new,
            failures=len(self._failed),
            seconds=seconds,
            rate=rate,
            error=max((error for _, _, error in predicted if error is not None), default=None),
            target=self._target,
            left=left,
            planned=planned,
        )


class RunRate:
    """Runs per second over the last seconds; `last` is 0 until it means something."""

    def __init__(self) -> None:
        self.last = 0.0
        self._marks: deque[tuple[float, int]] = deque([(0.0, 0)])

    def at(self, seconds: float, runs: int) -> float:
        """Add a number of runs at a time; return the rate."""
        self._marks.append((seconds, runs))
        while len(self._marks) > 2 and self._marks[0][0] < seconds - WINDOW:
            self._marks.popleft()
        begun, before = self._marks[0]
        rate = (runs - before) / (seconds - begun) if seconds > begun else 0.0
        self.last = rate if seconds > WARM else 0.0
        return rate


def share_done(progress: Progress) -> float:
    """Return the finished share of the work, by time if the rest is known, otherwise by instances."""
    if progress.left is not None and progress.new and progress.runs == progress.new:
        return progress.seconds / (progress.seconds + progress.left) if progress.seconds + progress.left else 1.0
    return progress.finished / progress.instances if progress.instances else 1.0


def under_way(progress: Progress) -> str:
    """Return the progress in a line of at most 80 columns, with the least important parts omitted first.

    >>> from ampler.running import Progress
    >>> under_way(Progress(40, 12, runs=8419, new=300, seconds=75, rate=41.3, error=0.062, target=0.05, left=5400))
    '12/40 instances, 8,419 runs, 41 runs/s, SE 0.062 (target 0.05), 1 h 30 min left'
    """
    error = "" if progress.error is None else f"SE {progress.error:.3g} (target {progress.target:g})"
    parts = {
        "instances": f"{progress.finished}/{progress.instances} instances",
        "runs": f"{progress.runs:,} runs",
        "rate": f"{progress.rate:.{0 if progress.rate >= 10 else 2}f} runs/s",
        "error": error,
        "failures": f"{progress.failures:,} failed" if progress.failures else "",
        "left": "" if progress.left is None else f"{short_duration(progress.left)} left",
    }
    for unneeded in ("", "rate", "runs", "error"):
        parts.pop(unneeded, None)
        line = ", ".join(filter(None, parts.values()))
        if len(line) <= MAX_COLUMNS:
            break
    return line


def carried_out(
    name: str, progress: Progress, reasons: Collection[str], where: str, failure: CommonFailure | None = None
) -> str:
    """Describe the session, with instances at the budget and failed runs.

    `reasons` are those for which the instances ended; `where` is the file that keeps the runs; `failure` is the
    commonest reason of failed runs.
    """
    why = "" if failure is None else f", {failure}"
    finished = "the instance is finished" if progress.instances == 1 else f"all {progress.instances} instances finished"
    short = sum(reason == "budget spent" for reason in reasons)
    return " ".join(
        [
            f"{name}: {finished}. {count(progress.runs, 'run')} recorded in {where} ({progress.new:,} new).",
            *([f"The budget was reached on {count(short, 'instance')}, before the target SE."] if short else []),
            *([f"{count(progress.failures, 'run')} failed and gave no value{why}."] if progress.failures else []),
        ]
    )


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Shows progress when called: a bar in a terminal or a notebook, elsewhere a line now and then if `note` takes one.

    Use it in a `with` statement, at whose end the bar of a terminal is gone.
    """

    def __init__(self, note: Callable[[str], object] | None = None) -> None:
        shell = sys.modules.get("IPython")
        kernel = None if shell is None else getattr(shell.get_ipython(), "kernel", None)
        self._display = None if kernel is None else import_module("IPython.display").display
        self._handle: Any = None
        self._live: Any = None
        self._note, self._next = note, time.monotonic() + LINE_INTERVAL

    def __enter__(self) -> ProgressBar:
        if self._display is None and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            # no thread of its own: workers are forked from this process
            self._live = Live(console=Console(file=sys.stderr), auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the current progress."""
        if self._live is not None:
            from rich import console, progress_bar, table, text

            share = share_done(progress)
            bar = table.Table.grid(padding=(0, 1))
            bar.add_row(progress_bar.ProgressBar(total=1.0, completed=share, width=40), text.Text(f"{share:.0%}"))
            self._live.update(console.Group(bar, text.Text(under_way(progress))), refresh=True)
        elif self._display is not None:
            page = {"text/html": bar_html(progress), "text/plain": under_way(progress)}
            if self._handle is None:
                self._handle = self._display(page, raw=True, display_id=True)
            else:
                self._handle.update(page, raw=True)
        elif self._note is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_INTERVAL
            self._note(under_way(progress))


def bar_html(progress: Progress) -> str:
    """Return the bar as a notebook shows it."""
    share = share_done(progress)
    return f'<progress value="{share:.4f}" max="1"></progress> {share:.0%} {escape(under_way(progress))}'
