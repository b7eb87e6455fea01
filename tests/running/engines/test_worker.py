"""The life of a worker: it answers for chunk after chunk, and never through a line that is no longer ours."""

import multiprocessing
import os
import signal
from ctypes import c_long

import pytest

from ampler.core.errors import InvalidPlan
from ampler.running.engines.worker import work_loop
from ampler.running.one_run.functions import DEAF
from ampler.running.work import Batch


class Working:
    """Answers for the names it gets; some of them are special."""

    def run(self, names, at=None):
        if names == ["refuse"]:
            raise InvalidPlan("not that")
        if names == ["close"]:
            os.closerange(3, 200)
        if names == ["replace"]:
            os.closerange(3, 200)
            for _ in range(100):
                os.open(os.devnull, os.O_RDWR)
        if names == ["signals"]:
            return [signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM)]
        return Batch({"value": names}, 0.0)


@pytest.fixture
def worker():
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=work_loop, args=(theirs, c_long(), Working(), os.getpid()))
    process.start()
    theirs.close()
    yield ours, process
    process.kill()
    process.join()


def asked(worker, names):
    worker[0].send(names)
    return worker[0].recv()


def test_it_answers_chunk_after_chunk_and_leaves_when_told_to(worker):
    assert [asked(worker, [name]).columns["value"] for name in "ab"] == [["a"], ["b"]]
    worker[0].send(None)
    worker[1].join(60)
    assert worker[1].exitcode == 0


def test_what_is_wrong_with_the_work_is_an_answer(worker):
    assert isinstance(asked(worker, ["refuse"]), InvalidPlan)
    assert asked(worker, ["a"]).columns["value"] == ["a"]


def test_it_hears_of_its_children_and_ends_when_asked_to(worker):
    assert asked(worker, ["signals"]) == [signal.SIG_DFL] * 3


@pytest.mark.parametrize("name", ["close", "replace"])
def test_one_whose_line_was_closed_says_so_by_its_exit_code(worker, name):
    worker[0].send([name])
    worker[1].join(60)

    assert worker[1].exitcode == DEAF
