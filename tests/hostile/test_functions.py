"""Functions that misbehave: each gives its value or fails with its reason, in every engine, and harms no other run."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from ampler.core.failures import Penalty
from ampler.core.values import Command, Function, Limits, Question
from ampler.running import run_plan
from ampler.running.engines.dask import dask_cluster
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.testing import MemoryStore, SerialExecutor

sys.path.insert(0, str(Path(__file__).parent))  # other processes find the functions by the name of their module
import evil_functions as evil

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and limits are those of Linux"),
    pytest.mark.filterwarnings("ignore"),  # coroutines that nobody awaits, and numbers that are masked
]

GIVING = {**evil.RAISING, **evil.RETURNING, **evil.VALUES}
OWN_PROCESS = {*evil.ENDING, *evil.SLOW_ENDING}
NOT_IN_OUR_PROCESS = {  # what changes the process for good, or makes another of it
    *("another folder", "lower limits", "other signals", "no streams", "closed streams", "no memory left"),
    *("no files left", "a file too large", "a warning as an error", "other randomness", "its child stays"),
    *("zombies", "waits for all children", "returns twice", "returns eight times", "its child raises"),
    *("its child leaves", "threads and matrices"),
}


COMMAND = ("sh", "-c", "echo 7", "{instance}", "{seed}")


def good(instance, seed):
    return 7.0


def outcomes(functions, *, limits=Limits(), places=("i1", "i2"), **how):  # noqa: B008
    """What became of each function; between them stand good ones, functions and commands, which must not suffer."""
    algorithms = [Function(name, function, f"evil:{name}") for name, function in functions.items()]
    algorithms += [
        Function("a good one", good, "evil:good"),
        Command("a good command", ("sh", "-c", "umask; echo 7", "{instance}", "{seed}")),
    ]
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms=algorithms,
        instances=places,
        rule=Fixed(runs=1),
        seed=3,
        count="all",
        policy=Penalty(1.0),
        limits=limits,
    )
    store = MemoryStore()
    run_plan(plan, store, despite_failures=True, **how)
    seen = {(each.key.instance, each.key.algorithm): each for each in store.observations()}
    assert len(seen) == len(places) * len(algorithms), "nothing is lost, and nothing made twice"
    for name in ("a good one", "a good command"):
        made = [seen[place, name] for place in places]
        assert [each.value for each in made] == [7.0] * len(places), made
    return seen


def check(seen, expected):
    wrong = [(name, each) for (_, name), each in seen.items() if name in expected and not fits(each, expected[name])]
    assert not wrong


def fits(observation, wanted):
    if isinstance(wanted, float):
        return (observation.value, observation.status) == (wanted, "ok")
    message = observation.message
    short = "\n" not in message and len(message) < 500 and message.encode()
    return (observation.value, observation.status) == (None, "failed") and re.search(wanted, message) and short


def functions_of(table):
    return {name: function for name, (function, _) in table.items()}


def words_of(table):
    return {name: wanted for name, (_, wanted) in table.items()}


FEW_OR_ALL = [("i1",), pytest.param(("i1", "i2"), marks=pytest.mark.slow)]


@pytest.mark.parametrize("places", FEW_OR_ALL, ids=len)
def test_whatever_a_function_raises_or_returns_is_a_value_or_a_reason_in_a_worker(places):
    check(outcomes(functions_of(GIVING), places=places, workers=2), words_of(GIVING))


@pytest.fixture(params=["processes", "threads", "dask"])
def engine(request):
    """How runs are made: by our workers, threads, or the workers of a cluster."""
    if request.param == "processes":
        yield {"workers": 2}
    elif request.param == "threads":
        with ThreadPoolExecutor(2) as executor:
            yield {"executor": executor}
    else:
        pytest.importorskip("distributed")
        with dask_cluster("local", workers=2) as client:
            yield {"executor": client}


@pytest.mark.slow
def test_under_a_limit_it_is_the_same(engine):
    check(outcomes(functions_of(GIVING), limits=Limits(timeout=60.0), **engine), words_of(GIVING))


@pytest.mark.alone
@pytest.mark.parametrize("places", FEW_OR_ALL, ids=len)
@pytest.mark.parametrize("where", ["serial", "threads"])
def test_whatever_leaves_the_process_as_it_is_does_so_in_our_own(where, places):
    table = {name: row for name, row in GIVING.items() if name not in NOT_IN_OUR_PROCESS}
    with nullcontext(SerialExecutor()) if where == "serial" else ThreadPoolExecutor(2) as executor:
        check(outcomes(functions_of(table), places=places, executor=executor), words_of(table))


@pytest.mark.parametrize("places", FEW_OR_ALL, ids=len)
def test_a_function_that_ends_its_process_costs_its_own_run_only(places):
    expected = {name: f"the worker was lost .* 3 times: .*{words}" for name, words in words_of(evil.ENDING).items()}

    check(outcomes(functions_of(evil.ENDING), places=places, workers=2), expected)


@pytest.mark.slow
def test_under_a_limit_it_costs_its_child_only(engine):
    table = {**evil.ENDING, **evil.SLOW_ENDING}

    check(outcomes(functions_of(table), limits=Limits(timeout=60.0), **engine), words_of(table))


@pytest.mark.parametrize("places", FEW_OR_ALL, ids=len)
@pytest.mark.parametrize("where", ["processes", "threads"])
def test_a_function_that_hangs_is_ended_by_its_limit(where, places):
    limit = len(places)  # seconds
    names = [*evil.HANGING] if where == "processes" else ["stops itself", "joins another group"]
    if len(places) == 1 and "loops in C" in names:
        names.remove("loops in C")  # for a second; that it is ended is tested with the runs themselves
    functions = {name: evil.HANGING[name] for name in names}
    with ThreadPoolExecutor(2) as executor:
        how = {"workers": 4} if where == "processes" else {"executor": executor}
        seen = outcomes(functions, limits=Limits(timeout=limit), places=places, **how)

    for name in names:
        for place in places:
            assert seen[place, name].status == "timeout", seen[place, name]
            assert seen[place, name].message == f"it ran longer than {limit} s and was ended"
