"""Kill studies of every kind at random moments: is a run lost, is a conclusion another one, is a process left?

    python benchmarks/bench_kills.py                 20 kills
    python benchmarks/bench_kills.py --write         1,000 kills; docs/benchmarks/kills.csv and kills.md
    python benchmarks/bench_kills.py --page          only the page, from the results that are there

Each study is run by `ampler run` in a process of its own. Driver, workers or supervisor get a signal at a random
moment, and the same command is given again until the study is finished. Then it must equal the undisturbed study.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from contextlib import closing, suppress
from dataclasses import astuple, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import ampler as am
from ampler.study.store import read_store
from kept_results import FOLDER, append, asked, read

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from living import belonging

KILLS, FEW, IN_ONE_STUDY = 1000, 20, 12
SEED = 20261120  # fixed before the first look
RESULTS, PAGE = FOLDER / "kills.csv", FOLDER / "kills.md"

SOLVERS = """
import random, time

def value(instance, seed, shift):
    time.sleep(0.008)
    return 100 + shift + random.Random(f"{instance}/{shift}").gauss(0, 1) + random.Random(seed).gauss(0, 1.5)

def a(instance, seed): return value(instance, seed, 0.0)
def b(instance, seed): return value(instance, seed, 0.5)
def c(instance, seed): return value(instance, seed, 30.0)
"""
PROGRAM = """
import json, random, sys, time

print('{"ampler": 1}', flush=True)
for line in sys.stdin:
    run = json.loads(line)
    time.sleep(0.008)
    print(json.dumps({"seed": run["seed"], "value": 90 + random.Random(run["seed"]).gauss(0, 1)}), flush=True)
