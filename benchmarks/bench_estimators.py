"""Speed of estimates and decisions: all standard errors after one more run, whole decisions, bootstrapped statistics.

Run it with `make bench` or by itself; it exits with 1 if a target is missed.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable, Iterator
from time import process_time

import numpy as np

from ampler.core.samples import Samples
from ampler.sampling.rules import Accuracy
from ampler.stats.contrasts import contrasts_among
from ampler.stats.estimate import estimate
from measuring import Row, print_table

TIMES_LESS = 20.0  # than numpy.var of each algorithm's list
RESAMPLED = 15.0  # milliseconds of a decision with 999 resamples, ten algorithms, 50 values each
DECISION = {22: 1.0, 50: 5.0}  # milliseconds of a whole decision: guard, allocation, stop
KINDS = [("simple", None), ("simple", 0), ("percent", None), ("percent", 0), ("ratio", None), ("ratio", 0)]


def main() -> int:
    """Print the table and return the exit code."""
    return print_table(rows())


def rows() -> Iterator[Row]:
    for size in (22, 50):
        for difference, reference in KINDS:
            kind = f"A = {size}, {difference}{'' if reference is None else ' to a reference'}"
            ratio = update_ratio(size, difference, reference)
            yield f"all SEs after a run, {kind}", f"≥ {TIMES_LESS:g}×", f"{ratio:.0f}×", ratio >= TIMES_LESS
    for size, most in DECISION.items():
        for difference, reference in KINDS:
            kind = f"A = {size}, {difference}{'' if reference is None else ' to a reference'}"
            time = decision_time(size, difference, reference)
            yield f"a decision, {kind}", f"< {most:g} ms", f"{time:.2f} ms", time < most
    for what, time in resampled_times():
        yield f"a decision, A = 10, bootstrap of {what}", f"< {RESAMPLED:g} ms", f"{time:.2f} ms", time < RESAMPLED


def seconds(call: Callable[[], object], number: int) -> float:
    """Processor time of one of so many calls: what other work on the machine takes is no part of it."""
    return timeit.timeit(call, number=number, timer=process_time) / number


def update_ratio(size: int, difference: str, reference: int | None) -> float:
    """How many times less an update of all standard errors takes than a pass of numpy.var over all lists."""
    rng = np.random.default_rng(2019)
    lists = {f"a{place}": rng.normal(100.0, 10.0, 100).tolist() for place in range(size)}
    fresh = iter(rng.normal(100.0, 10.0, 100_000).tolist())
    samples, contrasts = Samples.of(lists), contrasts_among(size, difference=difference, reference=reference)

    def update() -> None:
        samples.add("a3", next(fresh))
        np.sqrt(contrasts.squared_errors(samples.scaled_means, samples.scaled_variances / samples.counts))

    def passes() -> None:
        for values in lists.values():
            np.var(values, ddof=1)

    # Short blocks in turn: some of both run undisturbed even on a busy machine.
    times = [(seconds(passes, 2), seconds(update, 50)) for _ in range(200)]
    return min(time for time, _ in times) / min(time for _, time in times)


def decision_time(size: int, difference: str, reference: int | None) -> float:
    """Milliseconds of a decision in the middle of sampling, with the default allocation and guard."""
    rng = np.random.default_rng(7)
    samples = Samples.of({f"a{place}": rng.normal(100.0, 3.0 + place % 5, 40) for place in range(size)})
    se = 0.3 if difference == "simple" else 0.003
    name = None if reference is None else f"a{reference}"
    rule = Accuracy(se=se, difference=difference, reference=name, budget=100_000)
    return 1000.0 * min(seconds(lambda: rule(samples), 1) for _ in range(200))


def resampled_times() -> Iterator[tuple[str, float]]:
    for name, statistic in (("the mean", np.mean), ("the median", np.median)):
        rule = Accuracy(se=0.1, difference="simple", statistic=statistic, budget=100_000)
        yield name, time_after_a_run(rule)
    for name in ("mean", "median"):

        def errors(samples: Samples, name: str = name) -> object:
            return estimate(samples, difference="simple", statistic=name, method="bootstrap")

        yield f"differences of the {name}", time_after_a_run(errors)


def time_after_a_run(decide: Callable[[Samples], object], repeats: int = 25) -> float:
    """Milliseconds of one more run and the decision after it: the median, as each resamples one algorithm anew."""
    rng = np.random.default_rng(7)
    samples = Samples.of({f"a{place}": rng.normal(100.0, 10.0, 50) for place in range(10)})
    decide(samples)
    times = []
    for place in range(repeats):
        begin = process_time()
        samples.add(f"a{place % 10}", float(rng.normal(100.0, 10.0)))
        decide(samples)
        times.append(process_time() - begin)
    return 1000.0 * sorted(times)[repeats // 2]


if __name__ == "__main__":
    sys.exit(main())
