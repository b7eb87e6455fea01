"""The speed of one whole decision: statistics, guard, allocation, stop.

CPU time of the quickest of many blocks, as other work on the machine only adds to it. Run: python bench_decision.py
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

from ampler.core.samples import Samples
from ampler.sampling.rules import Accuracy

LIMITS = {22: 1.0, 50: 5.0}  # milliseconds
CASES = [("simple", True), ("simple", False), ("log-ratio", False), ("percent", True), ("percent", False)]
BLOCKS, REPEATS = 15, 10


def main() -> int:
    print(f"{'difference':<12}{'pairs':<12}{'guard':<8}{'A':>4}{'ms':>8}{'limit':>8}")
    missed = False
    for algorithms, limit in LIMITS.items():
        for difference, reference in CASES:
            for guard in ("pairs", "all"):
                spent = decision_time(algorithms, difference, reference, guard)
                missed |= spent > limit
                pairs = "reference" if reference else "all"
                verdict = "" if spent <= limit else "  MISSED"
                print(f"{difference:<12}{pairs:<12}{guard:<8}{algorithms:>4}{spent:>8.2f}{limit:>8.1f}{verdict}")
    return int(missed)


def decision_time(algorithms: int, difference: str, reference: bool, guard: str) -> float:
    """Milliseconds for a decision half-way: about 30 runs of each, sds that differ, a full round still wanting."""
    rng = np.random.default_rng(7)
    counts, deviations = rng.integers(20, 40, algorithms), 5 * np.exp(rng.normal(0, 0.5, algorithms))
    samples = Samples.of({f"a{k}": rng.normal(100 + k, deviations[k], counts[k]) for k in range(algorithms)})
    se = 0.5 if difference == "simple" else 0.005
    rule = Accuracy(se=se, difference=difference, reference="a0" if reference else None, guard=guard, budget=10**6)
    assert rule(samples).total == rule.batch
    return 1000 * min(_block(rule, samples) for _ in range(BLOCKS)) / REPEATS


def _block(rule: Accuracy, samples: Samples) -> float:
    began = process_time()
    for _ in range(REPEATS):
        rule(samples)
    return process_time() - began


if __name__ == "__main__":
    sys.exit(main())
