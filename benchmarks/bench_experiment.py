"""A whole experiment of dummies, 57 instances × 5 algorithms: against CAISEr's, and where the time of a run goes.

Runs that do nothing show what all around them costs: the rule's decisions, the driver with queue and study file, and
the worker. Both programs compare percent differences with the same accuracy, first runs and budget on one core; CAISEr
follows the paper's rule, whose runs are fewer, so that costs of a run are told as well. Processor time of the quickest
of several experiments, as other work on the machine only adds to it.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partialmethod
from pathlib import Path
from typing import Any

import caiser
from ampler.core.arrays import Samples
from ampler.core.plan import Decision
from ampler.running import driver, run_plan
from ampler.running.engines import LocalPool
from ampler.sampling.rules import Accuracy
from ampler.study.store import open_store
from dummy_experiment import HOW, dummy, the_plan
from measuring import folder_on_disk
from speed_page import Line, keep

QUICKER = 30  # times, than CAISEr
MOST = 100.0  # microseconds of a run, what they were in version 0.1.0
REPEATS = 3
MADE_AND_RECORDED = ("worker", "the dummy itself", "study file")
SCRIPT = Path(__file__).with_name("dummy_experiment.py")


def main() -> int:
    """Print where the time goes, hold it against CAISEr's, and return the exit code."""
    parts = min((where_time_goes() for _ in range(REPEATS)), key=lambda found: sum(found.values()))
    print(f"{'processor time of a run':<40}{'µs':>8}")
    for what, cost in parts.items():
        print(f"{what:<40}{cost:>8.1f}")
    return keep("bench_experiment", lines(parts))


def lines(parts: dict[str, float]) -> Iterator[Line]:
    """The lines of the page of speeds."""
    what, who = "a run of a dummy with all around it", "version 0.1.0 as timed earlier"
    cost = sum(parts.values())
    yield Line(what, f"≤ {MOST:g} µs", f"{cost:.0f} µs", cost <= MOST, who)
    least = sum(parts[name] for name in MADE_AND_RECORDED)
    yield Line("a run of a dummy, made and recorded with nothing decided", "", f"{least:.0f} µs", True, "")
    for against_one in (False, True):
        theirs = caiser.experiment(against_one)
        for how, target in (("", f"≥ {QUICKER} ×"), ("--serial", ""), ("--paper", "")):
            yield from compared(theirs, against_one, how, target)


def compared(theirs: caiser.Experiment, against_one: bool, how: str, target: str) -> Iterator[Line]:
    """Whole experiments against each other, without and with the start of the programs, and run by run."""
    ours = min((our_experiment(against_one, how) for _ in range(REPEATS)), key=lambda found: found.inside)
    pairs = "against one" if against_one else "all pairs"
    rule = {"": "the usual rule", "--serial": "the usual rule, no worker", "--paper": "the paper's rule"}[how]
    what = f"an experiment of dummies, {pairs}, {rule}"
    whole = theirs.inside / ours.inside
    who = f"{theirs.who}: {theirs.runs} runs in {theirs.inside:.1f} s, ours {ours.runs} in {ours.inside:.2f} s"
    yield Line(what, target, f"{whole:.0f} ×", not target or whole >= QUICKER, who)
    by_run = whole * ours.runs / theirs.runs
    yield Line(f"{what}, by run", "", f"{by_run:.0f} ×", True, theirs.who)
    started = f"{theirs.who}: {theirs.whole:.1f} s, ours {ours.whole:.2f} s"
    yield Line(f"{what}, with the start", "", f"{theirs.whole / ours.whole:.0f} ×", True, started)


def our_experiment(against_one: bool, how: str) -> caiser.Experiment:
    """Our experiment, in a process of its own."""
    options = [option for option in ("--one" if against_one else "", how) if option]
    before = children()
    said = subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True, check=True).stdout
    runs, inside = said.split()
    return caiser.Experiment(int(runs), float(inside), children() - before, "ampler")


@dataclass(frozen=True)
class Timed:
    """Something that is called, and the processor time that its calls take."""

    call: Callable[..., Any]
    spent: list[float] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, *given: Any, **more: Any) -> Any:
        """Do what is asked for."""
        began = time.thread_time()
        try:
            return self.call(*given, **more)
        finally:
            self.spent.append(time.thread_time() - began)


@dataclass(frozen=True)
class TimedRule:
    """A rule and the processor time that its decisions take."""

    rule: Accuracy
    timed: Timed = field(compare=False, repr=False)

    def __call__(self, samples: Samples) -> Decision:
        """Decide as the rule does."""
        decision: Decision = self.timed(samples)
        return decision


def where_time_goes() -> dict[str, float]:
    """The processor time of a run by what it is spent on, in microseconds."""
    rule = Accuracy(**HOW)
    decisions = Timed(rule)
    with folder_on_disk() as folder, open_store(Path(folder, "study.db")) as store, InsideTheDriver() as inside:
        before, began = children(), time.process_time()
        runs = run_plan(the_plan(TimedRule(rule, decisions)), store, workers=1).new
        all_of_driver, worker = time.process_time() - began, children() - before
    bare = spent_by(lambda: [dummy(0)("i1", seed) for seed in range(runs)])
    file, way = sum(inside["file"].spent), sum(inside["submit"].spent) + sum(inside["collect"].spent)
    decided = sum(decisions.spent)
    taken = sum(inside["take"].spent) - decided - file
    seconds = {
        "decisions of the rule": decided,
        "instances: rounds and what they gave": taken,
        "study file": file,
        "to the worker and back": way,
        "queue, progress, start and end": all_of_driver - decided - taken - file - way,
        "worker": worker - bare,
        "the dummy itself": bare,
    }
    return {what: spent / runs * 1e6 for what, spent in seconds.items()}


class InsideTheDriver:
    """Has the parts of the driver timed while it is entered, by the chunk, so that clocks cost next to nothing."""

    def __enter__(self) -> dict[str, Timed]:
        self._places = {
            "take": (driver.Driver, "_take"),
            "file": (driver.Journal, "flush"),
            "submit": (LocalPool, "submit"),
            "collect": (LocalPool, "collect"),
        }
        self._before = {name: getattr(*place) for name, place in self._places.items()}
        timed = {name: Timed(call) for name, call in self._before.items()}
        for name, (owner, method) in self._places.items():
            setattr(owner, method, partialmethod(timed[name]))
        return timed

    def __exit__(self, *_: object) -> None:
        for name, (owner, method) in self._places.items():
            setattr(owner, method, self._before[name])


def children() -> float:
    """The seconds of processor time of all processes that were started here and have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def spent_by(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
