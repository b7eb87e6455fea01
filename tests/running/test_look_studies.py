"""Studies with looks, carried out: the same runs and decisions however they are made, and what may not change."""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from cutting import Cut
from flat_study import flat_study
from hypothesis import given
from hypothesis import strategies as st

from ampler import analyse
from ampler.core.errors import InvalidPlan, PlanMismatch, StoreUnusable
from ampler.core.plan import Continue, EndStudy
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.evidence import interim_plan_of
from ampler.study.status import status_of
from ampler.study.store import open_store
from ampler.study.text import decisions_taken, first_decision, planned
from ampler.testing import MemoryStore, SerialExecutor


def solver(shift, spread=1.0):
    def solve(instance, seed):
        own = random.Random(f"{instance}/{shift}").gauss(0, 1)
        return 100 + instance % 5 + shift + own + random.Random(seed).gauss(0, spread)

    return solve


ALGORITHMS = {"a": solver(0.0), "b": solver(0.7), "c": solver(9.0, 0.5), "d": solver(-0.1)}
SAMPLED = {"rule": None, "se": 0.6, "start": 3, "budget": 40}  # by the default rule, which looks at the values


def study(**more):
    common = {"difference": "simple", "reference": "a", "effect": 0.5, "rule": Fixed(runs=2), "seed": 4}
    common |= {"use": "all", "looks": [0.4, 0.7, 1.0]}  # not closer, where boundaries take long
    given = {"algorithms": ALGORITHMS, "instances": {f"i{n}": n for n in range(30)}}
    return flat_study(**given | common | more)


def kept(store):
    runs = {(seen.key, seen.seed, seen.value) for seen in store.observations()}
    return runs, [(taken.number, taken.digest) for taken in store.decisions()]


def carried_out(how=None, **more):
    store = MemoryStore()
    run_plan(study(**more).plan, store, **how or {"executor": SerialExecutor()})
    return store


@pytest.fixture(scope="module")
def store():
    """The whole study; not to be changed."""
    return carried_out()


@pytest.fixture(scope="module")
def whole(store):
    return kept(store)


@pytest.fixture(scope="module")
def sampled():
    return kept(carried_out(**SAMPLED))


def test_the_study_of_these_tests_decides_something(store):
    taken = [each.decision for each in store.decisions()]
    assert len(taken) == 4
    assert taken[1].algorithms == ("a", "b", "d")
    assert {seen.key.instance for seen in store.observations() if seen.key.algorithm == "c"} == {*taken[0].instances}


def test_workers_and_threads_make_the_same_runs_and_take_the_same_decisions(sampled, tmp_path):
    for name, how in (("two", {"workers": 2}), ("threads", {"executor": ThreadPoolExecutor(3)})):
        with open_store(tmp_path / f"{name}.db") as store:
            run_plan(study(**SAMPLED).plan, store, **how)
            assert kept(store) == sampled


def test_a_dask_cluster_makes_the_same_runs_and_takes_the_same_decisions(sampled):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        assert kept(carried_out({"executor": client}, **SAMPLED)) == sampled


@given(st.lists(st.tuples(st.integers(0, 120), st.booleans()), max_size=5))
def test_interruptions_wherever_they_come_and_whoever_goes_on_change_nothing(whole, cuts):
    plan, store = study().plan, MemoryStore()
    for after, threads in cuts:
        with suppress(KeyboardInterrupt):
            run_plan(plan, store, executor=ThreadPoolExecutor(2) if threads and after > 100 else Cut(after))
    run_plan(plan, store, executor=SerialExecutor())
    assert kept(store) == whole
    assert analyse(store).looks.history[-1] == tuple(store.decisions()[-1].decision.details["verdicts"])


def test_after_every_look_the_file_gives_the_analysis_of_that_look(tmp_path):
    """Interrupted anywhere, an analysis is that of the looks that are over, and of nothing beyond."""
    plan, store, seen = study().plan, MemoryStore(), {}
    while 3 not in seen:
        with suppress(KeyboardInterrupt):
            run_plan(plan, store, executor=Cut(6))
        if number := store.decisions()[-1].number:
            seen[number] = (analyse(store), store.decisions()[-1].decision)
    assert sorted(seen) == [1, 2, 3]
    for look, (analysis, decision) in seen.items():
        assert analysis.looks.course.done == look
        assert analysis.instances == analysis.looks.course.looks[look - 1]
        assert list(analysis.looks.history[-1]) == decision.details["verdicts"]
        assert ("continue" in analysis.looks.history[-1]) == (look < 3)


def test_decisions_are_told_once_and_status_shows_them(tmp_path):
    told = []
    for _ in range(2):
        study().run(tmp_path / "study.db", executor=SerialExecutor(), progress=told.append)
    assert sum(isinstance(each, Continue | EndStudy) for each in told) == 4
    with open_store(tmp_path / "study.db") as store:
        said = list(decisions_taken(status_of(store)))
    assert any("1 of 3, 12 instances: 1 significant" in sentence for sentence in said)
    assert planned(study().plan).startswith("4 algorithms, all vs a, simple differences, on up to 30 instances")
    assert first_decision(study().plan).startswith("Interim analyses follow after 12, 21, 30 instances")


# what must stay ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory):
    path = tmp_path_factory.mktemp("looks") / "study.db"
    study().run(path, executor=SerialExecutor())
    return path


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"looks": [0.5, 1.0]}, "looks"),
        ({"looks": None}, "how the number of instances is decided"),
        ({"instances": {f"i{n}": n for n in range(36)}}, "the instances"),
        ({"use": 21}, "the instances"),
        ({"algorithms": dict(list(ALGORITHMS.items())[:3])}, "the algorithms"),
        ({"alpha": 0.01}, "alpha"),
        ({"effect": 0.6}, "effect"),
        ({"rule": Fixed(runs=3)}, "runs"),
        (SAMPLED, "how many runs are made on an instance"),
        ({"on_failure": "drop"}, "on-failure"),
    ],
)
def test_what_the_looks_rest_on_cannot_be_changed_after_the_first(looked_at, changed, named):
    with pytest.raises(PlanMismatch, match=f"{named} cannot be changed now: decisions were made on"):
        study(**changed).run(looked_at, executor=SerialExecutor())


def test_runs_are_not_made_again_after_a_look(looked_at):
    for how in ({"retry_failed": True}, {"on_code_change": "rerun"}):
        with pytest.raises(PlanMismatch, match="recorded runs cannot be repeated now"):
            study().run(looked_at, executor=SerialExecutor(), **how)


def test_looks_cannot_be_declared_when_there_are_results(tmp_path):
    study(looks=None).run(tmp_path / "s.db", executor=SerialExecutor())
    with pytest.raises(PlanMismatch, match="must be planned before the first results, got 30 finished instances"):
        study().run(tmp_path / "s.db", executor=SerialExecutor())


def test_an_order_made_by_hand_is_refused_before_anything_is_run():
    plan, store = study().plan, MemoryStore()
    by_hand = replace(plan, instances=tuple(sorted(plan.instances, key=lambda each: each.data)))
    with pytest.raises(InvalidPlan, match="random order of the seed"):
        run_plan(by_hand, store, executor=SerialExecutor())
    assert not store.begun()


def test_looks_that_cannot_be_read_are_one_sentence():
    store = carried_out()
    plan = store.plans()[-1]
    for spoilt in ({"rule": "Looking"}, {**plan.study_rule, "looks": "x"}, {**plan.study_rule, "stranger": 1}):
        with pytest.raises(StoreUnusable, match="in the results file are unreadable"):
            interim_plan_of(replace(plan, study_rule=spoilt), store.decisions())
