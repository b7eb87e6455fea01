"""The speed of the one decision of a study that finds its own size: from the pilot's runs to instances and runs.

CPU time of the quickest of several, as other work on the machine only adds to it. Run: python bench_detect.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import process_time

import numpy as np

from ampler import Question, make_plan
from ampler.core.contracts import FinishedGroup
from ampler.core.runs import Runs
from ampler.core.values import Plan
from ampler.sampling.rules import Fixed
from ampler.study.detect_rule import Detect
from ampler.study.stopping import decided
from measuring import Row, print_table

LIMIT = 50.0  # milliseconds
ALGORITHMS, INSTANCES, REPEATS = 22, 300, 15


def rows() -> Iterator[Row]:
    for difference in ("simple", "percent", "ratio"):
        for reference in ("a0", None):
            spent = decision_time(difference, reference)
            pairs = "a reference" if reference else "all with all"
            what = f"decision of {ALGORITHMS} algorithms, {difference}, {pairs}"
            yield what, f"{LIMIT:.0f} ms", f"{spent:.1f} ms", spent <= LIMIT


def decision_time(difference: str, reference: str | None) -> float:
    """Milliseconds from the recorded runs of a pilot to the decision."""
    plan = make_plan(
        question=Question(difference, reference=reference, better="lower"),  # type: ignore[arg-type]
        algorithms={f"a{k}": min for k in range(ALGORITHMS)},
        instances=[f"i{number}" for number in range(INSTANCES)],
        rule=Fixed(runs=5),
        study_rule=Detect(detect=2.0 if difference == "simple" else 0.02),
        count="all",
    )
    pilot = decided(plan, ())
    runs = pilot_runs(plan, pilot.instances)  # type: ignore[union-attr]
    return 1000 * min(_once(plan, FinishedGroup(pilot, (), lambda: runs)) for _ in range(REPEATS))  # type: ignore[arg-type]


def pilot_runs(plan: Plan, instances: tuple[str, ...]) -> Runs:
    rng = np.random.default_rng(7)
    keys = [(i, a.name) for i in instances for a in plan.algorithms for _ in range(5)]
    return Runs.from_columns([i for i, _ in keys], [a for _, a in keys], rng.normal(100, 8, len(keys)))


def _once(plan: Plan, pilot: FinishedGroup) -> float:
    began = process_time()
    decided(plan, (pilot,))
    return process_time() - began


if __name__ == "__main__":
    sys.exit(print_table(rows()))
