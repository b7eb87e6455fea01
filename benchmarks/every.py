"""Every benchmark of speed, one after the other, and at the end what was missed: what `make bench` runs.

A script that breaks, or takes longer than ten minutes, stops no other one. The exit code is 1 if a target was missed or
a script broke. Names choose some of them: `python benchmarks/every.py shell decision`. Simulations of what is promised,
which take minutes and have pages of their own, are run only by name; so is the study of 10⁷ runs (see `bench_large`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from speed_page import kept

FOLDER = Path(__file__).parent
LONGEST = 600.0  # seconds
SIMULATIONS = {"claims", "compare", "failures", "populations"}


class Ran(NamedTuple):
    """What became of a script."""

    name: str
    seconds: float
    code: int | None  # None: it was ended

    @property
    def said(self) -> str:
        missed = [row["what"] for row in kept() if row["benchmark"] == self.name and row["met"] == "no"]
        if self.code == 0:
            return ""
        if self.code is None:
            return f"ended after {LONGEST:g} s"
        return "MISSED: " + "; ".join(missed) if missed else f"BROKEN or missed: exit code {self.code}, see above"


def main(names: list[str]) -> int:
    """Run the scripts, print what became of each, and return the exit code."""
    there = {script.stem.removeprefix("bench_"): script for script in sorted(FOLDER.glob("bench_*.py"))}
    if unknown := [name for name in names if name not in there]:
        print(f"there is no benchmark {unknown[0]!r}; there are: {', '.join(there)}")
        return 2
    all_ran = [run(there[name]) for name in names or [name for name in there if name not in SIMULATIONS]]
    print(f"\n{'benchmark':24}{'seconds':>8}")
    for ran in all_ran:
        print(f"{ran.name:24}{ran.seconds:>8.0f}  {ran.said}")
    print(f"{'all':24}{sum(ran.seconds for ran in all_ran):>8.0f}  load {os.getloadavg()[0]:.1f}")
    return int(any(ran.code != 0 for ran in all_ran))


def run(script: Path) -> Ran:
    print(f"==> {script.stem}", flush=True)
    began = time.perf_counter()
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # thin matrices gain nothing from threads
    try:
        code = subprocess.run(
            [sys.executable, script], check=False, timeout=LONGEST, env=os.environ | threads
        ).returncode
    except subprocess.TimeoutExpired:
        code = None
    return Ran(script.stem, time.perf_counter() - began, code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