"""
COMMAND = "sleep 60 & env -i setsid sh -c 'sleep 61 & sleep 61' & sleep 0.05\necho $((95 + $2 % 7))\n"
FIXED = 'allocation = "fixed"\nruns = 4'
KINDS = {  # lines of study.toml before its other tables, and what is added to the algorithms
    "fixed": (f"[rule]\n{FIXED}", ""),
    "adaptive": ("effect = 0.8\nse = 0.6\n[rule]\nstart = 4\nbudget = 60", ""),
    "detect": ("detect = 1.5\n[rule]\npilot = 6\nstart = 3", ""),
    "interim": (f"effect = 0.5\nlooks = [0.3, 0.6, 1.0]\n[rule]\n{FIXED}", ""),
    "limits": (f'[run]\ntimeout = "20s"\nmemory = "1 GB"\n[rule]\n{FIXED}', ""),
    "commands": (f"[rule]\n{FIXED}", '[[algorithm]]\nname = "sh"\ncommand = "sh solver.sh {instance} {seed}"\n'),
    "resident": (f"[rule]\n{FIXED}", f'[[algorithm]]\nname = "stays"\nworker = "{sys.executable} program.py"\n'),
}
ENGINES = {
    "1 worker": ("--workers", "1"),
    "2 workers": ("--workers", "2"),
    "4 workers": ("--workers", "4"),
    "Dask": ("--dask", "local", "--workers", "2"),
}
VICTIMS = ("driver", "worker", "workers", "supervisor")
SIGNALS: dict[str, list[Any]] = {
    **{name: [getattr(signal, name)] for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")},
    "SIGSTOP and SIGCONT": [signal.SIGSTOP, 0.4, signal.SIGCONT],
    "SIGSTOP and SIGKILL": [signal.SIGSTOP, 0.1, signal.SIGKILL],
}


@dataclass(frozen=True)
class Row:
    """What became of a study that was disturbed."""

    study: int
    kind: str
    engine: str
    faults: str  # each with its victim
    kills: int  # faults that met a process
    lost: int  # runs that were recorded and later were not, or had another value
    different: int  # 1: the runs that count, the decisions or the conclusions differ from the undisturbed study
    left: int  # processes after an end
    tracebacks: int  # of ours
    of_dask: int  # tracebacks of Dask's and Python's own helper processes, which were interrupted


def study(folder: Path, kind: str) -> Path:
    """Write a study definition of a kind."""
    folder.mkdir(parents=True)
    size, more = KINDS[kind]
    names = ", ".join(f'"i{n}"' for n in range(24))
    use = "" if kind in ("adaptive", "detect", "interim") else 'use = "all"\n'
    algorithms = "".join(f'[[algorithm]]\nname = "{name}"\npython = "solvers:{name}"\n' for name in "abc")
    (folder / "solvers.py").write_text(SOLVERS)
    (folder / "program.py").write_text(PROGRAM)
    (folder / "solver.sh").write_text(COMMAND)
    head = 'difference = "simple"\nbetter = "lower"\nreference = "a"\nseed = 3\n'
    retries = "" if "[run]" in size else "[run]\nretries = 9\n"
    size = size.replace("[run]\n", "[run]\nretries = 9\n")
    (folder / "study.toml").write_text(
        f"{head}{size}\n{retries}{algorithms}{more}[instances]\nnames = [{names}]\n{use}", encoding="utf-8"
    )
    return folder


class Running:
    """A study that is being run."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder, self.token = folder, uuid.uuid4().hex
        command = [sys.executable, "-m", "ampler", "run", str(folder / "study.toml"), *ENGINES[engine]]
        with open(folder / "output.txt", "ab") as output:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env=os.environ | {"KILLS_TOKEN": self.token},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def processes(self) -> dict[int, tuple[int, bytes]]:
        """Return what belongs to it, with parents and command lines."""
        return belonging(f"KILLS_TOKEN={self.token}".encode(), self.process.pid, self.folder)

    def targets(self, victim: str) -> list[int]:
        """Return the processes that are called so at this moment."""
        driver = self.process.pid
        if victim == "driver":
            return [driver]
        there = self.processes()
        supervisors = [pid for pid, (parent, _) in there.items() if parent == driver and _leads(pid)]
        if victim == "supervisor":
            return supervisors
        workers = [pid for pid, (parent, _) in there.items() if parent in supervisors or parent == driver]
        workers = [pid for pid in workers if pid not in supervisors and b"resource_tracker" not in there[pid][1]]
        return workers if victim == "workers" else random.sample(workers, min(1, len(workers)))

    def meets(self, victim: str, steps: list[Any]) -> bool:
        """Send the signals of a fault; False if there was nobody to receive them."""
        targets = self.targets(victim)
        for step in steps:
            if isinstance(step, float):
                time.sleep(step)
                continue
            for pid in targets:
                with suppress(ProcessLookupError):
                    os.kill(pid, step)
        return bool(targets)

    def left(self) -> int:
        """Return how many processes are there half a minute after the end."""
        until = time.monotonic() + 30
        while (there := self.processes()) and time.monotonic() < until:
            time.sleep(0.1)
        for pid in there:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(there)


def _leads(pid: int) -> bool:
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:
        return False


def recorded(folder: Path) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return the good runs that are durable at this moment."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'study.db'}?mode=ro", uri=True)) as connection:
            rows = connection.execute(
                "SELECT instance, algorithm, \"index\", attempt, seed, value FROM run WHERE status = 'ok'"
            )
            return {row[:4]: row[4:] for row in rows.fetchall()}
    except sqlite3.Error:  # before the first run
        return {}


def outcome(folder: Path) -> tuple[Any, ...]:
    """Return what a finished study holds: runs, decisions and conclusions."""
    with read_store(folder / "study.db") as store:
        runs = {(seen.key, seen.seed, seen.value, seen.status) for seen in store.observations()}
        decisions = [(taken.number, taken.decision.reason) for taken in store.decisions()]
    claims = [
        (c.first, c.second, c.estimate, c.p_holm, c.joint_interval) for c in am.analyse(folder / "study.db").comparisons
    ]
    return runs, decisions, claims


def undisturbed(folder: Path, kind: str) -> tuple[tuple[Any, ...], float]:
    """Run a study whom nobody disturbs; return what it holds, and its seconds."""
    start = time.monotonic()
    running = Running(study(folder, kind), "2 workers")
    assert running.process.wait(600) == 0, (folder / "output.txt").read_text()
    seconds = time.monotonic() - start
    assert running.left() == 0
    return outcome(folder), seconds


