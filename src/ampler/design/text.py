"""Text of a design and of an internal pilot. Pure.

The command line and the browser share this text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import Any, Literal, cast, get_args

import numpy as np

from ampler.core.arrays import Pair
from ampler.core.errors import InvalidDesign
from ampler.core.settings import Alternative, Difference, Target, Test
from ampler.core.text import amount, capitalised, count, difference_text, digits, listed, rounded_up
from ampler.design.detect import DetectGoal, PilotReport
from ampler.design.instances import Design, achieved_power, detectable_effect, n_comparisons, required_instances
from ampler.design.interim import InterimDesign, all_pairs, with_saving
from ampler.design.powers import Simulated
from ampler.design.simulate import Dependence, scenario_of, simulate_design
from ampler.stats.holm import Correction, divided_levels
from ampler.stats.paired import paired_test
from ampler.stats.power import paired_power, t_instances
from ampler.stats.shape import error_inflation, largest_share_limit, skewness_p_value

Unknown = Literal["instances", "effect", "power"]

SIMULATION_WORK = 500_000  # random numbers for one simulation: some hundredths of a second
RESAMPLED = 15  # factor for tests without a formula for their power: about a second
MOST_REPLICATIONS = 4000  # the second decimal of the mean power is then accurate to about one
FEWEST_REPLICATIONS = 100
FULL_TABLE = 30  # with more comparisons, the table shows only some of the ranks
RATIOS = (1 / 3, 1 / 2, 1.0)  # se relative to the between-instance SD: small, noticeable, large
SKEW_FACTOR = 1.5  # error rates 1.5 times the nominal one are reported
FALSE_ALARMS = 0.05  # of studies in which all differences are normal
FAR_TOO_OFTEN = 10.0  # the inflation is not quantified beyond
SHOWN = 3
HALF = 2  # a pilot of more than half of all instances is pointless


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Question: two of instances, effect and power are given, the third is computed.

    `reference` is True when all algorithms are compared with one, False for all with all, None when only the number of
    comparisons is known. `seed` is for what is simulated.
    """

    comparisons: int
    instances: int | None = None
    effect: float | None = None
    power: float | None = None
    alpha: float = 0.05
    target: Target | Simulated = "mean"
    alternative: Alternative = "two-sided"
    test: Test = "t"
    correction: Correction = "holm"
    algorithms: int | None = None
    reference: bool | None = None
    seed: int = 0
    looks: int | tuple[float, ...] | None = None
    per_cluster: int | None = None
    icc: float | None = None

    @property
    def dependence(self) -> Dependence:
        """Dependence of the simulated comparisons."""
        return "reference" if self.reference else "independent"

    @property
    def unknown(self) -> Unknown:
        """The one of the three to solve for."""
        missing = [name for name in get_args(Unknown) if getattr(self, name) is None]
        if len(missing) == 1:
            return cast(Unknown, missing[0])
        raise InvalidDesign(
            "give two of instances, effect and power, and the third is solved for; got "
            f"instances = {self.instances}, effect = {self.effect}, power = {self.power}"
        )


@dataclass(frozen=True, slots=True)
class RankRow:
    """The level and the power of one test, by the rank of its p-value."""

    rank: int
    level: float
    power: float


@dataclass(frozen=True, slots=True)
class Hint:
    """A sentence that may help, and what to change in the question to follow it."""

    sentence: str
    change: dict[str, Any]


def answer_to(ask: Ask) -> Design:
    """Return the design that answers the question.

    >>> round(answer_to(Ask(comparisons=7, instances=200, effect=0.25)).power, 3)
    0.853
    """
    solvers = {"instances": required_instances, "effect": detectable_effect, "power": achieved_power}
    names = ("comparisons", "alpha", "target", "alternative", "test", "correction", *solvers, "per_cluster", "icc")
    settings: dict[str, Any] = {name: getattr(ask, name) for name in names if name != ask.unknown}
    if ask.looks is not None:
        if ask.unknown != "instances":
            raise InvalidDesign(
                f"interim analyses are planned with the number of instances, got the question for {ask.unknown}"
            )
        settings["looks"] = ask.looks
    elif ask.target == "simulated" and ask.unknown == "instances":
        settings |= {"dependence": ask.dependence, "seed": ask.seed}
    design = cast(Design, solvers[ask.unknown](**settings))  # type: ignore[operator]
    if ask.reference is not False or ask.algorithms is None or design.looks is None:
        return design  # otherwise the savings refer to the planned comparisons
    return replace(design, looks=with_saving(design.looks, design.terms, design.effect, all_pairs(ask.algorithms)))


