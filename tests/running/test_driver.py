"""Carrying out a plan: the same runs and values with any engine and any interruption; failures handled as declared."""

import os
import random
import signal
import sys
import textwrap
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from small_plans import SERIAL, kept, make, noisy

from ampler.core.errors import EngineFailed, InvalidPlan, PlanMismatch, RunFailed, StoreError
from ampler.core.failures import Drop, Penalty
from ampler.core.plan import Limits, Question
from ampler.core.runs import RunKey
from ampler.running import Progress, run_plan
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.run_inputs import run_seed
from ampler.study.store import open_store, read_store
from ampler.testing import MemoryStore, SerialExecutor


def ran(plan, store=None, **options):
    store = store or MemoryStore()
    return store, run_plan(plan, store, **(options or {"executor": SERIAL}))


class Interrupting:
    """A store that is cut off like a driver that dies: after some writes everything raises."""

    def __init__(self, store, writes):
        self._store, self._writes = store, writes

    def __getattr__(self, name):
        return getattr(self._store, name)

    def add(self, observations, finished=()):
        if self._writes == 0:
            raise KeyboardInterrupt
        self._writes -= 1
        observations = list(observations)
        self._store.add(observations, finished)


# The property that carries everything


@st.composite
def studies(draw):
    names = draw(st.lists(st.sampled_from("abcd"), min_size=2, max_size=4, unique=True))
    algorithms = {name: noisy(draw(st.floats(5, 20)), draw(st.floats(0, 3))) for name in names}
    reference = draw(st.sampled_from([None, names[0]]))
    difference = draw(st.sampled_from(["simple", "percent", "ratio"]))
    accuracy = Accuracy(
        se=draw(st.sampled_from([0.02, 0.1, 0.5])),
        difference=difference,
        reference=reference,
        start=draw(st.integers(2, 5)),
        budget=draw(st.integers(20, 60)),
        batch=draw(st.integers(1, 20)),
        allocation=draw(st.sampled_from(["optimal", "greedy", "balanced"])),
        guard=draw(st.sampled_from(["none", "pairs", "all"])),
    )
    rule = draw(st.sampled_from([accuracy, Fixed(runs=4)]))
    return make(
        algorithms,
        draw(st.integers(2, 5)),
        question=Question(difference, reference, better="lower"),
        rule=rule,
        seed=draw(st.integers(0, 2**31)),
    )


@given(studies(), st.sampled_from([2, 4]), st.lists(st.integers(0, 3), max_size=4), st.randoms(use_true_random=False))
@settings(
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would start thousands of processes
)
def test_workers_engines_and_interruptions_change_nothing(plan, workers, interruptions, rng):
    serial, progress = ran(plan)
    expected = kept(serial)
    decisions = serial.plans()[-1].decisions
    finished = serial.finished(decisions)
    assert len(expected) == progress.new
    assert len(finished) == len(plan.instances)

    with ThreadPoolExecutor(3) as threads:
        engines = [{"workers": workers}, {"executor": threads}, {"executor": SERIAL}]
        for engine in engines:
            store, _ = ran(plan, **engine)
            assert kept(store) == expected
            assert store.finished(decisions) == finished

        broken = MemoryStore()
        for writes in interruptions:
            engine = rng.choice(engines)
            with suppress(KeyboardInterrupt):  # it may be done before
                run_plan(plan, Interrupting(broken, writes), **engine)
            assert kept(broken) <= expected
        run_plan(plan, broken, **rng.choice(engines))
    assert kept(broken) == expected
    assert broken.finished(decisions) == finished


def test_values_are_those_of_the_seeds():
    store, _ = ran(make({"a": lambda instance, seed: seed, "b": lambda instance, seed: -seed}, rule=Fixed(runs=3)))

    for seen in store.observations():
        seed = run_seed(7, seen.key.instance, seen.key.algorithm, seen.key.index)
        assert (seen.seed, seen.value) == (seed, seed if seen.key.algorithm == "a" else -seed)


def test_the_order_of_the_algorithms_changes_nothing():
    algorithms = {"a": noisy(10, 1), "b": noisy(11, 2), "c": noisy(12, 0.5)}
    turned = dict(reversed(algorithms.items()))

    assert kept(ran(make(algorithms), workers=2)[0]) == kept(ran(make(turned))[0])


