"""Design, the questions it answers (required_instances, achieved_power, detectable_effect), and its cost. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, hypot, sqrt
from numbers import Integral
from reprlib import repr as shown
from typing import Any, get_args

from ampler.core import settings
from ampler.core.arrays import Floats
from ampler.core.errors import InvalidDesign, InvalidInput
from ampler.core.settings import Alternative, Target, TargetWord, Test, documented
from ampler.core.text import duration, notebook_html
from ampler.design import powers
from ampler.design.interim import InterimDesign, check_terms, checked_shares, fewest_with_looks, interim_design
from ampler.design.powers import MOST_INSTANCES, PlannedFamily, Simulated, Terms
from ampler.design.simulate import Dependence, SimulatedPower, SimulationTerms, fewest_simulated
from ampler.stats.holm import Correction, corrected_levels
from ampler.stats.paired import TESTS, paired_test
from ampler.stats.power import paired_power, t_instances

MOST_COMPARISONS = 10**7  # all pairs of 4472 algorithms
HIGHEST_POWER = 1 - 1e-9  # a mean of powers is accurate to 1e-10: more is no different from 1
SMALLEST_ALPHA = 1e-100  # below, the quantile of t at α/K is not computed reliably


@dataclass(frozen=True, slots=True)
class Design:
    """Design for one effect: instances, comparisons, and powers.

    `power` is the wanted one (where it was solved for, the one reached). The four powers are those of the K tests if
    every true difference equals the effect, each test at its own rank's level; `levels` and `powers` list them,
    strictest first. `simulated` is there when the target was "simulated". With `looks` the instances are the most that
    are needed, and `power` is what the looks together reach.
    """

    instances: int
    comparisons: int
    effect: float
    power: float
    alpha: float
    target: Target | Simulated
    alternative: Alternative
    test: Test
    correction: Correction
    mean_power: float
    median_power: float
    worst_power: float
    best_power: float
    simulated: SimulatedPower | None = None
    looks: InterimDesign | None = None
    per_cluster: int | None = None  # instances of a cluster, where these belong together
    icc: float | None = None  # intraclass correlation of the differences on instances of one cluster

    @property
    def design_effect(self) -> float:
        """Design effect: the variance of the mean relative to that of independent instances."""
        return 1.0 if self.per_cluster is None or self.icc is None else 1 + (self.per_cluster - 1) * self.icc

    @property
    def clusters(self) -> int | None:
        """The number of clusters; None where instances are independent."""
        return None if self.per_cluster is None else self.instances // self.per_cluster

    @property
    def sample_size(self) -> int:
        """The number of instances, or of clusters, which are the units of the tests."""
        return self.instances // (self.per_cluster or 1)

    @property
    def sample_effect(self) -> float:
        """The effect in standard deviations of the difference of a unit: an instance, or the mean of a cluster."""
        return self.effect * _unit_effect(self.per_cluster or 1, self.icc or 0.0)

    @property
    def levels(self) -> Floats:
        """The significance levels of the ranks 1..K, strictest first."""
        return corrected_levels(self.comparisons, self.alpha, self.correction)

    @property
    def powers(self) -> Floats:
        """The powers of the ranks 1..K, strictest first."""
        size, effect = self.sample_size, self.sample_effect
        return paired_power(size, effect, self.levels, test=self.test, alternative=self.alternative)

    @property
    def reached(self) -> float:
        """The power that `target` selects."""
        if self.simulated is not None:
            return self.simulated.power
        if self.looks is not None:
            return self.looks.power
        return self.terms.t_power(t_instances(self.sample_size, self.test), self.sample_effect)

    @property
    def terms(self) -> Terms:
        """The fixed terms, while one of instances, effect and power is solved for."""
        family = PlannedFamily(self.comparisons, self.alpha, self.alternative, self.correction)
        return Terms(family, self.target, self.test)

    _repr_html_ = notebook_html

    def as_dict(self, *, profile: bool = False) -> dict[str, Any]:
        """Return the fields as JSON has them; with `profile` also `levels` and `powers` by rank."""
        ranks = {"levels": self.levels.tolist(), "powers": self.powers.tolist()} if profile else {}
        document = asdict(self) | ranks
        if self.per_cluster is not None:
            return document | {"clusters": self.clusters, "design_effect": self.design_effect}
        return {name: value for name, value in document.items() if name not in ("per_cluster", "icc")}

    def __str__(self) -> str:
        from ampler.design.text import design_sentence

        return design_sentence(self)


@documented
def required_instances(
    *,
    comparisons: int,
    effect: float,
    power: float = 0.8,
    alpha: float = 0.05,
    target: Target | Simulated = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
    dependence: Dependence | None = None,
    seed: int | None = None,
    replications: int | None = None,
    looks: int | Sequence[float] | None = None,
    per_cluster: int | None = None,
    icc: float | None = None,
) -> Design:
    """Return the design with the fewest instances whose power reaches the target for an effect of this size.

    With interim analyses (`looks`) the instances are the maximum. With clusters, these are the units of the tests.

    Parameters
    ----------
    %comparisons%
    effect : float
        Smallest effect size of interest (Cohen's d of the differences).
    power : float, default 0.8
        Power to reach.
    %alpha%
    %target%
        Or "simulated": the mean power of the whole procedure, simulated on normal differences.
    %alternative%
    %test%
    %correction%
    dependence : {'independent', 'reference'}, optional
        For the simulated power: whether all comparisons share an algorithm.
    seed : int, optional
        Seed of the simulation.
    replications : int, optional
        Simulated studies.
    %looks%
    %per_cluster%
    %icc%

    Returns
    -------
    Design
        The number of instances, with the level and the power of each test.

    Examples
    --------
    >>> print(required_instances(comparisons=21, effect=0.5, power=0.8))
    57 instances: mean power 0.804 for d = 0.5. Tests: 21 two-sided paired t-tests (Holm, α = 0.05)
    >>> required_instances(comparisons=21, effect=0.5, target="simulated", dependence="reference").instances
    53
    >>> required_instances(comparisons=21, effect=0.5, looks=4).looks.instances
    (24, 35, 47, 58)
    >>> required_instances(comparisons=7, effect=0.5, per_cluster=10, icc=0.1).clusters
    12
    """
    terms = _checked_terms(comparisons, alpha, target, alternative, test, correction)
    simulation = _checked_simulation(target, dependence, seed, replications)
    size, least = _checked_effect(effect), _checked_power(power)
    clusters = _checked_clusters(per_cluster, icc, without={"looks": looks, "target 'simulated'": simulation})
    if looks is not None:
        plan = fewest_with_looks(terms, checked_shares(looks), size, least)
        return replace(_design(terms, plan.instances[-1], size, least), looks=plan)
    needed = powers.fewest_instances(terms, size * _unit_effect(**clusters), least) * clusters.get("per_cluster", 1)
    if simulation is not None:
        needed, simulated = fewest_simulated(terms, simulation, needed, size, least)
        return _design(terms, needed, size, least, simulated)
    return _design(terms, needed, size, least, **clusters)


@documented
def achieved_power(
    *,
    instances: int,
    comparisons: int,
    effect: float,
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
    looks: int | Sequence[float] | None = None,
    per_cluster: int | None = None,
    icc: float | None = None,
) -> Design:
    """Return the design with these instances; its `power` is what the target reaches for an effect of this size.

    Parameters
    ----------
    %instances%
    %comparisons%
    effect : float
        Effect size (Cohen's d of the differences).
    %alpha%
    %target%
    %alternative%
    %test%
    %correction%
    %looks%
    %per_cluster%
    %icc%

    Returns
    -------
    Design
        The power, with the level and the power of each test.

    Examples
    --------
    >>> print(achieved_power(instances=200, comparisons=7, effect=0.25))
    200 instances: mean power 0.853 for d = 0.25. Tests: 7 two-sided paired t-tests (Holm, α = 0.05)
    """
    terms, count = _checked(instances, comparisons, alpha, target, alternative, test, correction)
    size = _checked_effect(effect)
    clusters = _checked_clusters(per_cluster, icc, count, without={"looks": looks})
    if looks is None:
        return _achieved(terms, count, size, clusters)
    check_terms(terms)
    as_t = t_instances(count, test)
    plan = interim_design(terms, checked_shares(looks), as_t, size, without=as_t, saving=False)
    return replace(_design(terms, count, size, plan.power), looks=plan)


@documented
def detectable_effect(
    *,
    instances: int,
    comparisons: int,
    power: float = 0.8,
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
    per_cluster: int | None = None,
    icc: float | None = None,
) -> Design:
    """Return the design with these instances; its `effect` is the smallest that is detected with this power.

    Parameters
    ----------
    %instances%
    %comparisons%
    power : float, default 0.8
        Power to reach.
    %alpha%
    %target%
    %alternative%
    %test%
    %correction%
    %per_cluster%
    %icc%

    Returns
    -------
    Design
        The effect, with the level and the power of each test.

    Examples
    --------
    >>> print(detectable_effect(instances=200, comparisons=7, power=0.85))
    200 instances: mean power 0.850 for d = 0.249. Tests: 7 two-sided paired t-tests (Holm, α = 0.05)
    """
    terms, count = _checked(instances, comparisons, alpha, target, alternative, test, correction)
    least = _checked_power(power)
    clusters = _checked_clusters(per_cluster, icc, count)
    size = powers.smallest_effect(terms, count // clusters.get("per_cluster", 1), least) / _unit_effect(**clusters)
    return _design(terms, count, size, least, **clusters)


@documented
def power_curve(
    *,
    instances: int,
    comparisons: int,
    effects: Iterable[float],
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
    per_cluster: int | None = None,
    icc: float | None = None,
) -> tuple[Design, ...]:
    """Return one design per effect, in the order given: the power that these instances have for each of them.

    Parameters
    ----------
    %instances%
    %comparisons%
    effects : iterable of float
        Effect sizes (Cohen's d of the differences).
    %alpha%
    %target%
    %alternative%
    %test%
    %correction%
    %per_cluster%
    %icc%

    Returns
    -------
    tuple of Design
        One for each effect.

    Examples
    --------
    >>> [round(design.mean_power, 2) for design in power_curve(instances=200, comparisons=7, effects=[0.1, 0.2, 0.3])]
    [0.16, 0.64, 0.96]
    """
    terms, count = _checked(instances, comparisons, alpha, target, alternative, test, correction)
    sizes: Any = effects
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise InvalidDesign(f"effects must be a list of numbers, got {shown(effects)}: write for example [0.2, 0.5]")
    clusters = _checked_clusters(per_cluster, icc, count)
    return tuple(_achieved(terms, count, _checked_effect(effect), clusters) for effect in sizes)


def n_comparisons(algorithms: int, reference: bool = False) -> int:
    """Return how many pairs are compared: A − 1 with a reference (all-vs-one), A·(A − 1)/2 without (all-vs-all).

    >>> n_comparisons(22, reference=True), n_comparisons(22, reference=False)
    (21, 231)
    """
    count = settings.integer("algorithms", algorithms, 2, MOST_INSTANCES, "a comparison takes two")
    return count - 1 if reference else count * (count - 1) // 2


def effect_from(difference: float, sd: float, *, se: float = 0.0) -> float:
    """Return the standardised effect of a raw difference that is just worth detecting.

    `sd` is the standard deviation of the true differences over instances, `se` the standard error with which each of
    them is measured. Tests see the measured ones, whose variance is sd² + se²: the noise of the runs counts.

    >>> effect_from(2.0, 4.0), effect_from(2.0, 4.0, se=3.0)
    (0.5, 0.4)
    """
    size = abs(settings.finite("difference", difference, "give the smallest that matters"))
    spread = settings.positive("sd", sd, "estimate it from a pilot or from earlier studies")
    noise = settings.finite("se", se, "give the standard error of one instance's difference, or 0")
    if size == 0:
        raise InvalidDesign(f"difference must not be zero, got {shown(difference)}: give the smallest that matters")
    if noise < 0:
        raise InvalidDesign(f"se must not be negative, got {shown(se)}: give one difference's standard error, or 0")
    return size / hypot(spread, noise)


def _design(
    terms: Terms,
    instances: int,
    effect: float,
    power: float,
    simulated: SimulatedPower | None = None,
    *,
    per_cluster: int | None = None,
    icc: float | None = None,
) -> Design:
    """Compute the powers of a design."""
    units = t_instances(instances // (per_cluster or 1), terms.test)
    profile = powers.power_profile(terms.family, units, effect * _unit_effect(per_cluster or 1, icc or 0.0))
    how: dict[str, Any] = asdict(terms.family) | {"target": terms.target, "test": terms.test} | profile
    how |= {"simulated": simulated, "per_cluster": per_cluster, "icc": icc}
    return Design(instances=instances, effect=effect, power=power, **how)


def _achieved(terms: Terms, instances: int, effect: float, clusters: dict[str, Any]) -> Design:
    """The design whose power is the one reached."""
    design = _design(terms, instances, effect, 0.0, **clusters)
    return replace(design, power=design.reached)


def _unit_effect(per_cluster: int = 1, icc: float = 0.0) -> float:
    """The effect on a unit of the tests, over that on an instance."""
    return sqrt(per_cluster / (1 + (per_cluster - 1) * icc))


# ── the terms of a design, checked once in the public functions ───────────────────────────────────────────────────────


def _checked_terms(comparisons: Any, alpha: Any, target: Any, alternative: Any, test: Any, correction: Any) -> Terms:
    """Check what stays fixed."""
    count = settings.integer("comparisons", comparisons, 1, MOST_COMPARISONS, "n_comparisons(algorithms) counts them")
    if settings.share("alpha", alpha, "0.05 is usual") < SMALLEST_ALPHA:
        raise InvalidDesign(f"alpha must be {SMALLEST_ALPHA:g} or more, got {shown(alpha)}: 0.05 is usual")
    side = settings.choice("alternative", alternative, get_args(Alternative), "one side is 'less' or 'greater'")
    steps = settings.choice("correction", correction, get_args(Correction), "'holm' needs fewer instances")
    family = PlannedFamily(count, float(alpha), side, steps)
    if isinstance(target, bool) or not isinstance(target, Integral):
        way_out = f"or the number of tests that must reach the power, from 1 to {count}"
        target = settings.choice("target", target, (*get_args(TargetWord), "simulated"), way_out)
    else:
        target = settings.integer("target", target, 1, count, "that many of the comparisons must reach the power")
    test = settings.choice("test", test, TESTS, "'t' is the default")
    if family.correction != "holm" and paired_test(test).family is not None:
        raise InvalidDesign(
            f"correction {family.correction!r} is for separate tests; {test!r} tests all"
            " comparisons jointly: omit the correction"
        )
    return Terms(family, target, test)


def _checked_clusters(
    per_cluster: Any, icc: Any, instances: int | None = None, without: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Check the clusters; `without` are the options that exclude clusters, by name."""
    if per_cluster is None and icc is None:
        return {}
    for name, value in (without or {}).items():
        if value is not None:
            raise InvalidDesign(f"clusters cannot be planned with {name}: omit one of the two")
    if per_cluster is None or icc is None:
        got = "per_cluster" if icc is None else "icc"
        raise InvalidDesign(f"clusters need per_cluster and icc, got {got} alone: estimate the icc by earlier runs")
    size = settings.integer("per_cluster", per_cluster, 1, MOST_INSTANCES, "it counts the instances of a cluster")
    correlation = settings.finite("icc", icc, "0 for independent instances, 1 if all instances of a cluster are alike")
    if not 0 <= correlation <= 1:
        raise InvalidDesign(f"icc must lie from 0 to 1, got {shown(icc)}: it is a correlation")
    if instances is not None and (instances % size or instances < 2 * size):
        raise InvalidDesign(
            f"instances must be two or more whole clusters of {size}, got {instances}: use a multiple of {size}"
        )
    return {"per_cluster": size, "icc": correlation}


def _checked_effect(value: Any) -> float:
    """Check an effect size."""
    effect = settings.finite("effect", value, "give mean/sd of the smallest difference that matters, such as 0.5")
    if not 0 < effect <= powers.LARGEST_EFFECT:
        raise InvalidDesign(
            f"effect must be positive and at most {powers.LARGEST_EFFECT:g} standard deviations, got {shown(value)}: "
            "give the size of the smallest effect that matters, such as 0.5"
        )
    return effect


def _checked_power(value: Any) -> float:
    """Check a wanted power."""
    power = settings.share("power", value, "0.8 and 0.9 are usual")
    if power > HIGHEST_POWER:
        raise InvalidDesign(f"power must be at most {HIGHEST_POWER}, got {shown(value)}: 0.8 and 0.9 are usual")
    return power


def _checked_simulation(target: Any, dependence: Any, seed: Any, replications: Any) -> SimulationTerms | None:
    """Check the options of the simulated target."""
    if target != "simulated":
        for name, value in (("dependence", dependence), ("seed", seed), ("replications", replications)):
            if value is not None:
                raise InvalidDesign(f"{name} is for target 'simulated' alone, got {shown(value)}: omit it")
        return None
    kind = "independent" if dependence is None else dependence
    return SimulationTerms(
        settings.choice("dependence", kind, get_args(Dependence), "'reference' is for all-vs-one"),
        settings.integer("seed", 0 if seed is None else seed, 0, 2**63, "any whole number will do"),
        None if replications is None else settings.integer("replications", replications, 2, 10**9, "10000 are plenty"),
    )


def _checked(instances: Any, comparisons: Any, alpha: Any, target: Any, *others: Any) -> tuple[Terms, int]:
    """Check what stays fixed where the instances are given: only their number is searched by simulation."""
    if target == "simulated":
        raise InvalidDesign(
            "target 'simulated' solves for the instances alone, got it with the instances given: "
            "use target 'mean', or simulate_design on the result"
        )
    terms = _checked_terms(comparisons, alpha, target, *others)
    return terms, settings.integer("instances", instances, 2, MOST_INSTANCES, "a paired test takes two or more")


MOST_RUNS = 10**12  # upper limit of runs, workers and seconds


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a study: runs per algorithm and instance, seconds per run, parallel workers.

    >>> print(Cost(instances=57, algorithms=22, runs=30, seconds=60))
    57 instances × 22 algorithms × 30 runs = 627 hours of CPU
    """

    instances: int
    algorithms: int
    runs: int
    seconds: float | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        for name in ("instances", "algorithms", "runs", "workers"):
            if getattr(self, name) is not None:
                settings.integer(name, getattr(self, name), 1, MOST_RUNS, error=InvalidInput)
        if self.seconds is not None:
            settings.positive("seconds", self.seconds, "it is the time of one run", most=MOST_RUNS, error=InvalidInput)

    @property
    def total_runs(self) -> int:
        """All runs together."""
        return self.instances * self.algorithms * self.runs

    @property
    def cpu_seconds(self) -> float | None:
        """The time of all runs together, when the time of one is known."""
        return None if self.seconds is None else self.total_runs * self.seconds

    @property
    def wall_seconds(self) -> float | None:
        """The time until the last run ends, when the workers are always busy."""
        if self.seconds is None or self.workers is None:
            return None
        return ceil(self.total_runs / self.workers) * self.seconds

    def as_dict(self) -> dict[str, int | float | None]:
        """Return the fields and the sums as JSON has them."""
        names = ("instances", "algorithms", "runs", "seconds", "workers", "total_runs", "cpu_seconds", "wall_seconds")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        product = f"{self.instances:,} instances × {self.algorithms:,} algorithms × {self.runs:,} runs"
        if self.cpu_seconds is None:
            return f"{product} = {self.total_runs:,} runs"
        wall = "" if self.wall_seconds is None else f", {duration(self.wall_seconds)} on {self.workers:,} workers"
        return f"{product} = {duration(self.cpu_seconds)} of CPU{wall}"
