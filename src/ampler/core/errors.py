"""Everything that can go wrong, as one tree.

::

    AmplerError
    ├── InvalidInput (ValueError)      an argument or a file cannot be used; nothing was done
    │   ├── InvalidDesign              numbers of a design: effect, power, alpha, instances, comparisons
    │   ├── InvalidSamples             observations a rule or an estimate cannot work with
    │   ├── InvalidRule                settings of a sampling rule: se, start, budget, reference
    │   ├── InvalidPlan                algorithms, instances or settings of a study (study.toml)
    │   └── InvalidData                a table of results that cannot be read or analysed
    ├── StoreError                     the study file cannot be used as asked
    │   ├── StoreBusy                  another process is running this study
    │   ├── StoreUnusable              not a study file, damaged, too new, or not writable
    │   └── PlanMismatch               the file holds runs of another plan
    ├── RunFailed                      a run failed and the study's policy is to stop
    ├── EngineFailed                   the executor that was given makes no more runs
    └── MissingDependency              an optional package is not installed

Every message is one sentence that says what must hold, what came and what to do.
"""

from ampler.core.spoken import in_python, in_shell


class AmplerError(Exception):
    """The root: catch this to catch everything ampler raises on purpose.

    Its text names parameters as Python has them; `in_shell` is the same for who types options.
    """

    @property
    def message(self) -> str:
        """What was said, with the marks of its parameters: to be said again within another message."""
        return super().__str__()

    @property
    def in_shell(self) -> str:
        """The message with the parameters as options of a shell."""
        return in_shell(self.message)

    def __str__(self) -> str:
        return in_python(self.message)


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
    """The study file cannot be used as asked."""


class StoreBusy(StoreError):
    """Another process is running this study."""


class StoreUnusable(StoreError):
    """The file is not a study file, is damaged or too new, or cannot be written."""


class PlanMismatch(StoreError):
    """The study file holds runs of another plan."""


class RunFailed(AmplerError):
    """A run failed and the study's policy is to stop."""


class EngineFailed(AmplerError):
    """The executor that was given makes no more runs."""


class MissingDependency(AmplerError):
    """An optional package is not installed."""
