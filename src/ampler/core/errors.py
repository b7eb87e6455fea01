"""Everything that can go wrong, as one tree.

::

    AmplerError
    ├── InvalidInput (ValueError)      an argument or a file cannot be used; nothing was done
    │   ├── InvalidDesign              numbers of a design: effect, power, alpha, instances, comparisons
    │   ├── InvalidSamples             observations a rule or an estimate cannot work with
    │   ├── InvalidRule                settings of a sampling rule: se, start, budget, reference
    │   ├── InvalidPlan                algorithms, instances or settings of a study (study.toml)
    │   └── InvalidData                a table of results that cannot be read or analysed
    ├── StoreError                     the results file cannot be used as asked
    │   ├── StoreBusy                  another process is running this study
    │   ├── StoreUnusable              not a results file, damaged, too new, or not writable
    │   └── PlanMismatch               the file holds runs of another plan
    ├── RunFailed                      a run failed and the study's policy is to stop
    ├── EngineFailed                   the executor that was given makes no more runs
    └── MissingDependency              an optional package is not installed

Every message is one sentence that says what must hold, what came and what to do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ampler.core.text import render_for_python, render_for_shell


class AmplerError(Exception):
    """The root: catch this to catch everything ampler raises on purpose.

    Its text names parameters as Python does; `in_shell` names them as command-line options.
    """

    @property
    def message(self) -> str:
        """Return the message with its parameter marks, for use within another message."""
        return super().__str__()

    @property
    def in_shell(self) -> str:
        """The message with the parameters as options of a shell."""
        return render_for_shell(self.message)

    def __str__(self) -> str:
        return render_for_python(self.message)


class InvalidInput(AmplerError, ValueError):
    """An argument or a file cannot be used; nothing was done."""


class InvalidDesign(InvalidInput):
    """The numbers of a design do not fit: effect, power, alpha, instances, comparisons."""


class InvalidSamples(InvalidInput):
    """The observations are such that a rule or an estimate cannot work with them."""


class InvalidRule(InvalidInput):
    """The settings of a sampling rule do not fit: se, start, budget, reference."""


class InvalidPlan(InvalidInput):
    """The algorithms, instances or settings of a study do not fit."""


class InvalidData(InvalidInput):
    """A table of results cannot be read or analysed."""


class StoreError(AmplerError):
    """The results file cannot be used as asked."""


class StoreBusy(StoreError):
    """Another process is running this study."""


class StoreUnusable(StoreError):
    """The file is not a results file, is damaged or too new, or cannot be written."""


class PlanMismatch(StoreError):
    """The results file holds runs of another plan."""


class RunFailed(AmplerError):
    """A run failed and the study's policy is to stop."""


class EngineFailed(AmplerError):
    """The executor that was given makes no more runs."""


class MissingDependency(AmplerError):
    """An optional package is not installed."""


Severity = Literal["could reverse a verdict", "widens intervals", "good to know"]
Reversing = Literal[
    "contradiction",  # contradictory answers of two algorithms
    "looked",  # there were interim analyses, and the tests ignore them as requested
    "unplanned",
    "biased",  # cannot be corrected: no claim should rest on it
    "growth",  # the plan was enlarged after the first results
    "course",  # results determined the size of the study, and the tests do not account for it
    "unfinished",
    "part",
    "one-instance",
    "pseudoreplication",
    "duplicates",
    "repeated-runs",
    "failures",
    "censored",
    "bias",
    "skewness",
    "clusters",  # instances that belong together count as if they were independent, or there are few groups of them
    "disputed",  # a claim that other tests do not find
    "outlier",  # one instance with most of the variance of the differences
    "denominator",
    "constant",
    "code",
    "drift",
    "busy",
]
Widening = Literal["incomplete", "run-noise", "power", "level", "accuracy", "budget", "heavy-tails", "unmatched"]
Informing = Literal[
    "direction", "grouping", "accuracy-unknown", "rates", "table", "columns", "folds", "unused", "plan", "pairing"
]
WarningKind = Literal[Reversing, Widening, Informing]
SEVERITIES: Mapping[Severity, tuple[WarningKind, ...]] = {  # most severe first
    "could reverse a verdict": get_args(Reversing),
    "widens intervals": get_args(Widening),
    "good to know": get_args(Informing),
}


@dataclass(frozen=True, slots=True)
class AnalysisWarning:
    """Something that a reader of the results must know; the texts mark parameters as `core.text.parameter` does."""

    kind: WarningKind
    message: str  # the effect on the result and its cause
    remedy: str = ""  # the remedy
    details: str = ""  # details, for --explain
    holds: bool = False  # a check that left every verdict unchanged
    numbers: Mapping[str, float] = field(default_factory=dict)  # numbers behind the message, by name

    @property
    def severity(self) -> Severity:
        """The possible effect on the conclusion.

        >>> AnalysisWarning("skewness", "The differences are skewed.").severity
        'could reverse a verdict'
        """
        if self.holds:
            return "good to know"
        return next(severity for severity, kinds in SEVERITIES.items() if self.kind in kinds)

    @property
    def sentence(self) -> str:
        """Message, remedy and details, with parameters as Python has them."""
        return self.wording(shell=False, details=True)

    def as_dict(self) -> dict[str, Any]:
        """Return the warning as plain values; its texts name parameters as Python has them."""
        texts = {"message": render_for_python(self.message), "remedy": render_for_python(self.remedy)}
        numbers = {"numbers": dict(self.numbers)}
        return {"kind": self.kind, "severity": self.severity, **texts, **numbers, "sentence": self.sentence}

    @property
    def in_shell(self) -> str:
        """The message with parameters as command-line options."""
        return self.wording(shell=True, details=True)

    def wording(self, *, shell: bool, details: bool) -> str:
        """Return the message and its remedy, with details or without, for a shell or for Python."""
        text = " ".join(filter(None, (self.message, self.remedy, self.details if details else "")))
        return render_for_shell(text) if shell else render_for_python(text)


def by_severity(warnings: Iterable[AnalysisWarning]) -> list[AnalysisWarning]:
    """Return the warnings, most severe first; the order within a severity is kept."""
    order = list(SEVERITIES)
    return sorted(warnings, key=lambda warning: order.index(warning.severity))
