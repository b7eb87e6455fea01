"""Algorithms that join a finished study: how often does their later family err, and what does it find?

    python benchmarks/bench_families.py            a few studies of every cell
    python benchmarks/bench_families.py --write    all; docs/benchmarks/families.csv, families.md
    python benchmarks/bench_families.py --page     families.md from the results kept

Every study goes through `am.Study.run`, twice: with its first algorithms, and with further ones when it is finished.
Differences between instances have a standard deviation of 1 in each algorithm, runs one of 0.5.
"""

from __future__ import annotations

import math
import sys
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

import ampler as am
from ampler.testing import SerialExecutor
from kept_results import FOLDER, append, asked, read
from noisy_solver import noisy_solver

SEED = 20261120  # fixed before the first look
STUDIES, FURTHER, FEW = 300, 100, 3  # in the main cells, in the others, and without --write
KEPT = FOLDER / "families.csv"
AVAILABLE, ALPHA, POWER = 120, 0.05, 0.8
NOISE, DETECT = 0.5, 0.8
EFFECT = DETECT / math.sqrt(2 * (1 + NOISE**2 / 2))  # the same in standard deviations of means of two runs
FIRST, ADDED = "abc", "xy"


@dataclass(frozen=True)
class Cell:
    """A world: how many algorithms there are at first and later, and by how much the latter are worse."""

    kind: Literal["detect", "interim"]
    first: int
    added: int
    skewed: bool = False
    reference: bool = True
    worse: float = 0.0  # added algorithms
    twin: bool = False  # an added algorithm that shares what varies between instances with the second one

    @property
    def name(self) -> str:
        """Return all of it in short."""
        return " ".join(map(str, astuple(self)))

    @property
    def design(self) -> am.Detect | am.FixedSize:
        """Return how the size of the study is decided."""
        if self.kind == "detect":
            return am.Detect(DETECT, pilot=15, runs=2)
        return am.FixedSize(instances="needed", effect=EFFECT, runs=2, interim=4)


@dataclass(frozen=True)
class Found:
    """What a study found: errors in the first and in the later family, the promised power, the share of findings."""

    cell: str
    seed: int
    first: int
    later: int
    promised: float
    found: float
    instances: int
    reached: int


def outcome(cell: Cell, seed: int) -> Found:
    """Run a study, add algorithms when it is finished, and run it again."""
    rng = np.random.default_rng([SEED, seed])
    names = [*FIRST[: cell.first], *ADDED[: cell.added]]
    shape = (len(names), AVAILABLE)
    effects = rng.exponential(size=shape) - 1 if cell.skewed else rng.standard_normal(shape)
    if cell.twin:
        effects[cell.first] = effects[1]
    means = [cell.worse if name in ADDED else 0.0 for name in names]
    worlds = zip(names, effects, means, strict=True)
    algorithms = {name: noisy_solver(name, (mean + own).tolist(), NOISE) for name, own, mean in worlds}

    def study(number: int) -> am.Study:
        return am.Study(
            algorithms=dict(list(algorithms.items())[:number]),
            instances={f"i{k}": k for k in range(AVAILABLE)},
            difference="simple",
            better="lower",
            reference="a" if cell.reference else None,
            design=cell.design,
            power=POWER,
            seed=seed,
        )

    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder, "study.db")
        options: dict[str, Any] = {"executor": SerialExecutor(), "progress": False, "on_code_change": "keep"}
        first = study(cell.first).run(path, **options)
        whole = study(len(names)).run(path, **options)
    (family,) = whole.families
    assert family.analysis is not None
    assert [item.p_value for item in first.comparisons] == [item.p_value for item in whole.comparisons]
    truth = dict(zip(names, means, strict=True))
    later, early = family.analysis.comparisons, whole.comparisons
    true = [item.rejected for item in later if truth[item.first] != truth[item.second]]
    return Found(
        cell=cell.name,
        seed=seed,
        first=int(any(item.rejected for item in early if truth[item.first] == truth[item.second])),
        later=int(any(item.rejected for item in later if truth[item.first] == truth[item.second])),
        promised=math.nan if family.power is None else family.power,
        found=float(np.mean(true)) if true else math.nan,
        instances=family.instances,
        reached=whole.instances,
    )