def disturbed(number: int, folder: Path, kind: str, engine: str, wanted: tuple[Any, ...], seconds: float) -> Row:
    """Run a study to its end, with faults on the way."""
    rng = random.Random(f"{SEED} {number}")
    random.seed(f"{SEED} {number} victim")
    study(folder, kind)
    kills = lost = left = 0
    faults: list[str] = []
    known: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for _ in count():
        running = Running(folder, engine)
        while running.process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(rng.uniform(0.1, 0.4 * seconds) if kills < IN_ONE_STUDY else 900)
                break
            if kills >= IN_ONE_STUDY:
                running.process.kill()  # it hangs
                running.process.wait()
                lost += 10**6
                break
            victim, name = rng.choice(VICTIMS), rng.choice(list(SIGNALS))
            known = recorded(folder)
            if running.meets(victim, SIGNALS[name]):
                kills += 1
                faults.append(f"{victim} {name}")
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(0.2)
        left += running.left()
        there = recorded(folder)
        lost += sum(there.get(key) != value for key, value in known.items())
        known = there
        if running.process.returncode == 0:
            break
    output = (folder / "output.txt").read_text(errors="replace")
    shown = re.findall(r"^Traceback.*?^\S", output, re.DOTALL | re.MULTILINE)
    helpers = sum("multiprocessing/" in text for text in shown)
    different = int(outcome(folder) != wanted)
    return Row(number, kind, engine, "; ".join(faults), kills, lost, different, left, len(shown) - helpers, helpers)


def page(rows: list[Row]) -> str:
    """Return the page of the results."""
    total = Counter[str]()
    for row in rows:
        total.update({"kills": row.kills, "lost": row.lost, "different": row.different, "left": row.left})
        total.update({"tracebacks": row.tracebacks, "helpers": row.of_dask})
    lines = [
        "# Kills",
        "",
        f"{total['kills']:,} signals in {len(rows)} studies: {total['lost']} runs lost, {total['different']} studies"
        f" with other results, {total['left']} processes left, {total['tracebacks']} tracebacks.",
        "Driver, one worker, all workers or the supervisor got the signal at a random moment; the study was resumed.",
        "Commands leave daemons behind that start sessions of their own. Helper processes of Dask and Python printed"
        f" {total['helpers']} tracebacks when they were interrupted. Written by `python benchmarks/bench_kills.py`.",
        "",
        "| study | engine | studies | signals | lost | different | left | tracebacks | of helpers |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for kind in KINDS:
        for engine in ENGINES:
            of = [row for row in rows if (row.kind, row.engine) == (kind, engine)]
            if of:
                sums = [sum(column) for column in zip(*(astuple(row)[4:] for row in of), strict=True)]
                lines.append(f"| {kind} | {engine} | {len(of)} | " + " | ".join(map(str, sums)) + " |")
    lines += ["", "| signal | driver | worker | workers | supervisor |", "|---|--:|--:|--:|--:|"]
    met = Counter(fault for row in rows for fault in row.faults.split("; "))
    lines += [f"| {name} | " + " | ".join(str(met[f"{v} {name}"]) for v in VICTIMS) + " |" for name in SIGNALS]
    return "\n".join([*lines, ""])


def main() -> None:
    """Disturb studies until so many signals have met a process, and write the page."""
    how = asked(__doc__)
    rows = read(RESULTS, Row) if how.write or how.page else []
    goal = KILLS if how.write else FEW
    known: dict[str, tuple[tuple[Any, ...], float]] = {}
    pairs = [(kind, engine) for engine in ENGINES for kind in KINDS]
    with tempfile.TemporaryDirectory() as temporary:
        while not how.page and sum(row.kills for row in rows) < goal:
            number = len(rows)
            kind, engine = pairs[number * 5 % len(pairs)]
            if kind not in known:
                known[kind] = undisturbed(Path(temporary, f"calm {kind}"), kind)
            folder = Path(temporary, f"{number}")
            row = disturbed(number, folder, kind, engine, *known[kind])
            rows.append(row)
            print(row, flush=True)
            if how.write:
                append(RESULTS, [row])
            if row.lost or row.different or row.left or row.tracebacks:
                shutil.copytree(folder, Path(tempfile.gettempdir(), f"kills-{number}"), dirs_exist_ok=True)
            shutil.rmtree(folder)
    if how.write or how.page:
        PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
