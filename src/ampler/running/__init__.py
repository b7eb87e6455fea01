"""Carries out a plan: where decisions, workers and store meet; progress as values."""

from ampler.running.driver import run_plan as run_plan
from ampler.running.progress import Progress as Progress
