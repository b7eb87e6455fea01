"""Commands that misbehave: each gives its value, fails with its reason or is ended by its limit, and leaves nothing."""

import os
import re
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ampler.core.plan import Command, Instance, Limits
from ampler.core.runs import RunKey
from ampler.running.engines import Done, engine_for
from ampler.running.one_run import processes
from ampler.running.one_run.execution import run_once
from ampler.running.work import Task, Work

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is left behind is found by /proc")

# Scripts, each with the expected value, the expected message of its failure, or None for a run that the limit ends.
SHELL = {
    "no output": ("true", "no number in its output: it printed nothing"),
    "exit code 1": ("echo 5; exit 1", "it ended with exit code 1"),
    "exit code 255": ("echo 5; exit 255", "it ended with exit code 255"),
    "exit code 126": ("exit 126", "it ended with exit code 126"),
    "last words": ("echo oh no >&2; exit 3", "exit code 3 .*its error output ends with 'oh no'"),
    "only errors": ("echo 5 >&2", "no number in its output: it printed nothing; its error output ends with '5'"),
    "SIGKILL": ("echo 5; kill -9 $$", "it was ended by SIGKILL"),
    "SIGTERM": ("kill -15 $$", "it was ended by SIGTERM"),
    "SIGINT": ("kill -2 $$", "it was ended by SIGINT"),
    "SIGPIPE": ("kill -13 $$", "it was ended by SIGPIPE"),
    "a signal without a name": ("kill -40 $$", "it was ended by signal 40"),
    "a value before it fails": ("echo 5; false", "it ended with exit code 1"),
    "closes its output": ("exec >&-; exit 0", "no number in its output"),
    "closes its output after the value": ("echo 5; exec >&- 2>&-; sleep 0.2", 5.0),
    "closes its input": ("exec <&-; echo 5", 5.0),
    "reads its input": ("cat; echo 5", 5.0),
    "writes to what it cannot": ("echo 5 > /proc/version; echo 5", 5.0),
    "no newline": ("printf 5", 5.0),
    "only newlines": ("yes '' | head -10000", "no number in its output"),
    "NULs": (r"printf '\0\0\0'", "no number in its output: it printed nothing"),
    "a number and NULs": (r"printf '5\n\0\0'", 5.0),
    "invalid UTF-8": (r"printf '\377\376 5 \300'", 5.0),
    "UTF-16": (r"printf '\377\3765\0.\0005\0'", "must be a separate word"),
    "half a character": (r"printf '5 \303'", 5.0),
    "colours": (r"printf '\033[31m5\033[0m'", 5.0),
    "a decimal comma": ("echo 3,14", "must be a separate word.*'3,14'"),
    "nan": ("echo nan", "must be a finite number, got nan"),
    "inf": ("echo -inf", "must be a finite number, got -inf"),
    "beyond all numbers": ("echo 1e400", "must be a finite number"),
    "two values": ("echo 4; echo 5", 5.0),
    "many lines without a number": ("yes 'no number here' | head -100000", "no number in its output, which ends with"),
    "a long line": ("head -c 3000000 /dev/zero | tr '\\0' a; echo ' 5'", 5.0),
    "a long number": ("head -c 300000 /dev/zero | tr '\\0' 7", "must be a separate word"),
    "random bytes": ("head -c 3000000 /dev/urandom; echo; echo cost 5", 5.0),
    "much on both streams": ("head -c 2000000 /dev/zero | tee /dev/stderr; echo; echo 5", 5.0),
    "leaves a child": ("sleep 600 & echo 5", 5.0),
    "leaves a child that writes": ("(while :; do echo 7; sleep 0.01; done) & echo 5; sleep 0.1", "number or 7"),
    "leaves a session": ("setsid sleep 600 & echo 5", 5.0),
    "leaves a session without environment": ("env -i setsid sh -c 'sleep 600 & sleep 600' & echo 5; sleep 0.2", 5.0),
    "leaves zombies": ("sh -c 'sleep 0.1 & exec sleep 0.5' & echo 5", 5.0),
    "a child holds the output": ("(sleep 600; echo 9) & echo 5", 5.0),
    "kills its group": ("echo 5; kill -9 0", "it was ended by SIGKILL"),
    "a coprocess that outlives it": ("(trap '' TERM HUP; sleep 600) & echo 5", 5.0),
    "a limit of its own": ("ulimit -v 50000; echo 5", 5.0),
    "no files allowed": ("ulimit -n 3; echo 5", 5.0),
    "an empty environment": ("env -i sh -c 'echo 5'", 5.0),
    "another folder": ("cd /; echo 5", 5.0),
    "sleeps": ("echo 5; sleep 600", None),
    "loops": ("while :; do :; done", None),
    "ignores SIGTERM": ("trap '' TERM; echo 5; while :; do sleep 1; done", None),
    "stops itself": ("echo 5; kill -STOP $$; echo 6", None),
    "stops its group": ("kill -STOP 0", None),
    "waits for input of nobody": ("mkfifo $TMPDIR/f.$$ 2>/dev/null; sleep 600", None),
    "prints for ever": ("yes", None),
    "prints numbers for ever": ("yes 5", None),
    "prints errors for ever": ("yes >&2", None),
    "prints on both for ever": ("yes | tee /dev/stderr", None),
    "prints zeros for ever": ("cat /dev/zero", None),
    "prints random bytes for ever": ("cat /dev/urandom", None),
    "starts ever more": ("for i in 1 2 3 4 5 6 7 8 9; do sleep 600 & done; wait", None),
    "a daemon and sleeps": ("setsid sleep 600 & sleep 600", None),
    "closes all and sleeps": ("exec >&- 2>&- <&-; sleep 600", None),
}
PYTHON = {
    "forks twice": (
        "import os, time\n"
        "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(600)\n  os._exit(0)\nprint(5)",
        5.0,
    ),
    "joins our group": (
        "import os, time\nos.setpgid(0, os.getpgid(os.getppid()))\nprint(5, flush=True)\ntime.sleep(600)",
        None,
    ),
    "joins our group and ends": ("import os\nos.setpgid(0, os.getpgid(os.getppid()))\nprint(5)", 5.0),
    "a group of its own": ("import os, time\nif os.fork() == 0:\n  os.setpgid(0, 0); time.sleep(600)\nprint(5)", 5.0),
    "empties its environment and forks": (
        "import os, sys, time\n"
        "if len(sys.argv) < 4: os.execve(sys.executable, [sys.executable, '-S', *sys.argv, 'x'], {})\n"
        "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(600)\n  os._exit(0)\nos.wait(); print(5)",
        5.0,
    ),
    "prints twice because of a fork": ("import os\nprint(5)\nos.fork()", 5.0),
    "an exception": ("raise ValueError('out of luck')", "exit code 1.*ValueError: out of luck'"),
    "an exception that cannot be printed": (
        "class E(Exception):\n  def __str__(self): raise self\nraise E()",
        "it ended with exit code 1",
    ),
    "exits with a text": ("import sys; sys.exit('no')", "exit code 1.*'no'"),
    "exits with a large number": ("import os; os._exit(256 + 7)", "it ended with exit code 7"),
    "aborts": (
        "import os, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.abort()",
        "it was ended by SIGABRT",
    ),
    "segfaults": (
        "import resource, os, signal; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.kill(os.getpid(), 11)",
        "it was ended by SIGSEGV",
    ),
    "recurses": ("def f(): f()\nf()", "exit code 1.*RecursionError"),
    "prints after its output is closed": ("import os; os.close(1)\nprint(5, flush=True)", "it ended with exit code"),
    "surrogates": (r"import sys; sys.stdout.buffer.write(b'\xed\xa0\x80 5\n')", 5.0),
    "one byte at a time": (
        "import sys, time\nfor mark in 'cost 17.25\\n':\n  sys.stdout.write(mark); sys.stdout.flush()",
        17.25,
    ),
    "JSON of great depth": ("print('{\"a\":' * 20000)", "no number|must be"),
    "prints a lot and leaves": (
        "import os\nfor _ in range(300): os.write(1, b'chatter' * 10000)\nos.write(1, b'\\n5')",
        5.0,
    ),
    "ignores all signals": (
        "import signal, time\n"
        "for n in range(1, 32):\n  try: signal.signal(n, signal.SIG_IGN)\n  except OSError: pass\ntime.sleep(600)",
        None,
    ),
    "blocks all signals": (
        "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(600)",
        None,
    ),
    "answers SIGTERM with a value": (
        "import signal, sys, time\nsignal.signal(15, lambda *a: (print(5, flush=True), sys.exit(0)))\ntime.sleep(600)",
        None,
    ),
    "writes an endless line": ("import os\nwhile True: os.write(1, b'a' * 65536)", None),
    "writes digits for ever": ("import os\nwhile True: os.write(1, b'7' * 65536)", None),
    "threads that stay": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\nprint(5)",
        None,
    ),
}
TABLE = {
    **{f"sh: {name}": (("sh", "-c", script), wanted) for name, (script, wanted) in SHELL.items()},
    **{f"py: {name}": ((sys.executable, "-S", script), wanted) for name, (script, wanted) in PYTHON.items()},
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
        if (ours or wiped) and words and pid != os.getpid():
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
