"""A million runs from a CSV, analysed: processor time and peak memory of the whole command, beside reading the file."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from speed_page import Line, keep

INSTANCES, ALGORITHMS, RUNS = 500, 20, 100
SECONDS, MEGABYTES = 30.0, 2000.0  # of processor time, and of memory: the promise for a million runs
REFUSAL_MEGABYTES = 300.0  # what refusing a file that unpacks to 2 GB may take
READ_ALONE = "import sys, pandas; pandas.read_csv(sys.argv[1])"


@dataclass(frozen=True)
class Measured:
    """What a process took, from its start to its end."""

    seconds: float
    cpu: float
    megabytes: float
    code: int


# Written by a process of its own: a child's peak memory is never below its parent's at the start.
WRITE_RUNS = f"""
import sys
import numpy as np, pandas as pd
rng = np.random.default_rng(1)
level = rng.uniform(50, 150, size=({INSTANCES}, 1, 1)) * rng.uniform(0.95, 1.05, size=(1, {ALGORITHMS}, 1))
values = level * rng.lognormal(sigma=0.1, size=({INSTANCES}, {ALGORITHMS}, {RUNS}))
instance, algorithm, run = (codes.ravel() for codes in np.indices(values.shape))
names = np.char.add("a", algorithm.astype(str)), np.char.add("instance_", instance.astype(str))
columns = dict(algorithm=names[0], instance=names[1], run=run, value=values.ravel())
pd.DataFrame(columns).to_csv(sys.argv[1], index=False)
"""
QUESTIONS = {
    "a million runs, all with one": ("--difference", "percent", "--better", "lower", "--reference", "a0"),
    "a million runs, all with all": ("--difference", "percent", "--better", "lower"),
}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return keep("bench_analysis", lines(Path(folder)))


def lines(folder: Path) -> Iterator[Line]:
    table, bomb = folder / "runs.csv", folder / "bomb.csv.gz"
    subprocess.run([sys.executable, "-c", WRITE_RUNS, str(table)], check=True)
    write_bomb(bomb)
    reading = measured([sys.executable, "-c", READ_ALONE, str(table)])
    yield Line("pandas.read_csv alone, a million runs", "", told(reading), reading.code == 0, "")
    analyse = [sys.executable, "-m", "ampler", "analyse"]
    for name, options in QUESTIONS.items():
        found = measured([*analyse, str(table), *options, "--json"])
        yield line(f"analyse {name}", found, reading, MEGABYTES, code=0)
    refusal = measured([*analyse, str(bomb), "--difference", "simple"])
    yield line("refuse 2 GB out of a 4 MB gz", refusal, reading, REFUSAL_MEGABYTES, code=1)


def write_bomb(path: Path) -> None:
    block = gzip.compress(b"a,i1,0.000000\n" * 2**22)
    path.write_bytes(gzip.compress(b"algorithm,instance,value\n") + block * (2**31 // (14 * 2**22) + 1))


def measured(command: list[str]) -> Measured:
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)


def line(name: str, found: Measured, reading: Measured, megabytes: float, *, code: int) -> Line:
    met = found.cpu < SECONDS and found.megabytes < megabytes and found.code == code
    ratio = f"{found.cpu / reading.cpu:.1f} × reading alone; {found.seconds:.1f} s by the clock, exit code {found.code}"
    return Line(name, f"< {SECONDS:g} s, {megabytes:g} MB", told(found), met, ratio)


def told(found: Measured) -> str:
    return f"{found.cpu:.1f} s, {found.megabytes:.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