def answer_sentence(ask: Ask, design: Design) -> str:
    """State the answer in one sentence.

    >>> ask = Ask(comparisons=7, instances=200, effect=0.25)
    >>> answer_sentence(ask, answer_to(ask))
    'Mean power 0.853 for d = 0.25 with 200 instances. Tests: 7 two-sided paired t-tests (Holm, α = 0.05).'
    """
    promise, asked = _promise(design), f"{_size(design)}. {_family(design)}."
    if ask.unknown == "instances":
        return f"{capitalised(design_sentence(design))}."
    if ask.unknown == "effect":
        return f"d = {rounded_up(design.effect, 3)} is detectable: {promise} with {asked}"
    return f"{capitalised(promise)} for d = {design.effect:.4g} with {asked}"


def design_sentence(design: Design) -> str:
    """Describe a design in a sentence without a full stop.

    >>> design_sentence(required_instances(comparisons=21, effect=0.5, power=0.8))
    '57 instances: mean power 0.804 for d = 0.5. Tests: 21 two-sided paired t-tests (Holm, α = 0.05)'
    """
    promise = f"{_promise(design)} for d = {design.effect:.4g}. {_family(design)}"
    if design.looks is not None:
        looks = design.looks
        return (
            f"at most {looks.instances[-1]:,} instances, {looks.without:,} without interim analyses (after"
            f" {listed(map(str, looks.instances), len(looks.instances))}): {promise}"
        )
    return f"{_size(design)}: {promise}"


def rank_rows(design: Design, *, most: int = FULL_TABLE) -> list[RankRow]:
    """Return the tests by rank, strictest first; if there are very many, the first, the last and some between.

    There are none where a test judges all comparisons together.

    >>> design = required_instances(comparisons=3, effect=0.5, power=0.8)
    >>> [(row.rank, round(row.power, 3)) for row in rank_rows(design)]
    [(1, 0.743), (2, 0.793), (3, 0.869)]
    """
    if not _has_ranks(design):
        return []
    K = design.comparisons
    ranks = np.arange(1, K + 1)
    if most < K:  # the level of rank r is α/(K − r + 1): equal steps of log(K − r + 1) give powers of all sizes
        between = K + 1 - np.geomspace(K, 1, 12).round().astype(np.int64)
        ranks = np.unique(np.concatenate([between, [1, 2, 3, K - 2, K - 1, K]]))
    levels = divided_levels(K + 1 - ranks, K, design.alpha, design.correction)
    size, effect = design.sample_size, design.sample_effect
    powers = paired_power(size, effect, levels, test=design.test, alternative=design.alternative)
    return [RankRow(*row) for row in zip(ranks.tolist(), levels.tolist(), powers.tolist(), strict=True)]


def look_rows(looks: InterimDesign) -> list[tuple[int, int, float]]:
    """Return the looks: number, instances, and the share of true differences found by then.

    >>> found = required_instances(comparisons=7, effect=0.5, looks=2)
    >>> [(number, instances) for number, instances, _ in look_rows(found.looks)]
    [(1, 24), (2, 47)]
    """
    return [(look, *row) for look, row in enumerate(zip(looks.instances, looks.found, strict=True), start=1)]


def looks_sentences(design: Design) -> list[str]:
    """Describe cost and savings of the interim analyses, with notes; empty for a design without them."""
    if design.looks is None:
        return []
    looks, there = design.looks, {"nothing": "if no difference exists", "half": "if half exist", "all": "if all exist"}
    more = looks.instances[-1] - looks.without
    price = f"Interim analyses cost {'at most ' + count(more, 'instance') if more > 0 else 'no instance'}"
    expected = ", ".join(f"{100 * case.runs:.0f} % {there[case.there]}" for case in looks.expected)
    saved = f" Expected runs, of those without interim analyses: {expected}." if expected else ""
    skewed = (
        "Interim analyses make t-tests more sensitive to skewness; check the skewness warning at each one. Estimates of"
        " comparisons that stop early are slightly too large."
    )
    return [f"{price}.{saved}", skewed]


