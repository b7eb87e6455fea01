"""Study pages: the list of studies, one live study, and one instance of it."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ampler.app.web import charts
from ampler.app.web.pages import NotThere, as_sentence, fragment, page
from ampler.core.arrays import Runs
from ampler.core.errors import AmplerError, StoreUnusable
from ampler.core.failures import StopStudy, policy_words
from ampler.core.runs import Observation
from ampler.core.text import digits, shortened
from ampler.study.evidence import measure_of
from ampler.study.status import StudySnapshot, snapshot_of
from ampler.study.text import decisions_taken, how_far

if TYPE_CHECKING:
    from ampler.analysis import Analysis

INTERVAL = 2.0  # seconds that a snapshot is good for
FRESH_NS = 10**9  # a file may change twice within a second and keep its date
MAX_ANALYSED = 20_000  # maximum runs of a study whose result is listed
MAX_ROWS = 40  # rows of instances, unless all are requested
MAX_FAILURES = 20  # on the page of an instance
MAX_DIGITS = 18  # of the number of a snapshot
PARTS = ("headline", "facts", "heat", "accuracy", "instances", "times", "failures", "recent", "decisions")
STATES = {"under way": 0, "waiting": 2, "finished": 1}  # the order of the table

FileStatus = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Snapshot of a study: its number, its content, and whether the study is running."""

    number: int
    content: StudySnapshot
    carried_out: bool | None

    @property
    def running(self) -> bool:
        """Whether runs are being made."""
        return bool(self.carried_out) and not self.content.ended


class WatchedStudy:
    """One watched study. Many threads may request it at the same time; one of them reads the file."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._status: FileStatus | None = None
        self._time = 0.0  # of the snapshot
        self._number = time.time_ns() // 10**6  # of the last snapshot: pages of an earlier server have other numbers

    def check_exists(self) -> None:
        """Raise StoreUnusable for a file that was there when the server began and is gone."""
        if not self.path.is_file():
            raise StoreUnusable(f"the results file {self.path.name} is gone; was it moved or removed?")

    def snapshot(self) -> Snapshot:
        """Return the progress of the study; never older than a second or two while it changes."""
        if self._snapshot is not None and not self._lock.acquire(blocking=False):
            return self._snapshot  # another thread is reading the file
        if self._snapshot is None:
            self._lock.acquire()
        try:
            return self._current()
        finally:
            self._lock.release()

    def _current(self) -> Snapshot:
        from ampler.study.store.access import has_writer

        if self._snapshot is not None and time.monotonic() - self._time < INTERVAL:
            return self._snapshot
        self._time, carried_out, status = time.monotonic(), has_writer(self.path), file_status(self.path)
        before, unchanged = self._snapshot, status == self._status
        if before is not None and unchanged and before.carried_out == carried_out:
            return before
        content = before.content if before is not None and unchanged else self._read()
        self._number += 1
        self._snapshot = Snapshot(self._number, content, carried_out)
        newest = max((file[2] for file in status if file is not None), default=0)
        self._status = None if time.time_ns() - newest < FRESH_NS else status
        return self._snapshot

    def _read(self) -> StudySnapshot:
        from ampler.study.store import read_store
        from ampler.study.store.access import surprises_as_damage

        with read_store(self.path) as store, surprises_as_damage(self.path, "its runs"):
            return snapshot_of(store)


def file_status(path: Path) -> FileStatus:
    """Return the status of a results file: inode, size and date of the file and of its journal."""

    def status(file: Path) -> tuple[int, int, int] | None:
        try:
            stat = file.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

    return status(path), status(path.with_name(f"{path.name}-wal"))


class StudyRegistry:
    """The studies in these files, each under a name of its own made from the file's.

    >>> [study.name for study in StudyRegistry([Path("a/study.db"), Path("b/study.db")])]
    ['study', 'study-2']
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._studies: dict[str, WatchedStudy] = {}
        for path in dict.fromkeys(path.absolute() for path in paths):
            stem = re.sub(r"[^\w.-]+", "-", path.stem).strip(".-") or "study"
            names = (stem, *(f"{stem}-{number}" for number in range(2, len(self._studies) + 2)))
            name = next(name for name in names if name not in self._studies)
            self._studies[name] = WatchedStudy(name, path)

    def __iter__(self) -> Iterator[WatchedStudy]:
        return iter(self._studies.values())

    def find(self, name: str) -> WatchedStudy:
        """Return the study of this name; NotThere when none was named, StoreUnusable when its file is gone."""
        if name not in self._studies:
            raise NotThere(
                f"no study called {shortened(name)} was given; begin the server with its file: ampler serve study.db"
            )
        self._studies[name].check_exists()
        return self._studies[name]


