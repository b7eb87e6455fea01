"""Equal algorithms in worlds that real data come from: how often is a difference claimed, and how often silently?

    python benchmarks/bench_claims.py                  some studies of every cell
    python benchmarks/bench_claims.py --write          all; docs/benchmarks/claims.csv and claims.md
    python benchmarks/bench_claims.py --page           only the page, from the results that are there

Every study uses the default settings and the public interface. A claim is a verdict of better or worse; a silent claim
has no warning of the first rank beside it. Results are kept cell by cell, so a run that was stopped resumes.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import ampler as am
from ampler.testing import SerialExecutor
from kept_results import FOLDER, append, asked, read

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

SEED = 20261118  # fixed before the first look
STUDIES = 300  # of a cell
FEW = 10
WORKERS = 2
RUNS = 5
ALPHA, SILENT = 0.05, 0.06
SHIFT = {"simple": 100.0}  # level of the values where differences are simple


def _one_sided(rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """A twentieth of the instances are worse by 4 standard deviations on average (exponential)."""
    return rng.normal(0, 1, size) + np.where(rng.random(size) < 0.05, rng.exponential(4, size), 0.0) - 0.2


def _positive_normal(rng: np.random.Generator, cv: float, size: tuple[int, ...]) -> Floats:
    """Normal values; those at or below zero are drawn again, which moves the mean of all algorithms alike."""
    values = rng.normal(1, cv, size)
    while (bad := values <= 0.01).any():
        values[bad] = rng.normal(1, cv, int(bad.sum()))
    return values


SHAPES: Mapping[str, Draw] = {  # of the differences between instances: mean 0
    "normal": lambda rng, size: rng.normal(0, 1, size),
    "symmetric outliers": lambda rng, size: rng.normal(0, 1, size) * np.where(rng.random(size) < 0.05, 10, 1),
    "one-sided outliers": _one_sided,
    "t (3 df)": lambda rng, size: rng.standard_t(3, size),
    "t (2 df)": lambda rng, size: rng.standard_t(2, size),
    "exponential": lambda rng, size: rng.exponential(1, size) - 1,
    "lognormal": lambda rng, size: rng.lognormal(0, 1, size) - exp(0.5),
    "dominating instance": lambda rng, size: rng.normal(0, 1, size) * rng.lognormal(0, 2.5, (*size[:-1], 1)),
}
NOISE: Mapping[str, Callable[[np.random.Generator, float, tuple[int, ...]], Floats]] = {  # of runs: mean 1, this cv
    "normal": _positive_normal,
    "gamma": lambda rng, cv, size: rng.gamma(1 / cv**2, cv**2, size),
    "lognormal": lambda rng, cv, size: rng.lognormal(-log(1 + cv**2) / 2, sqrt(log(1 + cv**2)), size),
}


@dataclass(frozen=True)
class Cell:
    """Studies of one kind in one world of equal algorithms."""

    size: str  # "fixed", "detect" or "se"
    difference: str
    algorithms: int
    world: str
    spread: float = 0.0  # of the logarithms of the factors between algorithms, or cv of the runs
    instances: int = 40

    @property
    def name(self) -> str:
        return "/".join(
            map(str, (self.size, self.difference, self.algorithms, self.world, self.spread, self.instances))
        )

    @property
    def reference(self) -> str | None:
        return "a0" if self.difference == "percent" or self.algorithms == 2 else None


@dataclass(frozen=True)
class Row:
    """What came out in a cell."""

    cell: str
    studies: int
    significant: float  # some test rejects
    claimed: float  # some verdict is better or worse
    silent: float  # so, and no warning of the first rank
    warned: float  # some warning of the first rank, whatever is claimed
    uncovered: float  # some simultaneous interval misses the truth
    instances: float


def cells() -> Iterator[Cell]:
    """Everything that is looked at."""
    for difference in ("percent", "ratio"):
        yield Cell("fixed", difference, 2, "factors", 0.3, 300)
        yield Cell("fixed", difference, 2, "gamma runs", 0.25, 1000)
        yield Cell("fixed", difference, 2, "gamma runs", 1.0, 1000)
    for algorithms in (2, 5):
        for spread in (0.1, 0.2, 0.3, 0.4):
            for difference in ("percent", "ratio"):
                yield Cell("fixed", difference, algorithms, "factors", spread)
        for noise in (*NOISE, "unequal"):
            for cv in (0.1, 0.3, 1.0):
                for difference in ("percent", "ratio"):
                    yield Cell("fixed", difference, algorithms, f"{noise} runs", cv)
        for shape in SHAPES:
            yield Cell("fixed", "simple", algorithms, shape)
            yield Cell("detect", "simple", algorithms, shape)
        for difference in ("percent", "ratio"):
            yield Cell("detect", difference, algorithms, "factors", 0.2)
            yield Cell("detect", difference, algorithms, "factors", 0.4)
            yield Cell("detect", difference, algorithms, "gamma runs", 0.3)
            yield Cell("detect", difference, algorithms, "gamma runs", 1.0)
            yield Cell("se", difference, algorithms, "gamma runs", 0.3)
        for shape in ("normal", "t (3 df)", "t (2 df)", "symmetric outliers", "exponential"):
            yield Cell("se", "simple", algorithms, shape)


def main() -> int:
    chosen = asked(__doc__)
    path = FOLDER / "claims.csv"
    rows = read(path, Row) if chosen.page else measure(path if chosen.write else None)
    if chosen.write or chosen.page:
        (FOLDER / "claims.md").write_text(page(rows), encoding="utf-8")
    else:
        print(page(rows))
    return 0


def measure(path: Path | None) -> list[Row]:
    """Measure every cell that is not there yet."""
    rows = read(path, Row) if path is not None else []
    there = {row.cell for row in rows}
    with ProcessPoolExecutor(WORKERS) as pool:
        for cell in cells():
            if cell.name not in there:
                count = FEW if path is None else STUDIES
                rows.append(summed(cell, list(pool.map(partial(study, cell), range(count), chunksize=5))))
                if path is not None:
                    append(path, rows[-1:])
    return rows


def study(cell: Cell, number: int) -> am.Analysis | tuple[bool, bool, bool, bool, bool, int]:
    """Carry out one study; its seed follows from the cell and its number alone."""
    seed = int(np.random.SeedSequence([SEED, *cell.name.encode(), number]).generate_state(1)[0]) // 2
    rng = np.random.default_rng(seed)
    analysis = _of_table(cell, rng) if cell.size == "fixed" else _of_study(cell, rng, seed)
    claimed = any(each.claimed for each in analysis.comparisons)
    warned = any(each.severity == "could reverse a verdict" for each in analysis.warnings)
    missed = any(not each.joint_interval[0] <= 0 <= each.joint_interval[1] for each in analysis.comparisons)
    significant = any(each.rejected for each in analysis.comparisons)
    return significant, claimed, claimed and not warned, warned, missed, analysis.instances


def summed(cell: Cell, studies: list[Any]) -> Row:
    """Return the rates of a cell."""
    return Row(cell.name, len(studies), *np.mean(np.array(studies, dtype=float), axis=0).tolist())


# worlds -----------------------------------------------------------------------------------------------------------


def centres(cell: Cell, rng: np.random.Generator) -> Floats:
    """The true value of each algorithm (column) on each instance (row); equally good on average."""
    size = (cell.instances, cell.algorithms)
    if cell.world in SHAPES:
        return SHIFT["simple"] + SHAPES[cell.world](rng, size)
    base = rng.lognormal(3, 1, (cell.instances, 1))
    factors = np.exp(rng.normal(0, cell.spread / sqrt(2), size)) if cell.world == "factors" else np.ones(size)
    return base * factors


def _of_table(cell: Cell, rng: np.random.Generator) -> am.Analysis:
    """Results that somebody has: five runs of each algorithm on each of forty instances, or one exact value."""
    true = centres(cell, rng)
    if cell.world in SHAPES:
        true = _paired(cell, rng, true)
        runs = 1
        values = true[:, :, None]
    else:
        runs = RUNS
        noise = cell.world.split()[0] if cell.world.split()[0] in NOISE else "gamma"
        cv = cell.spread if cell.world.endswith("runs") else 0.02
        scatter = NOISE[noise](rng, cv, (*true.shape, runs))
        if cell.world == "unequal runs":  # only the first algorithm is as noisy
            scatter[:, 1:] = NOISE[noise](rng, cv / 10, scatter[:, 1:].shape)
        values = true[:, :, None] * scatter
    shape = values.shape
    table = pd.DataFrame(
        {
            "instance": np.repeat([f"i{i}" for i in range(shape[0])], shape[1] * shape[2]),
            "algorithm": np.tile(np.repeat([f"a{k}" for k in range(shape[1])], shape[2]), shape[0]),
            "cost": values.ravel(),
        }
    )
    return am.analyse(table, difference=cell.difference, reference=cell.reference, better="lower")  # type: ignore[arg-type]


def _paired(cell: Cell, rng: np.random.Generator, values: Floats) -> Floats:
    """Values whose differences to the first algorithm have the shape: the first is the same everywhere."""
    values[:, 0] = SHIFT["simple"]
    return values


def _of_study(cell: Cell, rng: np.random.Generator, seed: int) -> am.Analysis:
    """A study that finds its own size, or samples until each difference is known to a target standard error."""
    true = centres(cell, rng)
    true = _paired(cell, rng, true) if cell.world in SHAPES else true
    size: dict[str, Any] = {"detect": 0.5 if cell.difference == "simple" else 0.1}
    if cell.size == "se":
        size = {"design": am.Precision(se=0.5 if cell.difference == "simple" else 0.1)}
    study = am.Study(
        algorithms={f"a{k}": _algorithm(cell, true[:, k]) for k in range(cell.algorithms)},
        instances={f"i{number:03}": number for number in range(cell.instances)},
        difference=cell.difference,  # type: ignore[arg-type]
        reference=cell.reference,
        better="lower",
        seed=seed,
        **size,
    )
    with tempfile.TemporaryDirectory() as folder:
        return study.run(Path(folder) / "study.db", executor=SerialExecutor(), progress=False)


def _algorithm(cell: Cell, centre: Floats) -> Callable[..., float]:
    """The runs of an algorithm: shaped as the differences are where these are simple, else by their cv."""
    cv = cell.spread if cell.world.endswith("runs") else 0.05

    def solve(instance: int, seed: int) -> float:
        if cell.world not in SHAPES:
            rng = random.Random(seed)
            return float(centre[instance]) * rng.gammavariate(1 / cv**2, cv**2)
        own = SHAPES[cell.world](np.random.default_rng(seed), (1,)).item() if cell.size == "se" else 0.0
        return float(centre[instance]) + own

    return solve


# the page ---------------------------------------------------------------------------------------------------------

INTRODUCTION = f"""# Claims between equal algorithms

