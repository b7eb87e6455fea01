"""Choices, checks of arguments, and the settings of an analysis: the same from the shell, the browser and Python. Pure.

The types of all choices come first, then the checks that public functions apply to their arguments. Every check takes
the name of the argument, its value and a remedy for the error message. Last, each setting of an analysis is declared
once: its type, its default, its check and its help. The options of the shell are made from this declaration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, wraps
from math import inf, isfinite, nan
from numbers import Integral, Real
from pkgutil import get_data
from reprlib import repr as shown
from textwrap import indent
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from ampler.core.errors import InvalidData, InvalidDesign, InvalidInput
from ampler.core.failures import HIGHER_IS_NO_TIME, FailurePolicy, Par, lifted
from ampler.core.text import composed

if TYPE_CHECKING:
    from ampler.core.plan import Question


Difference = Literal["simple", "percent", "ratio"]
DIFFERENCE_ALIASES: Mapping[str, Difference] = {"absolute": "simple", "log-ratio": "ratio"}
Alternative = Literal["two-sided", "less", "greater"]
Test = Literal["t", "wilcoxon", "sign", "bootstrap-t", "sign-flip"]
Status = Literal["ok", "failed", "timeout", "lost"]
Better = Literal["lower", "higher"]
Formula = Literal["corrected", "delta", "paper"]  # of relative differences: second order, first order, the paper's
Estimate = Literal["corrected", "all-runs", "first-runs"]  # estimator after adaptive stopping
Guard = Literal["none", "pairs", "all"]  # scope of the conservative variance bounds
MeanOver = Literal["clusters", "instances"]  # unit with equal weight if instances belong to clusters
ClusterEffects = Literal["random", "fixed"]  # clusters are a sample, or the whole population
SignedRanks = Literal["exact", "normal"]  # Wilcoxon's test where differences tie; normal up to version 0.2, as in R
EquivalenceLevel = Literal["own", "shared"]  # alpha of its own, or half of it as up to version 0.2
CalibrationVersion = Literal[1, 2]  # calibration of the variance bounds; a results file keeps its version
Inference = Literal["instances like these", "these instances"]  # scope of a conclusion
Weights = Literal["equal", "precision"]  # of instances in a posterior
TargetWord = Literal["worst", "mean", "median", "best"]  # of the powers of the comparisons
Target = TargetWord | int  # the power to reach; a number: in this many comparisons


def canonical_difference(word: Any) -> Any:
    """Return the kind of difference that an alias stands for; any other word unchanged.

    >>> canonical_difference("log-ratio"), canonical_difference("absolute"), canonical_difference("percent")
    ('ratio', 'simple', 'percent')
    """
    return DIFFERENCE_ALIASES.get(word, word) if isinstance(word, str) else word


ErrorClass = type[InvalidInput]
MOST_WORKERS = 4096  # processes on one machine: a typing error must not overload it


def finite(name: str, value: Any, way_out: str = "", *, error: ErrorClass = InvalidDesign) -> float:
    """Return a finite float; text, truth values and arrays are no numbers."""
    result = _float(value)
    if not isfinite(result):
        raise error(_sentence(name, "must be a finite number", value, way_out))
    return result


def positive(
    name: str, value: Any, way_out: str = "", *, most: float | None = None, error: ErrorClass = InvalidDesign
) -> float:
    """Return a finite number above 0, and not above `most`."""
    result = _float(value)
    if not (0 < result < inf and (most is None or result <= most)):
        limit = "" if most is None else f" of at most {most:,}"
        raise error(_sentence(name, f"must be a positive number{limit}", value, way_out))
    return result


def share(name: str, value: Any, way_out: str = "", *, error: ErrorClass = InvalidDesign) -> float:
    """Return a number strictly between 0 and 1."""
    result = _float(value)
    if not 0 < result < 1:
        raise error(_sentence(name, "must lie strictly between 0 and 1", value, way_out))
    return result


def integer(
    name: str,
    value: Any,
    least: int | None = None,
    most: int | None = None,
    way_out: str = "",
    *,
    error: ErrorClass = InvalidDesign,
) -> int:
    """Return a whole number within limits; 57.0 is one, 57.5, "57" and True are not."""
    result = _int(value)
    if result is None or (least is not None and result < least) or (most is not None and result > most):
        raise error(_sentence(name, f"must be a whole number{_limits(least, most)}", value, way_out))
    return result


def choice(
    name: str, value: Any, choices: Collection[str], way_out: str = "", *, error: ErrorClass = InvalidDesign
) -> Any:
    """Return the value if it is one of the choices."""
    if not (isinstance(value, str) and value in choices):
        from difflib import get_close_matches

        near = get_close_matches(value, choices, 1) if isinstance(value, str) else []
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise error(_sentence(name, f"must be one of {', '.join(map(repr, choices))}", value, way_out, hint))
    return value


def simple_if_rate(statistic: Any, difference: str, *, error: ErrorClass = InvalidDesign) -> None:
    """Check that rates are compared by simple differences, in percentage points."""
    if statistic == "rate" and difference != "simple":
        raise error(
            f"rates are compared in percentage points, difference 'simple', got {difference!r}: to a rate of 0 there is"
            " no ratio"
        )


def truth(name: str, value: Any, *, error: ErrorClass = InvalidInput) -> bool:
    """Return a boolean; reject everything else."""
    if not isinstance(value, bool):
        raise error(_sentence(name, "must be True or False", value, ""))
    return value


def function(name: str, value: Any, way_out: str = "", *, error: ErrorClass = InvalidInput) -> Any:
    """Return a callable or None."""
    if value is not None and not callable(value):
        raise error(_sentence(name, "must be a function or None", value, way_out))
    return value


def _sentence(name: str, must: str, value: Any, way_out: str, hint: str = "") -> str:
    return f"{name} {must}, got {shown(value)}{hint}" + (f": {way_out}" if way_out else "")


def _limits(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    return "" if least is None else f" of {least:,} or more"


def _float(value: Any) -> float:
    """Return a float; NaN if it is no number, infinity for integers beyond 1e308."""
    from decimal import Decimal  # rarely needed, and the command-line help must be quick

    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return nan
    try:
        return float(value)
    except OverflowError:
        return inf


def _int(value: Any) -> int | None:
    """Return an int of any size; None if it is no whole number."""
    if isinstance(value, Integral):
        return None if value is True or value is False else int(value)
    result = _float(value)
    return int(result) if result.is_integer() else None


def check_detectable(detect: float, difference: Difference) -> float:
    """Return a smallest difference of interest, unless it was most likely meant in percent.

    >>> check_detectable(0.02, "percent")
    0.02
    """
    if difference == "percent" and detect >= 1:
        raise InvalidDesign(f"detect = {detect:g} means {100 * detect:g} %; for {detect:g} % write {detect / 100:g}")
    return detect


def workers(name: str, value: Any, way_out: str = "", *, error: ErrorClass = InvalidInput) -> int:
    """Return a number of worker processes that a machine can have."""
    return integer(name, value, 1, MOST_WORKERS, way_out or "one for each core is usual", error=error)


Check = Callable[[str, Any], Any]

UNKNOWN = "omit it if it is unknown"
RATE = "rate"  # the statistic of binary outcomes
OURS = ("mean", "median", RATE)  # names of statistics that a user's function may also have


@dataclass(frozen=True, slots=True)
class Setting:
    """Declaration of a setting in addition to its type and default.

    `check` takes the name and the value and returns what fits or says why nothing does; a free text has none, and
    `metavar` stands for it. A setting that is no `option` of the command line comes with the results or from a results
    file. `help` is the text for the command line, the documentation and the browser: it stands in settings.txt."""

    check: Check | None = None
    option: bool = True
    metavar: str | None = None
    help: str = ""


def _texts() -> Iterator[dict[str, tuple[str, Setting]]]:
    """The blocks of settings.txt: the type for docstrings, placeholder and help of each name."""
    for block in (get_data("ampler.core", "settings.txt") or b"").decode().split("\n\n"):
        rows = (map(str.strip, line.split("|")) for line in block.strip().splitlines()[1:])
        yield {name: (kind, Setting(metavar=metavar or None, help=text)) for name, kind, metavar, text in rows}


# Settings of an analysis, of the reading of results, and of designs and studies.
_ANALYSIS, READING, DESIGN = _texts()


def _one_of(words: Any, way_out: str) -> Check:
    return lambda name, value: choice(name, value, get_args(words), way_out)


def _difference(name: str, value: Any) -> Difference:
    kind: Difference = choice(name, canonical_difference(value), get_args(Difference), "there is no default")
    return kind


def _a_share(way_out: str) -> Check:
    return lambda name, value: share(name, value, way_out)


def _positive(name: str, value: Any) -> float | None:
    return None if value is None else positive(name, value, UNKNOWN, error=InvalidData)


def _text(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidDesign(_sentence(name, "must be a text", value, ""))
    return value


def _edition(name: str, value: Any) -> int:
    first, newest = get_args(CalibrationVersion)
    return integer(name, value, first, newest, f"{newest} is the newest")


def _runs(least: int, way_out: str) -> Check:
    return lambda name, value: None if value is None else integer(name, value, least, 10**12, way_out)


T = TypeVar("T")
D = TypeVar("D", bound=Callable[..., Any])


def _remembers_specified(cls: type[T]) -> type[T]:
    """Record which settings were specified: the others may come from a study."""
    initialise = cls.__init__

    @wraps(initialise)
    def init(self: T, **settings: Any) -> None:
        self.__dict__["specified"] = {name: value for name, value in settings.items() if value is not None}
        initialise(self, **settings)

    cls.__init__ = init  # type: ignore[assignment]
    return cls


@_remembers_specified
@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """Settings of an analysis, checked when the object is made.

    What is not specified is as the study says, or has its default. `difference` and `better` have no default: they must
    be specified here, in the call that takes the settings, or by the study.

    Parameters
    ----------
    %settings%

    Examples
    --------
    >>> Settings(difference="percent", margin=0.01).equivalence_alpha
    0.05
    >>> Settings(floor=1e-8, weights="precision")
    Settings(floor=1e-08, weights='precision')
    """

    reference: Annotated[str | None, Setting()] = None
    difference: Annotated[Difference, Setting(_difference)] = None  # type: ignore[assignment]  # not specified
    test: Annotated[Test, Setting(_one_of(Test, "t is the default"))] = "t"
    alternative: Annotated[Alternative, Setting(_one_of(Alternative, "it speaks of first minus second"))] = "two-sided"
    alpha: Annotated[float, Setting(_a_share("0.05 is usual"))] = 0.05
    family_alpha: float = field(init=False)  # of the differences; half of alpha where a study of 0.2 has a margin
    better: Annotated[Better, Setting(_one_of(Better, "it decides the words of the verdict"))] = "lower"
    statistic: Annotated[str | Callable[..., Any], Setting()] = "mean"
    se: Annotated[float | None, Setting(_positive)] = None
    budget: Annotated[int | None, Setting(_runs(1, "it is the sum over all algorithms"))] = None
    start: Annotated[int | None, Setting(_runs(2, "omit it unless sampling was adaptive"))] = None
    estimate: Annotated[Estimate, Setting(_one_of(Estimate, "corrected is usual"))] = "corrected"
    margin: Annotated[float | None, Setting(_positive)] = None
    non_inferior: Annotated[float | None, Setting(_positive)] = None
    weights: Annotated[Weights, Setting(_one_of(Weights, "equal is the default"))] = "equal"
    floor: Annotated[float | None, Setting(_positive)] = None
    shift: Annotated[float | None, Setting(_positive)] = None
    inference: Annotated[Inference, Setting(_one_of(Inference, "instances like these is the default"))] = (
        "instances like these"
    )
    effect: Annotated[float | None, Setting(_positive)] = None
    power: Annotated[float, Setting(_a_share("0.8 is usual"))] = 0.8
    formula: Annotated[Formula, Setting(_one_of(Formula, "corrected is the default"))] = "corrected"
    mean_over: Annotated[MeanOver, Setting(_one_of(MeanOver, "clusters is the default"))] = "clusters"
    cluster_effects: Annotated[ClusterEffects, Setting(_one_of(ClusterEffects, "random is usual"))] = "random"
    cluster: Annotated[str | None, Setting(_text, option=False)] = None
    test_over_train: Annotated[float | None, Setting(_positive, option=False)] = None
    nested: Annotated[str | None, Setting(option=False)] = None
    crossed: Annotated[str | None, Setting(option=False)] = None
    guard: Annotated[Guard, Setting(_one_of(Guard, "pairs is the default"), option=False)] = "pairs"
    guard_edition: Annotated[CalibrationVersion, Setting(_edition, option=False)] = 2
    signed_ranks: Annotated[SignedRanks, Setting(_one_of(SignedRanks, "exact is the default"), option=False)] = "exact"
    equivalence_level: Annotated[
        EquivalenceLevel, Setting(_one_of(EquivalenceLevel, "own is the default"), option=False)
    ] = "own"
    failures: Annotated[FailurePolicy | None, Setting(option=False)] = None
    paired: Annotated[str | None, Setting(option=False)] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "difference", canonical_difference(self.difference))
        for name in ("reference", "cluster"):
            object.__setattr__(self, name, composed(getattr(self, name)))
        is_complete = self.difference is not None
        for name, setting in declared().items():
            if setting.check is not None and (is_complete or name != "difference"):
                setting.check(name, getattr(self, name))
        if is_complete:
            self._check_together()
        if self.failures is not None:
            object.__setattr__(self, "failures", lifted(self.failures, self.floor))
        halved = self.margin is not None and self.equivalence_level == "shared"
        object.__setattr__(self, "family_alpha", self.alpha / 2 if halved else self.alpha)

    def _check_together(self) -> None:
        if self.is_fixed and (
            self.test != "t" or self.difference == "percent" or self.paired or self.cluster or self.test_over_train
        ):
            raise InvalidDesign(
                "conclusions about these instances alone need test 't', simple differences or ratios, and no pairing or"
                " clusters; change these, or use inference 'instances like these'"
            )
        if self.shift is not None and self.difference != "ratio":
            raise InvalidData(f"shift is for ratios (difference = 'ratio'), got {self.difference!r}; omit it")
        if isinstance(self.failures, Par) and self.better == "higher":
            raise InvalidDesign(HIGHER_IS_NO_TIME)
        simple_if_rate(self.statistic, self.difference)
        if self.are_rates and self.floor is not None:
            raise InvalidData(f"a rate has no floor, as its values are 0 or 1, got {self.floor!r}; omit it")
        if self.non_inferior is not None and self.reference is None:
            raise InvalidDesign("non-inferiority needs a reference; specify one")
        if self.non_inferior is not None and self.test == "sign":
            raise InvalidDesign(
                "the sign test counts wins and ignores sizes, so it has no non-inferiority margin; choose another test"
            )
        if self.alternative != "two-sided" and self.reference is None:
            raise InvalidDesign(
                f"alternative {self.alternative!r} needs a reference, as in a comparison of all with all no side is"
                " special; name one or use 'two-sided'"
            )
        self._check_clusters()

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in self.specified.items())})"

    @property
    def specified(self) -> Mapping[str, Any]:
        """The settings that were specified, by name."""
        return cast(Mapping[str, Any], self.__dict__["specified"])

    def _check_clusters(self) -> None:
        """Check that the test suits clusters."""
        by_instance, fixed = self.mean_over == "instances", self.cluster_effects == "fixed"
        if by_instance and self.test not in ("t", "sign-flip"):
            raise InvalidDesign(f"the test {self.test!r} requires mean_over='clusters', got 'instances'")
        if self.crossed is not None and (self.test != "t" or by_instance or fixed):
            raise InvalidDesign(f"sessions that many instances share are for test 't', got {self.test!r}")
        if fixed and (by_instance or self.test != "t"):
            raise InvalidDesign("cluster_effects='fixed' goes with test 't' and mean_over='clusters'")

    @property
    def statistic_name(self) -> str:
        """Name of the statistic; a user's function with the name of one of ours gets parentheses."""
        if isinstance(self.statistic, str):
            return self.statistic
        name: str = getattr(self.statistic, "__name__", "custom")
        return f"{name}()" if name in OURS else name

    @property
    def compares_runs_in_pairs(self) -> bool:
        """Whether the runs of one instance are compared run by run."""
        return self.paired is not None and self.test == "t" and self.statistic_name == "mean"

    @property
    def paired_test(self) -> Test:
        """The name of the paired test, also of one that only studies of earlier versions have."""
        normal = (self.test, self.signed_ranks) == ("wilcoxon", "normal")
        return cast(Test, "wilcoxon-normal") if normal else self.test

    @property
    def run_test(self) -> str:
        """The name of the test of the runs on one instance."""
        return self.test if self.test_over_train is None else "resampled"

    @property
    def equivalence_alpha(self) -> float:
        """The family-wise error rate of the equivalence tests, a family of their own."""
        return self.alpha if self.equivalence_level == "own" else self.alpha / 2

    @property
    def is_fixed(self) -> bool:
        """Whether conclusions are about the instances at hand alone."""
        return self.inference == "these instances"

    @property
    def are_rates(self) -> bool:
        """Whether success rates are compared, in percentage points."""
        return self.statistic == RATE