def test_a_finished_study_makes_no_runs_and_starts_no_workers():
    plan = make()
    store, first = ran(plan)

    class Unwanted:
        def submit(self, *arguments):
            pytest.fail("nothing must be run")

    again = run_plan(plan, store, executor=Unwanted())

    assert (again.new, again.runs, again.finished) == (0, first.new, 4)
    assert len(store.sessions()) == 2


def test_finished_instances_are_not_replayed():
    plan = make()
    store, _ = ran(plan)
    asked = []

    class Watched:
        def __getattr__(self, name):
            return getattr(store, name)

        def observations(self, instance=None, **options):
            asked.append(instance)
            return store.observations(instance, **options)

    run_plan(plan, Watched(), executor=SERIAL)

    assert asked == []


# Growing


def test_a_study_grown_in_steps_equals_the_fresh_one_on_every_run_it_asks_for():
    grown, fresh = MemoryStore(), MemoryStore()
    algorithms = {"a": noisy(10, 1), "b": noisy(11, 2)}
    small = make(algorithms, 3)
    more_instances = make(algorithms, 5)
    more_algorithms = make({**algorithms, "c": noisy(12, 0.5)}, 5)
    final = replace(more_algorithms, rule=replace(more_algorithms.rule, se=0.35))

    for plan in (small, more_instances, more_algorithms):
        run_plan(plan, grown, executor=SERIAL)
    run_plan(final, grown, workers=2)
    run_plan(final, fresh, executor=SERIAL)

    digest = fresh.plans()[-1].decisions
    assert grown.finished(digest) == fresh.finished(digest)
    assert len(fresh.finished(digest)) == len(final.instances)
    assert kept(fresh) <= kept(grown)


def test_instances_that_were_begun_stay_in_the_study_when_more_are_there_to_choose_from():
    algorithms = {"a": noisy(10, 1), "b": noisy(11, 2)}
    small, large = (make(algorithms, instances, count=3, rule=Fixed(runs=2)) for instances in (4, 40))
    assert not {each.name for each in small.instances} & {each.name for each in large.instances}
    store, _ = ran(small)

    progress = run_plan(large, store, executor=SERIAL)

    assert (progress.new, progress.finished) == (0, 3)


def test_limits_that_cannot_be_kept_here_are_refused_before_anything_is_recorded(monkeypatch):
    monkeypatch.setattr("ampler.running.one_run.processes.can_end_processes", lambda: False)
    store = MemoryStore()

    with pytest.raises(InvalidPlan, match="a time limit needs Linux"):
        run_plan(make(limits=Limits(timeout=9.0)), store, executor=SERIAL)

    assert store.sessions() == ()


def test_another_plan_under_the_same_names_is_refused():
    store, _ = ran(make())

    with pytest.raises(PlanMismatch):
        run_plan(replace(make(), seed=8), store, executor=SERIAL)


# Failures


def failing_on(bad, *, only=None):
    def call(instance, seed):
        if instance == bad and (only is None or only()):
            raise ValueError("no")
        return random.Random(seed).random()

    return call


def test_a_failure_stops_the_study_says_which_run_and_is_tried_again_by_the_next_run():
    broken = True
    plan = make({"a": noisy(1, 1), "b": failing_on("i2", only=lambda: broken)}, rule=Fixed(runs=3))
    store = MemoryStore()

    with pytest.raises(RunFailed, match=r"run \d of 'b' on 'i2' \(seed \d+\) failed: it raised ValueError: no \("):
        run_plan(plan, store, executor=SERIAL)
    before = len(kept(store))
    broken = False
    progress = run_plan(plan, store, executor=SERIAL)

    assert 0 < before < 24
    assert (progress.finished, progress.failures) == (4, 0)
    assert len(kept(store)) == 24
    assert max(seen.attempt for seen in store.observations()) == 1


