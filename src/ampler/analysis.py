"""From runs to what may be concluded: comparisons in Holm's order, accuracy, and what a reader must know. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ampler.model import Alternative, Difference, Status, Test
from ampler.runs import FailurePolicy, Runs

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Interval = tuple[float, float]
Better = Literal["lower", "higher"]
Statistic = str | Callable[[Floats], float]
Features = Mapping[str, Mapping[str, object]]  # feature -> instance -> value


@dataclass(frozen=True, slots=True)
class Caution:
    """Something a reader of the results must know: its kind (a fixed word) and a sentence."""

    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Is a difference certainly within ±margin? Two one-sided tests, in their own Holm family."""

    margin: float
    p_value: float
    p_holm: float
    alpha: float
    rank: int
    established: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """One pair, with Holm's verdict. φ is first minus second, in the chosen kind of difference."""

    first: str
    second: str
    estimate: float
    estimate_of: str  # "mean", "pseudomedian" or "P(φ>0)"
    interval: Interval  # at `level`: 1 - alpha, the Holm level of this rank (not joint)
    level: float  # below 1 - alpha where the test cannot reach it with so few instances
    joint_interval: Interval  # all of these together cover the truth with probability >= 1 - alpha of the family
    joint_level: float
    p_value: float
    p_holm: float
    alpha: float  # Holm's level of this rank
    rank: int  # from 1, in Holm's order
    rejected: bool
    effect_size: float  # d: mean / sd of the differences
    effect_interval: Interval  # 95 %, unadjusted
    noise_share: float  # mean se² / variance of the differences; NaN when accuracy is not known
    skewness: float
    equivalence: Equivalence | None
    verdict: str


@dataclass(frozen=True, slots=True)
class InstanceAccuracy:
    """How accurately the differences on one instance are known: the largest standard error over the pairs."""

    instance: str
    runs: tuple[int, ...]  # of each algorithm, failed ones included
    error: float  # plain; NaN: not known
    guarded_error: float
    worst: tuple[str, str]  # the pair with the largest plain error
    at_budget: bool  # ended at the budget
    accurate: bool | None  # plain error <= se; None when se or the error is not known


@dataclass(frozen=True, slots=True)
class AlgorithmRuns:
    """How often an algorithm was run, and how the runs that failed ended."""

    algorithm: str
    runs: int
    failures: Mapping[Status, int]
    mean_rank: float  # 1 is best


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked, to be reported with the answer."""

    difference: Difference
    reference: str | None
    better: Better
    test: Test
    alternative: Alternative
    alpha: float
    statistic: str
    formula: str
    guard: str
    se: float | None
    budget: int | None
    margin: float | None
    effect: float | None
    power: float
    failures: FailurePolicy | None


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """What the runs allow to conclude. `print(analysis)` shows the Holm table.

    Arrays are in the order of `pairs` (columns) and `accuracy` (rows): the differences φ, their plain and guarded
    standard errors, and the statistic of each algorithm (columns in the order of `algorithms`).
    """

    settings: Settings
    comparisons: tuple[Comparison, ...]  # in Holm's order
    instances: int  # complete ones, used in every comparison
    runs: int
    algorithms: tuple[AlgorithmRuns, ...]
    accuracy: tuple[InstanceAccuracy, ...]
    excluded: Mapping[str, str]  # instances left out, and why
    detectable_effect: float  # the d that would have been found with mean power `settings.power`
    warnings: tuple[Caution, ...]
    pairs: tuple[tuple[str, str], ...]
    statistics: Floats
    differences: Floats
    errors: Floats
    guarded_errors: Floats

    def table(self) -> pd.DataFrame:
        """The comparisons as a data frame, one row each, in Holm's order."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON: what is infinite or unknown is None."""
        raise NotImplementedError


def analyse_runs(
    runs: Runs,
    *,
    difference: Difference,
    reference: str | None = None,
    better: Better = "lower",
    test: Test = "t",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    statistic: Statistic = "mean",
    formula: Literal["delta", "paper"] = "delta",
    guard: Literal["none", "pairs", "all"] = "pairs",
    se: float | None = None,
    budget: int | None = None,
    margin: float | None = None,
    effect: float | None = None,
    power: float = 0.8,
    features: Features | None = None,
    failures: FailurePolicy | None = None,
    deterministic: Collection[str] | None = None,
    seed: int = 0,
) -> Analysis:
    """Compare the algorithms pair by pair over the instances, with Holm's correction."""
    raise NotImplementedError
