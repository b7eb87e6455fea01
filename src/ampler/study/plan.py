"""Design, algorithms, instances, rule and seed become a Plan. Pure."""

from __future__ import annotations

import functools
import inspect
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any, Literal, TypeVar, get_args

from ampler.core import failures
from ampler.core.contracts import StudyRule, check_rule
from ampler.core.errors import InvalidDesign, InvalidInput, InvalidPlan
from ampler.core.failures import Drop, FailurePolicy, Par, Penalty, StopStudy
from ampler.core.measures import OF_EVERY_RUN
from ampler.core.plan import (
    Algorithm,
    Around,
    Command,
    Decision,
    Function,
    Instance,
    Limits,
    Outputs,
    Plan,
    Question,
    Reading,
    Seeds,
)
from ampler.core.serialization import origin, record_data
from ampler.core.settings import (
    RATE,
    Better,
    Difference,
    Settings,
    TargetWord,
    choice,
    integer,
    positive,
    question_settings,
)
from ampler.core.text import composed, listed, quoted
from ampler.data.tables.vocabulary import better_by_name
from ampler.design import Design, achieved_power, n_comparisons, required_instances
from ampler.sampling.rules import Accuracy, Fixed
from ampler.stats.summaries import summary_of
from ampler.stats.two_samples import RUN_TESTS
from ampler.study.interim import Looking, check_question
from ampler.study.run_inputs import check_around, check_command, check_dashes, in_order, places
from ampler.study.stopping import AllInstances, check_study_rule, checked_groups

Count = Literal["needed", "all"] | int
Named = TypeVar("Named", bound=Command | Function | Instance)

TIMES = {"seconds": Reading("seconds"), "cpu-seconds": Reading("cpu-seconds")}
LONGEST_NAME = 1000  # maximum length of a name


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
    seeds: Seeds = "own",
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
    choice("seeds", seeds, get_args(Seeds), error=InvalidPlan)
    compared = _distinct("algorithm", as_algorithms(algorithms))
    available = _distinct("instance", as_instances(instances))
    if isinstance(rule, Accuracy):
        reference = composed(rule.reference)
        costs = None if rule.costs is None else {composed(name): cost for name, cost in rule.costs.items()}
        by_means = seeds if question.statistic == "mean" else "own"  # runs are paired for the mean only
        rule = replace(rule, reference=reference, costs=costs, seeds=by_means)
    _check_question(question, compared)
    _check_algorithms(compared, available)
    compared = tuple(_with_primary(algorithm, question) for algorithm in compared)
    _check_measures(question, compared, policy, study_rule)
    _check_inference(question, rule, study_rule)
    policy = failures.as_policy(policy, error=InvalidPlan)
    seed, retries = integer("seed", seed, error=InvalidPlan), integer("retries", retries, 0, error=InvalidPlan)
    if not -(2**63) <= seed < 2**63:
        raise InvalidPlan(f"seed must be a whole number of at most 64 bits, got {seed!r}")
    if not isinstance(limits, Limits):
        raise InvalidPlan(f"limits must be Limits, such as Limits(time=60), got {limits!r}")
    for limit in (limits, *(algorithm.limits for algorithm in compared)):
        for field, value in ((field, value) for field, value in asdict(limit).items() if value is not None):
            positive(field.replace("_", "-"), value, error=InvalidPlan)
    if not isinstance(name, str) or not name.strip():
        raise InvalidPlan(f"name must be a text that is not empty, got {name!r}")
    _check_rule(rule, question, compared, policy)
    _check_clusters(question, available, count, study_rule)
    ordered = in_order(seed, available, question.cluster)
    single = ordered[0].name if len(ordered) == 1 else None
    looks = study_rule.shares if isinstance(study_rule, Looking) else None
    needed = reached = None
    if single is None and question.effect is not None:
        if looks is not None:
            check_question(question, len(compared))
        needed = _designed(required_instances, question, len(compared), power=question.power, looks=looks).instances
    used = ordered if single else ordered[: _number_used(count, needed, len(ordered))]
    with suppress(InvalidDesign):  # few instances, with little power for Wilcoxon's or the sign test
        if needed is not None:
            reached = _designed(achieved_power, question, len(compared), instances=len(used), looks=looks).power
    implied = isinstance(policy, Par) and policy.cutoff is None
    policy = failures.completed(policy, timeout=_cutoff(policy, limits, compared), difference=question.difference)
    question = replace(question, better=question.better or _implied_better(compared))
    if isinstance(policy, Par) and question.better == "higher":
        raise InvalidPlan(failures.HIGHER_IS_NO_TIME)
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
        study_rule=None if isinstance(study_rule, AllInstances) else study_rule,
        seeds=seeds,
        use=count,
    )
    check_study_rule(plan)
    return replace(plan, warnings=tuple(_warnings(plan, implied_cutoff=implied)))


