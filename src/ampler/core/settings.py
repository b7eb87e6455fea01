"""The settings of an analysis as one value, the same from the shell, the browser and Python. Pure.

A setting is declared once, below: its type, its default, how it is checked, and what its help says. Options of the
shell are made from this, and everything under the public doors takes the value whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args, get_origin, get_type_hints

from ampler.core.checks import choice, integer, positive, share, simple_if_rate
from ampler.core.choices import (
    Alternative,
    Better,
    Difference,
    Estimate,
    Formula,
    Guard,
    GuardEdition,
    SignedRanks,
    Test,
    Weights,
    difference_of,
)
from ampler.core.errors import InvalidData, InvalidDesign
from ampler.core.failures import FailurePolicy, lifted
from ampler.core.names import composed

if TYPE_CHECKING:
    from ampler.core.values import Question

Check = Callable[[str, Any], Any]

UNKNOWN = "leave it out if it is not known"
RATE = "rate"  # the statistic of yes and no
OURS = ("mean", "median", RATE)  # names of statistics that a function may have, too


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a setting besides its type and default.

    `help` is what people are told of it; a setting without help is no option of the shell. `check` takes the name and
    the value and returns what fits or says why nothing does; a free text has none, and `metavar` stands for it.
    """

    help: str = ""
    check: Check | None = None
    metavar: str | None = None


def _one_of(words: Any, way_out: str) -> Check:
    return lambda name, value: choice(name, value, get_args(words), way_out)


def _difference(name: str, value: Any) -> Difference:
    kind: Difference = choice(name, difference_of(value), get_args(Difference), "there is no default")
    return kind


def _a_share(way_out: str) -> Check:
    return lambda name, value: share(name, value, way_out)


def _positive(name: str, value: Any) -> float | None:
    return None if value is None else positive(name, value, UNKNOWN, error=InvalidData)


def _edition(name: str, value: Any) -> int:
    first, newest = get_args(GuardEdition)
    return integer(name, value, first, newest, f"{newest} is the newest")


