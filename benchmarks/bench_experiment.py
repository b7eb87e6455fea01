"""A whole experiment of dummies, 57 instances × 5 algorithms: where the processor time of a run goes.

Runs that do nothing show what all around them costs: the rule's decisions, the driver with queue and study file, and
the worker. Run it with `make bench` or by itself; it has no target, the costs are told.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ampler.core.samples import Samples
from ampler.core.values import Decision, Plan, Question
from ampler.running import run_plan
from ampler.sampling.rules import Accuracy
from ampler.study.plan import make_plan
from ampler.study.store import open_store
from measuring import folder_on_disk

INSTANCES, ALGORITHMS = 57, 5


@dataclass(frozen=True)
class Timed:
    """A rule and the processor time that its decisions take."""

    rule: Accuracy
    spent: list[float] = field(default_factory=list, compare=False, repr=False)

    def __call__(self, samples: Samples) -> Decision:
        """Decide as the rule does."""
        began = time.thread_time()
        try:
            return self.rule(samples)
        finally:
            self.spent.append(time.thread_time() - began)


def main() -> int:
    """Print the table and return the exit code."""
    rule = Timed(Accuracy(se=0.02, difference="percent", start=10, budget=500))
    with folder_on_disk() as folder, open_store(Path(folder, "study.db")) as store:
        began = time.process_time()
        runs = run_plan(the_plan(rule), store, workers=1).new
        driver = time.process_time() - began
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    decisions, worker = sum(rule.spent), usage.ru_utime + usage.ru_stime
    bare = spent_by(lambda: [dummy(0)("i1", seed) for seed in range(runs)])
    title = f"processor time: {runs} runs, {len(rule.spent)} decisions"
    print(f"{title:<48}{'s':>8}{'µs a run':>12}")
    for what, seconds in (
        ("decisions of the rule", decisions),
        ("driver: rounds, queue, study file", driver - decisions),
        ("worker, with starting it", worker - bare),
        ("the dummies themselves", bare),
        ("all", driver + worker),
    ):
        print(f"{what:<48}{seconds:>8.2f}{seconds / runs * 1e6:>12.1f}")
    return 0


def spent_by(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def the_plan(rule: Timed) -> Plan:
    return make_plan(
        question=Question("percent"),
        algorithms={f"a{number}": dummy(number) for number in range(ALGORITHMS)},
        instances=[f"i{number}" for number in range(INSTANCES)],
        rule=rule,
        seed=1,
        count="all",
    )


def dummy(number: int) -> Callable[[str, int], float]:
    return lambda instance, seed: random.Random(seed).gauss(100 + number, 10)


if __name__ == "__main__":
    sys.exit(main())
