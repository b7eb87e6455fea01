"""The rule: what to run next on an instance, and when to stop. Pure: decisions come from samples alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from ampler.core.arrays import Counts, Floats
from ampler.core.checks import choice, integer, positive, simple_if_rate
from ampler.core.choices import Difference, Formula, Guard, GuardEdition, difference_of
from ampler.core.contracts import PairErrors, Rule, Statistic
from ampler.core.errors import InvalidRule
from ampler.core.plain import UNSAID
from ampler.core.samples import Samples
from ampler.core.values import Decision, Plan, Sample, Stop
from ampler.sampling.allocation import Allocation, largest_error, next_runs, predicted_runs
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.estimate import AlgorithmEstimates, estimates_of, short_of_values
from ampler.stats.guard import NEWEST, guarded_variances
from ampler.stats.rates import Rate
from ampler.stats.summaries import Mean, summary_of

SamplesLike = Samples | Mapping[str, Iterable[float]]

RUNS_PER_ALGORITHM = 50  # the default budget of an instance
COUNTS = (
    ("start", 2, "a variance needs two values"),
    ("batch", 1, "a round holds at least one run"),
    ("budget", 1, f"leave it out for {RUNS_PER_ALGORITHM} runs per algorithm"),
)
LARGEST = 1e300  # of variances in their own unit: beyond this an algorithm is hopeless anyhow
CERTAIN = 1e9  # a deterministic algorithm is known as if it had been run without end


def default_budget(algorithms: int) -> int:
    """Return the most runs on one instance where a rule names no budget."""
    return RUNS_PER_ALGORITHM * algorithms


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Run until every difference of interest is known to within `se`, or the budget is spent.

    `start` is the first number of runs of each algorithm, `budget` the most runs of all algorithms together on one
    instance (50 for each algorithm if None), `batch` the most runs asked for at once. `guard` says how safe the
    promise is ("none", "pairs", "all"), `allocation` how runs are shared out ("optimal", "greedy", "balanced"),
    `costs` what a run of each algorithm costs (1 for those not named). `guard_edition` says how the guard's bounds are
    calibrated (1, 2): if None as in the study file that is there, else the newest way. So is `formula`: "corrected" for
    the noise of runs in ratios, which is the newest, "delta" or "paper". `budget_each` is the budget for each
    algorithm, if `budget` is that many for each.

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
    guard_edition: GuardEdition | None = field(default=None, metadata={UNSAID: 1})
    budget_each: int | None = field(default=None, metadata={UNSAID: None})

    def __post_init__(self) -> None:
        object.__setattr__(self, "difference", difference_of(self.difference))
        positive("se", self.se, "it is the accuracy wanted of a difference", error=InvalidRule)
        for name, least, way_out in COUNTS:
            if name != "budget" or self.budget is not None:
                count = integer(name, getattr(self, name), least, way_out=way_out, error=InvalidRule)
                object.__setattr__(self, name, count)
        for name, known in (
            ("difference", Difference),
            ("allocation", Allocation),
            ("guard", Guard),
            ("formula", Formula),
        ):
            if name != "formula" or self.formula is not None:
                choice(name, getattr(self, name), get_args(known), error=InvalidRule)
        if self.guard_edition is not None:
            first = min(get_args(GuardEdition))
            integer("guard_edition", self.guard_edition, first, NEWEST, f"{NEWEST} is the newest", error=InvalidRule)
        summary_of(self.statistic)
        simple_if_rate(self.statistic, self.difference, error=InvalidRule)
        for name, cost in (self.costs or {}).items():
            positive(f"the cost of algorithm {name!r}", cost, error=InvalidRule)

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
        """Return the rule of Campelo & Wanner (2019), Algorithm 1, to the run: greedy, unguarded, one run at a time.

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
        case = self._case(samples, contrasts, estimates)
        se = estimates.own_unit(contrasts, self.se)
        if left <= 0:
            return Stop("accuracy reached" if largest_error(*case) <= se else "budget spent")
        size = min(self.batch, left)
        runs = next_runs(*case, se=se, allocation=self.allocation, size=size, costs=self._costs(samples))
        wish = _wish(samples, runs)
        return wish if wish.counts else Stop("accuracy reached")

    def predict(self, samples: SamplesLike) -> dict[str, int]:
        """Return the runs of each algorithm that are still to come, as far as can be known now.

        Before every algorithm has its first runs these are the first runs; later the whole way to the accuracy
        wanted, or to the end of the budget.

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
            runs = self._rest(samples, contrasts, estimates, left) if estimates.spread.any() else np.zeros_like(runs)
        return dict(zip(samples.algorithms, runs.tolist(), strict=True))

    def errors(self, samples: SamplesLike) -> PairErrors:
        """Return the standard error of every pair of interest, plain and as the guard sees it.

        They are NaN, not known, as long as an algorithm has too few values.
        """
        samples = Samples.of(samples)
        contrasts = self.check(samples.algorithms, deterministic=samples.deterministic)
        names = samples.algorithms
        pairs = tuple((names[i], names[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True))
        if short_of_values(samples):
            return PairErrors(pairs, np.full(len(pairs), np.nan), np.full(len(pairs), np.nan))
        estimates = estimates_of(samples, contrasts, summary_of(self.statistic))
        plain, guarded = (
            estimates.errors_in_plain_units(
                contrasts, np.sqrt(contrasts.squared_errors(estimates.theta, spread / samples.counts))
            )
            for spread in (estimates.spread, self._guarded(samples, estimates, contrasts))
        )
        return PairErrors(pairs, plain, guarded)

    def check(self, algorithms: Sequence[str], *, deterministic: Collection[str] = ()) -> Contrasts:
        """Return the contrasts of these algorithms; InvalidRule if the settings do not fit them."""
        names = tuple(algorithms)
        contrasts = contrasts_of(
            names, difference=self.difference, reference=self.reference, formula=self.formula or "corrected"
        )
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
        """Return the rule for the algorithms of a plan, with no setting left open."""
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
        if min(samples.counts.tolist()) >= self.start:  # the usual case, found out quickly
            return False
        return bool(self._missing(samples).any())

    def _missing(self, samples: Samples) -> Counts:
        """What each algorithm lacks of its first runs."""
        wanted = np.full(len(samples.algorithms), self.start)
        wanted[_certain(samples)] = 1
        return np.maximum(wanted - samples.counts, 0)

    def _case(
        self, samples: Samples, contrasts: Contrasts, estimates: AlgorithmEstimates
    ) -> tuple[Contrasts, Floats, Floats, Floats]:
        """What allocation works on: pairs, runs, variances of one run, statistics."""
        counts = _counted(samples, CERTAIN)
        return contrasts, counts, self._guarded(samples, estimates, contrasts), estimates.theta

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

    def _rest(self, samples: Samples, contrasts: Contrasts, estimates: AlgorithmEstimates, left: int) -> Counts:
        how: dict[str, Any] = {
            "se": estimates.own_unit(contrasts, self.se), "allocation": self.allocation, "costs": self._costs(samples)
        }  # fmt: skip
        case = self._case(samples, contrasts, estimates)
        runs = predicted_runs(*case, most=left, **how)
        return runs if runs.sum() <= left else next_runs(*case, size=left, **how)

    def _costs(self, samples: Samples) -> Floats | None:
        if not self.costs:
            return None
        return np.array([float(self.costs.get(name, 1.0)) for name in samples.algorithms])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Run every algorithm the same number of times, whatever comes out: the habit.

    >>> Fixed(runs=30)({"a": [1.0, 2.0], "b": []})
    Sample(counts={'a': 28, 'b': 30})
    """

    runs: int = 30

    def __post_init__(self) -> None:
        way_out = "each algorithm runs at least once"
        object.__setattr__(self, "runs", integer("runs", self.runs, 1, way_out=way_out, error=InvalidRule))

    def __call__(self, samples: SamplesLike, /) -> Decision:
        """Return the runs that are missing, all at once; a failed run is not repeated."""
        samples = Samples.of(samples)
        missing = self._missing(samples)
        return _wish(samples, missing) if missing.any() else Stop("runs done")

    def predict(self, samples: SamplesLike) -> dict[str, int]:
        """Return the runs of each algorithm that are still to come."""
        samples = Samples.of(samples)
        return dict(zip(samples.algorithms, self._missing(samples).tolist(), strict=True))

    def _missing(self, samples: Samples) -> Counts:
        wanted = np.full(len(samples.algorithms), self.runs)
        wanted[_certain(samples)] = 1
        return np.maximum(wanted - samples.spent, 0)