@cache
def types() -> dict[str, Any]:
    """Return the type of every setting that can be specified, by name."""
    return {name: get_args(kind)[0] for name, kind in _annotated().items()}


@cache
def declared() -> dict[str, Setting]:
    """Return the declaration of every setting that can be specified, by name."""
    texts = {name: setting for name, (_, setting) in _ANALYSIS.items()}
    return {
        name: replace(kind.__metadata__[0], metavar=texts[name].metavar, help=texts[name].help)
        for name, kind in _annotated().items()
    }


def question_settings(question: Question) -> dict[str, Any]:
    """Return the analysis settings that the question of a study specifies, by name."""
    asked = {name: getattr(question, name, None) for name in declared()}
    return {name: value for name, value in asked.items() if value is not None}


def _annotated() -> dict[str, Any]:
    hints = get_type_hints(Settings, include_extras=True)
    return {name: kind for name, kind in hints.items() if get_origin(kind) is Annotated}


def help_text(name: str, first: Mapping[str, Any] | None = None) -> str:
    """Return the text of a setting with its default, for help pages, forms and comments; `first` is searched first.

    >>> help_text("alpha")
    'Family-wise error rate. [default: 0.05]'
    """
    kind, setting = _entry(name, first)
    default = kind.partition(", default ")[2].strip("'")
    return setting.help if default in ("", "False") else f"{setting.help} [default: {default}]"


