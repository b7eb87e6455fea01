"""What a function changed of its process is put back, and a real interrupt is told from one it made up."""

import os
import resource
import signal
import sys
import threading

import pytest

from ampler.core.plan import Function, Instance
from ampler.running.one_run.functions import call, restored


def called(function):
    return call(Function("f", function, "tests:f"), Instance("i"), 1)


def change_all(instance, seed):
    os.chdir("/")
    os.umask(0o777)
    sys.setrecursionlimit(1234)
    sys.stdout = None
    resource.setrlimit(resource.RLIMIT_NOFILE, (99, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    return 1.0


def state():
    mask = os.umask(0o022)
    os.umask(mask)
    return (
        *(os.getcwd(), mask, sys.getrecursionlimit(), sys.stdout, resource.getrlimit(resource.RLIMIT_NOFILE)),
        *(signal.getsignal(signal.SIGCHLD), signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    )


@pytest.fixture
def alone(monkeypatch):
    """Other tests may have left threads in this process."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)


@pytest.mark.usefixtures("alone")
def test_what_a_function_changes_is_as_before_when_it_has_returned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = state()

    assert called(change_all).value == 1.0
    assert state() == before


def test_a_folder_that_was_removed_and_a_hard_limit_that_was_lowered_do_no_harm(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")

    def remove(instance, seed):
        os.chdir("/")
        os.rmdir(tmp_path / "gone")
        return 1.0

    assert called(remove).value == 1.0


def test_beside_other_threads_nothing_is_put_back(tmp_path, monkeypatch):
    """Another thread may have changed it."""
    monkeypatch.chdir(tmp_path)
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()
    try:
        called(lambda instance, seed: os.chdir("/") or 1.0)
        assert os.getcwd() == "/"
    finally:
        waiting.set()
        thread.join()


def test_a_keyboard_interrupt_of_the_function_is_a_failure_and_one_from_outside_goes_on():
    def invent(instance, seed):
        raise KeyboardInterrupt

    def real(instance, seed):
        signal.raise_signal(signal.SIGINT)

    assert called(invent).message.startswith("it raised KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        called(real)


def test_an_interrupt_that_a_function_swallows_goes_on_all_the_same():
    def swallow(instance, seed):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            return 1.0

    with pytest.raises(KeyboardInterrupt):
        called(swallow)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_from_outside_goes_on_beside_other_threads_too():
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()

    def real(instance, seed):
        signal.raise_signal(signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            called(real)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        waiting.set()
        thread.join()


def test_handlers_that_listen_are_those_from_before():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with pytest.raises(KeyboardInterrupt), restored(os.getpid()):
            signal.raise_signal(signal.SIGTERM)
        assert heard == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("alone")
def test_a_worker_is_after_every_run_what_it_was_before_the_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ampler.running.one_run.functions.is_worker", lambda: True)
    monkeypatch.setattr("ampler.running.one_run.functions._of_workers", {})
    before = state()

    for _ in range(3):
        assert called(change_all).value == 1.0
        assert state() == before


@pytest.mark.usefixtures("alone")
def test_so_is_a_worker_in_which_nothing_catches_interrupts(tmp_path, monkeypatch):
    """It looks at itself once, and listens never: an interrupt ends it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ampler.running.one_run.functions.is_worker", lambda: True)
    monkeypatch.setattr("ampler.running.one_run.functions._of_workers", {})
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        before = state()
        for _ in range(3):
            assert called(change_all).value == 1.0
            assert state() == before
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