def _implied_better(algorithms: Sequence[Algorithm]) -> Better:
    """Better direction of times and of measures with a known direction; None for others."""
    implied: set[Better | None] = set()
    for reading in (algorithm.reading for algorithm in algorithms):
        measure = reading.what.rpartition(".")[2] if reading.kind == "json" else ""
        implied.add("lower" if reading.is_time else better_by_name(measure))
    if len(implied) == 1 and (better := implied.pop()) is not None:
        return better
    raise InvalidPlan(
        "better must be specified, because the name of the value does not imply the better direction; write"
        ' better = "lower" or better = "higher"'
    )


def begun_first(plan: Plan, begun: Collection[str]) -> Plan:
    """Return the plan with the instances already begun moved to the front, so that a larger study only adds.

    A part stays as it is: it cannot know what the others have begun, and all must agree on which instances are used.
    So does a plan with looks, which need the order of the seed.
    """
    if plan.part or isinstance(plan.study_rule, Looking):
        return plan
    everything = in_order(plan.seed, (*plan.instances, *plan.untouched), plan.question.cluster)
    ordered = sorted(everything, key=lambda instance: instance.name not in begun)  # sorted is stable
    used = len(plan.instances)
    if {instance.name for instance in ordered[:used]} == {instance.name for instance in plan.instances}:
        return plan  # a new order alone would change the plan
    return replace(plan, instances=tuple(ordered[:used]), untouched=tuple(ordered[used:]))


def part_of(plan: Plan, part: int, parts: int) -> Plan:
    """Return the part of one job among several: each instance belongs to exactly one part.

    The place is that in the order of blake2b, so parts differ by one instance at most and do not depend on the order of
    files. Which instances are used is decided for the whole first. Decisions are taken per instance, so the parts
    together record what the whole would."""
    if not 1 <= part <= parts:
        raise InvalidPlan(f"a part must be I/N with I between 1 and N, got {part}/{parts}")
    if len(checked_groups(plan)) > 1:
        raise InvalidPlan(
            "a study with a pilot or interim analyses cannot be cut into parts, because its decisions need all results;"
            " run it as a whole, on several machines with a cluster"
        )
    ordered = in_order(plan.seed, plan.instances, plan.question.cluster)
    return replace(plan, instances=ordered[part - 1 :: parts], part=f"{part}/{parts}", all_instances=ordered)


def as_algorithms(algorithms: Mapping[str, Callable[..., Any] | Algorithm] | Iterable[Algorithm]) -> list[Algorithm]:
    """Return algorithms from a mapping of names to functions or commands, or as they are."""
    if isinstance(algorithms, Mapping):
        return [as_algorithm(name, algorithm) for name, algorithm in algorithms.items()]
    listed = list(algorithms) if isinstance(algorithms, Iterable) else []
    if not listed or not all(isinstance(algorithm, Command | Function) for algorithm in listed):
        raise InvalidPlan(f"algorithms must map names to functions, or be a list of Commands, got {algorithms!r}")
    return listed


