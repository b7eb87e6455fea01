"""Carries out a plan: where decisions, workers and store meet; progress as values."""

from ampler.core.values import Progress as Progress
from ampler.running.driver import run_plan as run_plan
