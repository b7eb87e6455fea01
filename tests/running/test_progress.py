"""Progress is kept in the study file, so that another process can show it."""

import sys
import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from ampler.core.errors import StoreUnusable
from ampler.core.plan import Question
from ampler.core.runs import Finished, Tally
from ampler.running import run_plan
from ampler.running.instance import RunTimes
from ampler.running.progress import ProgressMeter, RunRate
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.store import open_store, read_store
from ampler.testing import MemoryStore, SerialExecutor

DRIVER = """
import time
from ampler.api import FixedSize, Study
from ampler.sampling.rules import Accuracy

def napping(instance, seed):
    time.sleep(0.01)
    return seed % 1000

study = Study(
    algorithms={"a": napping, "b": lambda instance, seed: napping(instance, seed)},
    instances=[f"i{n}" for n in range(4)],
    difference="simple", better="lower",
    design=FixedSize(runs=Accuracy(se=1.0, difference="simple", start=30, budget=120)),
)
study.run(PATH, workers=2)
"""


def progress_in(path):
    with suppress(StoreUnusable), read_store(path) as store:
        return store.progress()
    return None


@pytest.fixture
def watched(start, tmp_path):
    """What another process sees of a study while it runs, each new note once, and how long that took."""
    path, seen = tmp_path / "study.db", []
    began = time.monotonic()
    driver = start("-c", DRIVER.replace("PATH", repr(str(path))), program=(sys.executable,))
    while driver.poll() is None:
        progress = progress_in(path)
        if progress is not None and progress not in seen:
            seen.append(progress)
        time.sleep(0.1)
    took = time.monotonic() - began
    _, errors = driver.communicate()
    assert driver.returncode == 0, errors
    return path, seen, took


def test_another_process_sees_how_far_a_study_is_while_it_runs_and_when_it_is_done(watched):
    path, seen, took = watched
    last = progress_in(path)

    under_way = [each for each in seen if each.new > 0 and each.finished < 4]
    assert under_way
    assert all(each.instances == 4 and each.target == 1.0 for each in seen)
    assert all(each.runs <= each.planned and each.left > 0 and each.rate > 0 for each in under_way)
    assert [each.runs for each in seen] == sorted(each.runs for each in seen)
    written = [datetime.fromisoformat(each.written) for each in seen]
    assert written == sorted(written)
    assert len(seen) <= took + 3, "a note a second at most, and those at the beginning and the end"
    assert (last.finished, last.runs, last.planned, last.left) == (4, 480, 480, 0.0)
    assert (datetime.now(UTC) - datetime.fromisoformat(last.written)).total_seconds() < 60


def make(call):
    return make_plan(
        question=Question("simple", better="lower"),
        algorithms={"a": call, "b": lambda instance, seed: seed},
        instances=["i1", "i2", "i3"],
        rule=Fixed(runs=5),
        count="all",
    )


def test_progress_is_there_from_the_beginning_and_after_an_interruption(tmp_path):
    at_first = []

    class Interrupted(SerialExecutor):
        chunks = 0

        def submit(self, call, /, *arguments):
            self.chunks += 1
            if self.chunks == 3:
                raise KeyboardInterrupt
            at_first.append(progress_in(tmp_path / "study.db"))
            return super().submit(call, *arguments)

    with open_store(tmp_path / "study.db") as store:
        with pytest.raises(KeyboardInterrupt):
            run_plan(make(lambda instance, seed: seed), store, executor=Interrupted())
        left, recorded = store.progress(), sum(each.runs for each in store.tally())

    assert (at_first[0].instances, at_first[0].finished, at_first[0].runs) == (3, 0, 0)
    assert left.runs == left.new == recorded == 2
    assert left.written >= at_first[0].written


def test_a_study_that_needs_nothing_more_says_that_it_is_done():
    store = MemoryStore()
    plan = make(lambda instance, seed: seed)
    run_plan(plan, store, executor=SerialExecutor())
    run_plan(plan, store, executor=SerialExecutor())

    progress = store.progress()
    assert (progress.finished, progress.runs, progress.new, progress.left) == (3, 30, 0, 0.0)


# the meter and its rate -------------------------------------------------------------------------------------------


class Pretended:
    """An instance under way that says what it is told to."""

    def __init__(self, name, requested, expected, error=None):
        self.name, self.rounds, self.requested, self._expected, self._error = name, 1, requested, expected, error

    def expected(self):
        return self._expected

    def error(self):
        return self._error


TIMES = RunTimes([Tally("i", "a", runs=10, ok=10, seconds=1.0), Tally("i", "b", runs=10, ok=10, seconds=3.0)])


def test_the_time_left_is_shared_by_the_workers_and_counts_instances_that_wait():
    """One instance is finished (4 and 4 runs), one under way (4 and 4 runs, 2 and 0 to come), two wait."""
    meter = ProgressMeter(make(lambda instance, seed: seed), (), ())
    meter.finish(Finished("i1", "d", "runs done", {"a": 4, "b": 4}, 1))
    under_way = [Pretended("i2", {"a": 4, "b": 4}, {"a": 2, "b": 0})]

    alone, many = (meter.progress(under_way, 2, TIMES, workers) for workers in (1, 4))

    assert alone.left == pytest.approx(2 * 0.1 + (10 * 0.1 + 8 * 0.3))
    assert many.left == pytest.approx(alone.left / 4)
    assert alone.planned == 2 + 18


def test_the_error_told_is_the_largest_of_those_that_are_known():
    meter = ProgressMeter(make(lambda instance, seed: seed), (), ())
    under_way = [Pretended(name, {}, {}, error) for name, error in (("i1", 0.5), ("i2", 2.0), ("i3", None))]

    assert meter.progress(under_way, 0, TIMES, 1).error == 2.0


def test_the_rate_is_that_of_the_last_seconds_and_at_first_it_means_nothing():
    rate = RunRate()
    assert rate.at(2.0, 20) == 10.0
    assert rate.last == 0.0

    for second in range(3, 100):
        found = rate.at(float(second), 20 + (second - 2) // 2)

    assert found == pytest.approx(0.5, rel=0.1)
    assert rate.last == found
