"""The paper's two experiments as ampler studies, at any number of iterations and on generated or given instances."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import ampler as am
from ampler.sampling.rules import Fixed
from ampler_upmsp.annealing import Parameters, anneal
from ampler_upmsp.instance import Instance, generate_instance, read_instance
from ampler_upmsp.variants import FULL, disabled_by, follow_up_variants, paper_variants

# the calibration set of Vallada & Ruiz (2011), the paper's 200 "tuning" instances
JOBS, MACHINES, SETUPS, REPLICATES = (50, 100, 150, 200, 250), (10, 15, 20, 25, 30), (9, 49, 99, 124), (1, 2)
TEMPERATURES = 150  # so many levels in a run of any length: the temperature falls to 0.002, as in 3 million / 20 000
SE, START, BUDGET = 0.05, 10, 1100  # the paper's, for 22 algorithms
ACCURACY: dict[str, Any] = {"se": SE, "difference": "percent", "reference": FULL, "start": START}
RULES = {
    "paper": am.Accuracy.as_in_paper(budget=BUDGET, **ACCURACY),
    "pairs": am.Accuracy(budget=BUDGET, **ACCURACY),  # ampler's default
    "all": am.Accuracy(budget=BUDGET, guard="all", **ACCURACY),
}
INSTANCES_KEPT = 8  # in the memory of a worker: the largest takes some 20 MB


@dataclass(frozen=True, slots=True)
class Recipe:
    """An instance that is generated where it is needed, so that only these numbers travel."""

    jobs: int
    machines: int
    largest_setup: int
    replicate: int

    @property
    def name(self) -> str:
        """The name in the manner of the benchmark's files; G for generated."""
        return f"G_{self.jobs}_{self.machines}_S_1-{self.largest_setup}_{self.replicate}"


def calibration_like() -> tuple[am.Instance, ...]:
    """Return 200 instances equivalent to the calibration set, with their sizes as features.

    >>> len(calibration_like())
    200
    """
    recipes = [Recipe(*numbers) for numbers in product(JOBS, MACHINES, SETUPS, REPLICATES)]
    return tuple(am.Instance(recipe.name, data=recipe, features=sizes(recipe.name)) for recipe in recipes)


def instance_files(folder: Path) -> tuple[am.Instance, ...]:
    """Return the instance files of a folder; their content is part of what a study remembers."""
    files = sorted(folder.glob("*.txt")) + sorted(folder.glob("*.txt.gz"))
    if not files:
        raise ValueError(f"the folder of instances must hold files that end in .txt or .txt.gz, {folder} has none")
    return tuple(_file(path, path.name.removesuffix(".gz").removesuffix(".txt")) for path in files)


def sizes(name: str) -> dict[str, str]:
    """Return the features that the benchmark's file names tell, for subgroups.

    >>> sizes("I_50_10_S_1-124_2")
    {'jobs': '50', 'machines': '10', 'setups': '1-124'}
    """
    found = re.fullmatch(r"[A-Z]+_(?P<jobs>\d+)_(?P<machines>\d+)_S_(?P<setups>\d+-\d+)_\d+", name)
    return found.groupdict() if found else {}


def _file(path: Path, name: str) -> am.Instance:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return am.Instance(name, path=str(path.resolve()), sha256=digest, features=sizes(name))


def first_experiment(
    instances: Iterable[am.Instance], *, iterations: int, seed: int = 2019, rule: am.Accuracy | Fixed | None = None
) -> am.Study:
    """`full` against its 21 variants: percent differences, d = 0.5, power 0.8, so 57 instances; se 0.05.

    Another `rule` than ampler's own may decide on the runs, such as the paper's: `RULES["paper"]`.
    """
    return am.Study(
        name="neighbourhoods",
        algorithms=_algorithms(paper_variants(), iterations),
        instances=instances,
        reference=FULL,
        difference="percent",
        design=am.FixedSize(instances="needed", runs=rule or RULES["pairs"], effect=0.5),
        power=0.8,
        seed=seed,
        better="lower",
    )


def second_experiment(
    instances: Iterable[am.Instance], *, iterations: int, seed: int = 2020, use: int | str = "all"
) -> am.Study:
    """Follow up what the first experiment did not separate: 7 variants without SHF, SWP, SWT, on all instances."""
    variants = follow_up_variants()
    return am.Study(
        name="follow-up",
        algorithms=_algorithms(variants, iterations),
        instances=instances,
        reference=FULL,
        difference="percent",
        design=am.FixedSize(instances=use, runs=am.Accuracy(budget=50 * len(variants), **ACCURACY), effect=0.25),
        seed=seed,
        better="lower",
    )


def makespan_of(instance: Recipe | Path, seed: int, *, disable: str, iterations: int) -> float:
    """Run one variant once: the algorithm that the studies compare."""
    settings = Parameters(iterations_per_temperature=max(1, iterations // TEMPERATURES))
    disabled = disabled_by(disable)
    return float(
        anneal(_loaded(instance), seed=seed, iterations=iterations, disable=disabled, parameters=settings).makespan
    )


def _algorithms(variants: tuple[str, ...], iterations: int) -> dict[str, Any]:
    return {name: partial(makespan_of, disable=name, iterations=iterations) for name in variants}


@lru_cache(maxsize=INSTANCES_KEPT)
def _loaded(instance: Recipe | Path) -> Instance:
    if isinstance(instance, Recipe):
        seed = instance.replicate
        return generate_instance(
            instance.jobs, instance.machines, instance.largest_setup, seed=seed, name=instance.name
        )
    return read_instance(instance)