def check_watchable(paths: Iterable[Path]) -> None:
    """Raise StoreUnusable for a file that cannot be watched: absent, or where another machine may write it."""
    from ampler.study.store.access import on_network

    for path in (path.absolute() for path in paths):
        if not path.is_file():
            raise StoreUnusable(f"there is no results file {path}; `ampler run` creates it")
        if on_network(path):
            remedy = "a running study cannot be read there: copy the file to this machine and serve the copy"
            raise StoreUnusable(f"{path} is on a network file system; {remedy}")


# the studies, and one study live ------------------------------------------------------------------------------------


def studies_page(request: Request) -> Response:
    """Show the given studies with their progress."""
    studies = sorted(request.app.state.studies, key=lambda study: study.name.casefold())
    return page("studies.html", here="studies", rows=[_list_entry(study) for study in studies])


def _list_entry(study: WatchedStudy) -> dict[str, Any]:
    """A study in the list: its progress, or the error."""
    try:
        study.check_exists()
        snapshot = study.snapshot()
    except AmplerError as problem:
        return {"study": study, "headline": "It cannot be shown", "snapshot": None, "problem": as_sentence(problem)}
    finding = _finding(study, snapshot) if snapshot.content.ended else ""
    headline = how_far(snapshot.content, snapshot.carried_out)
    return {"study": study, "headline": headline, "snapshot": snapshot, "finding": finding}


def _finding(study: WatchedStudy, snapshot: Snapshot) -> str:
    """Result of a finished study; empty if its analysis is slow."""
    from ampler.analysis.text import finding_sentence
    from ampler.app.web.pages import AnalysisForm
    from ampler.app.web.results import ResultsSource, results_of

    if snapshot.content.status.runs > MAX_ANALYSED:
        return ""
    source = ResultsSource(study.path, "", study.path.name, study.name, ("", ""), is_study=True)
    try:
        return finding_sentence(results_of(source, AnalysisForm()).analysis)
    except AmplerError:
        return ""


def study_page(request: Request) -> Response:
    """Show a study unchanged."""
    study, all_rows = _study(request), "all" in request.query_params
    snapshot = study.snapshot()
    parts = study_parts(study, snapshot, max_rows=None if all_rows else MAX_ROWS)
    return page("study.html", here="studies", name=study.name, parts=parts, number=snapshot.number, all=all_rows)


def study_updates(request: Request) -> Response:
    """Return the progress of the study; nothing for a page that has the last snapshot."""
    try:
        study = _study(request)
        snapshot = study.snapshot()
    except AmplerError as problem:
        return JSONResponse({"problem": as_sentence(problem)}, status_code=422)
    update: dict[str, Any] = {"number": snapshot.number}
    if snapshot_number(request.query_params.get("seen", "")) != snapshot.number:
        update |= {"ended": snapshot.content.ended, "parts": study_parts(study, snapshot)}
    return JSONResponse(update)


