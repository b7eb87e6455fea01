"""A run with its commands around it: prepared, warmed up, made, cleaned up. Only the run itself is measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ampler.core.values import Algorithm, Command
from ampler.study.command_line import commands_around

Made = Any  # an Outcome, which lies above


def surrounded(algorithm: Algorithm, make: Callable[[], Made], start: Callable[[Command], Made]) -> Made:
    """Return the outcome of a run that `make` makes; `start` starts the commands around it.

    One of them that fails makes the run a failed one, with the reason. Cleaning up comes after everything, whatever
    became of it, and its failure counts where nothing else has failed.
    """
    steps = commands_around(algorithm)

    def failed(name: str) -> Made | None:
        done = start(steps[name]) if name in steps else None
        if done is None or done.status == "ok":
            return None
        return done._replace(status="failed", message=f"its {name} command failed: {done.message}")

    try:
        outcome = _prepared(algorithm.around.warmup, make, failed)
    finally:
        problem = failed("cleanup")
    return problem if problem is not None and outcome.status == "ok" else outcome


def _prepared(warmup: object, make: Callable[[], Made], failed: Callable[[str], Made | None]) -> Made:
    """The outcome of the run that counts; runs to warm up are prepared as it is."""
    for _ in range(warmup if isinstance(warmup, int) else 0):
        warm = failed("prepare") or make()
        if warm.status != "ok":
            return warm._replace(message=f"in a run to warm up, {warm.message}")
    return failed("prepare") or failed("warmup") or make()
