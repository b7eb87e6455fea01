"""Results of an analysis as values: the comparisons, their basis, and everything reported with them.

Testing after every instance and stopping at the first significant result finds differences that do not
exist. So until the study is complete, or at a planned interim analysis, `estimates_only` removes all test results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ampler.analysis.claim_checks import FailureBound
from ampler.analysis.compare import Comparison, Equivalence, NonInferiority
from ampler.analysis.exploration import Conclusion, Features, OtherPolicy, Subgroup
from ampler.analysis.units import size_text
from ampler.core.arrays import Floats, Pair, Runs
from ampler.core.errors import AnalysisWarning, InvalidData, WarningKind
from ampler.core.failures import Drop, policy_data
from ampler.core.serialization import flat, jsonable
from ampler.core.settings import Settings, Status, Test
from ampler.core.text import LARGEST_EXPONENT, count, listed, notebook_html, parameter
from ampler.core.verdicts import opposite
from ampler.design.detect import PilotReport
from ampler.stats.omnibus import Omnibus
from ampler.stats.paired import ESTIMANDS

if TYPE_CHECKING:
    import pandas as pd

    from ampler.analysis.bayes import Bayes
    from ampler.analysis.families import LaterFamily
    from ampler.analysis.interim import InterimAnalyses, InterimPlan
    from ampler.analysis.measures import MeasuresAnalysis
    from ampler.core.measures import Measure
    from ampler.sampling.rules import Accuracy


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Basis of the test of one pair."""

    first: str
    second: str
    noise_share: float  # mean se² / variance of the differences; NaN when accuracy is not known
    skewness: float
    equivalence: Equivalence | None
    unsolved: int = 0  # instances on which all runs of both algorithms failed
    unsolved_instances: tuple[str, ...] = ()  # their names
    all_runs: float = math.nan  # uncorrected mean difference of all runs; NaN without adaptive sampling
    first_runs: float = math.nan  # the same by the initial runs, which are unaffected by stopping
    decided: str = ""  # "pilot" or "end", in a study with an internal pilot
    agree: tuple[Test, ...] = ()  # other tests that confirm a significant difference
    disagree: tuple[Test, ...] = ()  # those that do not; bootstrap-t only for skewed differences
    failure_bound: FailureBound | None = None  # of a significant difference, where failed runs count as a value

    non_inferiority: NonInferiority | None = None
    correlation: float = math.nan  # of paired runs, the mean over instances; NaN: runs are not paired

    @property
    def pair(self) -> Pair:
        """Both algorithms."""
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class InstanceAccuracy:
    """Precision of the differences on one instance: the largest standard error over the pairs."""

    instance: str
    runs: tuple[int, ...]  # of each algorithm, failed ones included
    error: float  # plain; NaN: not known
    guarded_error: float  # with conservative variance bounds
    worst: Pair | None  # the pair with the largest plain error
    at_budget: bool
    accurate: bool | None  # plain error ≤ se; None when se or the error is not known


