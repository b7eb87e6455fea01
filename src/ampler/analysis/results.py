"""What an analysis found, as values: the comparisons, what they rest on, and everything to report beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ampler.analysis.compare import Comparison, Equivalence
from ampler.analysis.exploration import Conclusion, Features, OtherPolicy, Subgroup
from ampler.analysis.failure_bounds import FailureBound
from ampler.core.arrays import Floats, Pair
from ampler.core.choices import Status, Test
from ampler.core.errors import InvalidData
from ampler.core.failures import Drop, policy_data
from ampler.core.notebooks import shown_in_notebook
from ampler.core.plain import flat, jsonable
from ampler.core.runs import Runs
from ampler.core.settings import AnalysisSettings
from ampler.core.spoken import parameter
from ampler.core.values import Caution
from ampler.core.wording import LARGEST_EXPONENT
from ampler.design.pilot import PilotReport
from ampler.stats.omnibus import Omnibus
from ampler.stats.paired import ESTIMANDS

if TYPE_CHECKING:
    import pandas as pd

    from ampler.analysis.bayes import Bayes
    from ampler.analysis.looked import Looked


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the test of one pair rests on."""

    first: str
    second: str
    noise_share: float  # mean se² / variance of the differences; NaN when accuracy is not known
    skewness: float
    equivalence: Equivalence | None
    unsolved: int = 0  # instances on which neither algorithm gave a value, so that failures alone make the difference
    unsolved_instances: tuple[str, ...] = ()  # their names
    all_runs: float = math.nan  # mean difference by all runs as they are; NaN unless their values decided on the runs
    first_runs: float = math.nan  # the same by the first runs, which nobody stopped
    decided: str = ""  # "pilot" or "end", in a study that found its own size
    agree: tuple[Test, ...] = ()  # other tests that find the same difference, where the test finds one
    disagree: tuple[Test, ...] = ()  # those that do not; bootstrap-t is asked only where the shape calls for it
    failure_bound: FailureBound | None = None  # of a significant difference, where failed runs count as a value


@dataclass(frozen=True, slots=True)
class InstanceAccuracy:
    """How accurately the differences on one instance are known: the largest standard error over the pairs."""

    instance: str
    runs: tuple[int, ...]  # of each algorithm, failed ones included
    error: float  # plain; NaN: not known
    guarded_error: float  # allows for variances that look small by luck
    worst: Pair | None  # the pair with the largest plain error
    at_budget: bool
    accurate: bool | None  # plain error ≤ se; None when se or the error is not known


@dataclass(frozen=True, slots=True)
class AlgorithmRuns:
    """How often an algorithm was run in all, how many of these runs gave a value, and how the others ended."""

    algorithm: str
    runs: int
    solved: int
    failures: Mapping[Status, int]  # by how they ended
    mean_rank: float  # over the complete instances; 1 is best, NaN: too few are complete


