"""Plan of a study: algorithms, instances, limits, and the decisions of rules. No numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ampler.core.errors import InvalidPlan
from ampler.core.failures import FailurePolicy, StopStudy
from ampler.core.measures import Measure, checked_measures
from ampler.core.settings import (
    Alternative,
    Better,
    Difference,
    Formula,
    Inference,
    MeanOver,
    Target,
    Test,
    canonical_difference,
)
from ampler.core.text import BYTE_UNITS, composed, quantity

Seeds = Literal["own", "shared"]  # of the algorithms, for the runs with one index on one instance
Parameter = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Sample:
    """Decision of a rule to run each of these algorithms this many more times."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """The number of runs requested."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Stop:
    """Decision of a rule that the instance is done, with the reason: a `StopReason`, or the text of your own rule."""

    reason: str


StopReason = Literal["accuracy reached", "budget spent", "all constant", "runs done"]
Decision = Sample | Stop


# Decisions over instances


@dataclass(frozen=True, slots=True)
class Continue:
    """Decision of a study rule to run these algorithms on these instances until each is done.

    `runs` says how many runs each algorithm gets on each of the instances; None leaves that to the rule for one
    instance. An instance may be named again with more runs: those it has count. `reason` is displayed to the user,
    `notes` are warnings in addition, `details` plain data for the record. After the `last` one the study ends, so that
    no further instances are to come."""

    algorithms: tuple[str, ...]
    instances: tuple[str, ...]
    runs: Mapping[str, int] | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class EndStudy:
    """Decision of a study rule that the study is done, with the reason; `notes` and `details` are as in `Continue`."""

    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


StudyDecision = Continue | EndStudy


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision over instances as the results file keeps it: the one after `number` finished groups.

    `digest` is that of the decision, `taken` its date, which the store fills in.
    """

    number: int
    decision: StudyDecision
    digest: str
    taken: str = ""


# How runs are limited


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run; what is not specified has no limit.

    Parameters
    ----------
    timeout : float, optional
        Seconds by the clock.
    memory : int or str, optional
        Resident memory in bytes, or a text such as "2GB".
    cpu_timeout : float, optional
        Seconds of processor time.
    time, cpu_time : float, optional
        Other names of `timeout` and `cpu_timeout`.

    Examples
    --------
    >>> Limits(time=60, memory="2GB")
    Limits(timeout=60, memory=2000000000, cpu_timeout=None)
    >>> Limits(timeout=5.0).over(Limits(timeout=60.0, memory=10**9))
    Limits(timeout=5.0, memory=1000000000, cpu_timeout=None)
    """

    timeout: float | None = None
    memory: int | None = None
    cpu_timeout: float | None = None
    time: InitVar[float | None] = None
    cpu_time: InitVar[float | None] = None

    if TYPE_CHECKING:  # the size may be a text, which becomes a number

        def __init__(
            self,
            timeout: float | None = None,
            memory: int | str | None = None,
            cpu_timeout: float | None = None,
            time: float | None = None,
            cpu_time: float | None = None,
        ) -> None: ...

    def __post_init__(self, time: float | None, cpu_time: float | None) -> None:
        for name, limit in (("timeout", time), ("cpu_timeout", cpu_time)):
            if limit is not None:
                object.__setattr__(self, name, limit)
        size: Any = self.memory
        if isinstance(size, str):
            try:
                object.__setattr__(self, "memory", max(1, round(quantity(size, BYTE_UNITS))))
            except ValueError:
                raise InvalidPlan(f'memory must be a size such as "500MB" or "2GiB", got {size!r}') from None

    def over(self, default: Limits) -> Limits:
        """Return these limits, completed by those of `default`."""
        return Limits(
            default.timeout if self.timeout is None else self.timeout,
            default.memory if self.memory is None else self.memory,
            default.cpu_timeout if self.cpu_timeout is None else self.cpu_timeout,
        )

    def on_time(self, *, processor: bool) -> float | None:
        """Return the limit on a time that is a value; `processor` says that it is one on a processor."""
        first, second = (self.cpu_timeout, self.timeout) if processor else (self.timeout, self.cpu_timeout)
        return second if first is None else first


# What is compared: algorithms and instances


