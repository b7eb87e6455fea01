"""What a paired test is: a row with its words, its numbers, and its questions to the differences. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, Protocol

from ampler.core.arrays import Bools, Floats
from ampler.core.choices import Alternative, Test
from ampler.stats.holm import StepDown
from ampler.stats.paired.bounds import Bounds


@dataclass(frozen=True, slots=True)
class Estimand:
    """What a test estimates: a difference, or a share of the instances where `axis` names one."""

    name: str  # as tables have it
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
    """What holds a family of comparisons together, in words."""

    name: str  # in a line
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
    """What a test says of many samples at once."""

    p_values: Floats
    upward: Bools  # whether the differences speak for "greater"


class FamilyVerdict(Protocol):
    """Comparisons that were tested together; everything is in the order of the columns of differences."""

    @property
    def p_values(self) -> Floats:
        """The p-value of each comparison by itself."""
        ...

    @property
    def steps(self) -> StepDown:
        """What the step-down procedure rejects, with adjusted p-values, ranks and the level of each rank."""
        ...

    @property
    def intervals(self) -> tuple[Bounds, ...]:
        """The interval of each comparison at the level of its rank; not joint."""
        ...

    @property
    def joint_intervals(self) -> tuple[Bounds, ...]:
        """The intervals that hold together with probability 1 − alpha; the whole line where that cannot be."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """A paired test: one row of the table.

    `p_value`, `estimate`, `interval` and `leaning` ask the differences of one pair, two or more, over its instances;
    `many` asks many such vectors, on the last axis. `family`, `families` and `equivalence` are for tests that look at
    all comparisons together, and then `procedure` says how.
    """

    name: Test
    words: str  # "sign test"; with an s for several
    null: str  # continues "the null hypothesis …"
    cites: tuple[str, ...]  # keys of the works that a report cites for it
    estimand: Estimand
    efficiency: Fraction  # relative to the paired t-test: that one needs so many times the instances
    p_value: Callable[[Floats, Alternative], float]
    many: Callable[[Floats, Alternative], Many]
    estimate: Callable[[Floats], float]
    interval: Callable[[Floats, Alternative, float], Bounds]  # the last argument is alpha
    leaning: Callable[[Floats], float]  # positive where the differences speak for "greater"; quicker than the estimate
    when_skewed: Literal["errs", "tests something else", "stays sound"]
    price: int = 0  # instances that it needs beyond what its efficiency says
    by_moments: bool = False  # whether mean and standard deviation are all it sees: then simulations need no data
    look_back: int = 0  # instances below an answer at which its power, which goes up and down, may be higher again
    family: Callable[[Floats, Alternative, float], FamilyVerdict] | None = None  # (instances × pairs, …, alpha)
    families: Callable[[Floats, Alternative], Many] | None = None  # adjusted p-values: families × pairs × instances
    equivalence: Callable[[Floats, float, float], tuple[Floats, StepDown]] | None = None  # (…, margin, alpha)
    procedure: Procedure = HOLM

    @property
    def plural(self) -> str:
        """Several of these tests, in words."""
        return f"{self.words}s"

    @property
    def estimate_of(self) -> str:
        """What the estimate is, in a word."""
        return self.estimand.name
