"""A whole experiment of dummies, 57 instances × 5 algorithms, in a process of its own, as a user would make it.

Prints the runs, and the seconds of processor time from the plan to the closed study file, workers included and modules
loaded: scipy's too, which the first decision would load, as CAISEr's are when its clock starts.
Run: python dummy_experiment.py [--one] [--paper] [--serial]
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import scipy.special  # noqa: F401  decisions use it

from ampler import Accuracy
from ampler.core.contracts import Rule
from ampler.core.plan import Plan, Question
from ampler.running import run_plan
from ampler.study.plan import make_plan
from ampler.study.store import open_store
from ampler.testing import SerialExecutor
from measuring import folder_on_disk

INSTANCES, ALGORITHMS = 57, 5
HOW = {"se": 0.02, "difference": "percent", "start": 10, "budget": 500}


def main(options: set[str]) -> int:
    """Make the experiment, and print what it took."""
    reference = "a0" if "--one" in options else None
    rule = (Accuracy.as_in_paper if "--paper" in options else Accuracy)(**HOW, reference=reference)
    engine = {"executor": SerialExecutor()} if "--serial" in options else {"workers": 1}
    with folder_on_disk() as folder:
        began = spent()
        with open_store(Path(folder, "study.db")) as store:
            runs = run_plan(the_plan(rule, reference), store, **engine).new
        print(runs, spent() - began)
    return 0


def the_plan(rule: Rule, reference: str | None = None) -> Plan:
    """Return the plan of the experiment under a rule."""
    return make_plan(
        question=Question("percent", reference=reference, better="lower"),
        algorithms={f"a{number}": dummy(number) for number in range(ALGORITHMS)},
        instances=[f"i{number}" for number in range(INSTANCES)],
        rule=rule,
        seed=1,
        count="all",
    )


def dummy(number: int) -> Callable[[str, int], float]:
    """Return an algorithm that draws its value."""
    return lambda instance, seed: random.Random(seed).gauss(100 + number, 10)


def spent() -> float:
    """Return the processor time of this process and of its workers that have ended."""
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + workers.ru_utime + workers.ru_stime


if __name__ == "__main__":
    sys.exit(main(set(sys.argv[1:])))