Whole studies by default settings in which nothing differs: 2 or 5 algorithms, {STUDIES} studies per cell, seeds fixed
before the first look. *factors*: algorithms differ by lognormal factors on each instance, and are equally good on
average; *runs*: the same algorithm under several names, {RUNS} runs each, with this coefficient of variation
(*unequal*: the first has it, the others a tenth of it); other worlds: simple differences of this shape. *significant*:
some test rejects. *claimed*: some verdict is better or worse. *silent*: so, without a warning of the first rank. The
target is at most {ALPHA} claimed and {SILENT} silent, each plus three standard errors (in brackets, last digits).
Written by `python benchmarks/bench_claims.py`. Fixed sizes and `detect` with simple differences were counted again
after the check of their shape had become stricter.
"""


def page(rows: list[Row]) -> str:
    """The page, what is not reached first."""
    missed = [row for row in rows if row.claimed > ALPHA + 3 * _error(ALPHA, row) and row.silent > 0]
    silent = [row for row in rows if row.silent > SILENT + 3 * _error(SILENT, row)]
    parts = [INTRODUCTION, "## What is not reached\n"]
    parts += [f"- claimed in {row.claimed:.3f} of the studies: {_described(row)}" for row in missed]
    parts += [f"- silently claimed in {row.silent:.3f} of the studies: {_described(row)}" for row in silent]
    parts += [] if missed or silent else ["Nothing."]
    head = "size | difference | algorithms | world | spread | instances | significant | claimed | silent | warned"
    head += " | intervals miss | used"
    parts += ["\n## All cells\n", f"| {head} |", f"|{'---|' * 12}"]
    for row in rows:
        rates = " | ".join(_rate(rate, row) for rate in (row.significant, row.claimed, row.silent))
        rest = f"{row.warned:.2f} | {row.uncovered:.3f} | {row.instances:.0f}"
        parts.append(f"| {row.cell.replace('/', ' | ')} | {rates} | {rest} |")
    return "\n".join(parts) + "\n"


def _rate(rate: float, row: Row) -> str:
    return f"{rate:.3f} ({1000 * _error(rate, row):.0f})"


def _error(rate: float, row: Row) -> float:
    return sqrt(rate * (1 - rate) / row.studies)


def _described(row: Row) -> str:
    return row.cell.replace("/", ", ")


if __name__ == "__main__":
    sys.exit(main())
