"""Public tables as populations: are intervals, claims and power what they promise on data that people have?

    python benchmarks/bench_populations.py                  some studies of every table
    python benchmarks/bench_populations.py --write          all; docs/benchmarks/populations.csv and populations.md
    python benchmarks/bench_populations.py --page           only the page, from the results that are there

Each table is taken as the whole population: a study draws instances with replacement, and runs from those recorded.
The truth is the mean over the population. The tables are other people's and are not in the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from math import sqrt
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import ampler as am
from kept_results import FOLDER, append, asked, read

Floats = NDArray[np.float64]

SEED = 20261119  # fixed before the first study
STUDIES = 100
FEW = 5
WORKERS = 1
MOST_INSTANCES = 40  # of a study
MOST_RUNS = 10  # of an algorithm on an instance
MOST_ALGORITHMS = 8  # the first by name: families of 28 pairs at most
TARGET = 0.92
DRAWN = ("duplicates", "repeated-runs", "direction", "columns")  # warnings that come from drawing with replacement
FOLDERS = [folder / "shared" / "public-data" for folder in Path(__file__).resolve().parents]
DATA = next((folder for folder in FOLDERS if folder.is_dir()), FOLDERS[0])
WAYS: Mapping[str, Mapping[str, str]] = {
    "t": {"difference": "simple"},
    "bootstrap-t": {"difference": "simple", "test": "bootstrap-t"},
    "ratio": {"difference": "ratio"},
}


@dataclass(frozen=True, eq=False)
class Population:
    """Runs of every algorithm on every instance."""

    runs: tuple[tuple[Floats, ...], ...]  # by instance, by algorithm
    better: str

    @property
    def means(self) -> Floats:
        """Instances in rows, algorithms in columns."""
        return np.array([[values.mean() for values in row] for row in self.runs])

    def scaled(self, way: str) -> Population:
        """The same with algorithms that are equally good on average, in the kind of difference of this way."""
        logs = np.log(self.means) if way == "ratio" else self.means
        gaps = logs.mean(axis=0) - logs.mean()
        if way == "ratio":
            rows = [[values / np.exp(gap) for values, gap in zip(row, gaps, strict=True)] for row in self.runs]
        else:
            rows = [[values - gap for values, gap in zip(row, gaps, strict=True)] for row in self.runs]
        return replace(self, runs=tuple(map(tuple, rows)))


@dataclass(frozen=True)
class Row:
    """One way to analyse studies of one table."""

    table: str
    way: str
    studies: int
    instances: int
    comparisons: int
    coverage: float  # all simultaneous intervals hold the truth
    covered: float  # they do, or a warning of the first rank says that they may not
    error: float  # some claim, where the algorithms are made equally good on average
    silent: float  # so, and no warning of the first rank
    wrong: float  # some claim in the wrong direction, as the table is
    power: float  # share of the pairs that are claimed in the right direction
    significant: float  # share of the pairs whose test rejects
    warned: float


def main() -> int:
    chosen = asked(__doc__)
    path = FOLDER / "populations.csv"
    rows = read(path, Row) if chosen.page else measure(path if chosen.write else None)
    if chosen.write or chosen.page:
        (FOLDER / "populations.md").write_text(page(rows), encoding="utf-8")
    else:
        print(page(rows))
    return 0


def measure(path: Path | None) -> list[Row]:
    """Measure every table and way that is not there yet."""
    rows = read(path, Row) if path is not None else []
    there = {(row.table, row.way) for row in rows}
    with ProcessPoolExecutor(WORKERS) as pool:
        for table in TABLES:
            for way in WAYS:
                if (table, way) not in there:
                    count = FEW if path is None else STUDIES
                    rows.append(summed(table, way, list(pool.map(partial(study, table, way), range(count)))))
                    if path is not None:
                        append(path, rows[-1:])
    return rows


def study(table: str, way: str, number: int) -> tuple[float, ...]:
    """Draw one study of a table, and one of the same with equal algorithms, and analyse both."""
    seed = np.random.SeedSequence([SEED, *f"{table}/{way}".encode(), number])
    real, equal = population(table), population(table).scaled(way)
    rng = np.random.default_rng(seed)
    analysis = drawn(real, way, rng)
    null = drawn(equal, way, np.random.default_rng(seed.spawn(1)[0]))
    truth = _truth(real, way)
    rows = [(each, truth[each.first, each.second]) for each in analysis.comparisons]
    covered = all(low <= value <= high for (low, high), value in ((each.joint_interval, true) for each, true in rows))
    false = any(each.claimed for each in null.comparisons)
    return (
        covered,
        covered or _warned(analysis),
        false,
        false and not _warned(null),
        any(each.claimed and each.estimate * true < 0 for each, true in rows),
        float(np.mean([each.claimed and each.estimate * true > 0 for each, true in rows])),
        float(np.mean([each.rejected for each, _ in rows])),
        _warned(analysis),
    )


def drawn(source: Population, way: str, rng: np.random.Generator) -> am.Analysis:
    """Draw a study and analyse it."""
    size = min(MOST_INSTANCES, len(source.runs))
    rows = []
    for place, i in enumerate(rng.integers(0, len(source.runs), size)):
        for k, values in enumerate(source.runs[i]):
            some = values if len(values) == 1 else rng.choice(values, min(MOST_RUNS, len(values)))
            rows += [(f"i{place}", f"a{k:02}", value) for value in some]
    table = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
    return am.analyse(table, better=source.better, **WAYS[way])  # type: ignore[arg-type]


def summed(table: str, way: str, studies: list[tuple[float, ...]]) -> Row:
    """Return the rates of a table."""
    size, algorithms = len(population(table).runs), len(population(table).runs[0])
    pairs = algorithms * (algorithms - 1) // 2
    means = np.mean(np.array(studies, dtype=float), axis=0).tolist()
    return Row(table, way, len(studies), min(MOST_INSTANCES, size), pairs, *means)


def _truth(source: Population, way: str) -> dict[tuple[str, str], float]:
    values = np.log(source.means) if way == "ratio" else source.means
    means = values.mean(axis=0)
    return {
        (f"a{i:02}", f"a{j:02}"): float(means[i] - means[j])
        for i in range(len(means))
        for j in range(len(means))
        if i != j
    }


def _warned(analysis: am.Analysis) -> bool:
    return any(each.severity == "could reverse a verdict" and each.kind not in DRAWN for each in analysis.warnings)


# tables -----------------------------------------------------------------------------------------------------------


def _long(name: str, algorithm: str, instance: list[str], value: str, better: str, floor: float = 0.0, **only: object):
    frame = pd.read_csv(DATA / name)
    for column, wanted in only.items():
        frame = frame[frame[column] == wanted]
    frame = frame.assign(value=frame[value].clip(lower=floor) if floor else frame[value])
    signed = frame.groupby(instance)["value"].transform("min") <= 0
    frame = frame[~signed]  # ratios need positive values
    return _population(frame, algorithm, instance, better)


def _population(frame: pd.DataFrame, algorithm: str, instance: list[str], better: str) -> Population:
    """The instances that all of the first algorithms have."""
    names = sorted(frame[algorithm].unique())[:MOST_ALGORITHMS]
    cells = {
        key: values.to_numpy(float)
        for key, values in frame[frame[algorithm].isin(names)].groupby([*instance, algorithm])["value"]
    }
    instances = sorted({key[:-1] for key in cells})
    whole = [each for each in instances if all((*each, name) in cells for name in names)]
    return Population(tuple(tuple(cells[*each, name] for name in names) for each in whole), better)


def _wide(name: str) -> Population:
    frame = pd.read_csv(DATA / name).melt(id_vars="dataset", var_name="algorithm", value_name="value")
    return _population(frame, "algorithm", ["dataset"], "higher")


def _par10(name: str, cutoff: float) -> Population:
    frame = pd.read_csv(DATA / name)
    frame = frame.assign(value=np.where(frame.runstatus == "ok", frame.runtime.clip(lower=1e-3), 10 * cutoff))
    return _population(frame, "algorithm", ["instance_id"], "lower")


TABLES: Mapping[str, Callable[[], Population]] = {
    **{
        f"CEC'17, {size} dimensions": partial(
            _long, "cec17_extended_final.csv.gz", "Algorithm", ["Benchmark"], "Result", "lower", 1e-8, Dimension=size
        )
        for size in (10, 30, 50, 100)
    },
    "CEC'17, all dimensions": partial(
        _long, "cec17_extended_final.csv.gz", "Algorithm", ["Benchmark", "Dimension"], "Result", "lower", 1e-8
    ),
    "IOH, discrete": partial(_long, "ioh_dsl_large_final.csv", "algorithm", ["func"], "finalFV", "higher"),
    "IOH, evaluations": partial(_long, "ioh_dsl_large_final.csv", "algorithm", ["func"], "maxRT", "lower"),
    "paper, experiment 1": partial(
        _long, "paper_experiment1_runs.csv", "Algorithm", ["Instance"], "Observation", "lower"
    ),
    "CPMP-2015, PAR10": partial(_par10, "aslib_CPMP-2015.csv", 3600.0),
    "CSP-2010, PAR10": partial(_par10, "aslib_CSP-2010.csv", 5000.0),
    "Demšar 2006, AUC": partial(_wide, "demsar2006_table6.csv"),
    "Benavoli 2017, accuracy": partial(_wide, "benavoli2017_accuracies_mean.csv"),
    "cd-diagram example": partial(
        _long, "cd_diagram_example.csv", "classifier_name", ["dataset_name"], "accuracy", "higher"
    ),
}


@cache
def population(table: str) -> Population:
    """Return a table as a population."""
    return TABLES[table]()


# the page ---------------------------------------------------------------------------------------------------------

INTRODUCTION = f"""# Public tables as populations