@dataclass(frozen=True, slots=True)
class AlgorithmRuns:
    """Outcomes of an algorithm's runs: their number, those with a value, and the others by kind."""

    algorithm: str
    runs: int
    solved: int
    failures: Mapping[Status, int]  # by how they ended
    mean_rank: float  # over the complete instances; 1 is best, NaN: too few are complete


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """Conclusions from the runs. `print(analysis)` shows the same text as the command; the repr is a short answer.

    `statistics`, `differences`, `errors` and `guarded_errors` have instances in rows, in the order of `accuracy`;
    columns are algorithms for the first and pairs, in the order of `pairs`, for the others. They are NaN where an
    algorithm, or one of a pair, lacks the instance.
    """

    settings: Settings  # settings of the analysis; the statistic is a name
    comparisons: tuple[Comparison, ...]  # in Holm's order
    instances: int  # number of instances used in any comparison
    runs: int  # used runs
    algorithms: tuple[AlgorithmRuns, ...]
    accuracy: tuple[InstanceAccuracy, ...]
    excluded: Mapping[str, str]  # excluded instances, with reasons
    incomplete: Mapping[str, str]  # partly used instances, with reasons
    detectable_effect: float  # the d detectable with `settings.power`, for the comparison with the fewest instances
    warnings: tuple[AnalysisWarning, ...]
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
    course: PilotReport | None = None  # the internal pilot of the study, if there was one
    looks: InterimAnalyses | None = None  # the interim analyses, if there were any
    recorded: Runs | None = None  # the runs themselves, for figures of them
    unfinished: str = ""  # reason for estimates only: the study is incomplete, without an interim analysis now
    features: Features = field(default_factory=dict)  # features of the instances, by feature and instance
    measure: str = "value"  # name of the values in the source
    measures: MeasuresAnalysis | None = None  # analysis of several measures, of which this is the primary one
    families: tuple[LaterFamily, ...] = ()  # of algorithms that joined a finished study, each with its own error rate

    @cached_property
    def bayes(self) -> Bayes:
        """Bayesian analysis: posteriors of all comparisons, and verdicts if there is a margin; computed on demand."""
        from ampler.analysis.bayes import bayes_of

        problems = {
            "clusters have no Bayesian analysis yet; omit"
            f" {parameter('cluster')} only if the instances are independent": self.settings.cluster is not None,
            f"the study is not finished ({self.unfinished}), and posteriors are computed at its end;"
            f" resume it, or specify {parameter('unplanned', True)}": bool(self.unfinished),
            "posteriors are about instances like these: omit inference": self.settings.is_fixed,
            "how probable differences are over instances cannot be learnt from one, whose runs were compared; add"
            " instances": self.single is not None,
        }
        for problem in (problem for problem, is_there in problems.items() if is_there):
            raise InvalidData(problem)
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
        return {diagnosis.pair: diagnosis.unsolved_instances for diagnosis in self.diagnoses if diagnosis.unsolved}

    @cached_property
    def rank_sets(self) -> Mapping[str, tuple[int, int]]:
        """Simultaneous confidence sets for the ranks of the algorithms: the best and the worst; empty if unfinished."""
        from ampler.analysis.standings import rank_sets

        return rank_sets(self)

    @cached_property
    def groups(self) -> Mapping[str, str]:
        """Letters of the algorithms (compact letter display); empty with a reference, or for fewer than three."""
        from ampler.analysis.standings import group_letters

        return group_letters(self)

    @property
    def instances_better(self) -> Mapping[Pair, int]:
        """Lower bounds for the number of instances on which the first of a pair is truly better, from repeated runs.

        Both orders of every pair are there, and all bounds hold together with confidence 1 − alpha.
        """
        from ampler.analysis.standings import instances_better

        return instances_better(self)

    @property
    def weighs_a_margin(self) -> bool:
        """Whether a report includes the Bayesian analysis: there must be a margin and several instances."""
        independent = self.single is None and self.settings.cluster is None and not self.settings.is_fixed
        return self.settings.margin is not None and independent and not self.unfinished

    @property
    def at_budget(self) -> tuple[str, ...]:
        """The instances that ended at the budget."""
        return tuple(row.instance for row in self.accuracy if row.at_budget)

    def table(self) -> pd.DataFrame:
        """Return the comparisons as a data frame, one row each, in Holm's order; those of later families follow."""
        import pandas as pd

        rows = []
        for comparison in self.comparisons:
            row = flat(replace(comparison, doubts=(), cluster=None))
            del row["cluster"]
            row |= {} if comparison.cluster is None else flat(comparison.cluster)
            row |= {"doubts": ", ".join(doubt.kind for doubt in comparison.doubts), "claimed": comparison.claimed}
            if self.looks is not None:
                standing = self.looks.standing(comparison.pair)
                row |= {"decision": standing.verdict, "look": standing.look}
            rows.append(row)
        table = pd.DataFrame(rows)
        later = [(family.number, family.analysis.table()) for family in self.families if family.analysis is not None]
        if later:
            numbered = [own.assign(family=number) for number, own in ((1, table), *later)]
            table = pd.concat(numbered, ignore_index=True)
        return table

    _repr_html_ = notebook_html

    def plot(self, ax: Any = None) -> Any:
        """Draw the figure that carries the verdict: a row for each comparison with its interval, wins, p and verdict.

        Without matplotlib axes to draw on, they are made, and returned; `ampler.plots` has all figures.
        """
        from importlib import import_module  # figures belong to a higher layer: imported on demand

        plots = import_module("ampler.plots")
        return plots.draw_verdict(plots.verdict_data(self), ax)

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the arrays as plain values for JSON; what is infinite or unknown is None."""
        from ampler.analysis.fixed_instances import fixed_estimates
        from ampler.analysis.solvers import solver_table

        how, arrays = self.settings, {"statistics", "differences", "errors", "guarded_errors", "recorded", "features"}
        names = [field.name for field in fields(self) if field.name not in arrays | {"measures", "families"}]
        document = {name: getattr(self, name) for name in names} | {"at_budget": self.at_budget}
        document["warnings"] = [warning.as_dict() for warning in self.warnings]
        if (solvers := solver_table(self)) is not None:
            document["solvers"] = solvers
        if how.is_fixed:
            document["interquartile_means"], document["improvements"] = fixed_estimates(self)
        if self.measures is not None:
            document["measures"] = self.measures.as_dict(without_primary=True)
        if self.families:
            document["families"] = [family.as_dict() for family in self.families]
        result: dict[str, Any] = jsonable(document)
        result["settings"]["failures"] = policy_data(how.failures)
        absent = [name for name in ("nested", "crossed", "test_over_train") if result["settings"][name] is None]
        for name in (*absent, *(("cluster", "mean_over", "cluster_effects") if how.cluster is None else ())):
            del result["settings"][name]
        if how.cluster is not None:
            result |= {"unit": how.cluster, "clusters": max(item.sample_size for item in self.comparisons)}
        for row in result["algorithms"]:
            ranks = self.rank_sets.get(row["algorithm"])
            row |= {"ranks": None if ranks is None else list(ranks), "group": self.groups.get(row["algorithm"])}
        for row in result["diagnoses"] if how.paired is None else ():
            del row["correlation"]
        are_factors = how.difference == "ratio" and not ESTIMANDS[self.comparisons[0].estimate_of].is_share
        for row, item in zip(result["comparisons"], self.comparisons, strict=True):
            row.update((row.pop("cluster") or {}) | jsonable(self._verdict(item)))
            if are_factors:
                row["factor"] = jsonable(math.exp(min(item.estimate, LARGEST_EXPONENT)))
        return result

    def _verdict(self, comparison: Comparison) -> dict[str, Any]:
        """The verdict as data: its subject, and the statistic with its degrees of freedom."""
        from ampler.analysis.text import findings

        how, finding = self.settings, findings(self)[comparison.pair]
        about_second = how.reference is not None
        finding = opposite(finding) if about_second else finding
        word = None if finding == "not compared" else finding
        direction = {"algorithm": comparison.second if about_second else comparison.first, "verdict": word}
        is_t = how.test == "t" and how.cluster is None
        if not is_t or self.single is not None or self.looks is not None or self.unfinished:
            return {"direction": direction, "t": math.nan, "degrees_of_freedom": None}
        t = comparison.effect_size * math.sqrt(comparison.instances)
        return {"direction": direction, "t": t, "degrees_of_freedom": comparison.instances - 1}

    def __repr__(self) -> str:
        from ampler.analysis.display import brief_text

        return brief_text(self)

    def __str__(self) -> str:
        from ampler.analysis.display import plain_text

        return plain_text(self)


MAX_NAMES = 8  # of algorithms


ROLES = {"compared": "values of an algorithm", "run": "numbers runs", "group": "not used"}
MAX_COLUMNS = 30


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results:
    """Runs with the information of their source: groups of instances, settings of the study, notes."""

    runs: Runs
    features: Mapping[str, Mapping[str, object]]
    settings: Mapping[str, Any]  # analysis settings known to the source; those of the user take precedence
    notes: tuple[AnalysisWarning, ...]
    deterministic: tuple[str, ...] | None = None  # algorithms whose value never changes; None: not known
    rule: Accuracy | None = None  # adaptive rule that determined the runs; None: none, or unknown
    course: PilotReport | None = None  # report of the internal pilot; None: there was none
    looks: InterimPlan | None = None  # declared interim analyses; None: there were none
    unfinished: str = ""  # missing parts of the plan, because of which nothing is tested; empty if complete
    time_limit: float | None = None  # of all runs, in the unit of their values; None: not known
    fixed_runs: bool = False  # whether the plan or its pilot fixed the number of runs per instance
    measure: str = "value"  # name of the values
    groups: Features = field(default_factory=dict)  # possible groupings of the instances, by column
    roles: Mapping[str, str] = field(default_factory=dict)  # role of each column of a table
    measures: tuple[tuple[Measure, Results], ...] = ()  # several measures of the same runs, each with its results
    families: tuple[tuple[LaterFamily, Results | None], ...] = ()  # later ones; None: nothing to analyse yet
    added: tuple[str, ...] = ()  # the algorithms of a later family, of which each pair has at least one

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, *, shell: bool = False) -> list[str]:
        """Return how the results were read: numbers, roles of columns, better direction."""
        runs, failed = self.runs, int((~self.runs.ok).sum())
        numbers = f"{count(len(runs), 'run')} of {count(len(runs.algorithms), 'algorithm')}"
        head = f"Results: {numbers} on {count(len(runs.instances), 'instance')}, {failed or 'none'} of them failed."
        names = f"Algorithms: {listed(runs.algorithms, MAX_NAMES)}."
        described = dict.fromkeys(self.features, "describes instances")
        roles = [
            f"{name} ({described.get(name, ROLES[role]) if role == 'group' else ROLES.get(role, role)})"
            for name, role in self.roles.items()
        ]
        columns = [f"Columns: {listed(roles, MAX_COLUMNS)}."] if roles else []
        kinds = ("direction", "table") if columns else ("columns", "direction", "table")
        notes = [note.wording(shell=shell, details=True) for note in self.notes if note.kind in kinds]
        return [head, names, *columns, *notes]


UNKNOWN = math.nan, math.nan
ABOUT_RUNS: frozenset[WarningKind] = frozenset(  # warnings that reveal no test result
    {
        *("unfinished", "part", "one-instance", "pseudoreplication", "duplicates", "repeated-runs", "censored", "bias"),
        *("biased", "denominator", "direction", "incomplete", "code", "drift", "busy", "accuracy", "budget"),
        *("unmatched", "contradiction"),
        *("accuracy-unknown", "rates", "table", "columns", "folds", "unused", "plan"),
    }
)


def estimates_only(analysis: Analysis, why: str) -> Analysis:
    """Return the analysis without p-values, intervals, verdicts and other test results."""
    hidden: dict[str, Any] = dict.fromkeys(("interval", "joint_interval", "effect_interval"), UNKNOWN)
    # the effect size is t, but for the root of the number of instances
    hidden |= dict.fromkeys(("p_value", "p_holm", "effect_size"), math.nan) | {"rejected": False, "doubts": ()}
    estimates = []
    for comparison in analysis.comparisons:
        is_share, size = ESTIMANDS[comparison.estimate_of].is_share, comparison.estimate
        text = f"estimate so far: {f'{100 * size:.0f} %' if is_share else size_text(size, analysis.settings)}"
        rank = 1 + analysis.pairs.index(comparison.pair)
        estimates.append(replace(comparison, rank=rank, verdict=text, **hidden))
    return replace(
        analysis,
        unfinished=why,
        comparisons=tuple(sorted(estimates, key=lambda item: item.rank)),
        detectable_effect=math.nan,
        warnings=tuple(warning for warning in analysis.warnings if warning.kind in ABOUT_RUNS),
        diagnoses=tuple(
            replace(own, equivalence=None, failure_bound=None, non_inferiority=None) for own in analysis.diagnoses
        ),
        omnibus=None,
        subgroups=(),
        stability=(),
        other_policies=(),
    )


def unplanned_note(why: str) -> AnalysisWarning:
    """Return the warning above results of an unfinished study."""
    return AnalysisWarning(
        "unplanned",
        f"Do not report these results: the study is not finished ({why}), and no interim analysis was planned. Repeated"
        f" tests of a growing study find false differences. For estimates, omit {parameter('unplanned', True)}.",
    )
