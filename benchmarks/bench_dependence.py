"""Error and power where observations belong together: clusters, nested runs, sessions, folds, shared seeds.

    python benchmarks/bench_dependence.py                  a few tables and studies of every cell
    python benchmarks/bench_dependence.py --write          all; docs/benchmarks/dependence.csv and dependence.md
    python benchmarks/bench_dependence.py --page           only the page, from the results that are there

Every table and study uses the public interface. Results are kept cell by cell, so a run that was stopped resumes.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import ampler as am
from ampler.sampling.rules import Accuracy, sample
from ampler.testing import SerialExecutor
from kept_results import FOLDER, append, asked, read

Floats = NDArray[np.float64]
SEED = 20261119  # fixed before the first look
TABLES, STUDIES, INSTANCES, FEW = 600, 200, 40, 4
RESULTS, PAGE = FOLDER / "dependence.csv", FOLDER / "dependence.md"
SE = 0.15  # of the shared-seed rule, in standard deviations of a run


@dataclass(frozen=True)
class Row:
    """What came out in a cell; `goal` is "level", "power", "ignored" or "runs"."""

    group: str
    cell: str
    goal: str
    number: int  # of tables, studies or instances
    found: float  # the share of significant ones, or the mean number of runs
    error: float  # its standard error
    reached: float  # of the runs: the share of pairs truly known to the standard error


@dataclass(frozen=True)
class Cell:
    """A world, and how one table or study of it is made: it returns whether a difference is claimed."""

    group: str
    cell: str
    goal: str
    number: int
    once: Callable[[np.random.Generator], bool]

    def row(self, number: int) -> Row:
        """Return what came out of so many."""
        rng = np.random.default_rng([SEED, *self.cell.encode(), *self.goal.encode()])
        found = float(np.mean([self.once(rng) for _ in range(number)]))
        return Row(self.group, self.cell, self.goal, number, found, sqrt(found * (1 - found) / number), 0.0)


# tables -----------------------------------------------------------------------------------------------------------

SIZES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "10 each": lambda rng, clusters: np.full(clusters, 10),
    "4 to 16": lambda rng, clusters: rng.integers(4, 17, clusters),
    "lognormal": lambda rng, clusters: np.maximum(1, np.round(6 * rng.lognormal(0, 1, clusters))).astype(int),
    "one holds half": lambda rng, clusters: np.array([6 * (clusters - 1), *[6] * (clusters - 1)]),
}


def _differences(rng: np.random.Generator, shape: str, labels: Any, icc: float) -> Floats:
    """Differences with mean 0 whose instances are alike within clusters."""
    clusters = int(labels.max()) + 1
    if shape == "exponential":
        common, own = rng.exponential(1, clusters) - 1, rng.exponential(1, len(labels)) - 1
    else:
        common, own = rng.normal(0, 1, clusters), rng.normal(0, 1, len(labels))
    x = sqrt(icc) * common[labels] + sqrt(1 - icc) * own
    return np.asarray(np.sign(x) * (np.abs(x) > 0.7) if shape == "-1, 0, 1" else x, dtype=float)


def _claims(frame: pd.DataFrame, settings: am.Settings | None = None, **reading: Any) -> bool:
    results = am.read_results(frame, algorithm="algorithm", value="value", **reading)
    analysis = am.analyse(results, difference="simple", better="lower", settings=settings)
    return any(item.rejected for item in analysis.comparisons)


def _table(columns: dict[str, Any], differences: Floats) -> pd.DataFrame:
    """Two algorithms that differ by so much in each row."""
    base = pd.DataFrame(columns)
    parts = [
        base.assign(algorithm=name, value=50.0 + own) for name, own in (("a", 0 * differences), ("b", differences))
    ]
    return pd.concat(parts, ignore_index=True)


def clustered(shape: str, sizes: str, clusters: int, icc: float, *, declared: bool = True, **settings: Any) -> Cell:
    """Instances of clusters."""

    def once(rng: np.random.Generator) -> bool:
        labels = np.repeat(np.arange(clusters), SIZES[sizes](rng, clusters))
        names = {"instance": [f"i{n}" for n in range(len(labels))], "source": [f"s{n}" for n in labels]}
        frame = _table(names, _differences(rng, shape, labels, icc))
        reading = {"cluster": "source"} if declared else {"ignore": "source"}
        return _claims(frame, am.Settings(**settings) if settings else None, instance="instance", **reading)

    how = "".join(f", {name} {value}" for name, value in settings.items()).replace("_", "-")
    cell = f"{shape}, {clusters} clusters, {sizes}, ICC {icc}{how}"
    return Cell("clusters", cell, "level" if declared else "ignored", TABLES, once)


def nested(groups: int, icc: float, *, declared: bool = True) -> Cell:
    """Ten iterations of each process on one instance."""

    def once(rng: np.random.Generator) -> bool:
        process = np.repeat(np.arange(groups), 10)
        parts = [
            pd.DataFrame({"process": [f"p{n}" for n in process], "algorithm": name}).assign(
                value=50 + sqrt(icc) * rng.normal(size=groups)[process] + sqrt(1 - icc) * rng.normal(size=len(process)),
                instance="i",
            )
            for name in "ab"
        ]
        reading = {"nested": "process"} if declared else {"ignore": "process"}
        return _claims(pd.concat(parts, ignore_index=True), instance="instance", **reading)

    goal = "level" if declared else "ignored"
    return Cell("nested runs", f"{groups} processes of 10 iterations, ICC {icc}", goal, TABLES, once)


def crossed(instances: int, sessions: int, variance: float, *, declared: bool = True) -> Cell:
    """Sessions that serve all instances."""

    def once(rng: np.random.Generator) -> bool:
        i, s = (axis.ravel() for axis in np.indices((instances, sessions)))
        x = rng.normal(size=instances)[i] + sqrt(variance) * rng.normal(size=sessions)[s] + rng.normal(size=len(i))
        frame = _table({"instance": [f"i{n}" for n in i], "session": [f"s{n}" for n in s]}, x)
        reading = {"crossed": "session"} if declared else {"ignore": "session"}
        return _claims(frame, instance="instance", **reading)

    goal = "level" if declared else "ignored"
    cell = f"{instances} instances, {sessions} sessions, session variance {variance}"
    return Cell("sessions", cell, goal, TABLES, once)


def folds(repeats: int, count: int, *, declared: bool = True) -> Cell:
    """Two linear learners of equal accuracy, each with half of the features, on one dataset of 100 rows."""

    def once(rng: np.random.Generator) -> bool:
        x, rows = rng.normal(size=(100, 4)), []
        y = x.sum(axis=1) + rng.normal(size=100)
        for repeat in range(repeats):
            fold = rng.permutation(np.arange(100) % count)
            for k in range(count):
                train, test = fold != k, fold == k
                for name, own in (("a", x[:, :2]), ("b", x[:, 2:])):
                    weights = np.linalg.lstsq(own[train], y[train], rcond=None)[0]
                    rows.append((name, repeat, k, float(np.mean((y[test] - own[test] @ weights) ** 2))))
        frame = pd.DataFrame(rows, columns=["algorithm", "repeat", "fold", "value"]).assign(instance="data")
        reading = {"resampled": ["repeat", "fold"]} if declared else {"ignore": ["repeat", "fold"]}
        return _claims(frame, instance="instance", **reading)

    goal = "level" if declared else "ignored"
    return Cell("folds", f"one dataset, {repeats} × {count} folds", goal, TABLES // 2, once)


# studies ----------------------------------------------------------------------------------------------------------


def study(
    clusters: int, between: float, within: float, runs: float, goal: str, algorithms: int = 2, load: float = 0.0
) -> Cell:
    """A whole study with detect = 1: ten instances per cluster, standard deviations of one difference.

    With a `load` the algorithms share their seeds, and this share of the variance of a run.
    """

    def once(rng: np.random.Generator) -> bool:
        effect = 1.0 if goal == "power" else 0.0
        common = rng.normal(0, between / sqrt(2), (clusters, algorithms))
        own = rng.normal(0, within / sqrt(2), (clusters, 10, algorithms))

        def algorithm(k: int) -> Callable[[tuple[int, int], int], float]:
            def run(place: tuple[int, int], seed: int) -> float:
                shared, alone = random.Random(seed).gauss(0, 1), random.Random(f"{seed} {k}").gauss(0, 1)
                noise = runs / sqrt(2) * (sqrt(load) * shared + sqrt(1 - load) * alone)
                return float(50 + effect * (k > 0) + common[place[0], k] + own[place[0], place[1], k] + noise)

            return run

        names = {f"c{g:02d} {i}": (g, i) for g in range(clusters) for i in range(10)}
        compared = am.Study(
            {f"a{k}": algorithm(k) for k in range(algorithms)},
            names,
            difference="simple",
            better="lower",
            reference="a0",
            detect=1.0,
            cluster=None if goal == "ignored" else lambda name: name.split()[0],
            seeds="shared" if load else "own",
            seed=int(rng.integers(2**31)),
        )
        with tempfile.TemporaryDirectory() as folder:
            analysis = compared.run(Path(folder, "s.db"), executor=SerialExecutor(), progress=False)
        return any(item.rejected for item in analysis.comparisons)

    seeds = f", shared seeds (correlation {load})" if load else ""
    deviations = f"SD between {between}, within {within}, of runs {runs}"
    cell = f"{clusters} clusters of 10, {algorithms} algorithms, {deviations}{seeds}"
    return Cell("studies with detect", cell, goal, STUDIES, once)


def cells() -> Iterator[Cell]:
    """Yield all cells; the studies come last."""
    for shape, sizes, clusters, icc in (
        ("normal", "10 each", 5, 0.5), ("normal", "10 each", 30, 0.1), ("normal", "10 each", 30, 0.5),
        ("normal", "4 to 16", 8, 0.5), ("normal", "lognormal", 8, 0.5), ("normal", "lognormal", 30, 0.9),
        ("normal", "one holds half", 12, 0.5), ("-1, 0, 1", "10 each", 12, 0.5), ("-1, 0, 1", "lognormal", 30, 0.5),
        ("exponential", "10 each", 12, 0.5), ("exponential", "10 each", 30, 0.5),
    ):  # fmt: skip
        yield clustered(shape, sizes, clusters, icc)
    yield clustered("normal", "4 to 16", 30, 0.5, mean_over="instances")
    yield clustered("normal", "one holds half", 12, 0.5, mean_over="instances")
    yield clustered("normal", "10 each", 4, 0.0, cluster_effects="fixed")
    yield clustered("normal", "10 each", 30, 0.5, declared=False)
    for groups in (3, 6, 10, 30):
        yield nested(groups, 0.5)
    yield nested(6, 0.5, declared=False)
    for size in ((20, 3, 0.2), (60, 5, 0.2), (60, 5, 1.0), (60, 20, 0.2)):
        yield crossed(*size)
    yield crossed(60, 5, 0.2, declared=False)
    for repeats, count in ((10, 10), (2, 5), (1, 10)):
        yield folds(repeats, count)
    yield folds(10, 10, declared=False)
    yield study(10, 2.0, 0.7, 1.0, "level")  # the ten families of ten
    yield study(10, 2.0, 0.7, 1.0, "ignored")
    for clusters, between in ((10, 0.5), (30, 1.0), (60, 1.5)):
        yield study(clusters, between, 1.5, 2.0, "level")
        yield study(clusters, between, 1.5, 2.0, "power")
    yield study(20, 0.5, 1.5, 2.0, "level", algorithms=5)
    yield study(20, 0.5, 1.5, 4.0, "level", load=0.9)
    yield study(20, 0.5, 1.5, 4.0, "power", load=0.9)


# shared seeds -----------------------------------------------------------------------------------------------------


def shared(algorithms: int, correlation: float, seeds: Any, number: int) -> Row:
    """Return the runs on one instance, and the share of pairs whose true standard error is reached."""
    names, totals, reached = [f"a{k}" for k in range(algorithms)], [], []
    rule = Accuracy(se=SE, difference="simple", reference="a0", seeds=seeds, budget=100_000)
    for instance in range(number):
        rng = np.random.default_rng([SEED, algorithms, instance])
        own, common = rng.normal(size=(4000, algorithms)), rng.normal(size=(4000, 1))
        values = 10 + sqrt(correlation) * common + sqrt(1 - correlation) * own
        counts = sample(rule, lambda name, k, table=values: table[k, int(name[1:])], names).samples.counts  # type: ignore[misc]
        totals.append(int(counts.sum()))
        squares = 1 / counts[0] + 1 / counts[1:] - 2 * correlation / np.maximum(counts[0], counts[1:])
        reached += (squares <= SE**2).tolist()
    cell = f"{algorithms} algorithms, {seeds} seeds, correlation {correlation}"
    error = float(np.std(totals)) / sqrt(number)
    return Row("shared seeds", cell, "runs", number, float(np.mean(totals)), error, float(np.mean(reached)))


def shared_rows(number: int | None = None) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield each cell of shared seeds, and what makes its row."""
    for algorithms in (2, 5, 22):
        size = number or (INSTANCES if algorithms < 22 else INSTANCES // 2)
        for seeds, correlation in (("own", 0.0), ("shared", 0.0), ("shared", 0.5), ("shared", 0.9)):
            cell = f"{algorithms} algorithms, {seeds} seeds, correlation {correlation}"
            yield cell, lambda a=algorithms, c=correlation, s=seeds, n=size: shared(a, c, s, n)  # type: ignore[misc]


HEADS = {"level": "false claims", "ignored": "false claims, not declared", "power": "power"}


def page(rows: list[Row]) -> str:
    """Return the page of the results."""
    lines = [
        "# Dependent observations: error and power",
        "",
        "Simulated through the public interface by `benchmarks/bench_dependence.py`: two-sided t-tests at 5 %, two",
        "algorithms unless stated. *Not declared* is the same world without the declaration. The number of tables or",
        "studies is in the last column, the standard error in brackets.",
        "",
    ]
    for group, of_group in groupby(rows, key=lambda row: row.group):
        lines += [f"## {group.capitalize()}", ""]
        if group == "shared seeds":
            lines += ["Runs on one instance, all-vs-one, until each standard error is 0.15 SD.", ""]
            lines += ["| world | runs | pairs within the standard error | instances |", "|---|--:|--:|--:|"]
            lines += [
                f"| {r.cell} | {r.found:,.0f} ({r.error:.0f}) | {100 * r.reached:.0f} % | {r.number} |"
                for r in of_group
            ]
        else:
            lines += ["| world | what | rate | number |", "|---|---|--:|--:|"]
            lines += [
                f"| {r.cell} | {HEADS[r.goal]} | {100 * r.found:.1f} % ({100 * r.error:.1f}) | {r.number} |"
                for r in of_group
            ]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Fill in what is missing, and write the page."""
    how = asked(__doc__)
    if not (how.write or how.page):
        for _, make in shared_rows(FEW):
            print(make())
        for cell in cells():
            print(cell.row(FEW))
        return
    there = {(row.cell, row.goal) for row in read(RESULTS, Row)}
    if how.write:
        for name, make in shared_rows():
            if (name, "runs") not in there:
                append(RESULTS, [make()])
        for cell in cells():
            if (cell.cell, cell.goal) not in there:
                append(RESULTS, [cell.row(cell.number)])
    PAGE.write_text(page(read(RESULTS, Row)), encoding="utf-8")


if __name__ == "__main__":
    main()
