"""Rare failures that count as a penalty, and an instance at the time limit: how often is a wrong claim made?

    python benchmarks/bench_failures.py            some studies of every cell
    python benchmarks/bench_failures.py --write    all; docs/benchmarks/failures.csv and failures.md
    python benchmarks/bench_failures.py --page     only the page, from the results that are there

Whole studies of two algorithms with equal means. A claim is a verdict of better or worse.
Results are kept cell by cell, so a run that was stopped resumes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np

import ampler as am
from ampler.analysis import analyse_runs
from ampler.core.arrays import STATUSES, Runs
from ampler.core.failures import FailurePolicy, Par, Penalty
from ampler.core.settings import Settings
from ampler.sampling.rules import Accuracy, sample
from kept_results import FOLDER, append, asked, read

SEED = 20261119  # fixed before the first study
STUDIES = 300  # of a cell
FEW = 5
LIMIT, SPREAD = 100.0, 3.0
INSTANCES, RUNS = 20, 10
RULE = Accuracy(se=1.0, start=10, budget=80, difference="simple")
POLICIES: dict[str, FailurePolicy] = {"PAR10": Par(10, LIMIT), "penalty 10,000": Penalty(1e4)}
RATES = (0.002, 0.005, 0.01, 0.02, 0.05)
LATE = STATUSES.index("timeout")
ERROR, COVERAGE = 0.05, 0.94


@dataclass(frozen=True)
class World:
    """How often each of two algorithms fails, on all instances or on the first alone; their means are `apart`."""

    name: str
    failing: tuple[float, float]
    at_limit: bool = False
    gain: float = 0.0  # of the first on all other instances, where one is at the limit

    def draw(self, rng: np.random.Generator, instance: int, who: int, base: float, penalty: float) -> float | None:
        """Return the value of a run; None where it fails."""
        rate = self.failing[who] if not self.at_limit or instance == 0 else 0.0
        if rng.random() < rate:
            return None
        if self.at_limit and instance == 0:
            return float(rng.uniform(85, LIMIT))
        if self.at_limit:
            return base + float(rng.normal(0, 1)) - self.gain * (who == 0)
        own = max(self.failing)  # who fails less is slower, so that the means are equal
        level = base + (penalty - base) * (own - rate) / (1 - rate)
        return level + float(rng.normal(0, SPREAD))

    @property
    def truth(self) -> float:
        """The mean difference under PAR10."""
        if not self.at_limit:
            return 0.0
        first, second = ((85 + LIMIT) / 2 * (1 - rate) + 10 * LIMIT * rate for rate in self.failing)
        return ((INSTANCES - 1) * -self.gain + first - second) / INSTANCES


@dataclass(frozen=True)
class Row:
    """What came out of the studies of a cell."""

    size: str
    world: str
    policy: str
    studies: int
    significant: float  # the test rejects
    claimed: float  # the verdict is better or worse
    wrong: float  # so, and not true
    silent: float  # wrong, and no warning of the first rank
    covered: float  # the simultaneous interval holds the true difference


def study(world: World, size: str, penalty: float, rng: np.random.Generator) -> Runs:
    """Make the runs of a study."""
    rows = []
    for i in range(INSTANCES):
        base = float(rng.uniform(20, 60) if world.at_limit else rng.uniform(40, 60))
        if size == "se":
            drawn: list[tuple[int, float | None]] = []

            def value(name: str, _: int, i: int = i, base: float = base, into: list = drawn) -> float:  # type: ignore[type-arg]
                into.append((int(name), world.draw(rng, i, int(name), base, penalty)))
                return penalty if into[-1][1] is None else into[-1][1]

            sample(RULE, value, ("0", "1"))
        else:
            drawn = [(who, world.draw(rng, i, who, base, penalty)) for who in (0, 1) for _ in range(RUNS)]
        rows += [(f"i{i}", str(who), np.nan if v is None else v, "timeout" if v is None else "ok") for who, v in drawn]
    return Runs.from_columns(*zip(*rows, strict=True))


def row(world: World, size: str, policy: str, studies: int) -> Row:
    """Carry out the studies of a cell."""
    counted = POLICIES[policy]
    penalty = counted.value if isinstance(counted, Penalty) else 10 * LIMIT
    stated = {"se": RULE.se, "start": RULE.start, "budget": RULE.budget} if size == "se" else {}
    settings = Settings(difference="simple", failures=counted, **stated)
    found = []
    for number in range(studies):
        runs = study(world, size, penalty, np.random.default_rng([SEED, number]))
        analysis = analyse_runs(runs, settings, rule=RULE if size == "se" else None)
        [each] = analysis.comparisons
        low, high = each.joint_interval
        wrong = each.claimed and (world.truth == 0 or (each.estimate > 0) != (world.truth > 0))
        silent = wrong and not any(warning.severity == "could reverse a verdict" for warning in analysis.warnings)
        found.append((each.rejected, each.claimed, wrong, silent, low <= world.truth <= high))
    return Row(size, world.name, policy, studies, *np.mean(found, axis=0).tolist())


def cells() -> Iterator[tuple[World, str, str]]:
    """Every world, way to choose the runs, and policy."""
    for rate in RATES:
        for failing, who in (((rate, rate), "both fail"), ((rate, 0.0), "one fails")):
            world = World(f"{who} in {100 * rate:g} %", failing)
            yield from ((world, size, policy) for size in ("fixed", "se") for policy in POLICIES)
    for failing in ((0.5, 0.5), (0.6, 0.5), (0.2, 0.1), (0.9, 0.8), (0.05, 0.05)):
        shown = " and ".join(f"{100 * each:g} %" for each in failing)
        world = World(f"one instance at the limit, {shown}", failing, at_limit=True, gain=1.0)
        yield from ((world, size, "PAR10") for size in ("fixed", "se"))


def refused() -> str:
    """Return what a study with detect says to a penalty."""
    two = {name: (lambda instance, seed: instance + seed % 7) for name in "ab"}
    options = {"difference": "simple", "better": "lower", "on_failure": Penalty(1000.0)}
    try:
        am.Study(algorithms=two, instances={f"i{n}": n + 1.0 for n in range(40)}, detect=0.5, **options).run("none.db")
    except am.AmplerError as problem:
        return str(problem)
    raise AssertionError("detect takes penalties")


INTRODUCTION = f"""# Rare failures and time limits

