"""Design, algorithms, instances, rule and seed become a Plan. Pure."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, get_args

from ampler.core.checks import integer, positive
from ampler.core.choices import Better, TargetWord
from ampler.core.contracts import StudyRule, check_rule
from ampler.core.errors import InvalidDesign, InvalidInput, InvalidPlan
from ampler.core.failures import Drop, FailurePolicy, Par, Penalty, StopStudy, as_policy, completed, policy_data
from ampler.core.names import composed
from ampler.core.plain import origin, plain
from ampler.core.settings import RATE, AnalysisSettings, asked_by
from ampler.core.values import Algorithm, Command, Decision, Function, Instance, Limits, Plan, Question, Reading
from ampler.core.wording import quoted
from ampler.data.tables.directions import better_by_name
from ampler.design import Design, achieved_power, n_comparisons, required_instances
from ampler.sampling.rules import Accuracy
from ampler.stats.two_samples import RUN_TESTS
from ampler.study.command_line import check_around, check_command, check_dashes, places
from ampler.study.looks_rule import Looking, check_question
from ampler.study.seeds import in_order
from ampler.study.stopping import AllInstances, check_study_rule, checked_groups

Count = Literal["needed", "all"] | int
Named = TypeVar("Named", bound=Command | Function | Instance)

LONGEST_NAME = 1000  # characters; a longer one is a file read by mistake


def make_plan(
    *,
    question: Question,
    algorithms: Mapping[str, Callable[..., Any] | Algorithm] | Iterable[Algorithm],
    instances: Mapping[str, Any] | Iterable[str | Instance],
    rule: Callable[[Any], Decision],
    seed: int = 0,
    count: Count = "needed",
    name: str = "study",
    limits: Limits = Limits(),  # noqa: B008 - frozen
    policy: FailurePolicy = StopStudy(),  # noqa: B008 - frozen
    retries: int = 0,
    study_rule: StudyRule | None = None,
) -> Plan:
    """Return the plan of a study: checked, with the instances it uses in their order.

    `count` says how many of the instances are used: as many as the wanted power needs, all of them, or a number.
    `study_rule` decides over instances; without it all of them are run.

    >>> question = Question("simple", effect=1.0, power=0.8, better="lower")
    >>> plan = make_plan(question=question, algorithms={"a": min, "b": max}, instances=[f"i{n}" for n in range(20)],
    ...                  rule=print, seed=1)
    >>> [instance.name for instance in plan.instances]
    ['i7', 'i8', 'i16', 'i19', 'i3', 'i9', 'i15', 'i2', 'i12', 'i14']
    >>> len(plan.untouched), round(plan.power, 3)
    (10, 0.803)
    """
    compared = _distinct("algorithm", as_algorithms(algorithms))
    rule = _with_composed_names(rule)
    available = _distinct("instance", as_instances(instances))
    _check_question(question, compared)
    _check_algorithms(compared, available)
    policy = as_policy(policy, error=InvalidPlan)
    seed, retries = _seed(seed), integer("retries", retries, 0, error=InvalidPlan)
    for each in (limits, *(algorithm.limits for algorithm in compared)):
        _check_limits(each)
    if not isinstance(name, str) or not name.strip():
        raise InvalidPlan(f"name must be a text that is not empty, got {name!r}")
    _check_rule(rule, question, compared)
    _check_rates(question, policy)
    ordered = in_order(seed, available)
    single = ordered[0].name if len(ordered) == 1 else None
    looks = study_rule.shares if isinstance(study_rule, Looking) else None
    needed = None if single else _needed(question, len(compared), count, looks)
    used = ordered if single else ordered[: _number_used(count, needed, len(ordered))]
    reached = None if single else _reached(question, len(compared), len(used), looks)
    policy = completed(policy, timeout=_cutoff(policy, limits, compared), difference=question.difference)
    question = replace(question, better=question.better or _implied_better(compared))
    plan = Plan(
        name=name,
        question=question,
        algorithms=compared,
        instances=used,
        untouched=ordered[len(used) :],
        rule=rule,
        seed=seed,
        limits=limits,
        policy=policy,
        retries=retries,
        needed=needed,
        power=reached,
        warnings=(
            *_power_warnings(question, needed, reached, len(used)),
            *_single_warnings(single, question),
            *_seed_warnings(compared),
            *_stopping_warnings(rule, policy),
        ),
        study_rule=None if isinstance(study_rule, AllInstances) else study_rule,
        use=count,
    )
    check_study_rule(plan)
    return plan


def _with_composed_names(rule: Callable[[Any], Decision]) -> Callable[[Any], Decision]:
    if not isinstance(rule, Accuracy):
        return rule
    reference = composed(rule.reference) if isinstance(rule.reference, str) else rule.reference
    costs = None if rule.costs is None else {composed(name): cost for name, cost in rule.costs.items()}
    same = (reference, costs) == (rule.reference, rule.costs)
    return rule if same else replace(rule, reference=reference, costs=costs)


def _implied_better(algorithms: Sequence[Algorithm]) -> Better:
    """What is better of a value that is a time, or a measure with a name that says it; any other is asked for."""
    implied = {"lower" if each.reading.is_time else better_by_name(_measure(each.reading)) for each in algorithms}
    if len(implied) == 1 and (better := implied.pop()) is not None:
        return better
    raise InvalidPlan(
        "better must be given, as the name of the value does not imply whether lower or higher values are better; write"
        ' better = "lower" or better = "higher"'
    )


def _measure(reading: Reading) -> str:
    return reading.what.rpartition(".")[2] if reading.kind == "json" else ""


def begun_first(plan: Plan, begun: Collection[str]) -> Plan:
    """Return the plan with the instances already begun moved to the front, so that a larger study only adds.

    A part stays as it is: it cannot know what the others have begun, and all must agree on which instances are used.
    So does a plan with looks, which need the order of the seed.
    """
    if plan.part or isinstance(plan.study_rule, Looking):
        return plan
    everything = in_order(plan.seed, (*plan.instances, *plan.untouched))
    ordered = sorted(everything, key=lambda instance: instance.name not in begun)  # a stable sort
    used = len(plan.instances)
    if set(map(_name, ordered[:used])) == set(map(_name, plan.instances)):
        return plan  # another order alone would make it another plan
    return replace(plan, instances=tuple(ordered[:used]), untouched=tuple(ordered[used:]))


def part_of(plan: Plan, part: int, parts: int) -> Plan:
    """Return the share of one job among several: each instance belongs to exactly one part, by its place.

    The place is that in the order of blake2b, so parts differ by one instance at most and do not hang on the order of
    files. Which instances are used is decided for the whole first. Decisions are taken per instance, so the parts
    together record what the whole would.
    """
    if not 1 <= part <= parts:
        raise InvalidPlan(f"a part must be I/N with I between 1 and N, got {part}/{parts}")
    if len(checked_groups(plan)) > 1:
        raise InvalidPlan(
            "a study that decides after groups of instances cannot be cut into parts, which do not know of each other;"
            " run it as a whole, on several machines with a cluster"
        )
    ordered = in_order(plan.seed, plan.instances)
    return replace(plan, instances=ordered[part - 1 :: parts], part=f"{part}/{parts}", all_instances=ordered)


def as_algorithms(algorithms: Mapping[str, Callable[..., Any] | Algorithm] | Iterable[Algorithm]) -> list[Algorithm]:
    """Return algorithms from a mapping of names to functions or commands, or as they are."""
    if isinstance(algorithms, Mapping):
        return [as_algorithm(name, algorithm) for name, algorithm in algorithms.items()]
    listed = list(algorithms) if isinstance(algorithms, Iterable) else []
    if not listed or not all(isinstance(each, Command | Function) for each in listed):
        raise InvalidPlan(
            f"algorithms must be a mapping of names to functions or Commands, or a list of Commands, got {algorithms!r}"
        )
    return listed


def as_algorithm(name: str, algorithm: Callable[..., Any] | Algorithm) -> Algorithm:
    """Return a function or a command as an algorithm of this name.

    Keywords bound by functools.partial are parameters, as long as they are plain data.
    """
    if isinstance(algorithm, Command | Function):
        return replace(algorithm, name=name)
    if not callable(algorithm):
        raise InvalidPlan(f"algorithm {name!r} must be a function, a Command or a Function, got {algorithm!r}")
    if not isinstance(algorithm, functools.partial):
        return Function(name, algorithm, origin(algorithm))
    if algorithm.args:
        raise InvalidPlan(f"algorithm {name!r} must bind its parameters by keyword, got positions {algorithm.args!r}")
    bound = {key: value for key, value in algorithm.keywords.items() if _is_data(value)}
    rest = {key: value for key, value in algorithm.keywords.items() if key not in bound}
    call = functools.partial(algorithm.func, **rest) if rest else algorithm.func
    return Function(name, call, origin(algorithm.func), bound)


def run_costs(algorithms: Iterable[Algorithm]) -> dict[str, float] | None:
    """Return what a run of each algorithm costs, for a rule; None when all cost 1, as a rule takes them to."""
    costs = {algorithm.name: algorithm.cost for algorithm in algorithms}
    return costs if set(costs.values()) != {1.0} else None


def as_instances(instances: Mapping[str, Any] | Iterable[str | Instance]) -> list[Instance]:
    """Return instances from a mapping of names to objects, or from names."""
    if isinstance(instances, Mapping):
        return [
            replace(each, name=name) if isinstance(each, Instance) else Instance(name, data=each)
            for name, each in instances.items()
        ]
    if isinstance(instances, str | bytes) or not isinstance(instances, Iterable):
        raise InvalidPlan(f"instances must be a mapping of names to objects, or a list of names, got {instances!r}")
    return [each if isinstance(each, Instance) else Instance(each) for each in instances]


def _name(instance: Instance) -> str:
    return instance.name


def _is_data(value: Any) -> bool:
    return bool(plain(value) == value)


def _distinct(what: str, given: Sequence[Named]) -> tuple[Named, ...]:
    """Strip the names, and insist that they differ by more than case."""
    named = tuple(replace(each, name=_clean(what, each.name)) for each in given)
    seen: dict[str, str] = {}
    for each in named:
        other = seen.get(each.name.casefold())
        if other is not None:
            raise InvalidPlan(f"{what} names must differ by more than case, got {other!r} and {each.name!r}")
        seen[each.name.casefold()] = each.name
    if len(named) < (1 if what == "instance" else 2):
        alone = ", or one whose runs are compared" if what == "instance" else ""
        raise InvalidPlan(f"a comparison needs at least two {what}s, got {len(named)}{alone}")
    return named


def _clean(what: str, name: Any) -> str:
    if not isinstance(name, str):
        raise InvalidPlan(f"the name of an {what} must be a text, got {name!r}")
    clean = composed(name.strip())  # one file name has several spellings; a seed needs one
    if not clean or len(clean) > LONGEST_NAME or any(unicodedata.category(each) in ("Cc", "Cs") for each in clean):
        raise InvalidPlan(
            f"the name of an {what} must be 1 to {LONGEST_NAME} printable characters, got {name[:80]!r}; rename it"
        )
    return clean


def _check_question(question: Question, algorithms: Sequence[Algorithm]) -> None:
    names = [algorithm.name for algorithm in algorithms]
    if question.reference is not None and question.reference not in names:
        raise InvalidPlan(f"reference must be one of the algorithms {quoted(names, 10)}, got {question.reference!r}")
    if not (isinstance(question.target, str) and question.target in get_args(TargetWord)):
        integer("target", question.target, 1, way_out='or "mean", "median", "worst", "best"', error=InvalidPlan)
    try:
        AnalysisSettings(**asked_by(question))
    except InvalidInput as problem:
        raise InvalidPlan(str(problem)) from None


def _check_algorithms(algorithms: Sequence[Algorithm], instances: Sequence[Instance]) -> None:
    commands = [algorithm for algorithm in algorithms if isinstance(algorithm, Command)]
    for command in commands:
        check_command(command)
    check_dashes(commands, instances)
    for algorithm in algorithms:
        positive(f"the cost of algorithm {algorithm.name!r}", algorithm.cost, error=InvalidPlan)
        _check_success(algorithm)
        check_around(algorithm)
        if isinstance(algorithm, Function) and algorithm.reading.kind == "pattern":
            raise InvalidPlan(
                f"algorithm {algorithm.name!r} is a function, whose value is no text; choose one of its measures with"
                f" 'json:name', 'seconds' or 'cpu-seconds', got the pattern {algorithm.reading.what!r}"
            )


def _check_success(algorithm: Algorithm) -> None:
    if not isinstance(algorithm, Command):
        return
    codes = algorithm.success
    if not codes or not all(isinstance(code, int) and 0 <= code <= 255 for code in codes):
        raise InvalidPlan(
            f"success of algorithm {algorithm.name!r} must be exit codes from 0 to 255, such as (0, 10, 20),"
            f" got {codes!r}"
        )


def _seed(seed: int) -> int:
    number = integer("seed", seed, error=InvalidPlan)
    if not -(2**63) <= number < 2**63:
        raise InvalidPlan(f"seed must be a whole number of at most 64 bits, got {seed!r}")
    return number


def _check_limits(limits: Limits) -> None:
    for field in ("timeout", "memory", "cpu_timeout"):
        if getattr(limits, field) is not None:
            positive(field.replace("_", "-"), getattr(limits, field), error=InvalidPlan)


def _cutoff(policy: FailurePolicy, limits: Limits, algorithms: Sequence[Algorithm]) -> float | None:
    """The time limit that PAR multiplies; it must be one for all."""
    cutoffs = {_time_limit(algorithm, algorithm.limits.over(limits)) for algorithm in algorithms}
    if len(cutoffs) == 1 or not isinstance(policy, Par) or policy.cutoff is not None:
        return next(iter(cutoffs))
    shown = ", ".join("none" if cutoff is None else f"{cutoff:g} s" for cutoff in sorted(cutoffs, key=str))
    raise InvalidPlan(
        f"par = {policy.factor:g} multiplies one time limit, but the algorithms have several ({shown}); say which:"
        f" {{ par = {policy.factor:g}, cutoff = seconds }}"
    )


def _time_limit(algorithm: Algorithm, limits: Limits) -> float | None:
    """The limit on what an algorithm is judged by: processor time where that is its value."""
    first, second = limits.timeout, limits.cpu_timeout
    if algorithm.reading.kind == "cpu-seconds":
        first, second = second, first
    return second if first is None else first


def _check_rule(rule: Callable[[Any], Decision], question: Question, algorithms: Sequence[Algorithm]) -> None:
    """A rule that compares must compare what the question asks; one that can check itself does so now, not later."""
    for field in ("difference", "reference", "statistic"):
        asked, ruled = getattr(question, field), getattr(rule, field, None)
        if isinstance(ruled, str) and ruled != asked:
            raise InvalidPlan(f"the rule must have the study's {field}, {asked!r}, got {ruled!r}")
    names = [algorithm.name for algorithm in algorithms]
    check_rule(rule, names, deterministic=[algorithm.name for algorithm in algorithms if algorithm.deterministic])


def _check_rates(question: Question, policy: FailurePolicy) -> None:
    """What a failed run counts as must be a yes or a no where these are compared."""
    if question.statistic != RATE or isinstance(policy, StopStudy | Drop):
        return
    if isinstance(policy, Par) or policy.value not in (0.0, 1.0):
        raise InvalidPlan(
            "on-failure must be a no, { penalty = 0 }, or a yes, { penalty = 1 }, where rates are compared (or"
            f' "drop", "stop"), got {policy_data(policy)!r}'
        )


def _needed(question: Question, algorithms: int, count: Count, looks: Sequence[float] | None) -> int | None:
    if question.effect is not None:
        if looks is not None:
            check_question(question, algorithms)
        return _designed(required_instances, question, algorithms, power=question.power, looks=looks).instances
    if count == "needed":
        raise InvalidPlan("effect must be given to know how many instances are needed; or say use = 'all' or a number")
    return None


def design_of(plan: Plan) -> Design | None:
    """Return the design that a plan amounts to, with the power it reaches; None where none is known."""
    if plan.power is None:
        return None
    return _designed(achieved_power, plan.question, len(plan.algorithms), instances=len(plan.instances))


def _reached(question: Question, algorithms: int, used: int, looks: Sequence[float] | None) -> float | None:
    if question.effect is None:
        return None
    try:
        return _designed(achieved_power, question, algorithms, instances=used, looks=looks).power
    except InvalidDesign:  # so few that a Wilcoxon or sign test has no power to speak of
        return None


def _designed(solve: Callable[..., Design], question: Question, algorithms: int, **given: Any) -> Design:
    return solve(
        comparisons=n_comparisons(algorithms, reference=question.reference is not None),
        effect=question.effect,
        alpha=question.alpha,
        target=question.target,
        alternative=question.alternative,
        test=question.test,
        **given,
    )


def _number_used(count: Count, needed: int | None, available: int) -> int:
    if count == "all":
        return available
    if count == "needed":
        assert needed is not None, "an effect is given"
        return min(needed, available)
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise InvalidPlan(f"use must be 'needed', 'all' or a whole number of 2 or more, got {count!r}")
    return min(count, available)


def _power_warnings(question: Question, needed: int | None, reached: float | None, used: int) -> list[str]:
    if needed is None or used >= needed:
        return []
    power = "too few for any" if reached is None else f"{question.target} power {reached:.2f}"
    return [
        f"{needed} instances are needed for power {question.power:g} at effect {question.effect:g},"
        f" {used} are used: {power}; add instances, or plan for a larger effect"
    ]


def _stopping_warnings(rule: Callable[[Any], Decision], policy: FailurePolicy) -> list[str]:
    """Rare and large values are missed by a rule that stops where values look alike."""
    if not isinstance(rule, Accuracy) or not isinstance(policy, Penalty | Par) or rule.statistic != "mean":
        return []
    return [
        "failed runs count as a penalty, and the values decide when runs end: an algorithm that fails seldom looks"
        " exact until its first failure, ends early without one, and seems better than it is; run every algorithm"
        ' equally often (allocation = "fixed" and runs = 30 under [rule], Fixed(runs=30) in Python)'
    ]


def _single_warnings(single: str | None, question: Question) -> list[str]:
    """What a study of one instance is about; InvalidPlan if its test needs several."""
    if single is None:
        return []
    if question.test not in RUN_TESTS:
        raise InvalidPlan(
            f"test must be one of {', '.join(map(repr, RUN_TESTS))} where there is one instance, {single!r}, as its"
            f" runs are compared, got {question.test!r}; choose one of them, or add instances"
        )
    unused = "; effect and power speak of several instances and are not used" if question.effect is not None else ""
    return [
        f"there is one instance, {single}: its runs are compared, and the conclusion holds for this instance only"
        f"{unused}"
    ]


def _seed_warnings(algorithms: Iterable[Algorithm]) -> list[str]:
    return [
        f"the command of algorithm {algorithm.name!r} does not use {{seed}}: its runs are not reproducible"
        " unless it is deterministic; pass it the seed, or say deterministic = true"
        for algorithm in algorithms
        if isinstance(algorithm, Command) and algorithm.protocol == "arguments" and not algorithm.deterministic
        if "seed" not in places(algorithm.argv)
    ]
