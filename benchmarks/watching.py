"""What it costs a study to be watched: windows with and without pages that ask, in turn, while one study runs.

The study keeps every processor busy with runs of the same work, so that whatever the server takes is taken from it. Its
progress is counted afterwards from the time at which each run ended, and windows are compared with their neighbours,
watched first and not watched first by turns: what changes slowly cancels. Its writer waits for nobody: if a reader ever
held it up, the study would end with an error.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from scipy.stats import mstats

from ampler import read_store

CLIENTS, OFTEN = 20, 1.8  # who watch, and the seconds between two questions of each
WINDOW, WARM = 3.6, 8.0  # seconds of a window, seconds before the first
TRIMMED = 0.2  # of the pairs at either end: another process that wakes up

STUDY = """
import sys
import ampler as am
from ampler.study.store import connections

connections.WAIT = 0.0

def run(instance, seed):
    return sum(n * n for n in range(150_000)) * 0.0 + seed / 2**31

am.Study(
    algorithms={name: run for name in "abcd"}, instances={f"i{n}": n for n in range(1000)}, difference="simple",
    rule=am.Fixed(runs=200), use="all", seed=1,
).run(sys.argv[1], workers=int(sys.argv[2]))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What was measured; `slower` and `dearer` are shares of the study's speed and of the processor time of a run."""

    slower: float
    slower_error: float
    dearer: float
    dearer_error: float
    server: float  # share of all processors
    pages: float  # share of all processors that those take who ask
    asked: int
    undisturbed: bool


def measured_cost(folder: Path, pairs: int) -> Cost:
    """Run a study, watch it by turns in as many pairs of windows, and return what that cost."""
    study, seen = folder / "watched.db", Windows()
    with running_study(folder, study) as runner, served(study) as (server, address):
        clients = [Client(address, place * OFTEN / CLIENTS) for place in range(CLIENTS)]
        time.sleep(WARM)
        for pair in range(pairs):
            for watched in (False, True) if pair % 2 else (True, False):
                seen.add(server, clients, watched=watched)
        undisturbed = runner.poll() is None
    return seen.cost(*ends_and_work(study), sum(client.asked for client in clients), undisturbed=undisturbed)


@dataclass
class Windows:
    """The windows of a run: where each begins and ends, and what server and pages took in those that were watched."""

    places: list[tuple[bool, float, float]] = field(default_factory=list)
    server: float = 0.0
    pages: float = 0.0

    def add(self, server: int, clients: list[Client], *, watched: bool) -> None:
        """Let a window pass."""
        for client in clients:
            (client.watching.set if watched else client.watching.clear)()
        taken, own, began = processor_time(server), time.process_time(), time.time()
        time.sleep(WINDOW)
        self.places.append((watched, began, time.time()))
        if watched:
            self.server += processor_time(server) - taken
            self.pages += time.process_time() - own

    def cost(self, ends: np.ndarray, work: np.ndarray, asked: int, *, undisturbed: bool) -> Cost:
        """Compare the progress of neighbouring windows, and the processor time of the runs in them."""
        speeds, works = (
            [self._speed(place, ends) for place in self.places],
            [self._work(place, ends, work) for place in self.places],
        )
        slower, slower_error = self._watched_against_not(speeds)
        dearer, dearer_error = self._watched_against_not(works)
        there = len(self.places) / 2 * WINDOW * (os.cpu_count() or 1)
        shares = self.server / there, self.pages / there
        return Cost(1 - exp(slower), slower_error, exp(dearer) - 1, dearer_error, *shares, asked, undisturbed)

    def _speed(self, place: tuple[bool, float, float], ends: np.ndarray) -> float:
        """Runs in a second; one that ends in the next window counts for its part in this."""
        _, begin, end = place
        passed = np.interp([begin, end], ends, np.arange(len(ends)))
        return float((passed[1] - passed[0]) / (end - begin))

    def _work(self, place: tuple[bool, float, float], ends: np.ndarray, work: np.ndarray) -> float:
        first, last = np.searchsorted(ends, place[1:])
        return float(np.mean(work[first:last]))

    def _watched_against_not(self, figures: list[float]) -> tuple[float, float]:
        """The trimmed mean of log ratios of neighbours, and its standard error."""
        pairs = [dict(zip((each[0] for each in self.places[n : n + 2]), figures[n : n + 2], strict=True))
                 for n in range(0, len(figures), 2)]  # fmt: skip
        ratios = np.log([pair[True] / pair[False] for pair in pairs])
        limits = (TRIMMED, TRIMMED)
        return float(mstats.trimmed_mean(ratios, limits)), float(mstats.trimmed_stde(ratios, limits))


@contextmanager
def running_study(folder: Path, study: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A study that keeps all processors busy, in a process of its own, from its first run on."""
    script = folder / "watched.py"
    script.write_text(STUDY, encoding="utf-8")
    command = [sys.executable, str(script), str(study), str(os.cpu_count() or 1)]
    runner = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while runner.poll() is None and not runs_of(study):
            time.sleep(0.5)
        yield runner
    finally:
        runner.terminate()
        runner.wait()


@contextmanager
def served(study: Path) -> Iterator[tuple[int, str]]:
    """`ampler serve` over a study: the number of its process, and host and port."""
    command = [sys.executable, "-m", "ampler", "serve", str(study)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        yield server.pid, urlsplit(server.stdout.readline().strip()).netloc
    finally:
        server.terminate()
        server.wait()


class Client(threading.Thread):
    """A page that asks what is new, while it is watching; it takes as little time itself as can be."""

    def __init__(self, address: str, late: float) -> None:
        super().__init__(daemon=True)
        self.address, self.late, self.watching, self.asked = address, late, threading.Event(), 0
        self.watching.set()
        self.start()

    def run(self) -> None:
        time.sleep(self.late)
        seen, connection = b"0", http.client.HTTPConnection(self.address, timeout=60)
        while self.watching.wait():
            try:
                connection.request("GET", f"/study/watched/live?seen={seen.decode()}")
                seen = connection.getresponse().read().partition(b":")[2].partition(b",")[0].strip(b" }")
            except http.client.RemoteDisconnected:  # it was not watching for a while
                connection.close()
                continue
            except OSError:  # the server has gone
                return
            self.asked += 1
            time.sleep(OFTEN)


def processor_time(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    used = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


def ends_and_work(study: Path) -> tuple[np.ndarray, np.ndarray]:
    """When each run ended, in seconds since 1970, and its processor time; in the order in which they ended."""
    with read_store(study) as store:
        runs = [((each.started or 0.0) + each.seconds, each.cpu or each.seconds) for each in store.observations()]
    ends, work = np.array(sorted(runs)).T
    return ends, work


def runs_of(study: Path) -> int:
    """Runs that are recorded by now."""
    try:
        with read_store(study) as store:
            found = store.progress()
    except Exception:  # it is about to be made
        return 0
    return 0 if found is None else found.runs