def _runs(least: int, way_out: str) -> Check:
    return lambda name, value: None if value is None else integer(name, value, least, 10**12, way_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisSettings:
    """What is asked of results, checked when it is made.

    With a `reference` all others are compared with it, else all with all. `se` and `budget` say what accuracy was
    wanted and how many runs an instance could take; with `start`, the first runs of each algorithm, they say that the
    values decided on the others, and `estimate` what then stands for the runs. `margin` asks for equivalence as well,
    and then each of the two families gets half of alpha; it is also what posterior probabilities are about, in which
    instances have `weights`. Values below `floor` count as it. `failures` says what a
    failed run counts as; it must be said when there are any.

    >>> AnalysisSettings(difference="percent", margin=0.01).family_alpha
    0.025
    """

    reference: Annotated[str | None, Setting("Compare all with this one; else all pairs.", metavar="NAME")] = None
    difference: Annotated[Difference, Setting("Must be chosen, unless a study says it.", _difference)]
    test: Annotated[Test, Setting("The paired test: t if not said.", _one_of(Test, "t is the default"))] = "t"
    alternative: Annotated[
        Alternative,
        Setting("Of first - second: two-sided if not said.", _one_of(Alternative, "it speaks of first minus second")),
    ] = "two-sided"
    alpha: Annotated[float, Setting("Family-wise error rate: 0.05 if not said.", _a_share("0.05 is usual"))] = 0.05
    family_alpha: float = field(init=False)  # of the differences: half of alpha when equivalence is claimed as well
    better: Annotated[
        Better,
        Setting(
            "Must be said, unless the name of the values or a study says it.",
            _one_of(Better, "it decides the words of the verdict"),
        ),
    ] = "lower"
    statistic: Annotated[
        str | Callable[..., Any],
        Setting("mean, median, geometric-mean, trimmed-mean, a quantile, rate: mean if not said.", metavar="NAME"),
    ] = "mean"
    se: Annotated[float | None, Setting("The accuracy that was wanted on each instance.", _positive)] = None
    budget: Annotated[
        int | None, Setting("The most runs on one instance.", _runs(1, "it counts those of all algorithms"))
    ] = None
    start: Annotated[
        int | None,
        Setting("First runs of each, if values decided on more.", _runs(2, "leave it out if no values decided")),
    ] = None
    estimate: Annotated[
        Estimate,
        Setting(
            "From which runs, if values ended them: corrected if not said.", _one_of(Estimate, "corrected is usual")
        ),
    ] = "corrected"
    margin: Annotated[float | None, Setting("Differences within it count as equivalent.", _positive)] = None
    weights: Annotated[
        Weights, Setting("Of instances in posteriors: equal if not said.", _one_of(Weights, "equal is the default"))
    ] = "equal"
    floor: Annotated[float | None, Setting("Values below it count as it, as 1e-8 for errors.", _positive)] = None
    effect: Annotated[float | None, Setting("The effect that was planned for.", _positive)] = None
    power: Annotated[float, Setting("The power that was planned for: 0.8 if not said.", _a_share("0.8 is usual"))] = 0.8
    formula: Annotated[
        Formula,
        Setting(
            "Correct ratios for run noise (corrected, the default), to first order (delta), or as the paper (paper).",
            _one_of(Formula, "corrected is the default"),
        ),
    ] = "corrected"
    guard: Annotated[Guard, Setting(check=_one_of(Guard, "pairs is the default"))] = "pairs"
    guard_edition: Annotated[GuardEdition, Setting(check=_edition)] = 2
    signed_ranks: Annotated[SignedRanks, Setting(check=_one_of(SignedRanks, "exact is the default"))] = "exact"
    failures: Annotated[FailurePolicy | None, Setting()] = None
    paired: Annotated[str | None, Setting()] = None  # what runs of different algorithms share; None: nothing

    def __post_init__(self) -> None:
        object.__setattr__(self, "difference", difference_of(self.difference))
        if isinstance(self.reference, str):
            object.__setattr__(self, "reference", composed(self.reference))
        for name, setting in declared().items():
            if setting.check is not None:
                setting.check(name, getattr(self, name))
        simple_if_rate(self.statistic, self.difference)
        if self.are_rates and self.floor is not None:
            raise InvalidData(f"a rate has no floor, as its values are 0 or 1, got {self.floor!r}; leave it out")
        if self.alternative != "two-sided" and self.reference is None:
            raise InvalidDesign(
                f"alternative {self.alternative!r} needs a reference, as in a comparison of all with all no side is"
                " special; name one or use 'two-sided'"
            )
        if self.failures is not None:
            object.__setattr__(self, "failures", lifted(self.failures, self.floor))
        object.__setattr__(self, "family_alpha", self.alpha if self.margin is None else self.alpha / 2)

    @property
    def statistic_name(self) -> str:
        """The statistic in a word; a function that is called as one of ours is marked as a function."""
        if isinstance(self.statistic, str):
            return self.statistic
        name: str = getattr(self.statistic, "__name__", "custom")
        return f"{name}()" if name in OURS else name

    @property
    def paired_test(self) -> Test:
        """The name of the paired test, also of one that only studies of earlier versions have."""
        normal = (self.test, self.signed_ranks) == ("wilcoxon", "normal")
        return cast(Test, "wilcoxon-normal") if normal else self.test

    @property
    def are_rates(self) -> bool:
        """Whether shares of yes are compared, in percentage points."""
        return self.statistic == RATE


@cache
def types() -> dict[str, Any]:
    """Return the type of every setting that can be said, by name."""
    return {name: get_args(kind)[0] for name, kind in _annotated().items()}


@cache
def declared() -> dict[str, Setting]:
    """Return what is known of every setting that can be said, by name."""
    return {name: kind.__metadata__[0] for name, kind in _annotated().items()}


def asked_by(question: Question) -> dict[str, Any]:
    """Return what the question of a study says of its analysis, by name; what it leaves open is not there."""
    asked = {name: getattr(question, name, None) for name in declared()}
    return {name: value for name, value in asked.items() if value is not None}


def _annotated() -> dict[str, Any]:
    hints = get_type_hints(AnalysisSettings, include_extras=True)
    return {name: kind for name, kind in hints.items() if get_origin(kind) is Annotated}
