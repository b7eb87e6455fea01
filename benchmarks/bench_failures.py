"""Rare failures that count as a penalty, and an instance at the time limit: how often is a wrong claim made?

    python benchmarks/bench_failures.py            a table on the terminal
    python benchmarks/bench_failures.py --write    docs/benchmarks/failures.md as well

Whole studies of two algorithms with equal means. A claim is a verdict of better or worse.
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
from ampler.core.failures import FailurePolicy, Par, Penalty
from ampler.core.runs import STATUSES, Runs
from ampler.core.settings import AnalysisSettings
from ampler.sampling.rules import Accuracy, sample

SEED = 20261119  # fixed before the first look
STUDIES = 300
LIMIT, SPREAD = 100.0, 3.0
INSTANCES, RUNS = 20, 10
RULE = Accuracy(se=1.0, start=10, budget=80, difference="simple")
POLICIES: dict[str, FailurePolicy] = {"PAR10": Par(10, LIMIT), "penalty 10,000": Penalty(1e4)}
RATES = (0.002, 0.005, 0.01, 0.02, 0.05)
LATE = STATUSES.index("timeout")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "failures.md"


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
    significant: float
    claimed: float
    wrong: float
    covered: float


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


def row(world: World, size: str, policy: str) -> Row:
    """Carry out the studies of a cell."""
    counted = POLICIES[policy]
    penalty = counted.value if isinstance(counted, Penalty) else 10 * LIMIT
    asked = {"se": RULE.se, "start": RULE.start, "budget": RULE.budget} if size == "se" else {}
    settings = AnalysisSettings(difference="simple", failures=counted, **asked)
    found = []
    for number in range(STUDIES):
        runs = study(world, size, penalty, np.random.default_rng([SEED, number]))
        [each] = analyse_runs(runs, settings, rule=RULE if size == "se" else None).comparisons
        low, high = each.joint_interval
        wrong = each.claimed and (world.truth == 0 or (each.estimate > 0) != (world.truth > 0))
        found.append((each.rejected, each.claimed, wrong, low <= world.truth <= high))
    return Row(size, world.name, policy, *np.mean(found, axis=0).tolist())


def cells() -> Iterator[tuple[World, str, str]]:
    """Everything that is looked at."""
    for rate in RATES:
        for failing, who in (((rate, rate), "both fail"), ((rate, 0.0), "one fails")):
            world = World(f"{who} in {100 * rate:g} %", failing)
            yield from ((world, "fixed", policy) for policy in POLICIES)
            yield world, "se", "PAR10"
    for failing in ((0.5, 0.5), (0.6, 0.5), (0.2, 0.1), (0.9, 0.8), (0.05, 0.05)):
        shown = " and ".join(f"{100 * each:g} %" for each in failing)
        yield World(f"one instance at the limit, {shown}", failing, at_limit=True, gain=1.0), "fixed", "PAR10"


def refused() -> str:
    """Return what a study with detect says to a penalty."""
    two = {name: (lambda instance, seed: instance + seed % 7) for name in "ab"}
    asked = {"difference": "simple", "better": "lower", "on_failure": Penalty(1000.0)}
    try:
        am.Study(algorithms=two, instances={f"i{n}": n + 1.0 for n in range(40)}, detect=0.5, **asked).run("none.db")
    except am.AmplerError as problem:
        return str(problem)
    raise AssertionError("detect takes penalties")


def table(rows: list[Row]) -> list[str]:
    """Return the results as Markdown."""
    header = "| runs | world | failures count as | significant | claimed | wrong claims | covered |"
    return [header, "|---|---|---|--:|--:|--:|--:|", *map(_line, rows)]


def _line(row: Row) -> str:
    numbers = " | ".join(f"{each:.3f}" for each in (row.significant, row.claimed, row.wrong, row.covered))
    return f"| {row.size} | {row.world} | {row.policy} | {numbers} |"


def main() -> None:
    """Print the table, and write the page if asked."""
    rows = []
    for cell in cells():
        rows.append(row(*cell))
        print(_line(rows[-1]), flush=True)
    most, least = 0.05 + 3 * sqrt(0.05 * 0.95 / STUDIES), 0.94 - 3 * sqrt(0.94 * 0.06 / STUDIES)
    missed = [each for each in rows if each.wrong > most or ("limit" in each.world and each.covered < least)]
    print(f"{len(rows)} cells; missed targets: {len(missed)}")
    if "--write" in sys.argv:
        text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        before = text.split("| runs |")[0]
        PAGE.write_text(before + "\n".join(table(rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
