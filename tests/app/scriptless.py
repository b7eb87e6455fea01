"""A page of a browser in which no script runs, as some people have it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without_scripts(page: Any) -> Iterator[None]:
    """Let no script run in what this page opens meanwhile."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        yield
    finally:
        session.send("Emulation.setScriptExecutionDisabled", {"value": False})
        session.detach()