@dataclass(frozen=True, slots=True)
class Reading:
    """Source of a run's value.

    "default" is the last number a command prints, the number a function returns (of a mapping, its first measure);
    "pattern" the first group of the last match of the regular expression `what`; "json" the field (measure) `what`;
    "seconds" the wall-clock time; "cpu-seconds" the processor time.
    """

    kind: Literal["default", "pattern", "json", "seconds", "cpu-seconds"] = "default"
    what: str = ""

    @property
    def is_time(self) -> bool:
        """Whether the value is a time, which no seed reproduces."""
        return self.kind in ("seconds", "cpu-seconds")

    @property
    def text(self) -> str:
        """The reading as study.toml writes it; empty for the default."""
        return {"default": "", "pattern": self.what, "json": f"json:{self.what}"}.get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class Outputs:
    """Further outputs of a run: regular expressions for the output of a command, of which the last match
    counts; names of fields for a worker or a Python function.

    A run without a match of `solved` has not solved its instance. `answer` is what it claims, such as SATISFIABLE or
    an objective, and `measures` are further numbers by name.
    """

    solved: str = ""
    answer: str = ""
    measures: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.solved or self.answer or self.measures)


@dataclass(frozen=True, slots=True)
class Around:
    """Commands around each run of an algorithm, outside of the time that is measured.

    `prepare` comes before the run, `cleanup` after it, and `warmup` directly before it; a number says how many runs are
    made to warm up instead. The commands may have places for the instance, the seed and the parameters, and run in
    `folder` (empty: where the algorithm does).
    """

    prepare: tuple[str, ...] = ()
    warmup: tuple[str, ...] | int = 0
    cleanup: tuple[str, ...] = ()
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """An external program as an algorithm; it is started directly, never through a shell.

    Parameters
    ----------
    name : str
        Name of the algorithm.
    argv : tuple of str
        Program and arguments, with places for `{instance}`, `{seed}` and the parameters.
    parameters : mapping, optional
        Values of the parameters.
    reading : Reading, optional
        Where the value is found; by default the last number that is printed.
    protocol : {'arguments', 'irace', 'worker'}, default 'arguments'
        How the program is called: with its arguments filled in, as an irace target runner, or started once and sent
        run after run as JSON lines.
    folder : str, optional
        Absolute path of the folder in which it runs.
    cost : float, default 1
        Cost of a run, relative to other algorithms.
    deterministic : bool, default False
        Whether the value never changes.
    success : tuple of int, default (0,)
        Exit codes of a run that counts; SAT solvers end with 10 and 20. Empty where `outputs` alone tell.
    limits : Limits, optional
        Limits of a run, before those of the study.
    around : Around, optional
        Commands before and after each run.
    outputs : Outputs, optional
        What else is read: whether the instance was solved, the answer, further numbers.
    """

    name: str
    argv: tuple[str, ...]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    reading: Reading = Reading()
    protocol: Literal["arguments", "irace", "worker"] = "arguments"
    folder: str = ""
    cost: float = 1.0
    deterministic: bool = False
    success: tuple[int, ...] = (0,)
    limits: Limits = Limits()
    around: Around = Around()
    outputs: Outputs = Outputs()


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function as an algorithm: `call(instance, seed, **parameters)` gives a number, or measures by name.

    Parameters
    ----------
    name : str
        Name of the algorithm.
    call : callable
        The function.
    origin : str
        What the results file keeps of it, as "module:name"; the function itself is never stored.
    parameters : mapping, optional
        Keywords of each call.
    reading : Reading, optional
        Which of its measures is the value; by default the first.
    cost : float, default 1
        Cost of a run, relative to other algorithms.
    deterministic : bool, default False
        Whether the value never changes.
    limits : Limits, optional
        Limits of a run, before those of the study.
    around : Around, optional
        Commands before and after each run.
    outputs : Outputs, optional
        What else is read: whether the instance was solved, the answer, further numbers.
    """

    name: str
    call: Callable[..., Any]
    origin: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    reading: Reading = Reading()
    cost: float = 1.0
    deterministic: bool = False
    limits: Limits = Limits()
    around: Around = Around()
    outputs: Outputs = Outputs()


Algorithm = Command | Function


@dataclass(frozen=True, slots=True)
class Instance:
    """One problem to solve: a file, an object, or a mere name.

    Parameters
    ----------
    name : str
        Name of the instance.
    path : str, optional
        Absolute path of its file.
    sha256 : str, optional
        SHA-256 of the content of the file.
    data : object, optional
        What a function gets as its instance.
    features : mapping of str, optional
        Features by name, for subgroups.
    """

    name: str
    path: str = ""
    sha256: str = ""
    data: Any = None
    features: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The value of `{instance}` in a command: the absolute path of a file, otherwise the name."""
        return self.path or self.name


# The plan