def as_algorithm(name: str, algorithm: Callable[..., Any] | Algorithm) -> Algorithm:
    """Return a function or a command as an algorithm of this name.

    Keywords bound by functools.partial are parameters, as long as they are plain data.
    """
    if isinstance(algorithm, Command | Function):
        return replace(algorithm, name=name)
    if not callable(algorithm):
        raise InvalidPlan(f"algorithm {name!r} must be a function, a Command or a Function, got {algorithm!r}")
    if isinstance(algorithm, functools.partial) and algorithm.args:
        raise InvalidPlan(f"algorithm {name!r} must bind its parameters by keyword, got positions {algorithm.args!r}")
    try:
        inspect.signature(algorithm).bind(None, 0)
    except ValueError:
        pass  # functions written in C may lack a signature
    except TypeError:
        must = "must be a function of an instance and a seed"
        raise InvalidPlan(f"algorithm {name!r} {must}, got {algorithm!r}") from None
    if not isinstance(algorithm, functools.partial):
        return Function(name, algorithm, origin(algorithm))
    bound = {key: value for key, value in algorithm.keywords.items() if bool(record_data(value) == value)}
    rest = {key: value for key, value in algorithm.keywords.items() if key not in bound}
    call = functools.partial(algorithm.func, **rest) if rest else algorithm.func
    return Function(name, call, origin(algorithm.func), bound)


def run_costs(algorithms: Iterable[Algorithm]) -> dict[str, float] | None:
    """Return the cost of a run of each algorithm, for a rule; None if all cost 1, the default."""
    costs = {algorithm.name: algorithm.cost for algorithm in algorithms}
    return costs if set(costs.values()) != {1.0} else None


def as_instances(instances: Mapping[str, Any] | Iterable[str | Instance]) -> list[Instance]:
    """Return instances from a mapping of names to objects, or from names."""
    if isinstance(instances, Mapping):
        for name, instance in instances.items():
            if isinstance(instance, Iterator):  # as open files are
                raise InvalidPlan(
                    f"instance {name!r} is an iterator or an open file, which only one run could read; give a list, or"
                    " the path of the file"
                )
        return [
            replace(instance, name=name) if isinstance(instance, Instance) else Instance(name, data=instance)
            for name, instance in instances.items()
        ]
    if isinstance(instances, str | bytes) or not isinstance(instances, Iterable):
        raise InvalidPlan(f"instances must be a mapping of names to objects, or a list of names, got {instances!r}")
    return [instance if isinstance(instance, Instance) else Instance(instance) for instance in instances]


_DECLARED: dict[str, Any] = {  # fields of algorithms and instances
    **{"parameters": Mapping, "features": Mapping, "reading": Reading, "outputs": Outputs, "around": Around},
    **{"limits": Limits, "origin": str, "folder": str, "path": str, "sha256": str, "argv": tuple | list},
}


def _distinct(what: str, items: Sequence[Named]) -> tuple[Named, ...]:
    """Strip the names, and check that they differ by more than case."""
    for item in items:
        for name in _DECLARED.keys() & item.__dataclass_fields__.keys():
            if not isinstance(getattr(item, name), _DECLARED[name]):
                raise InvalidPlan(f"{name} of {what} {item.name!r} has the wrong type: got {getattr(item, name)!r}")
    named = tuple(replace(item, name=_clean(what, item.name)) for item in items)
    names: dict[str, str] = {}
    for item in named:
        other = names.get(item.name.casefold())
        if other is not None:
            raise InvalidPlan(f"{what} names must differ by more than case, got {other!r} and {item.name!r}")
        names[item.name.casefold()] = item.name
    if len(named) < (1 if what == "instance" else 2):
        alone = ", or one whose runs are compared" if what == "instance" else ""
        raise InvalidPlan(f"a comparison needs at least two {what}s, got {len(named)}{alone}")
    return named


def _clean(what: str, name: Any) -> str:
    if not isinstance(name, str):
        raise InvalidPlan(f"the name of an {what} must be a text, got {name!r}")
    clean = composed(name.strip())  # the seed needs a unique spelling
    if not 1 <= len(clean) <= LONGEST_NAME or {"Cc", "Cs"} & set(map(unicodedata.category, clean)):
        least = f"1 to {LONGEST_NAME} printable characters"
        raise InvalidPlan(f"the name of an {what} must be {least}, got {name[:80]!r}; rename it")
    return clean


