"""Work is done within its time or given up, and timers and handlers of others are as before."""

import re
import signal
import threading

from ampler.running.one_run.deadline import within


def test_work_within_its_time_is_done():
    done = []

    assert within(10.0, lambda: done.append(1))
    assert done == [1]


def test_an_expression_that_goes_back_for_ever_is_given_up():
    assert not within(0.1, lambda: re.search("(a+)+$", "a" * 60 + "!"))


def test_handler_and_timer_are_as_before():
    before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0] > 0
    within(0.05, lambda: re.search("(a+)+$", "a" * 60 + "!"))

    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0] > 0) == before


def test_elsewhere_than_in_the_main_thread_it_takes_its_time():
    done = []
    thread = threading.Thread(target=lambda: done.append(within(0.0001, lambda: sum(range(100_000)))))
    thread.start()
    thread.join()

    assert done == [True]