def snapshot_number(text: str) -> int:
    """Return the number of the snapshot that a page has; 0, which no snapshot has, where it has none.

    >>> snapshot_number("57"), snapshot_number(""), snapshot_number("many")
    (57, 0, 0)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else 0


def _study(request: Request) -> WatchedStudy:
    study: WatchedStudy = request.app.state.studies.find(request.path_params["name"])
    return study


def study_parts(study: WatchedStudy, snapshot: Snapshot, *, max_rows: int | None = MAX_ROWS) -> dict[str, str]:
    """Return the parts of a page by name; of many instances some are shown."""
    content, status = snapshot.content, snapshot.content.status
    ordered = sorted(enumerate(status.instances, start=1), key=lambda row: (STATES[row[1].state], row[0]))
    percent = content.plan.question.difference == "percent"
    means = {name: seconds / runs if runs else 0.0 for name, (runs, seconds) in content.times.items()}
    policy = content.plan.policy
    values = {
        "name": study.name,
        "content": content,
        "status": status,
        "running": snapshot.running,
        "headline": how_far(content, snapshot.carried_out),
        "measure": measure_of(content.plan),
        "failed": "stop the study" if isinstance(policy, StopStudy) else f"are {policy_words(policy)}",
        "heat": charts.heat_chart(status),
        "legend": charts.heat_legend(status),
        "accuracy": charts.accuracy_chart(status, content.errors, content.target, percent) if content.errors else None,
        "rows": ordered[:max_rows],
        "percent": percent,
        "hidden": 0 if max_rows is None else max(0, len(ordered) - max_rows),
        "means": {name: means[name] for name in status.algorithms if name in means},
        "decisions": list(decisions_taken(status)),
    }
    return {part: fragment(f"study_{part}.html", **values) for part in PARTS}


# one instance -----------------------------------------------------------------------------------------------------


def instance_page(request: Request) -> Response:
    """Show an instance by its index in the plan's order, from 1."""
    from markupsafe import Markup

    from ampler.report.rows import forest_of
    from ampler.report.svg import forest_html
    from ampler.study.store import read_store

    study, index = _study(request), request.path_params["index"]
    content = study.snapshot().content
    instances = content.status.instances
    if not 1 <= index <= len(instances):
        raise NotThere(f"the study {study.name} has instances 1 to {len(instances)}, and no {index}")
    instance = instances[index - 1]
    with read_store(study.path) as store:
        runs = list(store.observations(instance.name))
    by_algorithm = {name: [run for run in runs if run.key.algorithm == name] for name in content.status.algorithms}
    values = {name: [run.value for run in own if run.value is not None] for name, own in by_algorithm.items()}
    analysis, why_not = _instance_analysis(content, runs)
    return page(
        "instance.html",
        here="studies",
        name=study.name,
        index=index,
        of=len(instances),
        instance=instance,
        content=content,
        percent=content.plan.question.difference == "percent",
        runs=charts.runs_chart(values) if any(values.values()) else None,
        table=[_algorithm_row(name, own, values[name]) for name, own in by_algorithm.items()],
        forest=None if analysis is None else Markup(forest_html(forest_of(analysis))),
        why_not=why_not,
        failed=[run for run in runs if run.value is None],
        max_failures=MAX_FAILURES,
    )


def _algorithm_row(name: str, runs: list[Observation], values: list[float]) -> tuple[str, int, int, str, str, str]:
    if not values:
        return name, len(runs), len(runs), "–", "–", "–"
    sd = digits(float(np.std(values, ddof=1))) if len(values) > 1 else "–"
    seconds = sum(run.seconds for run in runs) / len(runs)
    return name, len(runs), len(runs) - len(values), digits(float(np.mean(values)), 5), sd, f"{digits(seconds)} s"


def _instance_analysis(content: StudySnapshot, runs: list[Observation]) -> tuple[Analysis | None, str]:
    """Analysis of the runs on this instance by the study's question, or the reason for none."""
    from ampler.api import analyse
    from ampler.core.settings import Settings, question_settings

    policy = content.plan.policy
    names = ("difference", "reference", "better", "alternative", "alpha", "statistic", "margin", "floor", "shift")
    settings = {name: value for name, value in question_settings(content.plan.question).items() if name in names}
    if isinstance(policy, StopStudy):
        runs = [run for run in runs if run.status == "ok"]
    else:
        settings["failures"] = policy
    try:
        return analyse(Runs.of(runs), settings=Settings(**settings)), ""
    except AmplerError as problem:
        return None, as_sentence(problem)
