"""Groups of processes: who belongs to one, and what they use together."""

import math
import os
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from ampler.core.plan import Limits
from ampler.running.one_run import processes

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found by /proc")


@pytest.fixture
def start():
    """`start("sleep", "9")`: a command that leads a group of its own, and is ended with it."""
    started = []

    def begin(*argv):
        started.append(subprocess.Popen(argv, process_group=0, stdout=subprocess.PIPE))
        return started[-1]

    yield begin
    for each in started:
        each.kill()
        with suppress(ProcessLookupError):  # it has joined another
            os.killpg(each.pid, 9)
        each.communicate()


def members(group):
    return {process.pid for process in processes._members(group)}


def wait_for(holds, seconds=60.0):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


def test_a_group_has_its_leader_and_all_that_this_one_started_and_nobody_else(start):
    several, alone = start("sh", "-c", "sleep 300 & sleep 300 & wait"), start("sleep", "300")

    assert wait_for(lambda: len(members(several.pid)) == 3)
    assert several.pid in members(several.pid)
    assert members(alone.pid) == {alone.pid}
    assert members(2**22 + 5) == set(), "there is no such process"


def test_a_leader_that_joined_another_group_still_counts_and_counts_there_too(start):
    other = start("sleep", "300")
    joins = "import os, sys, time; os.setpgid(0, int(sys.argv[1])); print('joined', flush=True); time.sleep(300)"
    leader = start(sys.executable, "-S", "-c", joins, str(other.pid))
    assert leader.stdout.readline() == b"joined\n"

    assert members(leader.pid) == {leader.pid}
    assert members(other.pid) == {other.pid, leader.pid}


def test_what_a_group_uses_is_what_its_members_use(start):
    group = start("sh", "-c", "sleep 300 & while :; do :; done")
    assert wait_for(lambda: processes.processor_time(group.pid) > 0.05)
    used = processes.processor_time(group.pid)

    assert wait_for(lambda: processes.processor_time(group.pid) > used)
    shares = [process.memory_info().rss for process in processes._members(group.pid)]
    assert len(shares) == 2
    assert processes.resident_memory(group.pid) == pytest.approx(sum(shares), rel=0.5)
    assert min(shares) > 0


@pytest.mark.parametrize("growth", [2, math.inf], ids=["processor time", "memory"])
def test_a_look_during_which_the_machine_did_something_else_is_followed_by_the_next_one_soon(growth):
    def slow():
        time.sleep(0.1)
        return 0.0

    watch = processes.UsageWatch(slow, 0.01, 0.1, growth=growth)

    assert not watch.exceeded()
    assert watch.pause <= 0.1


def test_a_limit_of_thirty_days_is_one_that_the_kernel_can_wait_for(start):
    group = processes.Group(start("true").pid)

    assert group.watch({}, Limits(timeout=30 * 86400.0), began=time.perf_counter()).cause == "ended"
