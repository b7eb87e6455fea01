"""The browser: a study of a million runs on a page, and what it costs a study to be watched by twenty.

Run it with `make bench` or by itself; it exits with 1 if a target is missed. Server time is processor time: the machine
may be busy with other things.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from ampler import Question, make_plan, open_store, read_store
from ampler.app.web import live
from ampler.app.web.live import LiveStudy
from ampler.app.web.shelf import ShownStudy
from ampler.app.web.study_page import study_document, study_parts
from ampler.core.values import Finished, Observation, RunKey
from ampler.sampling.rules import Accuracy
from ampler.study.record import record
from ampler.study.store import environment
from measuring import Row, folder_on_disk, print_table

INSTANCES, ALGORITHMS, RUNS, UNFINISHED = 1000, 10, 100, 20
FIRST, UPDATE = 1.5, 0.2  # seconds
CLIENTS, OFTEN = 20, 1.8  # who watch, and the seconds between two questions of each
WINDOW, PAIRS = 2.0, 30  # seconds watched and as many not, so many times in one run
SLOWER = 0.02

WATCHED = """
import sys, time
import ampler as am

def run(instance, seed):
    time.sleep(0.004)
    return seed / 2**31

am.Study(
    algorithms={name: run for name in "abcd"}, instances={f"i{n}": n for n in range(400)}, difference="simple",
    rule=am.Fixed(runs=200), use="all", seed=1,
).run(sys.argv[1], workers=2)
"""


def main() -> int:
    """Print the table and return the exit code."""
    live.OFTEN = 0.0  # every question is a look
    with folder_on_disk() as folder:
        return print_table([*large_study(Path(folder, "million.db")), *watched_study(Path(folder))])


def large_study(path: Path) -> Iterator[Row]:
    """The first page of a large study, and what follows while it grows."""
    instances = fill(path)
    watched = LiveStudy(ShownStudy("million", path))
    began, clock = time.process_time(), time.perf_counter()
    study_parts(watched, watched.seen())
    first, wall = time.process_time() - began, time.perf_counter() - clock
    yield "a million runs: first page, server time", f"{FIRST} s", f"{first:.2f} s", first <= FIRST
    yield "  the same by the clock", "", f"{wall:.2f} s", True
    taken = []
    for number in range(10):
        with open_store(path) as store:
            store.begin(store.plans()[-1], {})
            if number:
                keys = (RunKey(name, "a1", RUNS + number) for name in instances[-UNFINISHED:])
                store.add(Observation(key, 10.0) for key in keys)
            else:
                watched.seen()  # a new session is counted afresh, once
            for again in range(2):
                keys = (RunKey(name, f"a{again + 2}", RUNS + number) for name in instances[-UNFINISHED:])
                store.add(Observation(key, 10.0) for key in keys)
                began = time.process_time()
                study_document(watched, watched.seen())
                taken.append(time.process_time() - began)
    later = statistics.median(taken[1::2])
    yield "  a live update, server time (median)", f"{UPDATE} s", f"{later:.3f} s", later <= UPDATE


def fill(path: Path) -> list[str]:
    """Write the large study; return its instances."""
    plan = make_plan(
        question=Question("simple", reference="a0"),
        algorithms={f"a{number}": never for number in range(ALGORITHMS)},
        instances=[f"class-{number % 7}/number-{number}.txt" for number in range(INSTANCES)],
        rule=Accuracy(se=0.01, difference="simple", reference="a0", budget=10**7),
        seed=1,
        count="all",
    )
    kept, rng = record(plan), np.random.default_rng(1)
    names = [instance.name for instance in plan.instances]
    with open_store(path) as store:
        store.begin(kept, environment())
        for place, name in enumerate(names):
            values = rng.normal(10, 1, (ALGORITHMS, RUNS)).tolist()
            runs = [
                Observation(RunKey(name, f"a{a}", n), values[a][n], 0.01, seed=n, started=1.7e9 + place)
                for a in range(ALGORITHMS)
                for n in range(RUNS)
            ]
            counts = {f"a{a}": RUNS for a in range(ALGORITHMS)}
            done = [Finished(name, kept.decisions, "accuracy reached", counts, 3, 0.01)]
            store.add(runs, done if place < INSTANCES - UNFINISHED else [])
    return names


def never(instance: str, seed: int) -> float:
    """Stand for an algorithm."""
    return 0.0


def watched_study(folder: Path) -> Iterator[Row]:
    """How much slower a study runs while twenty pages watch it: windows with and without them, in one run."""
    study, script = folder / "watched.db", folder / "watched.py"
    script.write_text(WATCHED, encoding="utf-8")
    runner = subprocess.Popen([sys.executable, str(script), str(study)], stderr=subprocess.DEVNULL)
    while not study.exists() or not runs_of(study):
        time.sleep(0.5)
    command = [sys.executable, "-m", "ampler", "serve", str(study)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    address = urlsplit(server.stdout.readline().strip()).netloc
    clients = [Client(address) for _ in range(CLIENTS)]
    for client in clients:
        client.watching.set()
    time.sleep(8)  # workers are warm, and so are the pages
    for client in clients:
        client.watching.clear()
    ratios, spent = [], 0.0
    for _ in range(PAIRS):
        free = rate(study)
        for client in clients:
            client.watching.set()
        before = processor_time(server.pid)
        ratios.append(rate(study) / free)
        spent += processor_time(server.pid) - before
        for client in clients:
            client.watching.clear()
    for child in (runner, server):
        child.terminate()
        child.wait()
    slower = 1 - statistics.median(ratios)
    spread = statistics.stdev(ratios) / len(ratios) ** 0.5
    asked = sum(client.asked for client in clients)
    share = spent / (PAIRS * WINDOW) / (os.cpu_count() or 1)
    what = f"{CLIENTS} pages watch, {asked} questions: the study is slower by"
    yield what, f"{SLOWER:.0%}", f"{slower:.1%}", slower <= SLOWER
    yield "  standard error of that", "", f"{spread:.1%}", True
    yield "  processors that the server takes, of all there are", f"{SLOWER:.0%}", f"{share:.1%}", share <= SLOWER


def processor_time(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    used = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


class Client(threading.Thread):
    """A page that asks what is new, while it is watching."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.address, self.watching, self.asked = address, threading.Event(), 0
        self.start()

    def run(self) -> None:
        seen, connection = 0, http.client.HTTPConnection(self.address, timeout=30)
        while True:
            self.watching.wait()
            try:
                connection.request("GET", f"/study/watched/live?seen={seen}")
                seen = json.loads(connection.getresponse().read())["number"]
            except (OSError, http.client.HTTPException):
                return
            self.asked += 1
            time.sleep(OFTEN)


def rate(study: Path) -> float:
    """Runs recorded in a second, over a window."""
    before, began = runs_of(study), time.perf_counter()
    time.sleep(WINDOW)
    return (runs_of(study) - before) / (time.perf_counter() - began)


def runs_of(study: Path) -> int:
    try:
        with read_store(study) as store:
            found = store.progress()
    except Exception:
        return 0
    return 0 if found is None else found.runs


if __name__ == "__main__":
    sys.exit(main())
