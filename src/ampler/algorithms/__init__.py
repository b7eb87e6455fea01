"""One run of an algorithm: a Command or a Function executed under limits, and nothing left behind."""

from ampler.algorithms.execution import Outcome as Outcome
from ampler.algorithms.execution import check_limits as check_limits
from ampler.algorithms.execution import run_once as run_once
