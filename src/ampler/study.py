"""Study: the thin front that joins plan, runner, store and analysis for those who work in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ampler.analysis import Analysis
from ampler.errors import InvalidPlan
from ampler.growth import Growth
from ampler.model import (
    Algorithm,
    Alternative,
    Better,
    Difference,
    FailurePolicy,
    Instance,
    Limits,
    Plan,
    Question,
    StopStudy,
    Target,
    Test,
)
from ampler.plan import Count, as_algorithms, make_plan
from ampler.protocols import Executor, Rule
from ampler.runner import Progress, run_plan
from ampler.sampling import Accuracy
from ampler.sources import analyse
from ampler.store import open_store


@dataclass(frozen=True, kw_only=True)
class Study:
    """A comparison of algorithms on instances: what study.toml says, said in Python.

    `algorithms` are functions by name, `call(instance, seed)` giving a number or a mapping of measures, or Commands;
    `instances` any objects by name, or names. `se` is the accuracy wanted on each instance; for other ways to decide
    on runs give a `rule`. `use` says how many instances are used: as many as the power needs ("needed"), "all", or a
    number. `on_failure` says what a failed run means, `timeout` (seconds) and `memory` (bytes) limit each run.

    >>> import random
    >>> study = Study(
    ...     algorithms={
    ...         "plain": lambda instance, seed: instance + random.Random(seed).random(),
    ...         "worse": lambda instance, seed: instance + 1 + random.Random(seed).random(),
    ...     },
    ...     instances={"small": 10, "large": 20, "huge": 30},
    ...     difference="simple", se=0.1, use="all", seed=1,
    ... )
    >>> [instance.name for instance in study.plan.instances]
    ['huge', 'large', 'small']
    """

    algorithms: Mapping[str, Callable[..., Any] | Algorithm]
    instances: Mapping[str, Any] | Iterable[str | Instance]
    difference: Difference
    reference: str | None = None
    effect: float | None = None
    power: float = 0.8
    se: float | None = None
    seed: int = 0
    use: Count = "needed"
    rule: Rule | None = None
    start: int = 10
    budget: int | None = None
    statistic: str = "mean"
    alpha: float = 0.05
    target: Target = "mean"
    test: Test = "t"
    alternative: Alternative = "two-sided"
    better: Better = "lower"
    margin: float | None = None
    timeout: float | None = None
    memory: int | None = None
    on_failure: FailurePolicy = field(default_factory=StopStudy)
    retries: int = 0
    name: str = "study"

    @property
    def plan(self) -> Plan:
        """The plan of the study, checked."""
        return make_plan(
            question=self._question(),
            algorithms=self.algorithms,
            instances=self.instances,
            rule=self._rule(),
            seed=self.seed,
            count=self.use,
            name=self.name,
            limits=Limits(self.timeout, self.memory),
            policy=self.on_failure,
            retries=self.retries,
        )

    def run(
        self,
        path: str | os.PathLike[str],
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        retry_failed: bool = False,
        report: Callable[[Progress], object] | None = None,
        announce: Callable[[Growth], object] | None = None,
    ) -> Analysis:
        """Make the runs that the study file lacks, and say what they allow to conclude.

        Interrupt it and call it again: it goes on where it was. Runs are made by `workers` processes, or by any
        executor of the kind of concurrent.futures, such as Dask's; `report` is told of the progress, and `announce`,
        before anything starts, how the plan differs from the one of the recorded runs.
        """
        plan = self.plan  # what is wrong with it is told before a file is made
        with open_store(path) as store:
            run_plan(
                plan,
                store,
                workers=workers,
                executor=executor,
                retry_failed=retry_failed,
                report=report,
                announce=announce,
            )
            return analyse(store)

    def _question(self) -> Question:
        return Question(
            difference=self.difference,
            reference=self.reference,
            effect=self.effect,
            power=self.power,
            alpha=self.alpha,
            target=self.target,
            test=self.test,
            alternative=self.alternative,
            better=self.better,
            statistic=self.statistic,
            margin=self.margin,
        )

    def _rule(self) -> Rule:
        if (self.se is None) == (self.rule is None):
            raise InvalidPlan(
                "a study needs either se, the accuracy wanted on each instance, or a rule such as Fixed(runs=30), "
                f"got {'both' if self.rule else 'neither'}"
            )
        if self.rule is not None:
            return self.rule
        assert self.se is not None
        costs = {algorithm.name: algorithm.cost for algorithm in as_algorithms(self.algorithms)}
        return Accuracy(
            se=self.se,
            difference=self.difference,
            reference=self.reference,
            statistic=self.statistic,
            start=self.start,
            budget=self.budget,
            costs=costs if set(costs.values()) != {1.0} else None,
        )
