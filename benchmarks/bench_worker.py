"""Programs that stay against programs that are started for each run: recorded runs per second of whole studies.

Run it with `make bench` or by itself; it exits with 1 if a target is missed. The program is a Python script whose
start is made to take 50 ms (it sleeps for what the interpreter itself does not need) and whose run is a few
microseconds. Both ways are measured in turn, in the same minute: on a busy machine their ratio is what counts.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ampler.core.values import Command, Question
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.store import open_store
from measuring import folder_on_disk

START = 0.05  # seconds
WORKERS = 2
TRIES = 3  # the best of each counts: other work on the machine only ever makes it slower

SOLVER = """
import json, random, sys, time
time.sleep(max(0.0, {start} - time.process_time()))
def solve(seed):
    return random.Random(seed).random()
if len(sys.argv) > 1:
    print(solve(int(sys.argv[1])))
else:
    print('{{"ampler": 1}}', flush=True)
    for line in sys.stdin:
        seed = json.loads(line)["seed"]
        print(json.dumps({{"seed": seed, "value": solve(seed)}}), flush=True)
"""


def main() -> int:
    """Print the table and return the exit code."""
    print(f"{'an interpreter that takes 50 ms to start, 2 workers':<58}{'target':>12}{'measured':>12}")
    with folder_on_disk() as folder:
        script = Path(folder, "solver.py")
        script.write_text(SOLVER.format(start=START), encoding="utf-8")
        program = (sys.executable, "-I", str(script))
        fresh = Command("fresh", (*program, "{seed}", "{instance}"))
        stays = Command("stays", program, protocol="worker")
        rates = [(runs_per_second(fresh, 10), runs_per_second(stays, 200)) for _ in range(TRIES)]
    fresh_rate, stays_rate = (max(column) for column in zip(*rates, strict=True))
    ratio = stays_rate / fresh_rate
    told("a fresh process for each run, recorded", "", f"{fresh_rate:.0f} /s")
    told("a program that stays, recorded", "", f"{stays_rate:.0f} /s")
    told("a program that stays over fresh processes", "5 ×", f"{ratio:.1f} ×", met=ratio >= 5)
    return 0 if ratio >= 5 else 1


def told(what: str, target: str, measured: str, *, met: bool = True) -> None:
    print(f"{what:<58}{target:>12}{measured:>12}{'' if met else '   MISSED'}", flush=True)


def runs_per_second(command: Command, runs: int) -> float:
    """Recorded runs per second of a whole study, from the call to its return: workers started, file closed."""
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms=dict.fromkeys("ab", command),
        instances=["i1", "i2", "i3"],
        rule=Fixed(runs=runs),
        seed=1,
        count="all",
    )
    with folder_on_disk() as folder:
        began = time.perf_counter()
        with open_store(Path(folder, "study.db")) as store:
            progress = run_plan(plan, store, workers=WORKERS)
        return progress.new / (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
