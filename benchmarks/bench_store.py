"""The study file: durable runs per second, and resuming a study of a million recorded runs.

Run it with `make bench` or by itself; it exits with 1 if a target is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from ampler.core.values import Finished, Observation, Plan, Question, RunKey
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.study.seeds import run_seed
from ampler.study.store import environment, open_store
from measuring import folder_on_disk

INSTANCES, ALGORITHMS, RUNS = 1000, 10, 100  # a million runs
UNFINISHED = 10  # instances that a kill left without their last word
RATES = {1: 0, 10: 0, 100: 5_000}  # durable runs per second in groups of so many
SECONDS, MEGABYTES = 15.0, 1000.0


def main() -> int:
    """Print the table and return the exit code."""
    with folder_on_disk() as folder:
        print(f"{'study file':<44}{'target':>14}{'measured':>14}")
        syncs = bare_syncs(Path(folder, "bare"))
        print(f"{'bare writes of 4 kB that wait for the disk':<44}{'':>14}{syncs:>12.0f} /s")
        results = [rate_row(Path(folder), group, target, syncs) for group, target in RATES.items()]
        study = Path(folder, "million.db")
        fill(study)
        print(f"{'a million recorded runs':<44}{'':>14}{study.stat().st_size / 1e6:>11.0f} MB")
        results += [
            resume_row(study, how, wanted) for how, wanted in (("read", ""), ("resume", "target"), ("replay", ""))
        ]
    return 0 if all(results) else 1


def bare_syncs(path: Path) -> float:
    """How often a second this disk can be waited for: no store can commit more often."""
    began, count = time.perf_counter(), 0
    with path.open("wb", buffering=0) as file:
        while time.perf_counter() - began < 1.0:
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            count += 1
    return count / (time.perf_counter() - began)


def rate_row(folder: Path, group: int, target: int, syncs: float) -> bool:
    plan = the_plan()
    name = plan.instances[0].name
    with open_store(folder / f"rate-{group}.db") as store:
        store.begin(record(plan), environment())
        began, added = time.perf_counter(), 0
        while time.perf_counter() - began < 1.0:
            store.add(Observation(RunKey(name, "a0", added + n), 1.5, 0.01, seed=added) for n in range(group))
            added += group
        rate = added / (time.perf_counter() - began)
    met = rate >= target
    wanted, share = f"{target} /s" if target else "", f"   {rate / group / syncs:.2f} commits per bare write"
    print(f"{f'durable runs in groups of {group}':<44}{wanted:>14}{rate:>12.0f} /s{share}{'' if met else '   MISSED'}")
    return met


def resume_row(study: Path, how: str, wanted: str) -> bool:
    """Measured in a process of its own, because of the memory."""
    told = subprocess.run(
        [sys.executable, __file__, how, str(study)], capture_output=True, text=True, check=True
    ).stdout
    seconds, megabytes = map(float, told.split())
    what = {
        "read": "all its runs as columns",
        "resume": f"resume, {UNFINISHED} instances unfinished",
        "replay": "resume under another rule: all replayed",
    }[how]
    met = not wanted or (seconds <= SECONDS and megabytes <= MEGABYTES)
    target = f"{SECONDS:.0f} s, {MEGABYTES:.0f} MB" if wanted else ""
    print(f"{what:<44}{target:>14}{seconds:>8.1f} s, {megabytes:.0f} MB{'' if met else '   MISSED'}")
    return met


def fill(study: Path) -> None:
    plan = the_plan()
    kept = record(plan)
    with open_store(study) as store:
        store.begin(kept, environment())
        for place, instance in enumerate(plan.instances):
            counts = dict.fromkeys((algorithm.name for algorithm in plan.algorithms), RUNS)
            done = Finished(instance.name, kept.decisions, "runs done", counts, 1)
            store.add(recorded(instance.name), [done] if place >= UNFINISHED else [])


def recorded(instance: str) -> list[Observation]:
    return [
        Observation(
            RunKey(instance, f"a{a}", n), value(instance, seed), 0.0123, seed=seed, measures={"gap": 0.5, "x": n}
        )
        for a in range(ALGORITHMS)
        for n in range(RUNS)
        for seed in [run_seed(1, instance, f"a{a}", n)]
    ]


def value(instance: str, seed: int) -> float:
    return seed / 2**31


def the_plan(runs: int = RUNS) -> Plan:
    return make_plan(
        question=Question("simple", better="lower"),
        algorithms={f"a{number}": value for number in range(ALGORITHMS)},
        instances=[f"instances/class-{number % 7}/number-{number}.txt" for number in range(INSTANCES)],
        rule=Fixed(runs=runs),
        seed=1,
        count="all",
    )


def measured(how: str, study: Path) -> None:
    """Print the seconds and the megabytes that one way of opening the study takes."""
    began = time.perf_counter()
    with open_store(study) as store:
        if how == "read":
            assert len(store.runs()) == INSTANCES * ALGORITHMS * RUNS
        else:
            run_plan(the_plan(RUNS if how == "resume" else RUNS - 1), store, workers=1)
            assert len(store.finished(store.plans()[-1].decisions)) == INSTANCES
    seconds = time.perf_counter() - began
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(seconds, int(peak.split()[1]) / 1000)


if __name__ == "__main__":
    if sys.argv[1:]:
        measured(sys.argv[1], Path(sys.argv[2]))
    else:
        sys.exit(main())
