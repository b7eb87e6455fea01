"""irace, which decides while runs are made, and ampler with as many runs spread evenly."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import ampler as am
from peers_rows import Row, has_r
from peers_tables import LARGE, Scenario, scored, simulated

RACES = 60
BUDGET = 500
CANDIDATES = Scenario(LARGE.offsets, instances=BUDGET // len(LARGE.offsets))
BEST = {name for name, offset in zip(LARGE.names, LARGE.offsets, strict=True) if offset == 0}
RUN_NOISE = 1.0

RACE = """
suppressMessages(library(irace))
folder <- commandArgs(TRUE)[1]
space <- readParameters(text = 'algorithm "" c (a0,a1,a2,a3,a4,a5,a6,a7,a8,a9)')
for (number in 0:(as.integer(commandArgs(TRUE)[2]) - 1)) {
  values <- as.matrix(read.csv(file.path(folder, paste0(number, ".csv")), row.names = 1))
  runs <- 0
  runner <- function(experiment, scenario) {
    runs <<- runs + 1
    set.seed(experiment$seed)
    list(cost = values[experiment$instance, experiment$configuration[["algorithm"]]] + rnorm(1))
  }
  scenario <- list(targetRunner = runner, instances = seq_len(nrow(values)), maxExperiments = BUDGET,
                   seed = number + 1, logFile = "")
  invisible(capture.output(best <- irace(scenario = defaultScenario(scenario), parameters = space)))
  cat(sprintf('{"best": "%s", "kept": ["%s"], "runs": %d}\\n', best$algorithm[1],
              paste(best$algorithm, collapse = '", "'), runs))
}
""".replace("BUDGET", str(BUDGET))


def races() -> Iterator[tuple[Callable[[], list[Row]], tuple[str, str, str]]]:
    """Each part with its key."""
    if has_r("irace"):
        yield raced_by_irace, ("race", "10 candidates, 500 runs", "irace")
    yield same_runs_in_a_table, ("race", "10 candidates, 500 runs", "ampler, t")


def raced_by_irace() -> list[Row]:
    """irace's answer to which candidate is best, over many populations of instances."""
    data, tool = "10 candidates, 500 runs", "irace"
    with tempfile.TemporaryDirectory() as folder:
        for number in range(RACES):
            simulated(CANDIDATES, number).to_csv(Path(folder, f"{number}.csv"))
        answer = subprocess.run(
            ["Rscript", "-e", RACE, folder, str(RACES)], capture_output=True, text=True, check=True
        ).stdout
    found = [json.loads(line) for line in answer.splitlines()]
    return [
        Row.share("race", data, tool, "best is best", [one["best"] in BEST for one in found]),
        Row.share("race", data, tool, "kept are best", [set(one["kept"]) <= BEST for one in found]),
        Row.share("race", data, tool, "runs", [one["runs"] for one in found]),
    ]


def same_runs_in_a_table() -> list[Row]:
    """As many runs spread evenly, one of each candidate on each instance, and all pairs tested."""
    data, tool = "10 candidates, 500 runs", "ampler, t"
    best, scores = [], []
    for number in range(RACES):
        table = simulated(CANDIDATES, number)
        table += np.random.default_rng([7, number]).normal(0, RUN_NOISE, table.shape)
        best.append(table.mean().idxmin() in BEST)
        found = am.analyse(table, difference="simple", better="lower").comparisons
        claims = [(one.first, one.second)[:: 1 if one.estimate < 0 else -1] for one in found if one.rejected]
        scores.append(scored(set(claims), CANDIDATES.truth))
    true = sum(1 for difference in CANDIDATES.truth.values() if difference)
    return [
        Row.share("race", data, tool, "best is best", best),
        Row.share("race", data, tool, "error", [score["wrong"] > 0 for score in scores]),
        Row.share("race", data, tool, "power", [score["found"] / true for score in scores]),
        Row.share("race", data, tool, "runs", [BUDGET] * RACES),
    ]