def hints(ask: Ask, design: Design) -> Iterator[Hint]:
    """Yield hints: changes with fewer instances, and limits of the answer."""
    other: dict[str, Any]
    if ask.reference and ask.alternative == "two-sided":
        other = {"alternative": "greater"}
        yield Hint(f"If only one direction matters, one-sided tests would {_instead(ask, design, other)}.", other)
    if ask.reference is False and ask.algorithms is not None:
        other = {"reference": True, "comparisons": n_comparisons(ask.algorithms, reference=True)}
        yield Hint(f"All algorithms against one reference would {_instead(ask, design, other)}.", other)
    if ask.correction == "bonferroni" and design.comparisons > 1:
        other = {"correction": "holm"}
        holm = answer_to(replace(ask, **other))
        if (holm.instances, holm.effect, holm.power) != (design.instances, design.effect, design.power):
            yield Hint(f"Holm's procedure, as sound as Bonferroni's, would {_instead(ask, design, other)}.", other)
    elif ask.target != "worst" and design.comparisons > 1 and _has_ranks(design):
        begin = f"The strictest test has power {design.worst_power:.3f}"
        other = {"target": "worst"}
        worst = answer_to(replace(ask, **other))
        more = {
            "instances": f"; {worst.instances:,} instances would give it {ask.power or 0:.4g}.",
            "effect": f"; it has {ask.power or 0:.4g} from d = {rounded_up(worst.effect, 3)} on.",
            "power": ".",
        }
        yield Hint(begin + more[ask.unknown], other)


def with_available(ask: Ask, available: int) -> str:
    """Describe what the instances that exist can detect.

    >>> with_available(Ask(comparisons=21, effect=0.5, power=0.8), 40)
    'With the 40 instances you have, d = 0.61 is detectable with mean power 0.8; for d = 0.5 it is 0.596.'
    """
    ask = _by_convention(ask)
    available -= available % (ask.per_cluster or 1)  # whole clusters
    detectable = detectable_with(ask, available)
    reached = answer_to(replace(ask, instances=available, power=None))
    return (
        f"With the {available:,} instances you have, d = {rounded_up(detectable.effect, 2)} is detectable with"
        f" {_target_name(ask.target)} {ask.power:.4g}; for d = {reached.effect:.4g} it is {reached.power:.3f}."
    )


def detectable_with(ask: Ask, available: int) -> Design:
    """Return the design that this many instances allow: its effect is the smallest they can detect."""
    whole = available - available % (ask.per_cluster or 1)
    return answer_to(replace(_by_convention(ask), instances=whole, effect=None))