Other people's results, each taken as the whole population: a study draws up to {MOST_INSTANCES} instances with
replacement, and up to {MOST_RUNS} of the recorded runs; all pairs of at most {MOST_ALGORITHMS} algorithms, {STUDIES}
or more studies, seeds fixed before the first study. *t*, *bootstrap-t*: absolute differences; *ratio*: t-tests of
ratios.
*Coverage*: all simultaneous 95 % intervals hold the truth; *or warned*: they do, or a warning of the first rank stands
in the headline. *Error*: some claim after the algorithms were made equally good on average; *silent*: without such a
warning. *Power*: share of all pairs claimed, in the right direction; *significant*: share whose test rejects. Standard
errors are at most 0.05. Written by `python benchmarks/bench_populations.py`.
"""


def page(rows: list[Row]) -> str:
    """The page, what is not reached first."""
    short = [
        row for row in rows if row.way != "bootstrap-t" and row.covered < TARGET - 3 * sqrt(0.08 * 0.92 / row.studies)
    ]
    silent = [row for row in rows if row.silent > 0.06 + 3 * sqrt(0.06 * 0.94 / row.studies)]
    low = [row for row in rows if row.coverage < TARGET]
    least = min((row.covered for row in low), default=1)
    parts = [INTRODUCTION, "## What is not reached\n"]
    parts += [
        f"- Coverage is below {TARGET} in {len(low)} of {len(rows)} rows. The intervals hold, or a warning of the first"
        f" rank stands in the headline, in {100 * least:.0f} % of their studies or more."
    ]
    parts += [f"- {row.table}, {row.way}: covered or warned in {row.covered:.2f}, for {TARGET}" for row in short]
    parts += [f"- {row.table}, {row.way}: silent false claims in {row.silent:.3f}" for row in silent]
    parts += ["\n## All tables\n", f"| {' | '.join(_HEAD)} |", f"|{'---|' * len(_HEAD)}", *map(_line, rows)]
    return "\n".join(parts) + "\n"


_HEAD = (
    *("table", "way", "instances", "pairs", "coverage", "or warned", "error", "silent", "wrong side", "power"),
    *("significant", "warned"),
)


def _line(row: Row) -> str:
    rates = (row.coverage, row.covered, row.error, row.silent, row.wrong, row.power, row.significant, row.warned)
    return (
        f"| {row.table} | {row.way} | {row.instances} | {row.comparisons} | {' | '.join(f'{x:.2f}' for x in rates)} |"
    )


if __name__ == "__main__":
    sys.exit(main())
