"""Speed of the estimates: all standard errors after one more run, and a decision with a bootstrapped statistic.

Run it with `make bench` or by itself; it exits with 1 if a target is missed.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable

import numpy as np

from ampler.comparisons import comparison
from ampler.estimators import estimate
from ampler.samples import Samples
from ampler.sampling import Accuracy

TIMES_LESS = 20.0  # against numpy.var of each algorithm's list
MILLISECONDS = 15.0  # a decision with 999 resamples, ten algorithms, 50 values each
KINDS = [("simple", None), ("simple", 0), ("percent", None), ("percent", 0), ("log-ratio", None), ("log-ratio", 0)]


def main() -> int:
    """Print the table and return the exit code."""
    print(f"{'what':66} {'target':>10} {'measured':>10}")
    met = [
        line(f"all SEs after a run, A = {size}, {difference}{', reference' if reference == 0 else ''}", "times", ratio)
        for size in (22, 50)
        for difference, reference, ratio in updates(size)
    ]
    met += [line(f"decision after a run, bootstrap of the {name}", "ms", time) for name, time in decisions()]
    return 0 if all(met) else 1


def line(what: str, unit: str, measured: float) -> bool:
    met = measured >= TIMES_LESS if unit == "times" else measured < MILLISECONDS
    target = f"≥ {TIMES_LESS:g}×" if unit == "times" else f"< {MILLISECONDS:g} ms"
    shown = f"{measured:.0f}×" if unit == "times" else f"{measured:.2f} ms"
    print(f"{what:66} {target:>10} {shown:>10}{'' if met else '  missed'}")
    return met


def updates(size: int):
    """Yield how many times less one update of all standard errors takes than a pass of numpy.var over all lists."""
    rng = np.random.default_rng(2019)
    lists = {f"a{place}": rng.normal(100.0, 10.0, 100).tolist() for place in range(size)}
    fresh = iter(rng.normal(100.0, 10.0, 10_000_000).tolist())
    for difference, reference in KINDS:
        samples = Samples.of(lists)
        goal = comparison(size, difference=difference, reference=reference)

        def update(samples=samples, goal=goal) -> None:
            samples.add("a3", next(fresh))
            np.sqrt(goal.squared_errors(samples.scaled_means, samples.scaled_squared_errors))

        def passes() -> None:
            for values in lists.values():
                np.var(values, ddof=1)

        yield difference, reference, best_ratio(passes, update)


def best_ratio(slow: Callable[[], None], fast: Callable[[], None], repeats: int = 200) -> float:
    """The ratio of the best times: short blocks in turn, so that some of both run undisturbed on a busy machine."""
    times = [(timeit.timeit(slow, number=2) / 2, timeit.timeit(fast, number=50) / 50) for _ in range(repeats)]
    return min(time for time, _ in times) / min(time for _, time in times)


def decisions():
    """Yield the milliseconds of one more run and the decision after it, for bootstrapped statistics."""
    for name, statistic in (("mean", np.mean), ("median", np.median)):
        rule = Accuracy(se=0.1, difference="simple", statistic=statistic, budget=100_000)
        yield f"{name}, the rule", each(rule)
    for name in ("mean", "median"):
        yield (
            f"{name}, of the differences",
            each(lambda samples, name=name: estimate(samples, difference="simple", statistic=name, method="bootstrap")),
        )


def each(decide: Callable[[Samples], object], repeats: int = 25) -> float:
    rng = np.random.default_rng(7)
    samples = Samples.of({f"a{place}": rng.normal(100.0, 10.0, 50) for place in range(10)})
    decide(samples)
    times = []
    for place in range(repeats):
        begin = timeit.default_timer()
        samples.add(f"a{place % 10}", float(rng.normal(100.0, 10.0)))
        decide(samples)
        times.append(timeit.default_timer() - begin)
    return 1000.0 * sorted(times)[repeats // 2]


if __name__ == "__main__":
    sys.exit(main())
