"""Who is sent what on a Dask cluster, and what is made of its answers: with a client that pretends to have workers."""

from contextlib import nullcontext

import pytest
from small_plans import make

from ampler.core.errors import EngineFailed, InvalidInput
from ampler.core.runs import RunKey
from ampler.running.engines import Done, Lost, Returned
from ampler.running.engines import dask as dask_engine
from ampler.running.engines.dask import DaskEngine
from ampler.running.work import CannotLoad, Task, Work, names_of, run_taken


class Pretended:
    """A client whose futures end as they are told to, and whose workers come and go."""

    status = "running"

    def __init__(self, *endings):
        self._endings, self.threads, self.cancelled, self.calls = list(endings), {"w1": 2}, [], []
        self.taking, self.only = {}, []  # how each worker takes the work, and for which ones chunks were meant

    def nthreads(self):
        return self.threads

    def submit(self, call, *arguments, pure, workers=(), **_):
        if call is bytes:
            return Ending("finished", key="the work")
        (at,) = workers
        self.calls.append(f"{call.__name__} {at}")
        return self.taking.get(at, Ending("finished", key=at))

    def map(self, call, digests, names, *, key, pure, workers):
        assert (call, pure, len(set(key))) == (run_taken, False, len(names))
        self.calls.append(f"map {len(names)}")
        self.only.append(workers)
        return [self._endings.pop(0) for _ in names]

    def gather(self, futures, *, errors, asynchronous):
        self.calls.append(f"gather {len(futures)}")
        return {key: future.batch for key, future in futures.items()}

    def sync(self, call, *, callback_timeout):
        assert 0 < callback_timeout <= 60
        return call()

    def cancel(self, futures, *, force):
        self.cancelled += [future.key for future in futures]


class Ending:
    """A future that has ended, or never will."""

    def __init__(self, status, problem=None, key="chunk", batch=None):
        self.status, self.key, self._problem, self.batch = status, key, problem, batch

    def add_done_callback(self, tell):
        if self.status != "pending":
            tell(self)

    def result(self, timeout):
        raise self._problem

    def exception(self, timeout=None):
        return self._problem


CHUNK = [Task(RunKey("i1", "a", 0))]


def fates_of(ending):
    engine = DaskEngine(Pretended(ending), Work.of(make()), 1)
    engine.submit(CHUNK)
    return engine.collect(0)


def test_a_chunk_that_the_cluster_cancelled_is_made_again_and_one_that_broke_is_lost():
    assert fates_of(Ending("cancelled")) == [Returned(CHUNK)]
    assert fates_of(Ending("error", OSError("the node went down"))) == [Lost(CHUNK, "OSError: the node went down")]


def test_a_problem_of_the_study_is_raised_as_it_is():
    with pytest.raises(InvalidInput, match="as it is"):
        fates_of(Ending("error", InvalidInput("as it is")))


def engine_at_every_look(monkeypatch, client):
    monkeypatch.setattr(dask_engine, "RECOUNT", 0.0)
    return DaskEngine(client, Work.of(make()))


def test_every_worker_takes_the_work_once_before_runs_are_sent_to_it(monkeypatch):
    client = Pretended(*(Ending("cancelled", key=number) for number in range(3)))
    engine = engine_at_every_look(monkeypatch, client)
    for threads in ({"w1": 2}, {"w1": 2}, {"w1": 2, "w2": 2}):
        client.threads = threads
        engine.submit(CHUNK)
        engine.collect(0)

    assert client.calls == ["take_packed w1", "map 1", "map 1", "take_packed w2", "map 1"]
    assert client.only == [None] * 3


UNABLE = Ending("error", CannotLoad("ImportError: no such module here"))


@pytest.mark.parametrize("taking", [UNABLE, Ending("pending")])
def test_runs_go_to_those_that_have_the_work_alone(monkeypatch, taking):
    client = Pretended(Ending("pending"))
    client.threads, client.taking = {"w1": 2, "w2": 3}, {"w2": taking}
    engine = engine_at_every_look(monkeypatch, client)
    engine.submit(CHUNK)
    engine.collect(0)

    assert client.only == [["w1"]]
    assert engine.workers == (2 if taking is UNABLE else 5)


def test_runs_wait_until_somebody_has_the_work(monkeypatch):
    client = Pretended(Ending("pending"))
    client.taking = {"w1": Ending("pending")}
    engine = engine_at_every_look(monkeypatch, client)
    engine.submit(CHUNK)
    assert engine.collect(0) == []
    assert (client.only, engine.busy) == ([], 1)

    client.taking["w1"].status = "finished"
    engine.collect(0)

    assert (client.only, engine.busy) == ([None], 1)


