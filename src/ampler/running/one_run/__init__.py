"""One run of an algorithm: a Command or a Function executed under limits, and nothing left behind."""

from ampler.running.one_run.execution import Outcome as Outcome
from ampler.running.one_run.execution import check_limits as check_limits
from ampler.running.one_run.execution import run_once as run_once