def label(name: str, first: Mapping[str, Any] | None = None) -> str:
    """Return the beginning of a setting's text, as the label of a field.

    >>> label("difference"), label("alpha"), label("view")
    ('Kind of difference', 'Family-wise error rate', 'view')
    """
    return re.split(r"[:;,.]( |$)", _entry(name, first)[1].help or name.replace("_", " "))[0]


def choices(name: str) -> tuple[str, ...]:
    """Return the choices of a setting; empty for numbers and texts.

    >>> choices("better"), choices("alpha")
    (('lower', 'higher'), ())
    """
    kind = types().get(name)
    return get_args(kind) if get_origin(kind) is Literal else ()


def _entry(name: str, first: Mapping[str, tuple[str, Setting]] | None = None) -> tuple[str, Setting]:
    """The type text and the declaration of a setting; both empty for an unknown name."""
    for block in (first or READING, READING):
        if name in block:
            return block[name]
    return (_type_text(name), declared()[name]) if name in declared() else DESIGN.get(name, ("", Setting()))


@cache
def defaults() -> dict[str, Any]:
    """Return the default of every setting, by name; None where there is none."""
    without = ("difference", "better")
    return {each.name: None if each.name in without else each.default for each in fields(Settings) if each.init}


def documented(item: D) -> D:
    """Fill in a docstring: a line such as %alpha% becomes the entry of this setting, %settings% those of all.

    >>> @documented
    ... def test(alpha: float) -> None:
    ...     \"\"\"%alpha%\"\"\"
    >>> print(test.__doc__)
    alpha : float, default 0.05
        Family-wise error rate.
    """

    def entries(match: re.Match[str]) -> str:
        names = declared() if match[2] == "settings" else [match[2]]
        lines = (f"{name} : {kind}\n    {setting.help}" for name in names for kind, setting in [_entry(name)])
        return indent("\n".join(lines), match[1])

    item.__doc__ = re.sub(r"^( *)%(\w+)%$", entries, item.__doc__ or "", flags=re.MULTILINE)
    return item


def _type_text(name: str) -> str:
    kind, default = types()[name], defaults()[name]
    is_union = get_origin(kind) in (Union, UnionType)
    kinds = [each for each in get_args(kind) if each is not NoneType] if is_union else [kind]
    texts = ("callable" if get_origin(each) is Callable else getattr(each, "__name__", "") for each in kinds)
    choices = [f"{{{', '.join(map(repr, get_args(each)))}}}" for each in kinds if get_origin(each) is Literal]
    text = " or ".join(choices or texts)
    return f"{text}, {'optional' if default is None else f'default {default!r}'}"


documented(Settings)