@dataclass(frozen=True, eq=False)
class Analysis:
    """What the runs allow to conclude. `print(analysis)` shows the Holm table.

    `statistics`, `differences`, `errors` and `guarded_errors` have instances in rows, in the order of `accuracy`;
    columns are algorithms for the first and pairs, in the order of `pairs`, for the others. They are NaN where an
    algorithm, or one of a pair, lacks the instance.
    """

    settings: AnalysisSettings  # what was asked, to be reported with the answer; its statistic is a name
    comparisons: tuple[Comparison, ...]  # in Holm's order
    instances: int  # used in some comparison; each comparison counts its own
    runs: int  # whose values the comparisons rest on
    algorithms: tuple[AlgorithmRuns, ...]
    accuracy: tuple[InstanceAccuracy, ...]
    excluded: Mapping[str, str]  # instances left out of all comparisons, and why
    incomplete: Mapping[str, str]  # instances used by some comparisons only, and why
    detectable_effect: float  # the d found with mean power `settings.power`; where fewest instances are, if they differ
    warnings: tuple[Caution, ...]
    diagnoses: tuple[Diagnosis, ...]  # in the order of `pairs`
    omnibus: Omnibus | None  # on the complete instances; None: too few of them
    subgroups: tuple[Subgroup, ...]  # exploratory
    stability: tuple[Conclusion, ...]  # exploratory
    other_policies: tuple[OtherPolicy, ...]  # exploratory: failed runs counted otherwise
    pairs: tuple[Pair, ...]
    statistics: Floats
    differences: Floats
    errors: Floats
    guarded_errors: Floats
    course: PilotReport | None = None  # how the size of the study was decided, if its own values did
    looks: Looked | None = None  # what was decided on the way, if the values were looked at
    recorded: Runs | None = None  # the runs themselves, for figures of them
    unfinished: str = ""  # why there are estimates only: the study is not complete, and no analysis is planned for now
    features: Features = field(default_factory=dict)  # of the instances: what groups them, by feature and instance
    measure: str = "value"  # what was measured, as the source of the runs calls it

    @cached_property
    def bayes(self) -> Bayes:
        """How probable it is: posteriors of all comparisons, and verdicts if there is a margin; computed when asked."""
        from ampler.analysis.bayes import bayes_of

        if self.unfinished:
            raise InvalidData(
                f"the study is not finished ({self.unfinished}), and how probable differences are is said at its end;"
                f" run it further, or specify {parameter('unplanned', True)}"
            )
        if self.single is not None:
            raise InvalidData(
                "how probable differences are over instances cannot be learnt from one, whose runs were compared; add"
                " instances"
            )
        return bayes_of(self)

    @property
    def single(self) -> str | None:
        """The only instance, whose runs were compared; None where instances are the sample."""
        return self.accuracy[0].instance if self.instances == 1 else None

    @cached_property
    def unsolved(self) -> Mapping[Pair, tuple[str, ...]]:
        """The instances on which neither algorithm of a pair gave a value and failed runs count, by pair."""
        if isinstance(self.settings.failures, Drop):
            return {}
        return {(each.first, each.second): each.unsolved_instances for each in self.diagnoses if each.unsolved}

    @property
    def weighs_a_margin(self) -> bool:
        """Whether a report says how probable it is: there is a margin to judge by, and there are instances."""
        return self.settings.margin is not None and self.single is None and not self.unfinished

    @property
    def at_budget(self) -> tuple[str, ...]:
        """The instances that ended at the budget."""
        return tuple(row.instance for row in self.accuracy if row.at_budget)

    def table(self) -> pd.DataFrame:
        """Return the comparisons as a data frame, one row each, in Holm's order."""
        import pandas as pd

        return pd.DataFrame([_row(each) | self._looked_row(each) for each in self.comparisons])

    def _looked_row(self, comparison: Comparison) -> dict[str, Any]:
        """What the looks add to a row."""
        if self.looks is None:
            return {}
        standing = self.looks.standing((comparison.first, comparison.second))
        return {"decision": standing.verdict, "look": standing.look}

    _repr_html_ = shown_in_notebook

    def plot(self, ax: Any = None) -> Any:
        """Draw the figure that carries the verdict: a row for each comparison with its interval, wins, p and verdict.

        Without matplotlib axes to draw on, they are made, and returned; `ampler.plots` has all figures.
        """
        from importlib import import_module  # figures stand above this room, which reaches them when asked only

        plots = import_module("ampler.plots")
        return plots.draw_verdict(plots.verdict_data(self), ax)

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the arrays as plain values for JSON; what is infinite or unknown is None."""
        arrays = {"statistics", "differences", "errors", "guarded_errors", "recorded", "features"}
        document = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in arrays}
        result: dict[str, Any] = jsonable(document | {"at_budget": self.at_budget})
        result["settings"]["failures"] = policy_data(self.settings.failures)
        if self.settings.difference == "ratio" and not ESTIMANDS[self.comparisons[0].estimate_of].is_share:
            for row, each in zip(result["comparisons"], self.comparisons, strict=True):
                row["factor"] = jsonable(math.exp(min(each.estimate, LARGEST_EXPONENT)))
        return result

    def __str__(self) -> str:
        from ampler.analysis.text import text_lines

        return "\n".join(text_lines(self))


def _row(comparison: Comparison) -> dict[str, Any]:
    """A comparison as one row of a table; its doubts by their kinds."""
    return flat(replace(comparison, doubts=())) | {
        "doubts": ", ".join(each.kind for each in comparison.doubts),
        "claimed": comparison.claimed,
    }