def _check_question(question: Question, algorithms: Sequence[Algorithm]) -> None:
    names = [algorithm.name for algorithm in algorithms]
    if question.reference is not None and question.reference not in names:
        raise InvalidPlan(f"reference must be one of the algorithms {quoted(names, 10)}, got {question.reference!r}")
    if not (isinstance(question.target, str) and question.target in get_args(TargetWord)):
        integer("target", question.target, 1, way_out='or "mean", "median", "worst", "best"', error=InvalidPlan)
    choice("difference", question.difference, get_args(Difference), "there is no default", error=InvalidPlan)
    try:
        Settings(**question_settings(question))
        summary_of(question.statistic)
    except InvalidInput as problem:
        raise InvalidPlan(str(problem)) from None


def _check_clusters(
    question: Question, instances: Sequence[Instance], count: Count, study_rule: StudyRule | None
) -> None:
    """Check that each instance has a cluster, and that the plan does not treat instances as independent."""
    name = question.cluster
    if name is None:
        return
    for instance in instances:
        if not str(instance.features.get(name, "")).strip():
            raise InvalidPlan(f"cluster must name a feature of every instance, and {instance.name!r} has no {name!r}")
    if count == "needed" or question.effect is not None:
        raise InvalidPlan(
            "effect counts instances as independent and cannot plan a study with clusters: plan"
            " the clusters beforehand (ampler design), then set use to all instances or a number, without effect"
        )
    if isinstance(study_rule, Looking):
        raise InvalidPlan("looks count instances as independent, and are not available with cluster: omit either")


def _check_algorithms(algorithms: Sequence[Algorithm], instances: Sequence[Instance]) -> None:
    commands = [algorithm for algorithm in algorithms if isinstance(algorithm, Command)]
    for command in commands:
        check_command(command, several=len(instances) > 1)
    check_dashes(commands, instances)
    for algorithm in algorithms:
        positive(f"the cost of algorithm {algorithm.name!r}", algorithm.cost, error=InvalidPlan)
        codes = algorithm.success if isinstance(algorithm, Command) else (0,)
        fit = all(isinstance(code, int) and 0 <= code <= 255 for code in codes)
        if not (fit and (codes or algorithm.outputs.solved)):
            raise InvalidPlan(
                f"success of algorithm {algorithm.name!r} must be exit codes from 0 to 255, such as (0, 10, 20),"
                f" got {codes!r}"
            )
        check_around(algorithm)
        if isinstance(algorithm, Function) and algorithm.reading.kind == "pattern":
            raise InvalidPlan(
                f"algorithm {algorithm.name!r} is a function without text output; choose one of its measures with"
                f" 'json:name', 'seconds' or 'cpu-seconds', got the pattern {algorithm.reading.what!r}"
            )


def _cutoff(policy: FailurePolicy, limits: Limits, algorithms: Sequence[Algorithm]) -> float | None:
    """The time limit that PAR multiplies; it must be one for all."""
    cutoffs = {item.limits.over(limits).on_time(processor=item.reading.kind == "cpu-seconds") for item in algorithms}
    if len(cutoffs) == 1 or not isinstance(policy, Par) or policy.cutoff is not None:
        return next(iter(cutoffs))
    timeouts = ", ".join("none" if cutoff is None else f"{cutoff:g} s" for cutoff in sorted(cutoffs, key=str))
    raise InvalidPlan(
        f"par = {policy.factor:g} needs one time limit, but the algorithms have several ({timeouts}); specify it:"
        f" {{ par = {policy.factor:g}, cutoff = seconds }}"
    )


