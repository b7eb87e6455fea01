"""A look at a plan records what the study would record, and nothing that it would not."""

import itertools
import random

import pytest

from ampler.api import FixedSize, Study
from ampler.core.failures import Drop, Par, StopStudy
from ampler.core.plan import Command, Function, Limits, Outputs, Question, Reading
from ampler.core.runs import Observation, RunKey
from ampler.running.check import CHEAP, FirstRun, inspect_plan, not_positive
from ampler.sampling.rules import Fixed
from ampler.study.plan import begun_first, make_plan
from ampler.study.record import record
from ampler.study.run_inputs import run_seed
from ampler.testing import MemoryStore


def noisy(instance, seed):
    return random.Random(seed).random()


def a_plan(policy=StopStudy(), count="all", **algorithms):  # noqa: B008
    return make_plan(
        question=Question("simple", better="lower"),
        algorithms=[Function(name, call, f"m:{name}") for name, call in algorithms.items()],
        instances=["i1", "i2", "i3"],
        rule=Fixed(runs=4),
        seed=5,
        count=count,
        policy=policy,
    )


def test_the_first_two_runs_of_the_first_instance_are_recorded_with_their_seeds():
    store, told = MemoryStore(), []
    found = inspect_plan(a_plan(a=noisy, b=noisy), store, report=told.append)
    seen = list(store.observations())

    assert found.instance == a_plan(a=noisy, b=noisy).instances[0].name
    assert told == ["a", "b"]
    assert [(each.key.algorithm, each.key.index) for each in seen] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    for each in seen:
        assert each.seed == run_seed(5, found.instance, each.key.algorithm, each.key.index)
        assert each.value == noisy("", each.seed)
    assert set(found.seconds) == {"a", "b"}


def test_an_instance_that_was_begun_is_the_one_looked_at():
    plan, store = a_plan(a=noisy, b=noisy, count=2), MemoryStore()
    last = plan.untouched[0].name
    store.begin(record(a_plan(a=noisy, b=noisy)), {})
    store.add([Observation(RunKey(last, "a", 0), noisy("", run_seed(5, last, "a", 0)))])

    found = inspect_plan(plan, store)

    assert found.instance == last == begun_first(plan, {last}).instances[0].name
    assert found.findings[0].kind == "reproducible"
    assert len(list(store.observations())) == 4


SHARED = [3.0, 1.0]


def spoil(instance, seed):
    SHARED.sort()
    return 0.0


def spoilt(instance, seed):
    return SHARED[0]


@pytest.mark.parametrize("algorithms", [{"a": spoil, "b": spoilt}, {"a": spoilt, "b": spoil}])
def test_an_algorithm_that_depends_on_what_another_one_changed_is_found(algorithms):
    found = {run.algorithm.name: run for run in inspect_plan(a_plan(**algorithms), MemoryStore()).findings}
    name = next(name for name, call in algorithms.items() if call is spoilt)

    assert found[name].kind == "not reproducible"
    assert "earlier runs" in found[name].remark
    assert SHARED == [3.0, 1.0]


@pytest.mark.parametrize(("policy", "mended"), [(StopStudy(), True), (Drop(), False)])
def test_a_failure_on_record_is_mended_only_where_the_study_would_try_again(policy, mended):
    plan, store = a_plan(policy, a=noisy, b=noisy), MemoryStore()
    key = RunKey(plan.instances[0].name, "a", 0)
    store.begin(record(plan), {})
    store.add([Observation(key, None, status="failed", message="no luck")])

    found = inspect_plan(plan, store)
    kept = next(each for each in store.observations() if each.key == key)

    assert found.findings[0].first.value is not None
    assert found.findings[0].recorded is mended
    assert (kept.status, kept.attempt) == (("ok", 1) if mended else ("failed", 0))


def finding(*values, deterministic=False, reading=Reading(), seconds=1.0):  # noqa: B008
    made = [None if value is None else Observation(RunKey("i", "a", 0), value, seconds) for value in values]
    return FirstRun(Function("a", noisy, "m:a", reading=reading, deterministic=deterministic), *made)


