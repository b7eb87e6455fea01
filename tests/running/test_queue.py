"""Chunks: long against the way to a worker, short against patience, and every worker gets a share."""

import pytest

from ampler.core.runs import Observation, RunKey, Tally
from ampler.running.instance import CHUNK, MOST, UNKNOWN, RunTimes, TaskQueue, alternating
from ampler.running.work import Task


def pace_of(**seconds):
    return RunTimes([Tally("i", name, runs=10, ok=10, seconds=10 * each) for name, each in seconds.items()])


def tasks(instance, algorithm, count, **fields):
    return [Task(RunKey(instance, algorithm, index), **fields) for index in range(count)]


def agenda_of(*wanted, workers=2, instances=("i1", "i2", "i3")):
    queue = TaskQueue(instances, workers)
    for each in wanted:
        queue.add(each)
    return queue


def emptied(queue, times):
    chunks = []
    while chunk := queue.chunk(times):
        chunks.append(chunk)
    return chunks


@pytest.mark.parametrize("seconds", [0.0001, 0.001, 0.003, 0.02, 0.15])
def test_a_chunk_takes_between_a_fifth_of_a_second_and_a_second_when_there_is_work_enough(seconds):
    enough = 3 * max(MOST, round(1 / seconds))

    size = len(agenda_of(tasks("i1", "a", enough)).chunk(pace_of(a=seconds)))

    assert size == MOST or 0.2 <= size * seconds <= 1.0


def test_long_runs_are_sent_one_by_one():
    assert len(agenda_of(tasks("i1", "a", 9)).chunk(pace_of(a=30.0))) == 1


def test_little_work_is_shared_out_among_the_workers():
    chunks = emptied(agenda_of(tasks("i1", "a", 16), workers=4), pace_of(a=0.02))

    assert max(map(len, chunks)) == 2


def test_runs_of_several_instances_share_a_chunk_and_earlier_instances_come_first():
    queue = agenda_of(tasks("i3", "a", 4), tasks("i1", "a", 4), tasks("i2", "b", 4), workers=1)

    chunk = queue.chunk(pace_of(a=0.001, b=0.001))

    assert [task.key.instance for task in chunk] == ["i1"] * 4 + ["i2"] * 2


def test_an_algorithm_nobody_has_seen_is_tried_by_itself():
    queue = agenda_of(tasks("i1", "a", 5), tasks("i1", "new", 5), workers=1)
    times = pace_of(a=0.001)

    chunks = [queue.chunk(times) for _ in range(4)]

    assert [{task.key.algorithm for task in chunk} for chunk in chunks] == [{"a"}, {"new"}, {"new"}, {"new"}]
    assert [len(chunk) for chunk in chunks] == [5, 1, 1, 1]


def test_a_run_of_unknown_time_shares_no_chunk_with_the_known_ones_behind_it():
    queue = agenda_of(tasks("i1", "new", 2), tasks("i2", "a", 5), workers=1)

    chunks = emptied(queue, pace_of(a=0.001))

    assert [[task.key.algorithm for task in chunk] for chunk in chunks[:2]] == [["new"], ["new"]]
    assert {task.key.algorithm for chunk in chunks[2:] for task in chunk} == {"a"}


def test_two_runs_of_unknown_time_share_no_chunk_either():
    queue = agenda_of(tasks("i1", "new", 1), tasks("i1", "newer", 1), workers=1)

    assert [len(chunk) for chunk in emptied(queue, pace_of())] == [1, 1]


def test_an_algorithm_nobody_has_seen_has_no_company_even_when_a_chunk_has_room():
    queue = agenda_of(tasks("i1", "a", 5), tasks("i1", "new", 5), tasks("i2", "a", 2000), workers=1)
    times = pace_of(a=0.001)

    chunks = [queue.chunk(times) for _ in range(3)]

    assert [[task.key.algorithm for task in chunk] for chunk in chunks] == [["a"] * 5, ["new"], ["new"]]


