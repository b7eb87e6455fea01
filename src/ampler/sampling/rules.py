"""Rules for the next runs on an instance and for stopping. Pure: decisions depend on samples alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from ampler.core import settings
from ampler.core.arrays import Counts, Floats, Samples
from ampler.core.contracts import PairErrors, Rule, Statistic
from ampler.core.errors import InvalidRule
from ampler.core.plan import Decision, Plan, Sample, Seeds, Stop
from ampler.core.serialization import DEFAULT_BEFORE_FIELD
from ampler.core.settings import CalibrationVersion, Difference, Formula, Guard, documented
from ampler.sampling import allocation
from ampler.sampling.allocation import Allocation, SharedPairs
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.dependence import guarded_noise, noise_errors, shared_noise
from ampler.stats.estimate import AlgorithmEstimates, estimates_of, short_of_values
from ampler.stats.summaries import Mean, Rate, summary_of
from ampler.stats.variance_bounds import NEWEST, guarded_variances

SamplesLike = Samples | Mapping[str, Iterable[float]]

RUNS_PER_ALGORITHM = 50  # the default budget of an instance
COUNTS = (
    ("start", 2, "a variance needs two values"),
    ("batch", 1, "a round holds at least one run"),
    ("budget", 1, f"omit it for {RUNS_PER_ALGORITHM} runs per algorithm"),
    ("budget_each", 1, f"omit it for {RUNS_PER_ALGORITHM} runs per algorithm"),
)
LARGEST = 1e300  # upper limit of scaled variances, for practical purposes infinite
CERTAIN = 1e9  # a deterministic algorithm counts as if it had infinitely many runs


def default_budget(algorithms: int) -> int:
    """Return the default budget of an instance."""
    return RUNS_PER_ALGORITHM * algorithms


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Run an instance until every difference of interest has a standard error of at most `se`, or the budget is spent.

    Parameters
    ----------
    se : float
        Target standard error of the differences.
    %difference%
    %reference%
    %statistic%
    start : int, default 10
        Initial runs of each algorithm.
    budget : int, optional
        Maximum number of runs of all algorithms together; 50 for each algorithm by default.
    allocation : {'optimal', 'greedy', 'balanced'}, default 'optimal'
        How runs are shared out between the algorithms.
    %guard%
    formula : {'corrected', 'delta', 'paper'}, optional
        Correction of ratios for run noise; by default that of the results file, else the newest.
    batch : int, default 16
        Maximum number of runs requested at once.
    costs : mapping of algorithm to float, optional
        Cost of a run of an algorithm; 1 by default.
    guard_edition : {1, 2}, optional
        Calibration version of the conservative bound; by default that of the results file, else the newest.
    budget_each : int, optional
        The budget for each algorithm, if `budget` is that many for each.
    seeds : {'own', 'shared'}, default 'own'
        Whether runs with one index share a seed, so that the difference of a pair is taken run by run.

    Examples
    --------
    >>> rule = Accuracy(se=0.5, difference="simple", start=3)
    >>> rule({"a": [], "b": []})
    Sample(counts={'a': 3, 'b': 3})
    >>> rule({"a": [5.0, 6.0, 9.0], "b": [1.0, 1.5, 2.0]}).total
    16
    >>> rule({"a": [5.0, 5.1, 5.2], "b": [1.0, 1.1, 1.2]})
    Stop(reason='accuracy reached')
    """

    se: float
    difference: Difference
    reference: str | None = None
    statistic: str | Statistic = "mean"
    start: int = 10
    budget: int | None = None
    allocation: Allocation = "optimal"
    guard: Guard = "pairs"
    formula: Formula | None = None
    batch: int = 16
    costs: Mapping[str, float] | None = None
    guard_edition: CalibrationVersion | None = field(default=None, metadata={DEFAULT_BEFORE_FIELD: 1})
    budget_each: int | None = field(default=None, metadata={DEFAULT_BEFORE_FIELD: None})
    seeds: Seeds = field(default="own", metadata={DEFAULT_BEFORE_FIELD: "own"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "difference", settings.canonical_difference(self.difference))
        settings.positive("se", self.se, "it is the accuracy wanted of a difference", error=InvalidRule)
        for name, least, way_out in COUNTS:
            if not name.startswith("budget") or getattr(self, name) is not None:
                count = settings.integer(name, getattr(self, name), least, way_out=way_out, error=InvalidRule)
                object.__setattr__(self, name, count)
        kinds = {"difference": Difference, "allocation": Allocation, "guard": Guard, "formula": Formula}
        for name, kind in kinds.items():
            if name != "formula" or self.formula is not None:
                settings.choice(name, getattr(self, name), get_args(kind), error=InvalidRule)
        if self.guard_edition is not None:
            first, way_out = min(get_args(CalibrationVersion)), f"{NEWEST} is the newest"
            settings.integer("guard_edition", self.guard_edition, first, NEWEST, way_out, error=InvalidRule)
        settings.choice("seeds", self.seeds, get_args(Seeds), error=InvalidRule)
        if self.seeds == "shared" and self.allocation == "greedy":
            raise InvalidRule("shared seeds need allocation 'optimal' or 'balanced', got 'greedy'")
        summary_of(self.statistic)
        settings.simple_if_rate(self.statistic, self.difference, error=InvalidRule)
        if not isinstance(self.costs, Mapping | None):
            raise InvalidRule(f"costs must map algorithms to numbers, got {self.costs!r}")
        for name, cost in (self.costs or {}).items():
            settings.positive(f"the cost of algorithm {name!r}", cost, error=InvalidRule)

    @classmethod
    def as_in_paper(
        cls,
        *,
        se: float,
        difference: Difference,
        reference: str | None = None,
        statistic: str | Statistic = "mean",
        start: int = 10,
        budget: int | None = None,
    ) -> Accuracy:
        """Return the exact rule of Campelo & Wanner (2019), Algorithm 1: greedy, without bounds, one run at a time.

        >>> Accuracy.as_in_paper(se=0.5, difference="simple", start=3)({"a": [5.0, 6.0, 9.0], "b": [1.0, 1.5, 2.0]})
        Sample(counts={'a': 1})
        """
        return cls(
            se=se, difference=difference, reference=reference, statistic=statistic, start=start, budget=budget,
            allocation="greedy", guard="none", formula="paper", batch=1,
        )  # fmt: skip

    def __call__(self, samples: SamplesLike, /) -> Decision:
        """Return the next round of runs, or that the instance is done and why."""
        samples = Samples.of(samples)
        contrasts = self.check(samples.algorithms, deterministic=samples.deterministic)
        left = self._left(samples)
        if self._lacks_first_runs(samples):
            return _wish(samples, _first(self._missing(samples), left)) if left > 0 else Stop("budget spent")
        estimates = estimates_of(samples, contrasts, summary_of(self.statistic))
        if not any(estimates.spread.tolist()):
            return Stop("all constant")
        wish = _wish(samples, self._runs(samples, contrasts, estimates, max(1, min(self.batch, left))))
        if not wish.counts:
            return Stop("accuracy reached")
        return wish if left > 0 else Stop("budget spent")

    def predict(self, samples: SamplesLike) -> dict[str, int]:
        """Return the expected number of remaining runs of each algorithm.

        At first these are the missing initial runs; later all runs up to the target standard error, or up to the
        end of the budget.

        >>> rule = Accuracy(se=0.5, difference="simple", start=3, guard="none")
        >>> rule.predict({"a": [4.0, 6.0, 8.0], "b": [1.0, 2.0, 3.0]})
        {'a': 21, 'b': 9}
        """
        samples = Samples.of(samples)
        contrasts = self.check(samples.algorithms, deterministic=samples.deterministic)
        left = max(self._left(samples), 0)
        runs = _first(self._missing(samples), left)
        if not self._lacks_first_runs(samples):
            estimates = estimates_of(samples, contrasts, summary_of(self.statistic))
            runs = np.zeros_like(runs)
            if estimates.spread.any():
                runs = self._runs(samples, contrasts, estimates, left, whole=True)
        return dict(zip(samples.algorithms, runs.tolist(), strict=True))

    def errors(self, samples: SamplesLike) -> PairErrors:
        """Return the standard error of every pair of interest, plain and with conservative variance bounds.

        They are NaN as long as an algorithm has too few values.
        """
        samples = Samples.of(samples)
        contrasts = self.check(samples.algorithms, deterministic=samples.deterministic)
        names = samples.algorithms
        pairs = tuple((names[i], names[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True))
        if short_of_values(samples):
            return PairErrors(pairs, np.full(len(pairs), np.nan), np.full(len(pairs), np.nan))
        estimates = estimates_of(samples, contrasts, summary_of(self.statistic))
        pairs_of_runs = self._shared(samples, contrasts, estimates, guard="none")
        if pairs_of_runs is not None:
            shared = (pairs_of_runs, self._shared(samples, contrasts, estimates) or pairs_of_runs)
            squares = [noise_errors(item.noise, _counted(samples, CERTAIN)) for item in shared]
        else:
            spreads = estimates.spread, self._guarded(samples, estimates, contrasts)
            squares = [contrasts.squared_errors(estimates.theta, spread / samples.counts) for spread in spreads]
        naive, guarded = (estimates.errors_in_plain_units(contrasts, np.sqrt(np.maximum(s, 0.0))) for s in squares)
        return PairErrors(pairs, naive, guarded)

    def check(self, algorithms: Sequence[str], *, deterministic: Collection[str] = ()) -> Contrasts:
        """Return the contrasts of these algorithms; InvalidRule if the settings do not fit them."""
        names = tuple(algorithms)
        formula = self.formula or "corrected"
        contrasts = contrasts_of(names, difference=self.difference, reference=self.reference, formula=formula)
        if self.budget is not None and self.budget < self.start * len(names):
            least = sum(1 if name in deterministic else self.start for name in names)
            if self.budget < least:
                raise InvalidRule(
                    f"budget must allow the first runs of every algorithm, {least} in all, got {self.budget}; "
                    "raise budget or lower start"
                )
        strangers = [name for name in self.costs or () if name not in names]
        if strangers:
            raise InvalidRule(f"costs must name algorithms among {', '.join(map(repr, names))}, got {strangers[0]!r}")
        return contrasts

    def resolved(self, plan: Plan) -> Accuracy:
        """Return the rule for the algorithms of a plan, with every default filled in."""
        each = self.budget_each
        if self.budget is None:
            each = each or RUNS_PER_ALGORITHM
        return replace(
            self,
            budget=self.budget if each is None else each * len(plan.algorithms),
            budget_each=each,
            costs=self.costs or {},
            guard_edition=self.guard_edition or NEWEST,
            formula=self.formula or plan.question.formula,
        )

    def among(self, algorithms: Sequence[str]) -> Accuracy:
        """Return the rule for some of its algorithms: the costs of the others are left out, and so are their budgets.

        >>> Accuracy(se=0.5, difference="simple", costs={"a": 2.0, "b": 3.0, "c": 5.0}).among(["a", "b"]).costs
        {'a': 2.0, 'b': 3.0}
        """
        budget = self.budget if self.budget_each is None else self.budget_each * len(algorithms)
        costs = self.costs and {name: cost for name, cost in self.costs.items() if name in algorithms}
        return replace(self, budget=budget, costs=costs)

    def _left(self, samples: Samples) -> int:
        budget = default_budget(len(samples.algorithms)) if self.budget is None else self.budget
        return budget - samples.total_spent

    def _lacks_first_runs(self, samples: Samples) -> bool:
        if min(samples.counts.tolist()) >= self.start:  # fast path for the usual case
            return False
        return bool(self._missing(samples).any())

    def _missing(self, samples: Samples) -> Counts:
        """The missing initial runs of each algorithm."""
        return _lacking(samples, self.start, samples.counts)

    def _runs(
        self, samples: Samples, contrasts: Contrasts, estimates: AlgorithmEstimates, size: int, *, whole: bool = False
    ) -> Counts:
        """The next runs, at most this many: one round, or all that are needed."""
        case = contrasts, _counted(samples, CERTAIN), self._guarded(samples, estimates, contrasts), estimates.theta
        se, costs = estimates.own_unit(contrasts, self.se), None
        if self.costs:
            costs = np.array([float(self.costs.get(name, 1.0)) for name in samples.algorithms])
        if (pairs := self._shared(samples, contrasts, estimates)) is not None:
            alone = None if self.allocation == "balanced" else allocation.pairs_of(contrasts, *case[2:])
            return allocation.next_shared_runs(pairs, case[1], alone, se=se, size=size, costs=costs)
        if whole:
            runs = allocation.predicted_runs(*case, se=se, allocation=self.allocation, costs=costs, most=size)
            if runs.sum() <= size:
                return runs
        return allocation.next_runs(*case, se=se, allocation=self.allocation, costs=costs, size=size)

    def _shared(
        self, samples: Samples, contrasts: Contrasts, estimates: AlgorithmEstimates, guard: Guard | None = None
    ) -> SharedPairs | None:
        """The pairs whose runs share seeds; None where each algorithm has seeds of its own."""
        if self.seeds == "own":
            return None
        values, guard = samples.by_index(estimates.exponents), guard or self.guard
        gradient = contrasts.gradient(np.nanmean(values, axis=0))
        noise = shared_noise(gradient, values)
        if guard != "none":
            noise = guarded_noise(noise, gradient, values, guard=guard, edition=self.guard_edition or NEWEST)
        return SharedPairs(noise)

    def _guarded(self, samples: Samples, estimates: AlgorithmEstimates, contrasts: Contrasts) -> Floats:
        if self.guard == "none":
            return estimates.spread
        counts = _counted(samples, 1.0)  # no degrees of freedom: a declared variance of 0
        summary = summary_of(self.statistic)
        kurtosis = _kurtosis(samples) if isinstance(summary, Mean) else None
        how: dict[str, Any] = {
            "degrees": summary.degrees(counts),
            "rates": estimates.theta if isinstance(summary, Rate) else None,
            "guard": self.guard,
            "reference": contrasts.reference,
            "edition": self.guard_edition or NEWEST,
        }
        if estimates.exponents is None:
            return guarded_variances(counts, estimates.spread, kurtosis, **how)
        # Ratios let every algorithm keep its own unit, but variances borrow from each other in one unit only.
        shift = 2 * (estimates.exponents - estimates.exponents.max())
        with np.errstate(over="ignore", under="ignore"):
            bounds = np.ldexp(guarded_variances(counts, np.ldexp(estimates.spread, shift), kurtosis, **how), -shift)
        return np.asarray(np.minimum(bounds, LARGEST))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Run every algorithm the same number of times, whatever the results.

    >>> Fixed(runs=30)({"a": [1.0, 2.0], "b": []})
    Sample(counts={'a': 28, 'b': 30})
    """

    runs: int = 30

    def __post_init__(self) -> None:
        way_out = "each algorithm runs at least once"
        object.__setattr__(self, "runs", settings.integer("runs", self.runs, 1, way_out=way_out, error=InvalidRule))

    def __call__(self, samples: SamplesLike, /) -> Decision:
        """Return the runs that are missing, all at once; a failed run is not repeated."""
        samples = Samples.of(samples)
        missing = _lacking(samples, self.runs, samples.spent)
        return _wish(samples, missing) if missing.any() else Stop("runs done")

    def predict(self, samples: SamplesLike) -> dict[str, int]:
        """Return the number of remaining runs of each algorithm."""
        samples = Samples.of(samples)
        return dict(zip(samples.algorithms, _lacking(samples, self.runs, samples.spent).tolist(), strict=True))


class Sampled(NamedTuple):
    """Result of sampling an instance, with the reason to stop."""

    samples: Samples
    stop: Stop


def sample(
    rule: Rule,
    draw: Callable[[str, int], float | None],
    algorithms: Sequence[str],
    *,
    deterministic: Collection[str] = (),
) -> Sampled:
    """Sample one instance: make the runs that the rule requests until it stops.

    `draw(algorithm, index)` carries out a run, counted from 0 for each algorithm, and returns its value; None for a
    run that failed and gave none.

    >>> values = {"a": [1.0, 1.1, 0.9, 1.0], "b": [2.0, 2.2, 1.8, 2.0]}
    >>> outcome = sample(Fixed(runs=4), lambda algorithm, index: values[algorithm][index], ["a", "b"])
    >>> outcome.samples, outcome.stop.reason
    (Samples(a: 4, b: 4), 'runs done')
    """
    samples = Samples(algorithms, deterministic=deterministic)
    while isinstance(decision := rule(samples), Sample):
        if decision.total < 1:
            raise InvalidRule(f"a rule must request runs or stop, got {decision!r}; fix the rule")
        for algorithm, count in decision.counts.items():
            for _ in range(count):
                value = draw(algorithm, int(samples.spent[samples.position(algorithm)]))
                if value is None:
                    samples.drop(algorithm)
                else:
                    samples.add(algorithm, value)
    return Sampled(samples, decision)


def _lacking(samples: Samples, runs: int, there: Counts) -> Counts:
    """What each algorithm lacks of so many runs; one is enough if it is deterministic."""
    target = np.full(len(samples.algorithms), runs)
    target[_certain(samples)] = 1
    return np.maximum(target - there, 0)


def _certain(samples: Samples) -> list[int]:
    return [samples.position(name) for name in samples.deterministic]


def _counted(samples: Samples, certain: float) -> Floats:
    """The numbers of values, with a large one for deterministic algorithms."""
    counts = samples.counts.astype(float)
    if samples.deterministic:
        counts[_certain(samples)] = certain
    return counts


def _first(missing: Counts, left: int) -> Counts:
    """As many of the missing runs as the budget allows, for the algorithms with most missing runs first."""
    if missing.sum() <= left:
        return missing
    runs = np.zeros_like(missing)
    for _ in range(left):
        runs[(missing - runs).argmax()] += 1
    return runs


def _kurtosis(samples: Samples) -> Floats:
    """n·M4/M2² of each algorithm; 0 for those that do not vary."""
    second, fourth = samples.scaled_second, samples.scaled_fourth
    if min(second.tolist()) > 0.0:  # fast path for the usual case
        return np.asarray(samples.counts * (fourth / (second * second)))
    varies = second > 0.0
    return np.asarray(samples.counts * np.divide(fourth, second * second, out=np.zeros_like(second), where=varies))


def _wish(samples: Samples, runs: Counts) -> Sample:
    return Sample({samples.algorithms[index]: int(runs[index]) for index in runs.nonzero()[0].tolist()})