def test_what_is_said_of_values_covers_every_case():
    kinds = {
        (values, deterministic): finding(*values, deterministic=deterministic).kind
        for values in itertools.product([1.0], [1.0, 2.0, None], [1.0, 2.0, None])
        for deterministic in (False, True)
    }

    assert kinds[(1.0, 1.0, 2.0), False] == "reproducible"
    assert kinds[(1.0, 1.0, 1.0), False] == "constant"
    assert kinds[(1.0, 2.0, 2.0), False] == "not reproducible"
    assert kinds[(1.0, None, 1.0), True] == "deterministic"
    assert kinds[(1.0, None, 2.0), True] == "not deterministic"
    assert kinds[(1.0, None, None), True] is kinds[(1.0, None, None), False] is None
    assert finding(1.0, reading=Reading("cpu-seconds")).kind == "time"
    assert all(finding(*values, deterministic=each).remark for values, each in kinds)


def test_a_pattern_of_a_measure_that_never_matches_is_named():
    outputs = Outputs(measures={"nodes": "^nodes (.*)", "words": "^words (.*)", "gap": "^gap (.*)"})
    argv = ("printf", "nodes 7\nwords many\n3\n{instance}{seed}")
    check = Study(
        algorithms={name: Command(name, argv, outputs=outputs) for name in "ab"},
        instances=["1", "2"],
        difference="simple",
        better="lower",
        design=FixedSize(runs=1),
    ).check(workers=1)

    assert [line.partition(":")[0] for line in check.warnings] == [
        f"{name} gave no number {measure!r}" for name in "ab" for measure in ("words", "gap")
    ]


def test_contradictory_settings_of_par_are_named_before_the_first_run():
    def warnings(value, policy, **limits):
        algorithms = {n: Command(n, ("x", "{instance}", "{seed}"), reading=value) for n in "ab"}
        question, rule = Question("simple", better="lower"), Fixed(runs=2)
        plan = make_plan(question=question, algorithms=algorithms, instances=["1", "2"], rule=rule, count="all",
                         policy=policy, limits=Limits(**limits))  # fmt: skip
        return [line.split()[:2] for line in plan.warnings]

    time = Reading("cpu-seconds")
    assert warnings(time, Par(10), timeout=5) == []
    assert warnings(Reading(), Par(10), timeout=5) == [["par", "counts"]]
    assert warnings(Reading(), Par(10, 5), timeout=5) == []
    assert warnings(time, Par(10, 2), timeout=60, cpu_timeout=5) == [["the", "cutoff"]]
    assert warnings(time, Par(10, 5), timeout=60, cpu_timeout=5) == []


def test_an_expensive_run_is_made_once():
    assert finding(1.0, None, None, seconds=3 * CHEAP).remark == "not tried twice: a run takes 15 s"


def test_the_time_of_a_value_of_zero_counts():
    assert finding(0.0, 0.0, 0.0, seconds=2.0).seconds == 2.0


@pytest.mark.parametrize(("difference", "floor", "warned"), [
    ("percent", None, True), ("ratio", None, True), ("simple", None, False), ("percent", 1e-8, False),
])  # fmt: skip
def test_a_value_that_cannot_be_divided_by_is_told_before_the_study_is_lost_to_it(difference, floor, warned):
    plan = make_plan(
        question=Question(difference, floor=floor, better="lower"),
        algorithms={"good": noisy, "zero": lambda instance, seed: 0.0},
        instances=["i1", "i2"],
        rule=Fixed(runs=2),
        count="all",
    )

    said = not_positive(plan, inspect_plan(plan, MemoryStore()))

    assert (said is not None) == warned
    if warned:
        assert said.startswith("zero gave 0 on i")
        assert "specify floor = 1e-8" in said


def test_a_recorded_value_that_cannot_be_divided_by_is_told_too():
    plan = make_plan(
        question=Question("percent", better="lower"),
        algorithms={"a": noisy, "b": noisy},
        instances=["i1", "i2"],
        rule=Fixed(runs=4),
        count="all",
    )
    store, last = MemoryStore(), plan.instances[1].name
    inspect_plan(plan, store)
    assert not_positive(plan, inspect_plan(plan, store)) is None
    store.add([Observation(RunKey(last, "b", 3), -0.5)])
    assert not_positive(plan, inspect_plan(plan, store)).startswith(f"b gave -0.5 on {last}, but percent differences")
