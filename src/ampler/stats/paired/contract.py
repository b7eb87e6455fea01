"""Contract of a paired test: its row, its bounds, and families of comparisons with missing differences. Pure.

A difference that a pair lacks on an instance is NaN; each column is tested by what it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple, Protocol

import numpy as np
from scipy.special import stdtr

from ampler.core.arrays import Bools, Floats
from ampler.core.settings import Alternative, Test
from ampler.stats.holm import StepDown, step_down


class Bounds(NamedTuple):
    """An interval and its achieved level: few differences may not reach the nominal one."""

    lower: float
    upper: float
    level: float


def one_sided(lower: float, upper: float, alternative: Alternative, level: float) -> Bounds:
    """Return the bounds, open on the free side of a one-sided alternative."""
    return Bounds(-math.inf if alternative == "less" else lower, math.inf if alternative == "greater" else upper, level)


def p_of_tails(at_least: Floats, at_most: Floats, alternative: Alternative) -> Floats:
    """Return p-values from the probabilities of a statistic at least, and at most, as large as observed.

    >>> p_of_tails(np.array([0.01]), np.array([0.995]), "two-sided").tolist()
    [0.02]
    """
    if alternative == "two-sided":
        return np.asarray(np.minimum(1.0, 2 * np.minimum(at_least, at_most)))
    return at_least if alternative == "greater" else at_most


def p_of_t(t: Floats | float, freedom: Floats | float, alternative: Alternative) -> Floats:
    """Return p-values of t statistics.

    >>> p_of_t(2.0, 9.0, "greater").round(4).item()
    0.0383
    """
    tail = {"two-sided": -np.abs(t), "less": t, "greater": -t}[alternative]
    return np.asarray(np.minimum(1.0, (2 if alternative == "two-sided" else 1) * stdtr(freedom, tail)))


@dataclass(frozen=True, slots=True)
class Estimand:
    """Estimand of a test: a difference, or a share of the instances where `axis` names one."""

    name: str  # heading in tables
    words: str  # after the amount, as in "lower by 3 % on average"
    tex: str
    neutral: float = 0.0  # its value where there is no difference
    axis: str | None = None  # the name of an axis on which shares are drawn

    @property
    def is_share(self) -> bool:
        """Whether it is a share of the instances, from 0 to 1, and not a difference in the unit of the values."""
        return self.axis is not None


@dataclass(frozen=True, slots=True)
class Procedure:
    """Texts about the multiplicity correction of a family."""

    name: str  # short form
    words: str  # after "held by"
    joint: str  # continues "joint intervals …"
    level: str  # before "level": whose, for intervals at the level of their rank
    order: str  # of the comparisons
    about: str  # those intervals, in a sentence
    cites: tuple[str, ...]


HOLM = Procedure(
    name="Holm",
    words="Holm's step-down procedure",
    joint="are Bonferroni-adjusted",
    level="Holm",
    order="Holm's order",
    about="Each Holm-level interval has the level 1 − α′ of its rank, as in the paper's tables",
    cites=("holm1979",),
)


class Many(NamedTuple):
    """Results of a test for many samples at once."""

    p_values: Floats
    upward: Bools  # whether the differences lean to "greater"


class FamilyVerdict(Protocol):
    """Comparisons that were tested together; everything is in the order of the columns of differences."""

    @property
    def p_values(self) -> Floats:
        """The p-value of each comparison by itself."""

    @property
    def steps(self) -> StepDown:
        """Result of the step-down procedure: rejections, adjusted p-values, ranks and the level of each rank."""

    @property
    def intervals(self) -> tuple[Bounds, ...]:
        """The interval of each comparison at the level of its rank; not joint."""

    @property
    def joint_intervals(self) -> tuple[Bounds, ...]:
        """The intervals that hold together with probability 1 − alpha; the whole line where that cannot be."""


@dataclass(frozen=True, eq=False)
class TestedFamily:
    """A family's verdict whose intervals are made when requested."""

    p_values: Floats
    steps: StepDown
    intervals_at: Callable[[bool], tuple[Bounds, ...]]  # simultaneous, or at the level of each rank

    @cached_property
    def intervals(self) -> tuple[Bounds, ...]:
        """The intervals at the level of each rank."""
        return self.intervals_at(False)

    @cached_property
    def joint_intervals(self) -> tuple[Bounds, ...]:
        """The simultaneous intervals."""
        return self.intervals_at(True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """A paired test: one row of the table.

    `p_value`, `estimate`, `interval` and `leaning` ask the differences of one pair, two or more, over its instances;
    `many` asks many such vectors, on the last axis. `family`, `families` and `equivalence` are for tests that look at
    all comparisons together, and then `procedure` says how.
    """

    name: Test
    words: str  # "sign test"; with an s for several
    label: str  # in a list of choices
    null: str  # continues "the null hypothesis …"
    cites: tuple[str, ...] = ()  # keys of the works that a report cites for it
    estimand: Estimand
    efficiency: Fraction = Fraction(1)  # asymptotic relative efficiency to the paired t-test
    p_value: Callable[[Floats, Alternative], float]
    many: Callable[[Floats, Alternative], Many]
    estimate: Callable[[Floats], float]
    interval: Callable[[Floats, Alternative, float], Bounds]  # the last argument is alpha
    leaning: Callable[[Floats], float]  # positive where the differences lean to "greater"; faster than the estimate
    when_skewed: Literal["errs", "tests something else", "stays sound"]
    has_exact_p: bool = False  # its smallest p-value follows from the number of instances
    price: int = 0  # instances needed in addition to its efficiency
    by_moments: bool = False  # whether it depends on mean and standard deviation alone: simulations then need no data
    look_back: int = 0  # instances to check below an answer, as the power is not monotone
    family: Callable[[Floats, Alternative, float], FamilyVerdict] | None = None  # (instances × pairs, …, alpha)
    families: Callable[[Floats, Alternative], Many] | None = None  # adjusted p-values: families × pairs × instances
    equivalence: Callable[[Floats, float, float], tuple[Floats, StepDown]] | None = None  # (…, margin, alpha)
    procedure: Procedure = HOLM

    @property
    def plural(self) -> str:
        """Plural name of the test."""
        return f"{self.words}s"

    @property
    def estimate_of(self) -> str:
        """Short name of the estimate."""
        return self.estimand.name


FEWEST = 2  # minimum number of differences for a test
EVERYTHING = Bounds(-math.inf, math.inf, 1.0)  # the interval without information


def present(column: Floats) -> Floats:
    """Return the available differences, in their order.

    >>> present(np.array([1.5, np.nan, 2.0])).tolist()
    [1.5, 2.0]
    """
    missing = np.isnan(column)
    return column[~missing] if missing.any() else column


def present_columns(differences: Floats) -> tuple[Floats, ...]:
    """Return the available differences of each pair."""
    return tuple(present(column) for column in np.ascontiguousarray(differences.T))


def sample_p_value(test: PairedTest, sample: Floats, alternative: Alternative) -> float:
    """Return the p-value; 1 where there are too few differences to test."""
    return test.p_value(sample, alternative) if len(sample) >= FEWEST else 1.0


def sample_interval(test: PairedTest, sample: Floats, alternative: Alternative, alpha: float) -> Bounds:
    """Return the interval; the whole line where there are too few differences to test."""
    return test.interval(sample, alternative, alpha) if len(sample) >= FEWEST else EVERYTHING


def sample_estimate(test: PairedTest, sample: Floats) -> float:
    """Return the estimate; NaN where there are too few differences to test."""
    return test.estimate(sample) if len(sample) >= FEWEST else math.nan


def holm_family(test: PairedTest, differences: Floats, alternative: Alternative, alpha: float) -> FamilyVerdict:
    """Test each column of differences by itself; Holm steps down, and Bonferroni makes intervals joint.

    A column with fewer than two differences cannot be rejected; it keeps its place in the family.
    """
    columns = present_columns(differences)
    p_values = np.array([sample_p_value(test, column, alternative) for column in columns])
    steps = step_down(p_values, alpha)

    def intervals_at(joint: bool) -> tuple[Bounds, ...]:
        levels = np.full(len(columns), alpha / len(columns)) if joint else steps.levels
        pairs = zip(columns, levels.tolist(), strict=True)
        bounds = ((sample_interval(test, column, alternative, level), 1 - level) for column, level in pairs)
        # A simultaneous interval that cannot reach its level is the whole line.
        return tuple(one if not joint or one.level >= promised else EVERYTHING for one, promised in bounds)

    return TestedFamily(p_values, steps, intervals_at)