class Sampled(NamedTuple):
    """What sampling an instance gave, and why it ended."""

    samples: Samples
    stop: Stop


def sample(
    rule: Rule,
    draw: Callable[[str, int], float | None],
    algorithms: Sequence[str],
    *,
    deterministic: Collection[str] = (),
) -> Sampled:
    """Sample one instance: ask the rule, draw what it wishes, until it stops.

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
            raise InvalidRule(f"a rule must ask for runs or stop, got {decision!r}; mend the rule")
        for algorithm, count in decision.counts.items():
            for _ in range(count):
                value = draw(algorithm, int(samples.spent[samples.place(algorithm)]))
                if value is None:
                    samples.drop(algorithm)
                else:
                    samples.add(algorithm, value)
    return Sampled(samples, decision)


def _certain(samples: Samples) -> list[int]:
    return [samples.place(name) for name in samples.deterministic]


def _counted(samples: Samples, certain: float) -> Floats:
    """The numbers of values, with another one for those that are known from one."""
    counts = samples.counts.astype(float)
    if samples.deterministic:
        counts[_certain(samples)] = certain
    return counts


def _first(missing: Counts, left: int) -> Counts:
    """As many of the missing runs as the budget allows, those first that lack most."""
    if missing.sum() <= left:
        return missing
    runs = np.zeros_like(missing)
    for _ in range(left):
        runs[(missing - runs).argmax()] += 1
    return runs


def _kurtosis(samples: Samples) -> Floats:
    """n·M4/M2² of each algorithm; 0 for those that do not vary."""
    second, fourth = samples.scaled_second, samples.scaled_fourth
    if min(second.tolist()) > 0.0:  # the usual case, found out quickly
        return np.asarray(samples.counts * (fourth / (second * second)))
    varies = second > 0.0
    return np.asarray(samples.counts * np.divide(fourth, second * second, out=np.zeros_like(second), where=varies))


def _wish(samples: Samples, runs: Counts) -> Sample:
    return Sample({samples.algorithms[place]: int(runs[place]) for place in runs.nonzero()[0].tolist()})