KINDS: tuple[Literal["detect", "interim"], ...] = ("detect", "interim")
EQUAL = [
    Cell(kind, first, added, skewed) for kind in KINDS for first, added in ((2, 1), (3, 2)) for skewed in (False, True)
]
EDGES = [Cell("detect", 2, 1, twin=True), Cell("detect", 2, 1, reference=False)]
DIFFERING = [Cell(kind, first, added, worse=DETECT) for kind in KINDS for first, added in ((2, 1), (3, 2))]
CELLS = [*EQUAL, *DIFFERING, *EDGES]


def main() -> None:
    """Run every cell; write the page, or print it."""
    options = asked(__doc__)
    kept = read(KEPT, Found) if options.write or options.page else []
    for number, cell in enumerate(CELLS):
        studies = 0 if options.page else FEW if not options.write else STUDIES if cell in EQUAL else FURTHER
        done = {row.seed for row in kept if row.cell == cell.name}
        for seed in sorted({1000 * number + k for k in range(studies)} - done):
            kept.append(outcome(cell, seed))
            if options.write:
                append(KEPT, kept[-1:])
    text = page({cell: [row for row in kept if row.cell == cell.name] for cell in CELLS})
    if options.write or options.page:
        (FOLDER / "families.md").write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def page(results: dict[Cell, list[Found]]) -> str:
    """Return the page of these results."""
    lines = [
        "# Algorithms that join a finished study: error rates and power",
        "",
        "How often does the [later family](../growing.md#later-families) claim a false difference? All studies went"
        f" through `am.Study.run`, at α = {ALPHA}. The limit is α with three standard errors. Seeds were fixed"
        " beforehand.",
        "",
        f"Up to {AVAILABLE} instances are available. Instances have normal or exponential effects with SD 1 in each"
        f" algorithm, runs have SD {NOISE}. A `detect` study has a pilot of 15 instances and a smallest difference of"
        f" {DETECT}; an interim study has four analyses. The p-values of the first family were identical before and"
        " after in every study.",
        "",
        "| truth | design | algorithms | compared | effects | studies | false claims, first | later | limit |",
        "|---|---|---|---|---|--:|--:|--:|--:|",
    ]
    for cell in (*EQUAL, *EDGES):
        rows = results[cell]
        first = "equal; the added one is a twin of the second" if cell.twin else "equal"
        limit = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / len(rows))
        pairs = "with reference" if cell.reference else "all pairs"
        errors = [f"{np.mean([getattr(row, name) for row in rows]):.3f}" for name in ("first", "later")]
        lines.append(
            f"| {first} | {cell.kind} | {cell.first} + {cell.added} | {pairs} |"
            f" {'exponential' if cell.skewed else 'normal'} | {len(rows)} | {errors[0]} |"
            f" {errors[1]} | {limit:.3f} |"
        )
    lines += [
        "",
        "## Power",
        "",
        f"Added algorithms are worse by {DETECT}, the smallest difference of interest. The share of these differences"
        f" found in {FURTHER} studies, with its standard error, and the mean power promised beforehand.",
        "",
        "| design | algorithms | promised | found | instances of the later family | instances of the first |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for cell in DIFFERING:
        rows = results[cell]
        found = np.array([row.found for row in rows])
        error = found.std(ddof=1) / math.sqrt(len(found))
        sizes = [np.mean([getattr(row, name) for row in rows]) for name in ("instances", "reached")]
        promised = np.mean([row.promised for row in rows])
        lines.append(
            f"| {cell.kind} | {cell.first} + {cell.added} | {promised:.3f} | {found.mean():.3f} ± {error:.3f} |"
            f" {sizes[0]:.0f} | {sizes[1]:.0f} |"
        )
    return "\n".join([*lines, "", "Repeat with `python benchmarks/bench_families.py --write`.", ""])


if __name__ == "__main__":
    main()
