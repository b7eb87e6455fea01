"""What a command prints without an end: memory and time of a run that reads it.

Run it with `make bench` or by itself; it exits with 1 if a target is missed. Each output is read in a process of its
own, whose largest memory is taken; the last one is ended by its time limit.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from ampler.core.values import Command, Instance, Limits, Reading
from ampler.running.one_run import run_once
from speed_page import Line, keep

MEMORY = 100  # MB, the interpreter and its libraries among them
LIMIT = 300.0  # seconds
READINGS = {
    "default": Reading(),
    "pattern": Reading("pattern", r"cost: (\S+)"),
    "json": Reading("json", "cost"),
}
OUTPUTS = {
    "1 GB of zeros": ("head -c 1000M /dev/zero", LIMIT),
    "1 GB of lines": ("yes 'iteration of the solver goes on' | head -c 1000M", LIMIT),
    "1 GB in one line": ("yes 'abc 1' | tr '\\n' ' ' | head -c 1000M", LIMIT),
    "10 MB of random bytes": ("head -c 10000000 /dev/urandom", LIMIT),
    "10 MB of random letters": ("head -c 7500000 /dev/urandom | base64 -w0", LIMIT),
    "100 000 lines without a number": ("yes 'no number here' | head -100000", LIMIT),
    "for ever, with a limit of 3 s": ("cat /dev/urandom", 3.0),
}


def main() -> int:
    """Measure, print, and return the exit code."""
    return read(*sys.argv[1:]) if len(sys.argv) == 3 else keep("bench_output", lines())


def lines() -> Iterator[Line]:
    for output, (_, limit) in OUTPUTS.items():
        for reading in READINGS:
            command = [sys.executable, __file__, output, reading]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            seconds, memory = map(float, said.split())
            met = memory < MEMORY and seconds < limit + 8
            what, target = f"{output}, read by {reading}", f"< {MEMORY} MB"
            yield Line(what, target, f"{memory:.0f} MB", met, f"{seconds:.1f} s by the clock")


def read(output: str, reading: str) -> int:
    """Read an output, and print the seconds it took and the megabytes of memory."""
    script, limit = OUTPUTS[output]
    began = time.perf_counter()
    run_once(Command("x", ("sh", "-c", script), reading=READINGS[reading]), Instance("i"), 1, Limits(timeout=limit))
    print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return 0


if __name__ == "__main__":
    sys.exit(main())
