"""Which engine is meant by what the user gave."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

from ampler.core.plan import Function, Instance, Limits
from ampler.running.engines import ExecutorEngine, LocalPool, capacity_of, cores, engine_for
from ampler.running.work import Work
from ampler.testing import SerialExecutor

WORK = Work(
    {"a": Function("a", lambda instance, seed: seed % 7, "x:a")}, {"i1": Instance("i1")}, seed=5, limits=Limits()
)


class Bare:
    """An executor that does not say how many workers it has."""

    def submit(self, call, /, *arguments):
        return SerialExecutor().submit(call, *arguments)


def test_without_an_executor_processes_of_this_machine_are_meant():
    assert capacity_of(None) == cores()
    engine = engine_for(None, WORK, 1)
    try:
        assert isinstance(engine, LocalPool)
        assert engine.workers == 1
    finally:
        engine.close(at_once=True)


def test_any_executor_is_an_engine_with_as_many_workers_as_it_says():
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2) as processes:
        assert capacity_of(threads) == 3
        assert capacity_of(processes) == 2
        assert isinstance(engine_for(threads, WORK), ExecutorEngine)
        assert engine_for(threads, WORK).workers == 3
        assert engine_for(threads, WORK, 5).workers == 5


def test_an_executor_that_does_not_say_has_a_worker_for_each_core():
    assert capacity_of(Bare()) == engine_for(Bare(), WORK).workers == cores()


def test_clients_of_dask_are_known_without_dask():
    """By where their class is defined: nothing is imported to find out."""
    client = type(
        "Client", (), {"__module__": "distributed.client", "scatter": None, "nthreads": lambda self: {"w": 4}}
    )
    executor = type("ClientExecutor", (), {"__module__": "distributed.cfexecutor", "_client": client()})

    assert capacity_of(client()) == capacity_of(executor()) == 4