def test_where_nobody_can_take_the_work_the_reason_is_told(monkeypatch):
    client = Pretended()
    client.taking = {"w1": UNABLE}
    engine = engine_at_every_look(monkeypatch, client)

    with pytest.raises(EngineFailed, match=r"cannot load the study \(ImportError: no such module here\); they need"):
        engine.collect(0)


@pytest.mark.parametrize("able", [0, 1])
def test_where_workers_die_of_the_work_one_after_the_other_it_is_told_unless_one_has_it(monkeypatch, able):
    client = Pretended()
    engine = engine_at_every_look(monkeypatch, client)
    names = [f"w{number}" for number in range(dask_engine.DEATHS + 1)]
    client.taking = {name: Ending("pending") for name in names}
    others = {f"able {number}": 1 for number in range(able)}
    for name in names[:-1]:
        client.threads = {name: 1, **others}
        engine.collect(0)
    client.threads = {names[-1]: 1, **others}

    words = r"cannot load the study \(4 of them ended while they did\)"
    with nullcontext() if able else pytest.raises(EngineFailed, match=words):
        assert engine.collect(0) == []
        client.threads = {"another": 1}  # and those that died beside it do not count when it goes
        assert engine.collect(0) == []


@pytest.mark.parametrize("problem", [CannotLoad("it does not have the work"), ImportError("ampler")])
def test_a_chunk_that_came_to_a_worker_without_the_work_is_made_by_others(monkeypatch, problem):
    monkeypatch.setattr(dask_engine, "SETTLED", 0.0)
    client = Pretended(Ending("error", problem), Ending("pending"))
    engine = engine_at_every_look(monkeypatch, client)
    engine.submit(CHUNK)

    assert engine.collect(0) == [Returned(CHUNK)]

    engine.submit(CHUNK)
    engine.collect(0)
    assert client.calls == ["take_packed w1", "map 1", "take_packed w1", "map 1"]


def test_chunks_that_only_workers_may_make_who_have_gone_are_taken_back(monkeypatch):
    client = Pretended(Ending("pending"))
    client.threads, client.taking = {"w1": 2, "w2": 2}, {"w2": UNABLE}
    engine = engine_at_every_look(monkeypatch, client)
    engine.submit(CHUNK)
    engine.collect(0)
    assert client.cancelled == []

    client.threads = {"w2": 2, "w3": 2}
    engine.collect(0)

    assert client.cancelled == ["chunk"]


def test_workers_are_counted_again_as_they_come_and_go(monkeypatch):
    client = Pretended()
    engine = DaskEngine(client, Work.of(make()))
    assert engine.workers == 2
    client.threads = {"w1": 2, "w2": 3}
    assert engine.workers == 2  # for a while

    monkeypatch.setattr(dask_engine, "RECOUNT", 0.0)
    monkeypatch.setattr(engine, "_next_look", 0.0)

    assert engine.workers == 5


def test_results_that_go_with_their_worker_while_they_are_fetched_are_made_again(monkeypatch):
    gone = Ending("finished")

    def sync(call, *, callback_timeout):
        gone.status = "pending"  # Dask waits for a worker that never comes back
        raise TimeoutError

    client = Pretended(gone)
    monkeypatch.setattr(client, "sync", sync)
    engine = DaskEngine(client, Work.of(make()), 1)
    engine.submit(CHUNK)

    assert engine.collect(0) == [Returned(CHUNK)]
    assert client.cancelled == ["chunk"]


def test_closing_takes_back_what_is_not_done_and_the_work_itself():
    client = Pretended(Ending("pending"))
    client.threads, client.taking = {"w1": 1, "w2": 1}, {"w2": Ending("pending", key="taking it")}
    engine = DaskEngine(client, Work.of(make()), 1)
    engine.submit(CHUNK)
    assert engine.collect(0) == []

    engine.close(at_once=True)

    assert client.cancelled == ["chunk", "taking it", "the work"]


def test_chunks_are_sent_and_fetched_together_and_one_in_trouble_is_lost_alone():
    work = Work.of(make())
    batch = work.run(names_of(CHUNK))
    endings = [Ending("finished", key=str(number), batch=batch) for number in range(3)]
    endings[1] = Ending("finished", OSError("gone on the way"), key="1")
    client = Pretended(*endings)
    engine = DaskEngine(client, work, 3)
    for _ in range(3):
        engine.submit(CHUNK)
    assert engine.busy == 3

    first, second, third = engine.collect(0)

    assert client.calls == ["take_packed w1", "map 3", "gather 3"]
    assert isinstance(first, Done)
    assert second == Lost(CHUNK, "OSError: gone on the way")
    assert [seen.key for seen in third.observations] == [task.key for task in CHUNK]
    assert engine.busy == 0