@dataclass(frozen=True, slots=True)
class Question:
    """Question of a study: the kind of difference, the smallest effect of interest, and the error rates."""

    difference: Difference
    reference: str | None = None
    effect: float | None = None
    power: float = 0.8
    alpha: float = 0.05
    target: Target = "mean"
    test: Test = "t"
    alternative: Alternative = "two-sided"
    better: Better | None = None  # None: implied by the name of the value
    statistic: str = "mean"
    margin: float | None = None
    floor: float | None = None
    shift: float | None = None
    formula: Formula | None = None  # of relative differences; None: as recorded, or the newest
    cluster: str | None = None  # the feature whose groups of instances are the sample; None: the instances are
    mean_over: MeanOver = "clusters"
    inference: Inference = "instances like these"
    measures: tuple[Measure, ...] | None = None  # of each run, the primary one is the value; None: only the value

    def adjusted(self, value: float) -> float:
        """Return a value as it counts: not below the floor, plus the shift."""
        return (value if self.floor is None else max(value, self.floor)) + (self.shift or 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "difference", canonical_difference(self.difference))
        for name in ("reference", "cluster"):
            object.__setattr__(self, name, composed(getattr(self, name)))
        if self.measures is not None:
            object.__setattr__(self, "measures", checked_measures(self.measures))


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that determines the values of runs: seed, fields of the algorithms, SHA-256 of the instances."""

    seed: int
    algorithms: Mapping[str, Mapping[str, Any]]
    instances: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a study, with everything that its execution needs.

    `instances` are used, in this order; `untouched` are those that were not needed. `needed` instances reach the
    wanted power (None when no effect is given) and `power` is what the instances used reach. `rule` maps the samples
    of one instance to a Decision, `study_rule` finished groups of instances to a StudyDecision (None: all instances
    are one group). `warnings` are sentences the user must read. The plan of one job among several has
    its `part`, such as "3/20", and in `all_instances` those of all parts together.
    """

    name: str
    question: Question
    algorithms: tuple[Algorithm, ...]
    instances: tuple[Instance, ...]
    rule: Callable[[Any], Decision]
    seed: int
    untouched: tuple[Instance, ...] = ()
    limits: Limits = Limits()
    policy: FailurePolicy = field(default_factory=StopStudy)
    retries: int = 0
    needed: int | None = None
    power: float | None = None
    warnings: tuple[str, ...] = ()
    part: str = ""
    all_instances: tuple[Instance, ...] = ()
    study_rule: Any = None  # a StudyRule
    seeds: Seeds = "own"
    use: int | str = "needed"  # how many instances were requested: a number, "needed" or "all"
    analysis: Mapping[str, Any] = field(default_factory=dict)  # settings of its analysis; empty: today's defaults
    open: Mapping[str, tuple[str, ...]] | None = None  # settings left at their defaults; None: not known yet

    def limits_of(self, algorithm: Algorithm) -> Limits:
        """Return the limits under which an algorithm is run: its own, and the plan's where it has none."""
        return algorithm.limits.over(self.limits)


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A plan as the results file keeps it: data only, so that opening a stranger's file runs no code.

    The names in `fingerprint` are in the plan's order. `decisions` is a digest of all that decisions depend on in
    addition to the runs: an instance finished under the same digest needs no replay. `created` is filled in by the
    store. A part of a study keeps the plan of the whole; the instances of the other parts are `elsewhere`. `study_rule`
    is empty when all instances are one group. Rules and `analysis` have a value for each setting; `open` names those
    that nobody chose, by the part of the plan."""

    name: str
    question: Question
    fingerprint: Fingerprint
    untouched: tuple[str, ...]
    features: Mapping[str, Mapping[str, str]]
    rule: Mapping[str, Any]
    limits: Limits
    policy: FailurePolicy
    retries: int
    needed: int | None
    power: float | None
    deterministic: tuple[str, ...]
    timed: tuple[str, ...]
    decisions: str
    warnings: tuple[str, ...] = ()
    created: str = ""
    part: str = ""
    elsewhere: tuple[str, ...] = ()
    study_rule: Mapping[str, Any] = field(default_factory=dict)
    own_limits: Mapping[str, Limits] = field(default_factory=dict)  # of algorithms that have any
    analysis: Mapping[str, Any] = field(default_factory=dict)
    use: int | str | None = field(default=None, compare=False)  # how many instances were requested; None: not known
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The names of the algorithms, in the plan's order."""
        return tuple(self.fingerprint.algorithms)

    @property
    def seeds(self) -> Seeds:
        """Whether run k of all algorithms on an instance has the same seed."""
        return "shared" if any("seeds" in identity for identity in self.fingerprint.algorithms.values()) else "own"

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of the instances used, in the plan's order."""
        elsewhere = set(self.elsewhere)
        return tuple(name for name in self.fingerprint.instances if name not in elsewhere)


# Progress of a study


# warnings for readers of the results
