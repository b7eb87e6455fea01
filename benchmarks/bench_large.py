"""Large studies: time and memory of resuming, analysing, reporting, status and export at 10⁵, 10⁶ and 10⁷ runs.

Each is done in a process of its own, whose processor time and largest memory are told, and how both grow from size to
size: ten times the runs should take ten times as long at most. The studies are made in a temporary folder, which is
removed afterwards. Run it with `make bench` (which leaves out the largest, two gigabytes) or by itself with sizes:
`python benchmarks/bench_large.py 20 200 2000 --write`. It exits with 1 if a target of the largest size is missed.
"""

from __future__ import annotations

import csv
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path

from ampler.core.plan import Plan, Question
from ampler.core.runs import Finished
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.study.store import environment, open_store
from measuring import folder_on_disk
from speed_page import Line, keep

ALGORITHMS, RUNS = 22, 228
SIZES = (20, 200)  # instances: 10⁵ and 10⁶ runs
LARGEST = 2000  # 10⁷ runs
UNFINISHED = 10  # instances that a kill left without their last word
DATA = Path(__file__).parents[1] / "docs" / "benchmarks" / "large.csv"

TARGETS = {  # seconds and megabytes at 10⁷ runs
    "resume": (30.0, 1000.0),
    "analyse": (60.0, 2000.0),
    "report": (90.0, None),
    "status": (None, None),
    "export": (None, None),
}

BULK = """
    WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?)
    INSERT INTO run (instance, algorithm, "index", attempt, round, seed, value, seconds, status, message, cpu, started,
        session)
    SELECT instance.id, algorithm.id, n, 0, 0, (instance.id * 7919 + algorithm.id * 104729 + n * 15485863) % 2147483647,
        100.0 + instance.id % 17 + 0.03 * (algorithm.id - 1) * (1 + instance.id % 3)
        + 0.002 * ((instance.id * 7919 + algorithm.id * 104729 + n * 15485863) % 10007) / 10.0,
        0.0123, 'ok', '', 0.012, 1.7e9 + n, 1
    FROM instance CROSS JOIN algorithm CROSS JOIN number ORDER BY instance.id, algorithm.id, n
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one thing took at one size."""

    what: str
    runs: int
    seconds: float
    megabytes: float


def main(sizes: list[int], *, write: bool) -> int:
    """Measure, and return the exit code; what was measured at other sizes stays on the page and in the data."""
    costs: list[Cost] = []
    missed = keep("bench_large", lines(sizes, costs), among_others=True)
    if write:
        write_data(costs)
    return missed


def lines(sizes: list[int], costs: list[Cost]) -> Iterator[Line]:
    """The lines of the page, while the costs are collected; each tells the growth from the size before."""
    for cost in (cost for size in sizes for cost in costs_at(size)):
        before = [each for each in costs if each.what == cost.what][-1:]
        costs.append(cost)
        what, found = (
            f"{cost.what}, {cost.runs:,} runs".replace(",", " "),
            f"{cost.seconds:.1f} s, {cost.megabytes:.0f} MB",
        )
        yield Line(what, target(cost), found, is_met(cost), "".join(growth(each, cost) for each in before))


def target(cost: Cost) -> str:
    limits = zip(TARGETS[cost.what], ("s", "MB"), strict=True)
    wanted = [f"{limit:g} {unit}" for limit, unit in limits if limit is not None]
    return f"≤ {', '.join(wanted)}" if wanted and cost.runs >= runs_of(LARGEST) else ""


def write_data(costs: list[Cost]) -> None:
    """Put the costs in the place of older ones of the same thing at the same size."""
    with DATA.open(newline="") as file:
        older = [
            Cost(row["what"], int(row["runs"]), float(row["seconds"]), float(row["megabytes"]))
            for row in csv.DictReader(file)
        ]
    new = {(cost.what, cost.runs): cost for cost in (*older, *costs)}
    with DATA.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([field.name for field in fields(Cost)])
        for each in sorted(new.values(), key=lambda cost: cost.runs):
            table.writerow([each.what, each.runs, f"{each.seconds:.1f}", f"{each.megabytes:.0f}"])


def costs_at(instances: int) -> Iterator[Cost]:
    with folder_on_disk() as folder:
        study = Path(folder, "study.db")
        make_study(study, instances)
        for what in ("status", "export", "analyse", "report", "resume"):  # resuming changes the file: it comes last
            yield measured(what, study, instances)


def measured(what: str, study: Path, instances: int) -> Cost:
    """Have something done in a process of its own, and read from the kernel what it took."""
    command = [sys.executable, __file__, "--do", what, str(study), str(instances)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{what} failed with exit code {child.returncode}")
    return Cost(what, runs_of(instances), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def growth(before: Cost, now: Cost) -> str:
    time, memory = now.seconds / before.seconds, now.megabytes / before.megabytes
    return f"{time:.1f} × the time and {memory:.1f} × the memory of {now.runs / before.runs:.0f} × fewer runs"


def is_met(cost: Cost) -> bool:
    seconds, megabytes = TARGETS[cost.what]
    return (seconds is None or cost.seconds <= seconds) and (megabytes is None or cost.megabytes <= megabytes)


def make_study(study: Path, instances: int) -> None:
    """A study with all its runs: begun as every other, the runs written by SQLite itself."""
    plan = the_plan(instances)
    kept = record(plan)
    with open_store(study) as store:
        store.begin(kept, environment())
    with closing(sqlite3.connect(study, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(BULK, (RUNS,))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    counts = dict.fromkeys((algorithm.name for algorithm in plan.algorithms), RUNS)
    done = [Finished(each.name, kept.decisions, "runs done", counts, 1) for each in plan.instances[UNFINISHED:]]
    with open_store(study) as store:
        store.begin(kept, environment())
        store.add([], done)


def runs_of(instances: int) -> int:
    return instances * ALGORITHMS * RUNS


def nothing(instance: str, seed: int) -> float:
    """What the algorithms are; no run is missing, so none is made."""
    return 0.0


def the_plan(instances: int) -> Plan:
    return make_plan(
        question=Question("percent", better="lower"),
        algorithms={f"a{number:02}": nothing for number in range(ALGORITHMS)},
        instances=[f"instances/class-{number % 7}/number-{number}.txt" for number in range(instances)],
        rule=Fixed(runs=RUNS),
        seed=1,
        count="all",
    )


def do(what: str, study: Path, instances: int) -> None:
    """Do one thing with a study."""
    from ampler import analyse, write_report
    from ampler.app.cli import main as shell

    match what:
        case "resume":
            with open_store(study) as store:
                progress = run_plan(the_plan(instances), store, workers=1)
            assert progress.finished == instances
            assert progress.new == 0
        case "analyse":
            analyse(study)
        case "report":
            write_report(study, study.with_name("report.html"))
        case "status":
            sys.argv = ["ampler", "status", str(study)]
            shell()
        case "export":
            sys.argv = ["ampler", "export", str(study), str(study.with_name("runs.csv"))]
            shell()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--do"]:
        do(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        asked = [int(word) for word in sys.argv[1:] if word.isdecimal()]
        sys.exit(main(asked or list(SIZES), write="--write" in sys.argv))
