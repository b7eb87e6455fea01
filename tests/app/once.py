"""What all workers of one run of the tests need is made by one of them, and read by the others."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[], str]) -> str:
    """Return the text that `make` makes, or that another worker of this run has made."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return make()
    import fcntl

    file = factory.getbasetemp().parent / name  # the folder that the workers share
    with file.open("a+", encoding="utf-8") as shared:
        fcntl.flock(shared, fcntl.LOCK_EX)
        shared.seek(0)
        if not (text := shared.read()):
            text = make()
            shared.write(text)
    return text
