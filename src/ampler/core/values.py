"""The values that cross layers, and nothing else. They know no files and no threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ampler.core.choices import Alternative, Better, Difference, Formula, Status, Target, Test, difference_of
from ampler.core.failures import FailurePolicy, StopStudy
from ampler.core.names import composed
from ampler.core.plain import digest
from ampler.core.spoken import in_python, in_shell

Parameter = str | int | float | bool


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """The name of a run: which algorithm, on which instance, and the how-manieth (from 0)."""

    instance: str
    algorithm: str
    index: int


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run gave. `value` is None when the run gave none; `message` then says why.

    A value is a finite number, and there is one exactly when the status is "ok"; measures are finite too. `seconds` are
    by the clock, `cpu` those of processor time, and `started` is when the run began, in seconds since 1970; None where
    they were not measured. `cause` is why there is no value, as a program reads it: a kind ("memory", "timeout",
    "exit", "exception", …) and, after a colon, which one; empty in study files of versions 0.1 and 0.2.
    """

    key: RunKey
    value: float | None
    seconds: float = 0.0
    status: Status = "ok"
    message: str = ""
    seed: int = 0
    attempt: int = 0
    round: int = 0
    measures: Mapping[str, float] | None = None
    cpu: float | None = None
    started: float | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A rule's wish: run each of these algorithms so many more times."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """The number of runs asked for."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule's verdict that the instance is done, and why: one of `StopReason`, or the words of a rule of your own."""

    reason: str


StopReason = Literal["accuracy reached", "budget spent", "all constant", "runs done"]
Decision = Sample | Stop


# Decisions over instances


@dataclass(frozen=True, slots=True)
class Continue:
    """A study rule's wish: run these algorithms on these instances, until each instance is done.

    `runs` says how many runs each algorithm gets on each of the instances; None leaves that to the rule for one
    instance. An instance may be named again with more runs: those it has count. `reason` is what the user is told,
    `notes` are what to mind besides, `details` plain data for the record. After the `last` one the study ends,
    so that no further instances are to come.
    """

    algorithms: tuple[str, ...]
    instances: tuple[str, ...]
    runs: Mapping[str, int] | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class EndStudy:
    """A study rule's verdict that the study is done, and why; `notes` and `details` are as those of Continue."""

    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


StudyDecision = Continue | EndStudy


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision over instances as the study file keeps it: the one after `number` finished groups.

    `digest` is that of the decision, `taken` its date, which the store fills in.
    """

    number: int
    decision: StudyDecision
    digest: str
    taken: str = ""


# How runs are limited


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use: seconds by the clock, bytes of resident memory, seconds of processor time; None: no limit.

    >>> Limits(timeout=5.0).over(Limits(timeout=60.0, memory=10**9))
    Limits(timeout=5.0, memory=1000000000, cpu_timeout=None)
    """

    timeout: float | None = None
    memory: int | None = None
    cpu_timeout: float | None = None

    def over(self, default: Limits) -> Limits:
        """Return these limits, and those of `default` where there is none here."""
        return Limits(
            default.timeout if self.timeout is None else self.timeout,
            default.memory if self.memory is None else self.memory,
            default.cpu_timeout if self.cpu_timeout is None else self.cpu_timeout,
        )


# What is compared: algorithms and instances


@dataclass(frozen=True, slots=True)
class Reading:
    """Where the value of a run is found.

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

    `protocol` says how it is spoken to: "arguments" fills `{instance}`, `{seed}` and the parameters into `argv`;
    "irace" appends what irace gives a target runner; "worker" starts it once and sends it run after run as JSON lines.
    It runs in `folder` (an absolute path; empty: where we are). `success` are the exit codes of a run that counts: SAT
    solvers end with 10 and 20.
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


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function as an algorithm: `call(instance, seed, **parameters)` gives a number, or measures by name.

    `origin` ("module:name") is what the study file keeps of it; the function itself is never stored. Its `limits` come
    before those of the plan.
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


Algorithm = Command | Function


@dataclass(frozen=True, slots=True)
class Instance:
    """One problem to solve: a file (`path`, with the SHA-256 of its content), an object (`data`), or a mere name.

    `features` are the columns of the features table, for subgroups.
    """

    name: str
    path: str = ""
    sha256: str = ""
    data: Any = None
    features: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What a command gets for `{instance}`: the absolute path of a file, else the name."""
        return self.path or self.name


# The plan


