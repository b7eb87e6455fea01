from __future__ import annotations

import threading

import pytest

from ampler.testing import SerialExecutor


def test_a_call_is_made_at_once_in_the_thread_that_asks():
    seen = []

    future = SerialExecutor().submit(lambda x, y: seen.append(threading.get_ident()) or x - y, 5, 3)

    assert seen == [threading.get_ident()]
    assert future.done()
    assert future.result() == 2


def test_an_error_is_kept_in_the_future():
    future = SerialExecutor().submit(int, "no number")

    with pytest.raises(ValueError, match="no number"):
        future.result()


def test_an_interruption_is_not_kept():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SerialExecutor().submit(interrupted)