def _par_warnings(plan: Plan, cutoff: float, *, implied: bool) -> Iterator[str]:
    """Settings that do not fit PAR, a penalty in seconds; `implied`: the time limit is the cutoff."""
    untimed = [repr(item.name) for item in plan.algorithms if not item.reading.is_time]
    if untimed and implied:
        yield (
            f"par counts a failed run as a multiple of {cutoff:g} seconds: the values of {listed(untimed, 3)} must be"
            " seconds; for other values use on-failure = { penalty = VALUE }"
        )
    limits = {item.name: (item, plan.limits_of(item)) for item in plan.algorithms if item.reading.is_time}
    allowed = {name: own.on_time(processor=item.reading.kind == "cpu-seconds") for name, (item, own) in limits.items()}
    if late := [repr(name) for name, limit in allowed.items() if limit is None or limit > failures.LATEST * cutoff]:
        yield (
            f"the cutoff of par is {cutoff:g} s, but {listed(late, 3)} may run longer: runs solved after the cutoff"
            " count as solved; set the time limit to the cutoff"
        )


def _with_primary(algorithm: Algorithm, question: Question) -> Algorithm:
    """The algorithm with the primary measure as its value, unless another place is named."""
    [name] = [item.name for item in question.measures or () if item.role == "primary"] or [""]
    if not name or algorithm.reading != Reading():
        return algorithm
    if name in TIMES:
        return replace(algorithm, reading=TIMES[name])
    if isinstance(algorithm, Function) or algorithm.protocol == "worker":
        return replace(algorithm, reading=Reading("json", name))
    pattern = algorithm.outputs.measures.get(name)
    return algorithm if pattern is None else replace(algorithm, reading=Reading("pattern", pattern))


def _check_inference(question: Question, rule: Callable[[Any], Decision], study_rule: StudyRule | None) -> None:
    """Conclusions about these instances need the variance of runs, and a size that no value decides."""
    if question.inference != "these instances":
        return
    if study_rule is not None or question.measures is not None:
        raise InvalidPlan("detect, looks and [[measure]] are about instances like these; remove inference")
    if isinstance(rule, Fixed) and rule.runs < 2:
        raise InvalidPlan("conclusions about these instances need two runs of each algorithm or more; set runs")


def _check_measures(
    question: Question, algorithms: Sequence[Algorithm], policy: FailurePolicy, study_rule: StudyRule | None
) -> None:
    """Refuse settings that do not fit several measures, and measures that no algorithm reports."""
    if question.measures is None:
        return
    if len(question.measures) < 2:
        raise InvalidPlan("one measure alone needs no [[measure]]: set value, difference and better instead")
    if study_rule is not None or question.cluster is not None:
        what = "cluster is" if study_rule is None else "detect and looks are"
        raise InvalidPlan(f"{what} for one measure: omit either; ampler advise plans for several measures")
    for item in question.measures:
        if item.role == "primary":
            if (item.difference, item.better) != (question.difference, question.better or item.better):
                raise InvalidPlan(f"the primary measure {item.name!r} must have the study's difference and better")
            continue
        if item.role == "non-inferior" and item.penalty is None and isinstance(policy, Penalty | Par):
            raise InvalidPlan(
                f"measure {item.name!r} needs penalty = VALUE, what a failed run counts as, because on-failure is about"
                " the primary measure"
            )
        for algorithm in algorithms:
            is_read = isinstance(algorithm, Command) and algorithm.protocol == "arguments"
            is_read = is_read and algorithm.reading.kind != "json"
            if is_read and item.name not in {*algorithm.outputs.measures, *OF_EVERY_RUN}:
                raise InvalidPlan(
                    f"algorithm {algorithm.name!r} has no pattern for the measure {item.name!r}; write measures ="
                    f" {{ {item.name} = 'PATTERN' }} for it or under [defaults]"
                )


