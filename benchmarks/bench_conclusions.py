"""The speed of what is concluded over instances: looks, a plan after a pilot, and posteriors.

CPU time of the quickest of several tries, as other work on the machine only adds to it. baycomp is timed in the same
run where it is installed. Run: python bench_conclusions.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import chain
from time import process_time

import numpy as np

from ampler.analysis import analyse_runs
from ampler.analysis.bayes import bayes_of
from ampler.analysis.compare import compare, equivalence
from ampler.core.choices import Test
from ampler.core.runs import Runs
from ampler.core.settings import AnalysisSettings
from ampler.design.detect import DetectGoal
from ampler.stats.bayes.posterior import posterior
from ampler.stats.bayes.rankings import rank_posterior
from ampler.stats.bayes.shared import shared_posteriors
from ampler.stats.bayes.signed_rank import signed_rank
from ampler.stats.contrasts import contrasts_among
from ampler.stats.sequential import student
from ampler.stats.sequential.decisions import Declared, decide
from ampler.stats.sequential.evidence import t_evidence
from ampler.stats.sequential.spending import named_spending
from ampler.study.detect import decide_after_pilot
from speed_page import Line, keep

LOOKS = (24, 35, 47, 58)
TRIES = 3
FASTER = 20  # times baycomp


def main() -> int:
    rng = np.random.default_rng(3)
    table = rng.normal(0.02, 0.1, (57, 21)) + rng.normal(0, 0.1, (57, 1))
    errors = rng.uniform(0.01, 0.05, (57, 21))
    declared = Declared(LOOKS)
    evidence = t_evidence(rng.normal(0.3, 1.0, (58, 21)), LOOKS, effect=0.5)
    tasks: dict[str, tuple[Callable[[], object], float]] = {
        "21 boundaries of four looks": (boundaries, 600.0),
        "a look at 21 comparisons": (lambda: decide(evidence, declared), 5.0),
        "bootstrap-t of 21 comparisons, 9 999 resamples": (lambda: compared(table, "bootstrap-t"), 1000.0),
        "sign flips of 21 comparisons, 9 999 flips": (lambda: compared(table, "sign-flip"), 1000.0),
        "a plan after a pilot, A = 22": (plan_after_pilot, 50.0),
        "posteriors of 21 comparisons, all of it": (lambda: everything(table, errors), 1500.0),
        "analysis.bayes of 22 algorithms on 57 instances, all of it": (all_probable(), 1500.0),
        "ranking of 22 algorithms": (lambda: ranking(table), 330.0),
    }
    return keep("bench_conclusions", chain(lines_of(tasks), beside_baycomp(table[:, 0])))


def lines_of(tasks: dict[str, tuple[Callable[[], object], float]]) -> Iterator[Line]:
    for what, (task, limit) in tasks.items():
        spent = 1000 * quickest(task)
        yield Line(what, f"≤ {limit:.0f} ms", f"{spent:.1f} ms", spent <= limit, "processor time")


def quickest(task: Callable[[], object]) -> float:
    task()
    spent = []
    for _ in range(TRIES):
        began = process_time()
        task()
        spent.append(process_time() - began)
    return min(spent)


def compared(table: np.ndarray, test: Test) -> None:
    """Decisions, both kinds of intervals, and equivalence."""
    compare(table, [("first", str(k)) for k in range(table.shape[1])], test=test)
    equivalence(table, margin=0.02, test=test)


def boundaries() -> None:
    student._student_levels.cache_clear()
    for divisor in range(1, 22):
        student.student_levels(named_spending("OF"), 0.05 / divisor, LOOKS)


def plan_after_pilot() -> None:
    rng = np.random.default_rng(8)
    theta = 100 + rng.normal(0, 20, (20, 1)) + rng.normal(0, 2, (20, 22))
    variances = rng.chisquare(4, (20, 22)) * rng.uniform(1, 5, 22)
    contrasts = contrasts_among(22, difference="percent", reference=None)
    decide_after_pilot(theta, variances, contrasts, DetectGoal(0.01, instance_cost=100.0))


def everything(table: np.ndarray, errors: np.ndarray) -> None:
    for y, se in zip(table.T, errors.T, strict=True):
        posterior(y, se, margin=0.02)
        posterior(y, se, margin=0.02, weights="precision")
        posterior(y, se, margin=0.02, model="robust")
        signed_rank(y, margin=0.02)
    shared_posteriors(table, margin=0.02)
    ranking(table)


def all_probable() -> Callable[[], object]:
    """Everything that `analysis.bayes` gives, beyond the analysis: posteriors, verdicts, other models, rankings."""
    rng = np.random.default_rng(5)
    level = 100 + rng.normal(0, 10, (57, 1, 1)) + rng.normal(0, 2, (57, 22, 1))
    values = level + rng.normal(0, 3, (57, 22, 10))
    instance, algorithm, _ = np.indices(values.shape)
    runs = Runs.from_columns(
        [f"i{k}" for k in instance.ravel()], [f"a{k}" for k in algorithm.ravel()], values.ravel().tolist()
    )
    analysis = analyse_runs(runs, AnalysisSettings(difference="percent", reference="a0", margin=0.02))
    return lambda: bayes_of(analysis).as_dict()


def ranking(table: np.ndarray) -> None:
    rank_posterior(np.column_stack([np.zeros(len(table)), table]), better="lower")


def beside_baycomp(z: np.ndarray) -> Iterator[Line]:
    """The signed-rank test beside baycomp's on the same differences, where that is installed."""
    try:
        import baycomp
    except ImportError:
        print("baycomp is not installed: no comparison with its signed-rank test")
        return
    ours = quickest(lambda: signed_rank(z, margin=0.02, draws=50_000))
    theirs = quickest(lambda: baycomp.SignedRankTest.probs(np.zeros(len(z)), z, rope=0.02, nsamples=50_000))
    ratio = theirs / ours
    yield Line(
        "signed-rank test, 50 000 draws", f"≥ {FASTER} ×", f"{ratio:.0f} ×", ratio >= FASTER, "baycomp, in turns"
    )


if __name__ == "__main__":
    sys.exit(main())