def test_with_drop_failures_are_final_and_with_retry_failed_they_are_not():
    broken = True
    algorithms = {"a": noisy(1, 1), "b": failing_on("i2", only=lambda: broken)}
    plan = make(algorithms, rule=Fixed(runs=3), policy=Drop(), retries=1)
    store, progress = ran(plan)
    attempts = [seen.attempt for seen in store.observations("i2") if seen.key.algorithm == "b"]
    broken = False
    unchanged = run_plan(plan, store, executor=SERIAL)
    retried = run_plan(plan, store, executor=SERIAL, retry_failed=True)

    assert (progress.failures, progress.finished) == (3, 4)
    assert attempts == [1, 1, 1]
    assert (unchanged.new, unchanged.failures) == (0, 3)
    assert (retried.new, retried.failures, retried.finished) == (3, 0, 4)
    assert {seen.attempt for seen in store.observations("i2") if seen.key.algorithm == "b"} == {2}


def test_penalties_keep_a_study_going():
    plan = make({"a": noisy(1, 1), "b": failing_on("i2")}, rule=Fixed(runs=3), policy=Penalty(99.0))

    store, progress = ran(plan, workers=2)

    assert (progress.finished, progress.failures) == (4, 3)
    assert {(seen.value, seen.status) for seen in store.failures()} == {(None, "failed")}


def test_a_study_stops_in_the_beginning_when_every_run_of_an_algorithm_fails_unless_told_otherwise():
    def broken(instance, seed):
        raise ValueError(f"no licence for {seed}")

    plan = make({"a": noisy(10, 1), "b": broken}, 9, rule=Fixed(runs=5), policy=Drop())
    store = MemoryStore()

    with pytest.raises(RunFailed, match=r"all \d+ runs of 'b' so far failed: it raised ValueError: no licence"):
        ran(plan, store)
    few = len(store.failures())
    with pytest.raises(RunFailed, match="so far failed"):
        ran(plan, store)
    assert len(store.failures()) == few < 9 * 5

    _, progress = ran(plan, store, executor=SERIAL, despite_failures=True)
    assert (progress.finished, progress.failures) == (9, 45)
    assert ran(plan, store)[1].new == 0, "a finished study is not refused"


def test_a_mended_algorithm_goes_on_with_retry_failed():
    broken = [True]

    def mended(instance, seed):
        if broken:
            raise ValueError("no licence")
        return 1.0

    plan, store = make({"a": noisy(10, 1), "b": mended}, 4, rule=Fixed(runs=6), policy=Penalty(9.0)), MemoryStore()
    with pytest.raises(RunFailed, match="retry_failed=True"):
        ran(plan, store)
    broken.clear()

    _, progress = ran(plan, store, executor=SERIAL, retry_failed=True)

    assert (progress.finished, progress.failures) == (4, 0)


def test_a_run_that_kills_its_worker_is_tried_three_times_and_costs_only_itself():
    def deadly(instance, seed):
        if instance == "i2" and seed % 3 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return seed

    plan = make({"a": noisy(1, 1), "deadly": deadly}, rule=Fixed(runs=6), policy=Drop(), seed=11)
    store, progress = ran(plan, workers=2)
    guilty = {index for index in range(6) if run_seed(11, "i2", "deadly", index) % 3 == 0}

    assert len(guilty) > 1
    assert {seen.key.index for seen in store.failures()} == guilty
    assert all("was lost while making this run 3 times" in seen.message for seen in store.failures())
    assert (progress.finished, progress.runs, progress.failures) == (4, 4 * 12, len(guilty))
    lost = [seen for seen in store.observations(superseded=True) if seen.status == "lost"]
    assert {seen.key.index for seen in lost} == guilty
    assert len(lost) == 2 * len(guilty)


def test_a_worker_killed_from_outside_costs_nothing_but_time(tmp_path):
    flag = tmp_path / "killed"

    def unlucky(instance, seed):
        with suppress(FileExistsError):  # one worker alone makes it
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        return seed

    plan = make({"a": noisy(1, 1), "unlucky": unlucky}, rule=Fixed(runs=5))
    store, progress = ran(plan, workers=2)

    assert (progress.finished, progress.failures) == (4, 0)
    assert [seen.status for seen in store.observations(superseded=True)].count("lost") == 1


