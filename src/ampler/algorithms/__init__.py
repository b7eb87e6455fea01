"""One run of an algorithm: a Command or a Function executed under limits, and nothing left behind."""

from ampler.algorithms.execution import Outcome, run_once

__all__ = ["Outcome", "run_once"]