@dataclass(frozen=True, slots=True)
class Question:
    """What a study asks: which differences, how small an effect matters, and how sure the answer must be."""

    difference: Difference
    reference: str | None = None
    effect: float | None = None
    power: float = 0.8
    alpha: float = 0.05
    target: Target = "mean"
    test: Test = "t"
    alternative: Alternative = "two-sided"
    better: Better | None = None  # None: what the name of the algorithms' value implies
    statistic: str = "mean"
    margin: float | None = None
    floor: float | None = None
    formula: Formula | None = None  # of relative differences; None: that of the results file, else the newest

    def __post_init__(self) -> None:
        object.__setattr__(self, "difference", difference_of(self.difference))
        if isinstance(self.reference, str):
            object.__setattr__(self, "reference", composed(self.reference))


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What gives runs their values: the seed, each algorithm's fields by name, each instance's SHA-256 by name."""

    seed: int
    algorithms: Mapping[str, Mapping[str, Any]]
    instances: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a runner needs, ready to be carried out.

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
    use: int | str = "needed"  # how many instances were asked for: a number, "needed" or "all"
    analysis: Mapping[str, Any] = field(default_factory=dict)  # settings of its analysis; empty: today's defaults
    open: Mapping[str, tuple[str, ...]] | None = None  # names of the settings that nobody chose; None: not known yet

    def limits_of(self, algorithm: Algorithm) -> Limits:
        """Return the limits under which an algorithm is run: its own, and the plan's where it has none."""
        return algorithm.limits.over(self.limits)


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A plan as the study file keeps it: data only, so that opening a stranger's file runs no code.

    The names in `fingerprint` are in the plan's order. `decisions` is a digest of all that decisions hang on besides
    the runs: an instance finished under the same digest needs no replay. `created` is filled in by the store. A part
    of a study keeps the plan of the whole; the instances of the other parts are `elsewhere`. `study_rule` is empty
    when all instances are one group. Rules and `analysis` have a value for each setting; `open` names those that
    nobody chose, by the part of the plan.
    """

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
    use: int | str | None = field(default=None, compare=False)  # how many instances were asked for; None: not known
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The names of the algorithms, in the plan's order."""
        return tuple(self.fingerprint.algorithms)

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of the instances used, in the plan's order."""
        names, elsewhere = self.fingerprint.instances, set(self.elsewhere)
        return tuple(name for name in names if name not in elsewhere) if elsewhere else tuple(names)


# Where a study stands


@dataclass(frozen=True, slots=True)
class Finished:
    """An instance that is done: why, after how many rounds, and how many runs of each algorithm were asked for.

    Recorded runs with an index at or beyond `counts` are unused. `decisions` is the digest of the plan that stopped;
    `error` the largest standard error of interest at the stop, None when it is not known.
    """

    instance: str
    decisions: str
    reason: str  # as of a Stop
    counts: Mapping[str, int]
    rounds: int
    error: float | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many runs of an algorithm on an instance are recorded, how many gave a value, and the seconds they took."""

    instance: str
    algorithm: str
    runs: int
    ok: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a study stands.

    `runs` are on record, `new` of them since this session began, and `planned` are expected at the end; `failures` is
    the number of runs without a value. `error` is the largest standard error of interest on the instances under way,
    to be compared with `target`, and `left` the seconds still to go. What is not known is None. `written` is the date
    at which the study file got this, empty when it did not.
    """

    instances: int
    finished: int
    runs: int = 0
    new: int = 0
    failures: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    error: float | None = None
    target: float | None = None
    left: float | None = None
    planned: int | None = None
    written: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """The code that runs of an algorithm were made with: the SHA-256 of each of its files, by name.

    Runs of code that does not count are superseded. `files` are empty where they could not be known, and None for runs
    from before code was recorded.
    """

    algorithm: str
    files: Mapping[str, str] | None
    counts: bool = True

    @property
    def digest(self) -> str:
        """What tells one code from another; empty for runs from before code was recorded."""
        return "" if self.files is None else digest(dict(self.files))


@dataclass(frozen=True, slots=True)
class Session:
    """One carrying-out of the study: when it started, and the environment it ran in."""

    started: str
    environment: Mapping[str, str]


# what a reader of results must know

CautionKind = Literal[
    "failures",
    "censored",
    "incomplete",
    "unmatched",  # runs that share nothing with the others
    "budget",
    "accuracy",
    "accuracy-unknown",
    "heavy-tails",
    "outlier",  # one instance with most of the variance of the differences
    "run-noise",
    "pseudoreplication",
    "duplicates",
    "repeated-runs",
    "rates",
    "one-instance",
    "bias",
    "biased",  # beyond correction: nothing should be claimed on it
    "constant",
    "skewness",
    "denominator",
    "power",
    "level",
    "table",  # these ten are said by the source of the runs
    "direction",
    "columns",
    "folds",
    "unfinished",
    "unplanned",
    "unused",
    "part",
    "plan",
    "looked",  # results were looked at on the way, and the tests were asked not to allow for it
    "growth",  # the plan was enlarged after results were there
    "course",  # values decided on the size of the study, and the tests do not allow for it
    "busy",
    "drift",
    "code",
]


@dataclass(frozen=True)  # without slots: what was said with marks is no field of it
class Caution:
    """Something a reader of the results must know: its kind (a fixed word) and a sentence.

    The sentence names parameters as Python has them; `in_shell` is the same for who types options.
    """

    kind: CautionKind
    sentence: str

    def __post_init__(self) -> None:
        """Read out the marks of parameters, and keep them for the shell."""
        vars(self)["_marked"] = self.sentence
        vars(self)["sentence"] = in_python(self.sentence)

    @property
    def in_shell(self) -> str:
        """The sentence with its parameters as options of a shell."""
        return in_shell(vars(self)["_marked"])