def test_what_was_sent_is_no_longer_waiting():
    times = pace_of(a=0.1)
    queue = agenda_of(tasks("i1", "a", round(2 * 2 * CHUNK / 0.1) + 2))
    assert not queue.is_short(times)

    queue.chunk(times)

    assert queue.is_short(times)


def test_a_run_that_was_lost_is_sent_alone_and_first():
    alone = tasks("i2", "b", 2, alone=True, attempt=1)
    queue = agenda_of(tasks("i1", "a", 5), alone)

    assert [queue.chunk(pace_of(a=0.001, b=0.001)) for _ in range(2)] == [[alone[0]], [alone[1]]]


def test_every_run_is_sent_exactly_once():
    wanted = [tasks("i1", "a", 700), tasks("i2", "b", 30), tasks("i3", "c", 3)]
    chunks = emptied(agenda_of(*wanted), pace_of(a=0.0001, b=0.2))

    sent = [task for chunk in chunks for task in chunk]

    assert sorted(sent, key=lambda task: task.key) == [task for each in wanted for task in each]
    assert agenda_of().chunk(pace_of()) == []


def test_more_is_wanted_until_every_worker_has_two_chunks():
    times = pace_of(a=0.1)
    enough = round(2 * 2 * CHUNK / 0.1)

    assert agenda_of(tasks("i1", "a", enough - 2)).is_short(times)
    assert not agenda_of(tasks("i1", "a", enough + 2)).is_short(times)
    assert not agenda_of(tasks("i1", "a", 4 * MOST)).is_short(pace_of(a=0.0))


def test_the_pace_is_learnt_from_runs_and_from_what_surrounds_them():
    times = RunTimes()
    assert times.seconds("a") == UNKNOWN
    assert "a" not in times.mean

    for _ in range(200):
        times.note([Observation(RunKey("i1", "a", 0), 1.0, seconds=0.01)] * 2, 0.03)

    assert times.seconds("a") == pytest.approx(0.015, rel=0.01)
    assert times.total({"a": 4}) == pytest.approx(0.06, rel=0.01)
    assert times.seconds("b") == times.seconds("a")


def test_run_times_follow_an_algorithm_that_becomes_slower():
    times = pace_of(a=0.01)

    for _ in range(200):
        times.note([Observation(RunKey("i1", "a", 0), 1.0, seconds=0.03)], 0.03)

    assert times.seconds("a") == pytest.approx(0.03, rel=0.01)


def test_run_times_of_a_resumed_study_are_those_of_all_its_instances():
    recorded = [Tally("i1", "a", runs=10, ok=10, seconds=1.0), Tally("i2", "a", runs=30, ok=30, seconds=5.0)]

    assert RunTimes(recorded).seconds("a") == pytest.approx(0.15)


def test_a_chunk_that_took_less_than_its_runs_makes_them_no_shorter():
    times = RunTimes()

    times.note([Observation(RunKey("i1", "a", 0), 1.0, seconds=0.2)] * 2, 0.1)

    assert times.seconds("a") == 0.2


def test_the_runs_of_a_round_alternate_between_algorithms_and_the_order_hangs_on_the_seed_alone():
    tasks = [Task(RunKey("i1", name, index)) for name in "abc" for index in range(10)]

    order = alternating(tasks, seed="1/i1/1")

    assert set(order) == set(tasks)
    assert order == alternating(list(tasks), seed="1/i1/1")
    assert order != alternating(tasks, seed="2/i1/1")
    for name in "abc":
        mine = [place for place, task in enumerate(order) if task.key.algorithm == name]
        assert 4 <= sum(place < 15 for place in mine) <= 6, "half of its runs come in the first half"
        assert [task.key.index for task in order if task.key.algorithm == name] == list(range(10))


def test_over_many_rounds_no_algorithm_comes_first_more_often_than_another():
    tasks = [Task(RunKey("i1", name, index)) for name in "ab" for index in range(5)]

    first = sum(alternating(tasks, seed=str(seed))[0].key.algorithm == "a" for seed in range(1000))

    assert 420 < first < 580, "five standard errors"