Whole studies of two algorithms, {STUDIES} per cell or more, with seeds fixed before the first study. Failures count as
PAR10 of a limit of {LIMIT:g}, or as 10,000. In the first worlds the means are equal: both algorithms fail equally
often, or one fails and the other is slower. In the last worlds one of {INSTANCES} instances is at the time limit; the
failure rates of the two algorithms hold there. *Significant*: the test rejects.
*Claimed*: the verdict is better or worse.
*Wrong*: a claim that is not true. *Silent*: a wrong claim without a first-rank warning. *Covered*: the simultaneous
interval contains the true difference. Studies have {RUNS} runs on each instance (*fixed*), or a target standard error
(*se*). The targets are at most {ERROR} wrong claims, and a coverage of {COVERAGE} at the time limit, each within three
standard errors. Without a failed run, no interval can contain a penalty: the verdict is inconclusive instead.
Written by `python benchmarks/bench_failures.py`.
"""


def page(rows: list[Row]) -> str:
    """Return the page, missed targets first."""
    most = {row: ERROR + 3 * sqrt(ERROR * (1 - ERROR) / row.studies) for row in rows}
    least = {row: COVERAGE - 3 * sqrt(COVERAGE * (1 - COVERAGE) / row.studies) for row in rows}
    missed = [f"- wrong claims in {row.wrong:.3f}: {_described(row)}" for row in rows if row.wrong > most[row]]
    missed += [
        f"- coverage {row.covered:.3f}: {_described(row)}"
        for row in rows
        if "limit" in row.world and row.covered < least[row]
    ]
    head = "| runs | world | failures count as | studies | significant | claimed | wrong | silent | covered |"
    absent = len(list(cells())) - len(rows)
    missed += [f"- Not measured yet: {absent} of the cells."] if absent else []
    parts = [INTRODUCTION, "## What is not reached\n", *(missed or ["Nothing."])]
    parts += ["\n## All cells\n", head, "|---|---|---|--:|--:|--:|--:|--:|--:|", *map(_line, rows)]
    parts += [f"\n## detect\n\n`detect` refuses a penalty:\n\n```text\n{refused()}\n```"]
    return "\n".join(parts) + "\n"


def _line(row: Row) -> str:
    numbers = " | ".join(f"{x:.3f}" for x in (row.significant, row.claimed, row.wrong, row.silent, row.covered))
    return f"| {row.size} | {row.world} | {row.policy} | {row.studies} | {numbers} |"


def _described(row: Row) -> str:
    return f"{row.size}, {row.world}, {row.policy}"


def measure(path: Path | None) -> list[Row]:
    """Measure every cell that is not there yet."""
    rows = read(path, Row) if path is not None else []
    there = {(row.size, row.world, row.policy) for row in rows}
    for world, size, policy in cells():
        if (size, world.name, policy) not in there:
            rows.append(row(world, size, policy, FEW if path is None else STUDIES))
            if path is not None:
                append(path, rows[-1:])
    return rows


def main() -> int:
    """Measure, and print or write the page."""
    chosen = asked(__doc__)
    path = FOLDER / "failures.csv"
    rows = read(path, Row) if chosen.page else measure(path if chosen.write else None)
    if chosen.write or chosen.page:
        (FOLDER / "failures.md").write_text(page(rows), encoding="utf-8")
    else:
        print(page(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