def test_a_hanging_function_costs_only_its_own_runs():
    def hanging(instance, seed):
        if instance == "i1" and seed % 2:
            time.sleep(3600)
        return seed

    plan = make({"a": noisy(1, 1), "h": hanging}, 2, rule=Fixed(runs=3), policy=Drop(), limits=Limits(timeout=1.5))
    store, progress = ran(plan, workers=2)

    stuck = {index for index in range(3) if run_seed(7, "i1", "h", index) % 2}
    assert 0 < len(stuck) < 3
    assert {(seen.key.index, seen.status) for seen in store.failures()} == {(index, "timeout") for index in stuck}
    assert progress.finished == 2


def test_measures_are_kept():
    def measuring(instance, seed):
        return {"cost": seed, "gap": 0.5}

    store, _ = ran(make({"a": measuring, "b": measuring}, rule=Fixed(runs=2)), workers=1)

    assert all(seen.measures == {"cost": seen.value, "gap": 0.5} for seen in store.observations())


def test_a_store_that_cannot_write_ends_the_run_with_its_own_words():
    class Full(MemoryStore):
        def add(self, observations, finished=()):
            raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        run_plan(make(), Full(), workers=2)


# Executors


def test_processes_of_the_standard_library_can_be_used_with_functions_of_a_module():
    plan = make({"a": fast, "b": slow}, rule=Fixed(runs=5))
    with ProcessPoolExecutor(2) as processes:
        store, progress = ran(plan, executor=processes)

    assert kept(store) == kept(ran(plan)[0])
    assert progress.finished == 4


def fast(instance, seed):
    return random.Random(seed).random()


def slow(instance, seed):
    time.sleep(0.001)
    return random.Random(seed).random() + 1


def test_an_executor_that_breaks_is_told_and_what_is_recorded_stays():
    class Breaking(SerialExecutor):
        left = 3

        def submit(self, call, /, *arguments):
            if not self.left:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self.left -= 1
            return super().submit(call, *arguments)

    store = MemoryStore()
    with pytest.raises(EngineFailed, match="takes no more runs \\(cannot schedule new futures after shutdown\\)"):
        run_plan(make(), store, executor=Breaking())

    assert kept(store)
    assert run_plan(make(), store, executor=SERIAL).finished == 4


def test_an_executor_that_loses_chunks_has_them_made_again_one_by_one():
    class Losing(SerialExecutor):
        calls = 0

        def submit(self, call, /, parcel, names):
            self.calls += 1
            if self.calls in (3, 6):
                return super().submit(lambda: 1 / 0)
            return super().submit(call, parcel, names)

    plan = make(rule=Fixed(runs=6))
    store, progress = ran(plan, executor=Losing())

    assert (progress.finished, progress.failures) == (4, 0)
    assert kept(store) == kept(ran(plan)[0])


def test_threads_run_limited_functions_too():
    plan = make({"a": noisy(1, 1), "b": noisy(2, 1)}, rule=Fixed(runs=1), limits=Limits(timeout=60), instances=2)
    with ThreadPoolExecutor(2) as threads:
        store, _ = ran(plan, executor=threads)

    assert kept(store) == kept(ran(plan)[0])


def test_a_plan_can_be_carried_out_from_another_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(ran(make(rule=Fixed(runs=3)), workers=2)))
    thread.start()
    thread.join()

    assert found[0][1].finished == 4


# Progress


def test_progress_comes_as_values_and_ends_with_everything_done():
    seen = []
    plan = make({"a": slow, "b": slow}, rule=Accuracy(se=0.01, difference="simple", start=5, budget=120), instances=6)

    store, last = ran(plan, workers=2, report=seen.append)

    assert len(seen) >= 2
    assert all(isinstance(each, Progress) for each in seen)
    assert [each.runs for each in seen] == sorted(each.runs for each in seen)
    assert [each.finished for each in seen] == sorted(each.finished for each in seen)
    assert all(each.target == 0.01 and each.instances == 6 for each in seen)
    assert (last.finished, last.left, last.error, last.runs) == (6, 0.0, None, len(kept(store)))
    assert last.rate > 0


def test_the_last_word_is_that_of_a_study_that_is_done():
    seen = []

    _, last = ran(make(), executor=SERIAL, report=seen.append)

    assert (seen[-1].finished, seen[-1].runs, seen[-1].left) == (4, last.runs, 0.0)


