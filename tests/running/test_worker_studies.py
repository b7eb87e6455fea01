"""Studies of programs that stay: the same runs with any number of workers, and nothing left when they are done."""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ampler.core.errors import RunFailed
from ampler.core.failures import Penalty, StopStudy
from ampler.core.plan import Command, Limits, Question
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.testing import MemoryStore

SCRIPT = """
import json, os, random, sys, time
open(f"pid-{os.getpid()}", "w").close()
print('{"ampler": 1}', flush=True)
for line in sys.stdin:
    run = json.loads(line)
    luck = random.Random(run["seed"]).random()
    if luck < run["parameters"].get("crash", 0): os._exit(9)
    if luck < run["parameters"].get("hang", 0): time.sleep(60)
    print(json.dumps({"seed": run["seed"], "value": len(run["instance"]) + luck, "luck": luck}), flush=True)
"""


@pytest.fixture
def plan_of(tmp_path):
    """`plan_of(crash=0.2)`: a plan of two such programs, of which the second has these parameters."""
    (tmp_path / "worker.py").write_text(SCRIPT)
    program = Command("x", (sys.executable, "-S", "worker.py"), protocol="worker", folder=str(tmp_path))

    def make(policy=StopStudy(), timeout=None, **parameters):  # noqa: B008
        other = Command("y", program.argv, parameters, protocol="worker", folder=str(tmp_path))
        return make_plan(
            question=Question("simple", better="lower"),
            algorithms=[program, other],
            instances=["a", "bb", "ccc"],
            rule=Fixed(runs=8),
            seed=3,
            count="all",
            policy=policy,
            limits=Limits(timeout=timeout),
        )

    return make


def recorded(plan, **how):
    store = MemoryStore()
    run_plan(plan, store, **how)
    return {each.key: (each.value, each.status, each.measures) for each in store.observations()}


def left_alive(folder):
    """The programs that still run, after a moment of patience."""
    until = time.monotonic() + 60
    while True:
        numbers = [file.name.removeprefix("pid-") for file in folder.glob("pid-*")]
        alive = [number for number in numbers if _runs(number)]
        if not alive or time.monotonic() > until:
            return alive
        time.sleep(0.02)


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_one_worker_several_workers_and_threads_record_the_same(plan_of, tmp_path):
    one = recorded(plan_of(), workers=1)
    processes = len(list(tmp_path.glob("pid-*")))
    three = recorded(plan_of(), workers=3)
    with ThreadPoolExecutor(2) as threads:
        in_threads = recorded(plan_of(), executor=threads)

    assert len(one) == 48
    assert one == three == in_threads
    assert processes == 1
    assert not left_alive(tmp_path)


def test_crashes_and_time_limits_cost_their_runs_only(plan_of, tmp_path):
    broken = plan_of(policy=Penalty(99.0), timeout=2.0, crash=0.1, hang=0.15)
    found, sound = recorded(broken, workers=2), recorded(plan_of(), workers=1)
    luck = {key: measures["luck"] for key, (_, _, measures) in sound.items() if key.algorithm == "y"}
    expected = {key: "failed" if each < 0.1 else "timeout" if each < 0.15 else "ok" for key, each in luck.items()}

    assert {key: status for key, (_, status, _) in found.items() if key.algorithm == "y"} == expected
    assert {"failed", "timeout", "ok"} == set(expected.values())
    assert all(found[key] == sound[key] for key in sound if found[key][1] == "ok")
    assert not left_alive(tmp_path)


def test_a_study_that_stops_at_a_failure_leaves_no_program(plan_of, tmp_path):
    with pytest.raises(RunFailed, match="it ended with exit code 9 before it answered"):
        recorded(plan_of(crash=0.9), workers=2)

    assert not left_alive(tmp_path)


def test_the_request_is_what_the_documentation_shows():
    page = (Path(__file__).parents[2] / "docs" / "worker-protocol.md").read_text(encoding="utf-8")
    shown = next(line.split("`")[1] for line in page.splitlines() if line.startswith("| ampler | `{"))

    assert list(json.loads(shown)) == ["seed", "instance", "parameters"]
