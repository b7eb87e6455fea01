"""CAISEr, where R has it: whole experiments of its dummies and single decisions, timed beside ours.

R finds the package in its libraries; `R_LIBS` names further ones. Where it is not found, its times are those it took
beside an ampler of the same day, in units of a loop that is measured again here: about right (see `speed_page`).
"""

from __future__ import annotations

import resource
import subprocess
from functools import cache
from shutil import which
from typing import NamedTuple

from speed_page import ABSENT, numpy_unit

# Runs, seconds inside and with starting R, and seconds of a decision with 22 algorithms; in units of `numpy_unit`.
TIMED = f"CAISEr 1.0.5, R 4.2.2, as timed on 2026-11-16; {ABSENT}"
KEPT_EXPERIMENTS = {False: (13634, 9_360_000.0, 9_470_000.0), True: (13550, 9_750_000.0, 9_860_000.0)}
KEPT_DECISIONS = {False: 2350.0, True: 1640.0}

COMPARED = {False: "all.vs.all", True: "all.vs.first"}
DUMMIES = """
suppressMessages(library(CAISEr))
make <- function(k) list(FUN = "dummyalgo", alias = paste0("a", k),
                         distribution.fun = "rnorm", distribution.pars = list(mean = 100 + k, sd = 6))
problem <- function(k) list(FUN = "dummyinstance", alias = paste0("i", k), distr = "rnorm", mean = 0, sd = 8)
spent <- function(work) { times <- system.time(capture.output(work)); times[["user.self"]] + times[["sys.self"]] }
"""
EXPERIMENT = """
seconds <- spent(made <- run_experiment(
  lapply(1:57, problem), lapply(0:4, make), d = 0.5, power = 1, se.max = 0.02, dif = "perc", comparisons = "%s",
  nstart = 10, nmax = 500, ncpus = 1, seed = 1))
cat(made$total.runs, seconds)
"""
DECISION = """
until <- function(more) spent(calc_nreps(
  problem(1), lapply(1:22, make), se.max = 1e-9, dif = "perc", comparisons = "%s", nstart = 20, nmax = 22 * 20 + more,
  seed = 1))
cat(min(sapply(1:5, function(block) until(140) - until(20))) / 120)
"""


class Experiment(NamedTuple):
    """What an experiment took: seconds of processor time, inside and with the start of its program."""

    runs: int
    inside: float
    whole: float
    who: str


@cache
def version() -> str | None:
    """Return the version of CAISEr that R has; None where there is no R, or no CAISEr in it."""
    if not which("Rscript"):
        return None
    asked = subprocess.run(
        ["Rscript", "-e", 'cat(as.character(packageVersion("CAISEr")), as.character(getRversion()))'],
        capture_output=True,
        text=True,
        check=False,
    )
    return "CAISEr {}, R {}".format(*asked.stdout.split()) if asked.returncode == 0 else None


def experiment(against_one: bool) -> Experiment:
    """Return what the experiment of 57 instances and 5 dummies takes, percent differences on one core."""
    if version() is None:
        runs, inside, whole = KEPT_EXPERIMENTS[against_one]
        return Experiment(runs, inside * numpy_unit(), whole * numpy_unit(), TIMED)
    before = _children()
    made, inside = _asked(DUMMIES + EXPERIMENT % COMPARED[against_one])
    return Experiment(int(made), inside, _children() - before, f"{version()}, timed in this run")


def decision(against_one: bool) -> tuple[float, str]:
    """Return the seconds of one decision with 22 algorithms and percent differences, and who took them."""
    if version() is None:
        return KEPT_DECISIONS[against_one] * numpy_unit(), TIMED
    (seconds,) = _asked(DUMMIES + DECISION % COMPARED[against_one])
    return seconds, f"{version()}, timed in this run"


def _asked(script: str) -> list[float]:
    said = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True).stdout
    return [float(each) for each in said.splitlines()[-1].split()]


def _children() -> float:
    """The seconds of processor time of all processes that were started here and have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
