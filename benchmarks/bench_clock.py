"""The clock: the times of `true` and `sleep 0.020` in a study beside those of hyperfine, in the same run.

Run it with `make bench` or by itself; it exits with 1 if a median is further than 0.3 ms from hyperfine's. Studies and
`hyperfine -N` take turns, so that both meet the same machine. Where we may, both come before all other work on it: else
what is measured on a busy machine is the wait for a processor. Where hyperfine is not installed it says so and is done.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from ampler import Command, Fixed, Reading, Study, read_store
from measuring import Row, print_table

TURNS = 10
RUNS = 10  # of each command on each of two instances in a turn: 200 in all
CLOSE = 0.3e-3  # seconds
SLEEP = "0.020"
COMMANDS = {"true": ("true", SLEEP), f"sleep {SLEEP}": ("sleep", SLEEP)}

Times = dict[str, list[float]]


def study_times(folder: Path) -> Times:
    """The seconds of runs in a whole study with one worker."""
    algorithms = {
        name: Command(name, (program, "{instance}"), reading=Reading("seconds"))
        for name, (program, _) in COMMANDS.items()
    }
    study = Study(
        algorithms=algorithms,
        instances=[SLEEP, f"{SLEEP}0"],  # both are twenty milliseconds
        difference="simple",
        rule=Fixed(runs=RUNS),
        use="all",
        better="lower",
    )
    study.run(folder / "study.db", workers=1)
    with read_store(folder / "study.db") as store:
        runs = list(store.observations())
    return {name: [run.seconds for run in runs if run.key.algorithm == name] for name in COMMANDS}


def hyperfine_times(folder: Path) -> Times:
    """The seconds of runs as hyperfine measures them, without a shell."""
    commands = [" ".join(words) for words in COMMANDS.values()]
    told = folder / "hyperfine.json"
    subprocess.run(
        ["hyperfine", "-N", "--style", "none", "--runs", str(2 * RUNS), "--export-json", told, *commands],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    results = json.loads(told.read_text())["results"]
    return {name: result["times"] for name, result in zip(COMMANDS, results, strict=True)}


def rows() -> Iterator[Row]:
    ours: Times = {name: [] for name in COMMANDS}
    theirs: Times = {name: [] for name in COMMANDS}
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory() as folder:
            for times, measured in ((ours, study_times), (theirs, hyperfine_times)):
                for name, seconds in measured(Path(folder)).items():
                    times[name] += seconds
    for name in COMMANDS:
        one, two = median(ours[name]), median(theirs[name])
        yield f"{name}: a study", "", _ms(one), True
        yield f"{name}: hyperfine", "", _ms(two), True
        yield f"{name}: difference of the medians", f"± {CLOSE * 1e3:.1f} ms", _ms(one - two), abs(one - two) <= CLOSE


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"


def main() -> int:
    """Print the table and return the exit code."""
    if shutil.which("hyperfine") is None:
        print("hyperfine is not installed: nothing to compare the clock with")
        return 0
    _come_first()
    return print_table(rows())


def _come_first() -> None:
    """Ask for a processor before all others, for us and all that we start; only root may (Linux)."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except (AttributeError, OSError):
        print("other work on the machine is part of what is measured: only root may come before it")


if __name__ == "__main__":
    sys.exit(main())