def test_progress_tells_the_worst_error_and_the_time_left_while_instances_are_under_way():
    seen = []

    def napping(instance, seed):
        time.sleep(0.01)
        return random.Random(seed).random()

    plan = make({"a": napping, "b": napping}, rule=Accuracy(se=0.02, difference="simple", start=5, budget=100))
    _, last = ran(plan, workers=2, report=seen.append)

    under_way = [each for each in seen if each.error is not None]
    assert under_way
    assert all(each.error > 0 and each.left > 0 for each in under_way if each.finished < 4)
    assert all(each.runs < each.planned for each in under_way if each.finished < 4)
    assert (last.left, last.planned) == (0.0, last.runs)


# Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_leave_what_is_recorded_and_no_worker(start, number, tmp_path):
    code = textwrap.dedent(f"""
        import multiprocessing, os, time
        from ampler.api import FixedSize, Study
        def napping(instance, seed):
            time.sleep(0.02)
            return seed
        def tell(event):
            hasattr(event, "new") and print(event.new, flush=True)
        study = Study(algorithms={{"a": napping, "b": lambda instance, seed: napping(instance, seed)}},
                      instances=["i1", "i2"], difference="simple", better="lower", design=FixedSize(runs=200))
        try:
            study.run({str(tmp_path / "x.db")!r}, workers=2, progress=tell)
        except KeyboardInterrupt:
            print("interrupted", multiprocessing.active_children(), flush=True)
    """)
    driver = start("-c", code, program=(sys.executable,))
    for line in driver.stdout:
        if int(line) > 10:
            break
    driver.send_signal(number)
    rest, _ = driver.communicate()

    assert rest.splitlines()[-1] == "interrupted []"
    assert driver.returncode == 0


class Holding(SerialExecutor):
    """An executor whose runs are made when it is told to, and not before."""

    _max_workers = 5

    def __init__(self):
        self.held = []

    def submit(self, call, /, *arguments):
        future = Future()
        self.held.append((future, call, arguments))
        return future

    def make(self):
        while self.held:
            future, call, arguments = self.held.pop(0)
            future.set_result(call(*arguments))


def test_runs_that_ended_just_before_an_interrupt_are_recorded():
    executor, store = Holding(), MemoryStore()

    def interrupt(progress):
        executor.make()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(make(rule=Fixed(runs=3)), store, executor=executor, report=interrupt)

    assert len(kept(store)) == 2 * executor._max_workers


def test_what_other_workers_gave_is_recorded_when_a_run_ends_the_study():
    plan = make({"a": noisy(1, 1), "b": failing_on("i2")}, rule=Fixed(runs=1), instances=6)
    executor, store = Holding(), MemoryStore()

    with pytest.raises(RunFailed):
        run_plan(plan, store, executor=executor, report=lambda progress: executor.make())

    assert len(kept(store)) == 2 * executor._max_workers


def test_an_executor_gets_two_chunks_for_each_worker_it_says_it_has():
    executor, waiting = Holding(), []

    def watch(progress):
        waiting.append(len(executor.held))
        executor.make()

    run_plan(make(rule=Fixed(runs=3)), MemoryStore(), executor=executor, report=watch)

    assert waiting[0] == 2 * executor._max_workers


def test_after_a_failure_no_worker_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("ampler.running.engines.LEAVE_TIMEOUT", 60.0)
    begun, ended = tmp_path / "begun", tmp_path / "ended"

    def failing(instance, seed):
        while not begun.exists():
            time.sleep(0.01)
        raise ValueError("no")

    def busy(instance, seed):
        begun.touch()
        time.sleep(20)  # less than a worker that is asked to leave is given here
        ended.touch()
        return 1.0

    with pytest.raises(RunFailed):
        run_plan(make({"f": failing, "b": busy}, rule=Fixed(runs=1), instances=2), MemoryStore(), workers=2)

    assert begun.exists()
    assert not ended.exists()


