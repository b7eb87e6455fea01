"""Any executor as an engine: what became of each chunk, whatever the executor did with it."""

from concurrent.futures import Future

import pytest

from ampler.core.errors import EngineFailed, InvalidPlan
from ampler.core.plan import Function, Instance, Limits
from ampler.core.runs import RunKey
from ampler.running.engines import Done, ExecutorEngine, Lost, Returned
from ampler.running.work import Task, Work
from ampler.testing import SerialExecutor

WORK = Work({"a": Function("a", lambda instance, seed: seed, "x:a")}, {"i1": Instance("i1")}, seed=5, limits=Limits())
CHUNK = [Task(RunKey("i1", "a", 0)), Task(RunKey("i1", "a", 1), attempt=2, round=3)]


class Giving:
    """An executor whose futures are what they are told to be."""

    def __init__(self, ending):
        self._ending = ending

    def submit(self, call, /, *arguments):
        future = Future()
        self._ending(future)
        return future


def fate_with(ending):
    engine = ExecutorEngine(Giving(ending), WORK, 1)
    engine.submit(CHUNK)
    (fate,) = engine.collect(1.0)
    return fate


def test_a_chunk_that_was_made_comes_back_as_observations():
    engine = ExecutorEngine(SerialExecutor(), WORK, 1)
    engine.submit(CHUNK)
    assert engine.busy == 1
    (fate,) = engine.collect(1.0)

    assert isinstance(fate, Done)
    assert [(seen.key.index, seen.attempt, seen.round, seen.value == seen.seed) for seen in fate.observations] == [
        (0, 0, 0, True),
        (1, 2, 3, True),
    ]
    assert (engine.busy, engine.collect(0)) == (0, [])


def test_a_chunk_whose_worker_died_is_lost_and_says_how():
    fate = fate_with(lambda future: future.set_exception(OSError("the node went down")))

    assert fate == Lost(CHUNK, "OSError: the node went down")


def test_a_chunk_that_was_cancelled_is_returned():
    assert fate_with(lambda future: (future.cancel(), future.set_running_or_notify_cancel())) == Returned(CHUNK)


def test_a_problem_of_the_study_is_raised_as_it_is():
    with pytest.raises(InvalidPlan, match="as it is"):
        fate_with(lambda future: future.set_exception(InvalidPlan("as it is")))


def test_an_executor_that_takes_no_more_is_told_in_its_words():
    class Closed:
        def submit(self, call, /, *arguments):
            raise RuntimeError("cannot schedule new futures after shutdown")

    with pytest.raises(EngineFailed, match="takes no more runs \\(cannot schedule new futures after shutdown\\)"):
        ExecutorEngine(Closed(), WORK, 1).submit(CHUNK)


def test_closing_takes_back_what_has_not_begun():
    futures = []
    engine = ExecutorEngine(Giving(futures.append), WORK, 1)
    engine.submit(CHUNK)
    engine.close(at_once=False)

    assert futures[0].cancelled()
