"""Commands that misbehave: each gives its value, fails with its reason or is ended by its limit, and leaves nothing."""

import os
import re
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ampler.core.values import Command, Instance, Limits, RunKey
from ampler.running.engines import Done
from ampler.running.engines.choose import engine_for
from ampler.running.one_run import processes, run_once
from ampler.running.work import Task, Work

sys.path.insert(0, str(Path(__file__).parent))
import evil_commands as evil

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is left behind is found by /proc")

TABLE = {
    **{f"sh: {name}": (("sh", "-c", script), wanted) for name, (script, wanted) in evil.SHELL.items()},
    **{f"py: {name}": ((sys.executable, "-S", script), wanted) for name, (script, wanted) in evil.PYTHON.items()},
}
QUICK = [name for name, (_, wanted) in TABLE.items() if wanted is not None]
HANGING = [name for name, (_, wanted) in TABLE.items() if wanted is None]
BUSY = [name for name in HANGING if re.search(r"loops|prints .* for ever|writes", name)]  # from the first moment on
WAITING = [name for name in HANGING if name not in BUSY]
TOKEN = "AMPLER_HOSTILE_TOKEN"
LEFT = re.compile(rb"sleep\0600\0")


def commands(names, folder):
    for name in names:
        argv = TABLE[name][0]
        if argv[1] == "-S":  # as a file: some start themselves anew
            script = folder / f"{uuid.uuid4().hex}.py"
            script.write_text(argv[2])
            argv = (argv[0], "-S", str(script))
        yield Command(name, (*argv, "{instance}", "{seed}"))


def carried_out(names, folder, *, limit=60.0, executor=None, workers=None):
    """What became of each command, made by an engine as it is."""
    algorithms = {command.name: command for command in commands(names, folder)}
    limits = Limits(timeout=limit, memory=400_000_000)
    engine = engine_for(executor, Work(algorithms, {"i1": Instance("i1")}, 3, limits), workers)
    for name in names:
        engine.submit([Task(RunKey("i1", name, 0))])
    seen = {}
    while engine.busy:
        for fate in engine.collect(60.0):
            assert isinstance(fate, Done), fate
            seen.update({each.key.algorithm: each for each in fate.observations})
    engine.close(at_once=False)
    return seen


@pytest.fixture(autouse=True)
def token(monkeypatch):
    name = uuid.uuid4().hex
    monkeypatch.setenv(TOKEN, name)
    return name


def remaining(token, before):
    """The processes that carry the token, and sleepers without environment that were not there before."""
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            variables = Path(f"/proc/{pid}/environ").read_bytes()
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        ours = f"{TOKEN}={token}".encode() in variables
        wiped = LEFT.search(words) and not variables and pid not in before
        if (ours or wiped) and words and pid != os.getpid() and b"guardian/script.py" not in words:
            found.append((pid, words))
    return found


def nothing_left(token, before, seconds=30.0):
    until = time.monotonic() + seconds
    while remaining(token, before) and time.monotonic() < until:
        time.sleep(0.05)
    return not remaining(token, before)


def fits(observation, wanted, limit):
    value, status, message = observation.value, observation.status, observation.message
    if isinstance(wanted, float):
        return (value, status) == (wanted, "ok")
    if wanted is None:
        return (value, status, message) == (None, "timeout", f"it ran longer than {limit:g} s and was ended")
    if wanted == "number or 7":
        return value in (5.0, 7.0)
    return (value, status) == (None, "failed") and re.search(wanted, message) and "\n" not in message


def check(seen, names, limit=60.0):
    wrong = {name: seen[name] for name in names if not fits(seen[name], TABLE[name][1], limit)}
    assert not wrong
    assert len(seen) == len(names)


def test_a_command_that_ends_gives_its_value_or_its_reason(tmp_path, token):
    before = {pid for pid, _ in remaining("", ())}

    check(carried_out(QUICK, tmp_path, workers=2), QUICK)
    assert nothing_left(token, before)


@pytest.mark.parametrize(
    ("names", "limit"),
    [(BUSY, 0.2), (WAITING, 0.5), pytest.param(HANGING, 2.0, marks=pytest.mark.slow)],
    ids=["busy", "waiting", "all"],
)
def test_a_command_that_does_not_end_is_ended_by_its_limit(tmp_path, token, monkeypatch, names, limit):
    monkeypatch.setattr(processes, "GRACE", 0.3)
    before = {pid for pid, _ in remaining("", ())}

    check(carried_out(names, tmp_path, workers=8, limit=limit), names, limit)
    assert nothing_left(token, before)


@pytest.mark.slow
@pytest.mark.parametrize(("names", "limit"), [(QUICK, 60.0), (HANGING, 2.0)], ids=["quick", "hanging"])
def test_beside_other_threads_it_is_the_same(tmp_path, token, names, limit):
    before = {pid for pid, _ in remaining("", ())}
    with ThreadPoolExecutor(4) as executor:
        check(carried_out(names, tmp_path, executor=executor, limit=limit), names, limit)
    assert nothing_left(token, before)


@pytest.fixture
def unusable(tmp_path):
    """Files that cannot be started, and what is said of them."""
    (tmp_path / "plain").write_text("echo 5\n")
    (tmp_path / "interpreter").write_text("#!/no/such/interpreter\n")
    (tmp_path / "binary").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(100))
    (tmp_path / "empty").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    for name in ("interpreter", "binary", "empty"):
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "was not found; give its path, or put it on PATH"),
        ("plain", "cannot be started: Permission denied"),
        ("folder", "cannot be started: Permission denied"),
        ("fifo", "cannot be started: Permission denied"),
        ("interpreter", "was not found|cannot be started: .*interpreter"),
        ("binary", "cannot be started: Exec format error"),
        ("empty", "cannot be started: Exec format error"),
        ("loop", "cannot be started: Too many levels of symbolic links"),
        ("dangling", "was not found; give its path, or put it on PATH"),
        ("plain/below", "cannot be started: Not a directory"),
        ("x" * 300, "cannot be started: File name too long"),
        ("nul\0inside", "cannot be started: embedded null byte"),
    ],
)
def test_what_cannot_be_started_says_why(unusable, name, words):
    outcome = run_once(Command("x", (str(unusable / name), "1")), Instance("i"), 1, Limits())

    assert (outcome.status, outcome.value) == ("failed", None)
    assert re.search(words, outcome.message), outcome.message
    assert "\n" not in outcome.message


@pytest.mark.parametrize("length", [200_000, 3_000_000])
def test_arguments_that_are_too_long_are_a_failure(length):
    outcome = run_once(Command("x", ("echo", "5" * length)), Instance("i"), 1, Limits())

    assert (outcome.status, outcome.message) == (
        "failed",
        "the command 'echo' cannot be started: Argument list too long",
    )
