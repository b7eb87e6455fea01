"""What several benchmarks share: a table of targets that says what was missed, and the rate of a whole study."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ampler.core.plan import Question
from ampler.running import run_plan
from ampler.study.plan import make_plan
from ampler.study.store import open_store
from speed_page import Line, keep

Algorithm = Callable[[str, int], float]
Row = tuple[str, str, str, bool]  # what, target, measured, whether it is met


def print_table(rows: Iterable[Row]) -> int:
    """Print the rows as they come, and put them on the page of speeds; return 1 if a target is missed."""
    return keep(Path(sys.argv[0]).stem, (Line(*row, "") for row in rows))


def runs_per_second(algorithm: Algorithm, rule: Any, *, instances: int, **engine: Any) -> float:
    """Recorded runs per second of a whole study, from the call to its return: workers started, file closed."""
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms=dict.fromkeys("abc", algorithm),
        instances=[f"i{number}" for number in range(instances)],
        rule=rule,
        seed=1,
        count="all",
    )
    with folder_on_disk() as folder:
        began = time.perf_counter()
        with open_store(Path(folder, "study.db")) as store:
            progress = run_plan(plan, store, **engine)
        return progress.new / (time.perf_counter() - began)


def napping(instance: str, seed: int, *, nap: float = 0.02) -> float:
    """A run that leaves its core to others."""
    time.sleep(nap)
    return random.Random(seed).random()


def folder_on_disk() -> tempfile.TemporaryDirectory[str]:
    """Return a folder on a disk, not in memory, where git does not see what a kill leaves."""
    place = Path.cwd() / ".benchmarks"
    place.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(dir=place)
