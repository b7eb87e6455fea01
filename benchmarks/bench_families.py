"""Algorithms that join a finished study: how often does their later family err, and what does it find?

    python benchmarks/bench_families.py            a few studies of every cell
    python benchmarks/bench_families.py --write    all; docs/benchmarks/families.csv, families.md
    python benchmarks/bench_families.py --page     families.md from the results kept

Some studies go through `am.Study.run` twice: with their first algorithms, and with further ones when they are finished.
More are replayed: the rules decide on the same runs, without workers and results files. Both must agree study by study.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

import ampler as am
from ampler.analysis.compare import p_values
from ampler.core.arrays import Runs
from ampler.core.contracts import FinishedGroup
from ampler.core.plan import Continue
from ampler.stats.holm import step_down
from ampler.study.families import FamilySize, size_by_effect, size_by_variances
from ampler.study.record import as_begun, record
from ampler.study.run_inputs import run_seed
from ampler.testing import SerialExecutor
from kept_results import FOLDER, append, asked, read
from noisy_solver import noisy_solver

SEED = 20261120  # fixed before the first look
STUDIES, FURTHER, RUN, FEW = 600, 300, 5, 3  # replayed in the main cells and the others; with runs; without --write
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
    """What the later family of a study found: a false difference, the promised power, the share of true findings."""

    how: str
    cell: str
    seed: int
    later: int
    promised: float
    found: float
    instances: int


@dataclass(frozen=True)
class World:
    """The algorithms of one study."""

    cell: Cell
    seed: int

    @cached_property
    def means(self) -> dict[str, float]:
        """Return the true mean of each algorithm."""
        names = [*FIRST[: self.cell.first], *ADDED[: self.cell.added]]
        return {name: self.cell.worse if name in ADDED else 0.0 for name in names}

    @cached_property
    def algorithms(self) -> dict[str, Callable[[int, int], float]]:
        """Return the algorithms as functions of the place of an instance and a seed."""
        rng, shape = np.random.default_rng([SEED, self.seed]), (len(self.means), AVAILABLE)
        effects = rng.exponential(size=shape) - 1 if self.cell.skewed else rng.standard_normal(shape)
        if self.cell.twin:
            effects[self.cell.first] = effects[1]
        worlds = zip(self.means.items(), effects, strict=True)
        return {name: noisy_solver(name, (mean + own).tolist(), NOISE) for (name, mean), own in worlds}

    def study(self, algorithms: int) -> am.Study:
        """Return the study of the first algorithms."""
        return am.Study(
            algorithms=dict(list(self.algorithms.items())[:algorithms]),
            instances={f"i{k}": k for k in range(AVAILABLE)},
            difference="simple",
            better="lower",
            reference="a" if self.cell.reference else None,
            design=self.cell.design,
            power=POWER,
            seed=self.seed,
        )

    def found(self, how: str, rejected: dict[tuple[str, str], bool], size: FamilySize) -> Found:
        """Return what a later family found."""
        truly = {pair: self.means[pair[0]] != self.means[pair[1]] for pair in rejected}
        true = [rejected[pair] for pair in rejected if truly[pair]]
        false = any(rejected[pair] for pair in rejected if not truly[pair])
        promised = math.nan if size.power is None else size.power
        share = float(np.mean(true)) if true else math.nan
        return Found(how, self.cell.name, self.seed, int(false), promised, share, size.instances)

    def run(self) -> Found:
        """Run the study, add algorithms when it is finished, and run it again."""
        with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            path = Path(folder, "study.db")
            options: dict[str, Any] = {"executor": SerialExecutor(), "progress": False, "on_code_change": "keep"}
            first = self.study(self.cell.first).run(path, **options)
            whole = self.study(len(self.means)).run(path, **options)
        (family,) = whole.families
        assert family.analysis is not None
        assert [item.p_value for item in first.comparisons] == [item.p_value for item in whole.comparisons]
        rejected = {item.pair: item.rejected for item in family.analysis.comparisons}
        return self.found("run", rejected, FamilySize(family.instances, family.needed, family.power))

    def replay(self) -> Found:
        """Let the rules decide on the same runs, and test the later family."""
        plan, names = as_begun(self.study(self.cell.first).plan), list(self.means)
        later = [pair for pair in combinations(names, 2) if pair[1] in ADDED]
        later = [pair for pair in later if pair[0] == "a"] if self.cell.reference else later
        runs, places = 2, {instance.name: int(instance.name[1:]) for instance in plan.instances}
        order = [instance.name for instance in (*plan.instances, *plan.untouched)]
        if self.cell.kind == "interim":
            size = size_by_effect(plan, len(later))
        else:
            pilot = plan.study_rule(plan, [])
            decision = plan.study_rule(plan, [FinishedGroup(pilot, (), lambda: self.runs(places, pilot))])
            requests = [pilot, decision] if isinstance(decision, Continue) else [pilot]
            runs = max(requests[-1].runs.values())
            known = self.runs(places, *requests)
            differing = self.cell.added * (1 if self.cell.reference else self.cell.first)
            size = size_by_variances(plan, record(plan), known, len(later), differing)
        means = {
            name: [np.mean([self.value(name, int(i[1:]), k) for k in range(runs)]) for i in order[: size.instances]]
            for name in names
        }
        differences = np.array([np.subtract(means[one], means[other]) for one, other in later]).T
        steps = step_down(p_values(differences, test="t"), ALPHA)
        return self.found("replay", dict(zip(later, steps.rejected.tolist(), strict=True)), size)

    def value(self, name: str, place: int, index: int) -> float:
        """Return the value of a run."""
        return self.algorithms[name](place, run_seed(self.seed, f"i{place}", name, index))

    def runs(self, places: dict[str, int], *requests: Continue) -> Runs:
        """Return the requested runs, each once."""
        keys = {
            (instance, name, k): None
            for request in requests
            for instance in request.instances
            for name, number in (request.runs or {}).items()
            for k in range(number)
        }
        values = [self.value(name, places[instance], k) for instance, name, k in keys]
        return Runs.from_columns([key[0] for key in keys], [key[1] for key in keys], values)


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
    for how in ("replay", "run"):
        for number, cell in enumerate(CELLS):
            studies = RUN if how == "run" else STUDIES if cell in EQUAL else FURTHER
            done = {row.seed for row in kept if (row.how, row.cell) == (how, cell.name)}
            for k in range(0 if options.page else studies if options.write else FEW):
                if (seed := 1000 * number + k) not in done:
                    kept.append(getattr(World(cell, seed), how)())
                    if options.write:
                        append(KEPT, kept[-1:])
    check_agreement(kept)
    if options.write or options.page:
        (FOLDER / "families.md").write_text(page(kept), encoding="utf-8")
    else:
        sys.stdout.write(page(kept))


def check_agreement(rows: list[Found]) -> None:
    """Insist that a replayed study found what it found with runs and results files."""
    replayed = {(row.cell, row.seed): row for row in rows if row.how == "replay"}
    for row in rows:
        other = replayed.get((row.cell, row.seed), row)
        assert (row.later, row.instances) == (other.later, other.instances), row
        assert row.found == other.found or math.isnan(row.found), row


def page(rows: list[Found]) -> str:
    """Return the page of these results."""
    run = sum(row.how == "run" for row in rows)
    lines = [
        "# Algorithms that join a finished study: error rates and power",
        "",
        "How often does the [later family](../growing.md#later-families) claim a false difference at α = 0.05? The"
        " limit is α with three standard errors. Seeds were fixed beforehand.",
        "",
        f"Up to {AVAILABLE} instances are available. Instances have normal or exponential effects with SD 1 in each"
        f" algorithm; runs have SD {NOISE}. A `detect` study has a pilot of 15 instances and a smallest difference of"
        f" {DETECT}. An interim study has four analyses.",
        "",
        f"The rules decided on simulated runs. {run:,} of these studies also went through `am.Study.run` with their"
        " results files. Every one had the same size and the same findings, and its first family had the same"
        " p-values before and after.",
        "",
        "| truth | design | algorithms | compared | effects | studies | false claims | limit |",
        "|---|---|---|---|---|--:|--:|--:|",
    ]
    for cell in (*EQUAL, *EDGES):
        own = [row for row in rows if (row.how, row.cell) == ("replay", cell.name)]
        first = "equal; the added one is a twin of the second" if cell.twin else "equal"
        limit = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / len(own))
        pairs = "with reference" if cell.reference else "all pairs"
        lines.append(
            f"| {first} | {cell.kind} | {cell.first} + {cell.added} | {pairs} |"
            f" {'exponential' if cell.skewed else 'normal'} | {len(own):,} |"
            f" {np.mean([row.later for row in own]):.3f} | {limit:.3f} |"
        )
    lines += [
        "",
        "## Power",
        "",
        f"Added algorithms are worse by {DETECT}, the smallest difference of interest. The share of these differences"
        " found, with its standard error, and the mean power that was promised.",
        "",
        "| design | algorithms | studies | promised | found | instances |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for cell in DIFFERING:
        own = [row for row in rows if (row.how, row.cell) == ("replay", cell.name)]
        found = np.array([row.found for row in own])
        error = found.std(ddof=1) / math.sqrt(len(found))
        lines.append(
            f"| {cell.kind} | {cell.first} + {cell.added} | {len(own):,} |"
            f" {np.mean([row.promised for row in own]):.3f} | {found.mean():.3f} ± {error:.3f} |"
            f" {np.mean([row.instances for row in own]):.0f} |"
        )
    return "\n".join([*lines, "", "Repeat with `python benchmarks/bench_families.py --write`.", ""])


if __name__ == "__main__":
    main()
