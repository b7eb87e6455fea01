"""The speed of one whole decision: statistics, guard, allocation, stop; in milliseconds, and against CAISEr's.

CPU time of the quickest of many blocks, as other work on the machine only adds to it. Run: python bench_decision.py

CAISEr decides after every run, so one of our rounds of 16 runs stands against 16 of its decisions. Where R has the
package both are timed in turns, and the quickest of each counts; else its time is the one it took beside an earlier
ampler (see `caiser`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import caiser
from ampler.core.arrays import Samples
from ampler.sampling.rules import Accuracy
from speed_page import Line, keep, quickest

LIMITS = {22: 1.0, 50: 5.0}  # milliseconds
CASES = [("simple", True), ("simple", False), ("ratio", False), ("percent", True), ("percent", False)]
CHEAPER = 100  # times, than CAISEr
ROUND = 16
TURNS = 5  # of both programs, the quickest of each


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
    return int(missed) | keep("bench_decision", against_caiser())


def against_caiser() -> Iterator[Line]:
    """How many times cheaper a decision is than CAISEr's, with 22 algorithms and percent differences."""
    for reference in (False, True):
        timed = [(caiser.decision(reference), both_rules(reference)) for _ in range(TURNS)]
        (theirs, who), ours = min(their for their, _ in timed), np.min([our for _, our in timed], axis=0)
        for preset, runs, spent in ((False, ROUND, ours[0]), (True, 1, ours[1])):
            ratio = runs * theirs / (spent / 1000)
            rule = "the paper's rule" if preset else "the usual rule"
            what = f"a decision of {rule}, 22 algorithms, {'against one' if reference else 'all pairs'}"
            yield Line(what, f"≥ {CHEAPER} ×", f"{ratio:.0f} ×", ratio >= CHEAPER, who)


def both_rules(reference: bool) -> list[float]:
    """Milliseconds for a decision of the usual rule and of the paper's."""
    return [decision_time(22, "percent", reference, "pairs", preset=preset) for preset in (False, True)]


def decision_time(algorithms: int, difference: str, reference: bool, guard: str, *, preset: bool = False) -> float:
    """Milliseconds for a decision half-way: about 30 runs of each, sds that differ, a full round still wanting."""
    rng = np.random.default_rng(7)
    counts, deviations = rng.integers(20, 40, algorithms), 5 * np.exp(rng.normal(0, 0.5, algorithms))
    samples = Samples.of({f"a{k}": rng.normal(100 + k, deviations[k], counts[k]) for k in range(algorithms)})
    how = {"se": 0.5 if difference == "simple" else 0.005, "difference": difference, "budget": 10**6}
    how |= {"reference": "a0" if reference else None}
    rule = Accuracy.as_in_paper(**how) if preset else Accuracy(guard=guard, **how)
    assert rule(samples).total == rule.batch
    return 1000 * quickest(lambda: rule(samples), 100 if preset else 10)


if __name__ == "__main__":
    sys.exit(main())