def simulated_sentence(ask: Ask, design: Design) -> str | None:
    """State the simulated mean power of Holm's procedure, with all or half of the differences real.

    None for a single comparison, which has no family to step through, and for families too large to simulate at once.
    """
    K, work = design.comparisons, scenario_of(design.terms, design.sample_size, design.sample_effect).work
    replications = min(MOST_REPLICATIONS, SIMULATION_WORK * (1 if _has_ranks(design) else RESAMPLED) // work)
    if K == 1 or replications < FEWEST_REPLICATIONS:
        return None

    def mean_power(null: int) -> float:
        check = simulate_design(design, null=null, dependence=ask.dependence, replications=replications, rng=ask.seed)
        return float(check.mean_power or 0.0)

    real = K - K // 2
    whose = f"{_steps(design)}'s" if _has_ranks(design) else "the step-down's"
    return (
        f"Simulated mean power of {whose} procedure: {mean_power(0):.2f} if all differences exist,"
        f" {mean_power(K - real):.2f} if {real:,} of them {'does' if real == 1 else 'do'}."
    )


def borrowed_sentence(design: Design) -> str | None:
    """Explain the powers of a joint test, which has none by rank.

    >>> print(borrowed_sentence(required_instances(comparisons=3, effect=0.5, test="bootstrap-t")))
    Bootstrap-t tests judge all comparisons jointly, without levels by rank. The powers are those of paired t-tests \
with Holm on 40 instances, as measured for normal differences. --target simulated runs the tests themselves.
    >>> borrowed_sentence(required_instances(comparisons=3, effect=0.5)) is None
    True
    """
    if _has_ranks(design) or design.target == "simulated":
        return None
    name, few = paired_test(design.test).plural, t_instances(design.sample_size, design.test)
    return (
        f"{capitalised(name)} judge all comparisons jointly, without levels by rank. The powers are those of"
        f" {paired_test('t').plural} with Holm on {few:,} instances, as measured for normal differences."
        " --target simulated runs the tests themselves."
    )


def noise_sentence(design: Design, se: float | None = None) -> str:
    """Return how run noise lowers the power if d refers to between-instance variation only; with `se`, in its unit.

    >>> noise_sentence(required_instances(comparisons=1, effect=0.5, power=0.8))
    'd includes run noise. If your d refers to between-instance variation only, the power is 0.72 if se is half the \
between-instance SD and 0.52 if they are equal.'
    """
    _, half, equal = powers_left(design)
    cases = ("se is half the between-instance SD", "they are equal")
    if se is not None:
        cases = (f"the between-instance SD is {2 * se:.4g}", f"it is {se:.4g}")
    return (
        "d includes run noise. If your d refers to between-instance variation only, the power is"
        f" {half.power:.2f} if {cases[0]} and {equal.power:.2f} if {cases[1]}."
    )


def cluster_sentence(design: Design) -> str | None:
    """Describe what the clusters of a design mean; None for independent instances."""
    if design.per_cluster is None:
        return None
    return (
        f"Instances of a cluster are correlated (ICC {design.icc:g}): {design.instances:,} of them are worth"
        f" {design.instances / design.design_effect:,.0f} independent ones. More clusters with fewer instances each"
        " give more power."
    )


def _size(design: Design) -> str:
    """The size of the sample."""
    instances = f"{design.instances:,} instances"
    if design.clusters is None:
        return instances
    return f"{count(design.clusters, 'cluster')} of {design.per_cluster} ({instances})"


def _by_convention(ask: Ask) -> Ask:
    """The same question without interim analyses, with the mean power as target in place of the simulated one."""
    return replace(ask, looks=None, target="mean" if ask.target == "simulated" else ask.target)


def _promise(design: Design) -> str:
    """The power reached, as the target names it."""
    reached = "above 0.999" if design.reached > 0.9995 else f"{design.reached:.3f}"  # never shown as 1
    if design.comparisons == 1:
        return f"power {reached}"
    if isinstance(design.target, int):
        return f"power {reached} or more in {design.target:,} of the comparisons"
    return f"{_target_name(design.target)} {reached}"


def _target_name(target: Target | Simulated) -> str:
    if isinstance(target, int):
        return f"power in {target:,} of the comparisons"
    return "simulated mean power" if target == "simulated" else f"{target} power"


def _family(design: Design) -> str:
    """The comparisons and the tests, as text."""
    shared = design.simulated is not None and design.simulated.dependence == "reference"
    how = " with a shared reference" if shared else ""
    sides = "two-sided" if design.alternative == "two-sided" else "one-sided"
    test = paired_test(design.test)
    tests = test.plural if design.comparisons > 1 else test.words
    if design.comparisons == 1:
        return f"Test: {sides} {tests}{how} (α = {design.alpha:.4g})"
    return f"Tests: {design.comparisons:,} {sides} {tests}{how} ({_steps(design)}, α = {design.alpha:.4g})"


def _steps(design: Design) -> str:
    """Name of the multiplicity correction."""
    return design.correction.capitalize() if _has_ranks(design) else paired_test(design.test).procedure.name


def _has_ranks(design: Design) -> bool:
    """Whether each test has the level of its rank."""
    return paired_test(design.test).family is None


def _instead(ask: Ask, design: Design, change: dict[str, Any]) -> str:
    """Describe the answer to a changed question."""
    other = answer_to(replace(ask, **change))
    return {
        "instances": f"need {other.instances:,} instances instead of {design.instances:,}",
        "effect": f"detect d = {rounded_up(other.effect, 3)} instead of {rounded_up(design.effect, 3)}",
        "power": f"reach {_target_name(ask.target)} {other.power:.3f} instead of {design.power:.3f}",
    }[ask.unknown]


@dataclass(frozen=True, slots=True)
class NoisyPower:
    """The power left when each difference is known to `ratio` standard deviations between instances."""

    ratio: float
    power: float

    @property
    def share(self) -> float:
        """The share of run noise in the variance of the measured differences."""
        return self.ratio**2 / (1 + self.ratio**2)


def powers_left(design: Design, ratios: tuple[float, ...] = RATIOS) -> tuple[NoisyPower, ...]:
    """Return the power of a design if its effect is in between-instance standard deviations.

    >>> from ampler.design import required_instances
    >>> left = powers_left(required_instances(comparisons=1, effect=0.5, power=0.8))
    >>> [(round(noisy.share, 2), round(noisy.power, 2)) for noisy in left]
    [(0.1, 0.77), (0.2, 0.72), (0.5, 0.52)]
    """
    target = "mean" if design.target == "simulated" else design.target  # by convention
    plain = replace(design, target=target, simulated=None, looks=None)
    effects = [design.effect / hypot(1.0, ratio) for ratio in ratios]
    return tuple(NoisyPower(r, replace(plain, effect=d).reached) for r, d in zip(ratios, effects, strict=True))


def before_pilot(goal: DetectGoal, difference: Difference, pilot: int, available: int, runs: Mapping[str, int]) -> str:
    """Describe the pilot and the decision after it."""
    where = f"all {available}" if pilot == available else f"{pilot:,} of {available:,}"
    fewest, most = min(runs.values()), max(runs.values())
    each = count(most, "run") if fewest == most else f"{fewest} to {most} runs"  # one run of a deterministic algorithm
    best = f"the runs on all {available} instances that best detect"
    size = best if goal.is_fixed else "the instances and runs that detect"
    return (
        f"Pilot: {each} of each algorithm on {where} instances. ampler then computes {size} a difference of"
        f" {amount(goal.detect, difference)} with mean power {digits(goal.power)}."
    )


def bargain_note(goal: DetectGoal, pilot: int, available: int, runs: Mapping[str, int]) -> str | None:
    """State before the pilot that it costs more than it may save; None if it is worthwhile."""
    if goal.is_fixed:
        return None
    if available < HALF * pilot:
        return (
            f"the pilot takes {pilot} of {available} instances and leaves little to decide; a fixed size"
            ' (use = "all" and an effect, or allocation = "fixed") tests all of them at the full α'
        )
    first = goal.instance_cost * pilot
    if first > pilot * sum(runs.values()):
        return (
            f"{pilot} instances cost as much as {first:,.0f} runs, and the pilot runs on all of them; if differences"
            " may be large, pilot = 10 under [rule] costs less"
        )
    return None


def after_pilot(report: PilotReport) -> str:
    """Describe the results of the pilot and the decision."""
    return " ".join([*_significant(report), *(_plan(report) if report.continuing else ())])


def at_end(report: PilotReport) -> str:
    """Describe the final size and the final tests."""
    early = f", and {sum(report.clear)} on the pilot's {report.pilot}" if any(report.clear) else ""
    how = "by ordinary tests" if report.is_fixed else f"by {_final_test(report)}{early}"
    return (
        f"All {count(report.total, 'planned run')} are complete. {count(len(report.continuing), 'comparison')} can be"
        f" tested on {report.planned:,} instances, {how}."
    )


def how_tested(report: PilotReport) -> str:
    """State the adjustments of the tests, without a full stop."""
    if report.is_fixed:
        return f"a pilot of {report.pilot} instances chose only the runs, so the tests are ordinary ones"
    early, late = digits(100 * report.share), digits(100 * (1 - report.share))
    decided = f"the pilot tests used {early} % of α ({sum(report.clear)} of {len(report.clear)} significant)"
    if not report.continuing:
        return f"the size was chosen after a pilot of {report.pilot} instances: {decided}"
    return (
        f"the size was chosen after a pilot of {report.pilot} instances: {decided}; the final tests use {late} % of α,"
        f" by {_final_test(report)}"
    )


def _final_test(report: PilotReport) -> str:
    if report.final_test == "t":
        return "t-tests at a level adjusted for the choice of the size"
    since = f"the pilot's first {report.seen} instances" if report.seen else "the pilot"
    return f"the overall mean and the variance estimated after {since}"


def method_sentences(report: PilotReport) -> Iterator[str]:
    """Yield the sentences for a methods section, without full stops."""
    goal = f"a difference of {amount(report.detect, report.difference)} with a mean power of {digits(report.power)}"
    yield (
        f"Each algorithm was first run {report.start} times on each of {report.pilot} instances in random order"
        f" (internal pilot). The cheapest numbers of instances and runs to detect {goal} were computed from it"
    )
    if report.is_fixed:
        yield (
            f"All {report.available} instances were used. The pilot decided only the numbers of runs, from variances,"
            " so the final tests are ordinary ones"
        )
        return
    early, late = digits(100 * report.share), digits(100 * (1 - report.share))
    if report.continuing:
        only, since = ("", "since then") if not report.seen else (f" of the first {report.seen}", "after these")
        final = (
            f"tests are paired t-tests on all {report.planned} instances at {late} % of Holm's α, adjusted for the"
            " choice of the size"
            if report.final_test == "t"
            else f"tests use the mean of all {report.planned} instances and the variance {since} ({report.planned} −"
            f" {len(report.since)} degrees of freedom), at {late} % of Holm's α"
        )
        yield (
            f"Sample size was re-estimated once, after {report.pilot} instances, from the variances{only} only; the"
            f" final {final}. The pilot tests used {early} % of α"
        )
    if any(report.clear):
        were = "was" if sum(report.clear) == 1 else "were"
        yield (
            f"{sum(report.clear)} of {count(len(report.clear), 'comparison')} {were} significant at the pilot stage, at"
            f" {early} % of Holm's α, and got no more runs"
        )


def carried_note(report: PilotReport) -> str | None:
    """Warn before the main runs of variances dominated by few instances; None if there are none."""
    rest = [(report.pairs[k], report.shares[k], int(report.freedom[k]) + 1) for k in report.continuing if report.shares]
    pairs, shares, sizes = zip(*rest, strict=True) if rest else ((), (), ())
    return carried_sentence(pairs, shares, sizes, report.difference)


def carried_sentence(
    pairs: Sequence[Pair], shares: Sequence[float], sizes: Sequence[int], difference: Difference
) -> str | None:
    """State in how many comparisons one instance has most of the variance; None if in none."""
    limits = largest_share_limit(sizes, max(1, len(pairs)))
    some = [k for k, limit in enumerate(limits) if shares[k] > limit]
    if not some:
        return None
    worst = max(some, key=lambda k: shares[k])
    which = f"{len(some)} of {len(pairs)} comparisons" if len(pairs) > 1 else "the comparison"
    other = "" if difference == "ratio" else "; ratio differences depend less on single instances"
    return (
        f"the power may be lower than planned: in {which} one instance carries much of the variance"
        f" ({' × '.join(pairs[worst])}: {100 * shares[worst]:.0f} %). The plan allows for this in part{other}"
    )


def skewness_note(report: PilotReport) -> str | None:
    """Warn before the main runs of differences too skewed for the tests; None if there are none.

    With normal differences, 5 % of studies get the warning by chance.
    """
    comparisons = len(report.pairs)
    sizes = [  # instances and share of alpha of the test that each comparison may be held against
        (report.pilot, report.share) if clear else (report.planned, 1 - report.share) for clear in report.clear
    ]
    factors = [  # inflation of the error rate at the strictest level
        error_inflation(skew, instances, share * report.alpha / comparisons, report.alternative)
        for skew, (instances, share) in zip(report.skewness, sizes, strict=True)
    ]
    p_values = [skewness_p_value(skew, int(n) + 1) for skew, n in zip(report.skewness, report.freedom, strict=True)]
    strong = [k for k in range(comparisons) if factors[k] > SKEW_FACTOR and p_values[k] < FALSE_ALARMS / comparisons]
    if not strong:
        return None
    worst = max(strong, key=lambda k: factors[k])
    often = f"roughly {factors[worst]:.1f} times" if factors[worst] < FAR_TOO_OFTEN else "more than ten times"
    which = f"{len(strong)} of {comparisons} comparisons" if comparisons > 1 else "the comparison"
    other = "" if report.difference == "ratio" else "; ratio differences are less skewed"
    remedy = f"before you claim a difference, compare with test bootstrap-t, which has far fewer errors{other}"
    if report.is_fixed:
        remedy = "analyse the study with test bootstrap-t, which keeps its level"
    return (
        f"in {which} the differences of the pilot are strongly skewed (most: {' × '.join(report.pairs[worst])},"
        f" skewness {report.skewness[worst]:.1f}); a t-test then has {often} its nominal error rate; {remedy}"
    )


def _significant(report: PilotReport) -> Iterator[str]:
    """The comparisons that are significant at the pilot stage; none if there are too few instances."""
    number, among = sum(report.clear), len(report.clear)
    if report.is_fixed:
        return
    if not number:
        yield f"Pilot: none of {among} comparisons is significant." if among > 1 else "Pilot: not significant."
        return
    some = "all" if number == among else f"{number} of"
    percent = digits(100 * report.share)
    stay = ", but their algorithms continue in other comparisons"
    leave = f"; {listed(report.left, SHOWN)} get{'s' if len(report.left) == 1 else ''} no more runs"
    end = ", and the study ends here" if not report.continuing else leave if report.left else stay
    are = f"{some} {count(among, 'comparison')}" if among > 1 else "the comparison is"
    yield f"Pilot: {are} significant (tested at {percent} % of α){end}."


def _plan(report: PilotReport) -> Iterator[str]:
    """The differences of the continuing comparisons, and the runs for them."""
    rest = report.continuing
    other, number = "other " if any(report.clear) else "", f"{len(rest)} comparisons" if len(rest) > 1 else "comparison"
    noise = _range((report.noise_shares[k] for k in rest), lambda share: f"{100 * share:.0f}")
    unit = report.difference
    scale: Difference = "simple" if unit == "ratio" else unit  # logarithms have no unit
    spread = _range((report.deviations[k] for k in rest), lambda sd: difference_text(sd, scale))
    whose = f" of the {other}{number}" if other or len(rest) > 1 else ""
    yield f"Between-instance SD{whose}: {spread}. Run noise is {noise} % of the variance."

    pilot_only = report.planned == report.pilot and not report.is_fixed
    instances = f"the pilot's {count(report.planned, 'instance')}" if pilot_only else count(report.planned, "instance")
    size = f"{instances} with {_runs(report)} ({count(report.total, 'run')} in total)"
    least = f" (smallest {report.least_power:.2f})" if len(rest) > 1 else ""
    power = f"mean power {report.mean_power:.2f}{least}"
    low, high = report.interval
    if not report.is_enough:
        yield f"Plan: all {size}."
    elif report.is_fixed:
        yield f"Plan: all {size}. {capitalised(power)}."
    else:
        yield f"Plan: {size}. {capitalised(power)}. 90 % interval: {low:,} to {high:,} instances."
    if report.seen:
        yield (
            f"The first {report.seen} instances of the pilot determined the size, so the final test uses the variance"
            " of all later ones."
        )
    if not report.is_enough:
        needs = f"needs {report.needed:,} instances; {report.planned:,} are available. They detect it with {power}."
        yield f"{capitalised(amount(report.detect, unit))} {needs}"
        if math.isfinite(report.detectable):
            yield f"With power {digits(report.power)} they detect {amount(report.detectable, unit)}."


def _runs(report: PilotReport) -> str:
    """The runs of each algorithm on an instance: the maximum with its algorithm, then the others."""
    runs = {name: number for name, number in report.runs.items() if number}
    if len(set(runs.values())) == 1:
        return f"{count(min(runs.values()), 'run')} of each algorithm"
    most = max(runs, key=lambda name: runs[name])
    others = [number for name, number in runs.items() if name != most]
    if runs[most] == max(others):
        return f"{_range(runs.values())} runs of each algorithm"
    rest = "each other" if len(others) > 1 else next(name for name in runs if name != most)
    return f"{count(runs[most], 'run')} of {most} and {_range(others)} of {rest}"


def _range(numbers: Iterable[float], text: Callable[[float], str] = str) -> str:
    ordered = sorted(numbers)
    low, high = text(ordered[0]), text(ordered[-1])
    return low if low == high else f"{low} to {high}"