def test_a_run_is_on_record_soon_even_when_nothing_else_ends_for_long(tmp_path):
    def long(instance, seed):
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with suppress(StoreError), read_store(tmp_path / "x.db") as store:
                if any(seen.key.algorithm == "quick" for seen in store.observations()):
                    return 1.0
            time.sleep(0.05)
        return 0.0

    plan = make({"quick": noisy(1, 1), "long": long}, rule=Fixed(runs=1), instances=2)
    with open_store(tmp_path / "x.db") as store:
        run_plan(plan, store, workers=2)
        waited = [seen.value for seen in store.observations() if seen.key.algorithm == "long"]

    assert waited == [1.0, 1.0]


def test_sigterm_interrupts_while_a_study_runs_and_means_what_it_meant_before_afterwards(process, tmp_path):
    code = textwrap.dedent(f"""
        import os, signal
        from ampler.api import FixedSize, Study
        from ampler.testing import SerialExecutor
        def deadly(instance, seed):
            os.kill(os.getpid(), signal.SIGTERM)
        study = Study(algorithms={{"a": deadly, "b": deadly}}, instances=["i1", "i2"],
                      difference="simple", better="lower", design=FixedSize(runs=1))
        signal.signal(signal.SIGTERM, lambda number, frame: print("ours"))
        try:
            study.run({str(tmp_path / "x.db")!r}, executor=SerialExecutor())
        except KeyboardInterrupt:
            print("interrupted")
        os.kill(os.getpid(), signal.SIGTERM)
    """)

    ended = process("-c", code, program=(sys.executable,))

    assert (ended.returncode, ended.stdout.split()) == (0, ["interrupted", "ours"])


# The edition of the guard


def test_a_study_begun_under_the_first_edition_goes_on_under_it():
    today = make(instances=6, rule=Accuracy(se=0.7, difference="simple", start=3, budget=500, batch=5))
    first = replace(today, rule=replace(today.rule, guard_edition=1))
    whole, _ = ran(first)
    cut = MemoryStore()
    with suppress(KeyboardInterrupt):
        run_plan(first, Interrupting(cut, 1), executor=SERIAL)
    begun = len(kept(cut))

    changes = []
    ran(today, cut, executor=SERIAL, announce=changes.append)

    assert 0 < begun < len(kept(whole))
    assert kept(cut) == kept(whole)
    assert changes == []
    assert len(kept(ran(today)[0])) > len(kept(whole))


def test_a_study_finished_under_the_first_edition_stays_finished():
    today = make()
    store, _ = ran(replace(today, rule=replace(today.rule, guard_edition=1)))
    before = kept(store)
    assert ran(today, store)[1].new == 0
    assert kept(store) == before
    assert len(store.plans()) == 1


class LosesAChunk(SerialExecutor):
    """Loses the first chunk of several runs after it was made, as a worker does that dies before it can answer."""

    def __init__(self):
        self.lost = None
        self.made = []

    def submit(self, call, /, *arguments):
        names = arguments[-1]
        if self.lost is None and len(names) > 1:
            self.lost = list(names)
            gone = Future()
            gone.set_exception(RuntimeError("the worker is gone"))
            return gone
        self.made += names
        return super().submit(call, *arguments)


def test_a_lost_chunk_of_several_runs_is_made_again_each_of_them_once():
    plan, executor = make(rule=Fixed(runs=6)), LosesAChunk()
    store, _ = ran(plan, executor=executor)

    again = [name for name in executor.made if name in executor.lost]
    assert sorted(again) == sorted(executor.lost)
    attempts = [seen for seen in store.observations(superseded=True) if seen.key in {RunKey(*n) for n in executor.lost}]
    assert [seen.status for seen in attempts] == ["lost", "ok"] * len(executor.lost)
    assert kept(store) == kept(ran(plan)[0])
    assert len(executor.made) == 4 * 3 * 6


def test_marks_that_a_busy_machine_delays_come_as_often_as_others(monkeypatch):
    monkeypatch.setattr("ampler.running.driver.MARK_EVERY", 0.01)

    class Delayed(MemoryStore):
        marks = 0

        def mark(self, progress):
            time.sleep(0.02)  # the processor is another's meanwhile
            self.marks += 1

    def slow(instance, seed):
        time.sleep(0.01)
        return seed % 7

    store, _ = ran(make({"a": slow, "b": slow}, instances=30, rule=Fixed(runs=2)), Delayed(), workers=1)

    assert store.marks > 5
