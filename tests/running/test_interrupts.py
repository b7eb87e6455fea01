"""Ctrl-C and SIGTERM: heard also where Python forgets what they raise, and handlers are put back."""

import signal
import threading
import weakref
from contextlib import suppress

import pytest
from small_plans import SERIAL, kept, make

from ampler.running import run_plan
from ampler.running.driver import Interrupts
from ampler.testing import MemoryStore

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Going:
    """Something during whose end a signal comes."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        signal.raise_signal(self.number)


def while_an_object_goes(number):
    Going(number)


def while_its_end_is_told(number):
    """What is raised then is printed, and we cannot know."""
    thing = set()
    told = weakref.ref(thing, lambda _: signal.raise_signal(number))
    del thing
    assert told() is None


def where_somebody_catches_everything(number):
    with suppress(BaseException):
        signal.raise_signal(number)


@pytest.mark.parametrize(
    "come",
    [
        while_an_object_goes,
        pytest.param(
            while_its_end_is_told,
            marks=pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
        ),
        where_somebody_catches_everything,
    ],
)
@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_that_does_not_arrive_ends_the_study_all_the_same(number, come):
    told, plan = [], make()

    def report(progress):
        if not told:
            told.append(progress)
            come(number)

    store, whole = MemoryStore(), MemoryStore()
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, store, executor=SERIAL, report=report)
    run_plan(plan, whole, executor=SERIAL)

    assert told
    assert kept(store) < kept(whole)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_raises_at_once_and_what_was_set_before_is_set_again(number):
    before = [signal.getsignal(each) for each in SIGNALS]
    with pytest.raises(KeyboardInterrupt), Interrupts():
        signal.raise_signal(number)

    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_without_a_signal_there_is_nothing_to_repeat():
    with Interrupts() as interrupts:
        interrupts.repeat()

    assert not interrupts._came


def test_what_a_program_does_with_ctrl_c_stays_its_own_business():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
            interrupts.repeat()
    finally:
        signal.signal(signal.SIGINT, before)

    assert heard == [signal.SIGINT]


def test_another_thread_changes_nothing():
    before, seen = signal.getsignal(signal.SIGTERM), []

    def elsewhere():
        with Interrupts():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()

    assert seen == [before]
