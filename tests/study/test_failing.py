"""Runs that fail: the commonest reason, and algorithms that do nothing but fail."""

import pytest

from ampler.core.runs import Observation, RunKey, Tally
from ampler.core.text import render_for_shell
from ampler.study.failure_patterns import ENOUGH, LAST_WORDS, AlwaysFailing, commonest


def run(number, message="it ended with exit code 10 (success = [0])", status="failed", algorithm="a", instance=None):
    key = RunKey(instance or f"i{number % 2}", algorithm, number)
    return Observation(key, 1.0 if status == "ok" else None, status=status, message="" if status == "ok" else message)


def watched(*runs, tally=(), instances=5):
    hopeless = AlwaysFailing(tally, instances=instances)
    hopeless.note(runs)
    return hopeless.found()


def test_the_commonest_reason_is_counted_whatever_the_last_words_were():
    broken = [run(number, f"it broke{LAST_WORDS}'{number}'") for number in range(3)]

    found = commonest([run(9, "another"), *broken])

    assert (found.message, found.times, found.failures) == (f"it broke{LAST_WORDS}'0'", 3, 4)
    assert str(found) == f"most often (3 times): it broke{LAST_WORDS}'0'"
    assert str(commonest(broken)).startswith("every time: it broke")
    assert commonest([]) is None


def test_an_algorithm_that_does_nothing_but_fail_is_told_with_the_reason_and_the_ways_out():
    sentence = watched(*map(run, range(ENOUGH)))

    assert sentence.startswith("all 10 runs of 'a' so far failed: it ended with exit code 10 (success = [0]);")
    assert "--retry-failed" in render_for_shell(sentence)
    assert "--despite-failures" in render_for_shell(sentence)


def test_exit_codes_may_differ_and_so_may_what_is_quoted():
    codes = [run(n, f"it ended with exit code {10 + n} (success = [0]){LAST_WORDS}'{n}'") for n in range(ENOUGH)]

    assert watched(*codes)


@pytest.mark.parametrize(
    "other",
    [
        run(99, status="ok"),
        run(99, "it raised ValueError"),
    ],
)
def test_one_run_that_ends_otherwise_clears_the_algorithm(other):
    assert watched(other, *map(run, range(20))) is None
    assert watched(*map(run, range(9)), other, *map(run, range(20))) is None


def test_runs_that_reach_a_limit_are_results_and_excuse_no_others():
    late = run(98, "it ran longer than 1 s and was ended", "timeout")
    large = run(99, "it used 2 GB of memory, more than 1 GB, and was killed")

    assert watched(*[late, large] * 20) is None
    assert "so far failed (2 more reached a limit): it ended" in watched(late, large, *map(run, range(ENOUGH)))


def test_few_failures_one_instance_alone_and_values_on_record_are_no_reason_to_stop():
    assert watched(*map(run, range(ENOUGH - 1))) is None
    assert watched(*(run(number, instance="i1") for number in range(20))) is None
    assert watched(*map(run, range(20)), tally=[Tally("i1", "a", 5, 1, 1.0)]) is None
    assert watched(*(run(number, instance="i1") for number in range(20)), instances=1)


def test_lost_runs_say_nothing():
    lost = [run(number, "the worker was lost", "lost") for number in range(20)]

    assert watched(*lost) is None
    assert watched(*lost, *map(run, range(ENOUGH)))
