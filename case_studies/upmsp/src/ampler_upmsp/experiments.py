"""The paper's two experiments as ampler studies, at any number of iterations and on generated or given instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import ampler as am
from ampler_upmsp.annealing import Parameters, anneal
from ampler_upmsp.instance import Instance, generate_instance, read_instance
from ampler_upmsp.variants import FULL, disabled_by, follow_up_variants, paper_variants

# the calibration set of Vallada & Ruiz (2011), the paper's 200 "tuning" instances
JOBS, MACHINES, SETUPS, REPLICATES = (50, 100, 150, 200, 250), (10, 15, 20, 25, 30), (9, 49, 99, 124), (1, 2)
TEMPERATURES = 150  # so many levels in a run of any length: the temperature falls to 0.002, as in 3 million / 20 000
SE, START, BUDGET = 0.05, 10, 1100  # the paper's, for 22 algorithms
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


def calibration_like() -> dict[str, Recipe]:
    """Return 200 instances equivalent to the calibration set.

    >>> len(calibration_like())
    200
    """
    recipes = [Recipe(*numbers) for numbers in product(JOBS, MACHINES, SETUPS, REPLICATES)]
    return {recipe.name: recipe for recipe in recipes}


def instance_files(folder: Path) -> dict[str, Path]:
    """Return the instance files of a folder by name."""
    return {path.name.partition(".txt")[0]: path for path in sorted(folder.glob("*.txt*"))}


def first_experiment(
    instances: Mapping[str, Any], *, iterations: int, seed: int = 2019, paper_rule: bool = False
) -> am.Study:
    """`full` against its 21 variants: percent differences, d = 0.5, power 0.8, so 57 instances; se 0.05.

    With `paper_rule` runs are chosen by the paper's Algorithm 1 instead of ours.
    """
    variants = paper_variants()
    rule = am.Accuracy.as_in_paper if paper_rule else am.Accuracy
    return am.Study(
        name="neighbourhoods",
        algorithms=_algorithms(variants, iterations),
        instances=instances,
        reference=FULL,
        difference="percent",
        effect=0.5,
        power=0.8,
        rule=rule(se=SE, difference="percent", reference=FULL, start=START, budget=BUDGET),
        seed=seed,
    )


def second_experiment(
    instances: Mapping[str, Any], *, iterations: int, seed: int = 2020, use: int | str = "all"
) -> am.Study:
    """Follow up what the first experiment did not separate: 7 variants without SHF, SWP, SWT, on all instances."""
    variants = follow_up_variants()
    return am.Study(
        name="follow-up",
        algorithms=_algorithms(variants, iterations),
        instances=instances,
        reference=FULL,
        difference="percent",
        effect=0.25,
        use=use,
        rule=am.Accuracy(se=SE, difference="percent", reference=FULL, start=START, budget=50 * len(variants)),
        seed=seed,
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