def _check_rule(
    rule: Callable[[Any], Decision], question: Question, algorithms: Sequence[Algorithm], policy: FailurePolicy
) -> None:
    """Check that the rule fits the question and the algorithms."""
    for field in ("difference", "reference", "statistic"):
        required, ruled = getattr(question, field), getattr(rule, field, None)
        if isinstance(ruled, str) and ruled != required:
            raise InvalidPlan(f"the rule must have the study's {field}, {required!r}, got {ruled!r}")
    names = [algorithm.name for algorithm in algorithms]
    check_rule(rule, names, deterministic=[algorithm.name for algorithm in algorithms if algorithm.deterministic])
    is_rate = question.statistic == RATE and not isinstance(policy, StopStudy | Drop)
    if is_rate and (isinstance(policy, Par) or policy.value not in (0.0, 1.0)):  # type: ignore[union-attr]
        raise InvalidPlan(
            "on-failure must be failure, { penalty = 0 }, or success, { penalty = 1 }, for success rates (or"
            f' "drop", "stop"), got {failures.policy_data(policy)!r}'
        )


def design_of(plan: Plan) -> Design | None:
    """Return the design that a plan amounts to, with the power it reaches; None where none is known.

    That of a later family, which compares some pairs only, is in its decision.
    """
    if plan.power is None or hasattr(plan.study_rule, "added"):
        return None
    return _designed(achieved_power, plan.question, len(plan.algorithms), instances=len(plan.instances))


def _designed(solve: Callable[..., Design], question: Question, algorithms: int, **options: Any) -> Design:
    asked = {name: getattr(question, name) for name in ("effect", "alpha", "target", "alternative", "test")}
    comparisons = n_comparisons(algorithms, reference=question.reference is not None)
    return solve(comparisons=comparisons, **asked, **options)


def _number_used(count: Count, needed: int | None, available: int) -> int:
    if count == "all":
        return available
    if count == "needed":
        if needed is None:
            raise InvalidPlan("effect must be given to know how many instances are needed, or use = 'all' or a number")
        return min(needed, available)
    if isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise InvalidPlan(f"use must be 'needed', 'all' or a whole number of 2 or more, got {count!r}")
    return min(count, available)


def _warnings(plan: Plan, *, implied_cutoff: bool = False) -> Iterator[str]:
    """Warnings about a plan; InvalidPlan if the test needs several instances and there is one."""
    question, used = plan.question, len(plan.instances)
    if plan.needed is not None and used < plan.needed:
        power = "too few for any" if plan.power is None else f"{question.target} power {plan.power:.2f}"
        yield (
            f"{plan.needed} instances are needed for power {question.power:g} at effect {question.effect:g};"
            f" {used} are used: {power}; add instances, or plan for a larger effect"
        )
    if used == 1 and not plan.untouched:
        single = plan.instances[0].name
        if question.test not in RUN_TESTS:
            raise InvalidPlan(
                f"test must be one of {', '.join(map(repr, RUN_TESTS))} with one instance, {single!r}, because its"
                f" runs are compared, got {question.test!r}; choose one of these, or add instances"
            )
        unused = "; effect and power speak of several instances and are not used" if question.effect is not None else ""
        only = "the conclusion holds for this instance only"
        yield f"there is one instance, {single}: its runs are compared, and {only}{unused}"
    commands = [item for item in plan.algorithms if isinstance(item, Command) and item.protocol == "arguments"]
    seedless = [repr(item.name) for item in commands if not item.deterministic and "seed" not in places(item.argv)]
    if seedless:
        which = f"algorithm {seedless[0]} does" if len(seedless) == 1 else f"algorithms {listed(seedless, 3)} do"
        yield f"{which} not use {{seed}}: pass the seed in the command, or set deterministic = true"
    penalises = isinstance(plan.policy, Penalty | Par)
    if isinstance(plan.policy, Par) and plan.policy.cutoff is not None:
        yield from _par_warnings(plan, plan.policy.cutoff, implied=implied_cutoff)
    if penalises and isinstance(plan.rule, Accuracy) and plan.rule.statistic == "mean":
        yield (  # an adaptive rule may stop before rare large values occur
            "failed runs count as a penalty, and results decide when runs stop: an algorithm with rare failures seems"
            " exact until its first failure, and better than it is; run every algorithm"
            ' equally often (allocation = "fixed" and runs = 30 under [rule], FixedSize(runs=30) in Python)'
        )
