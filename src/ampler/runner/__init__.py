"""Carries out a plan: where decisions, workers and store meet; progress as values."""

from ampler.runner.driver import run_plan as run_plan
from ampler.runner.progress import Progress as Progress
