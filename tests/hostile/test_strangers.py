"""A stranger's folder: opening data in it runs nothing, writes nowhere else, and tells the terminal nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

PLANTED = (
    *("numpy", "pandas", "matplotlib", "scipy", "rich", "typer", "click", "jinja2", "typing", "json", "dataclasses"),
    *("sqlite3", "sitecustomize", "usercustomize", "encodings", "zoneinfo", "pyarrow", "decimal"),
)
RC = "backend: module://owned\naxes.prop_cycle: cycler('color', [__import__('owned')])\n"
DIFFERENCE = ("--difference", "simple", "--better", "lower")
COMMANDS = {
    "status": ("status", "study.db"),
    "analyse": ("analyse", "runs.csv", *DIFFERENCE),
    "report": ("report", "study.db", "-o", "out.html", "--figures", "figures", "--figure-format", "png"),
    "page": ("report", "study.db", "-o", "out.html"),
    "figures": ("report", "study.db", "-o", "out.md", "--figures", "figures", "--figure-format", "png"),
    "design": ("design", "--algorithms", "2", "--vs-all", "--effect", "1", "--power", "0.8", "--plot", "out.svg"),
    "plot": ("design", "--algorithms", "2", "--vs-all", "--effect", "1", "--power", "0.8", "--plot", "out.png"),
}
TABLE = "instance,algorithm,value\n" + "".join(f"i{n},{name},{n}.5{n}\n" for n in range(6) for name in "ab")
WAYS = {
    "python -m ampler": ([sys.executable, "-m", "ampler"], {}),
    "ampler": ([sys.executable, "-P", "-c", "from ampler.app.cli import main; main()"], {}),
    "ampler, PYTHONPATH with an empty entry": (
        [sys.executable, "-P", "-c", "from ampler.app.cli import main; main()"],
        {"PYTHONPATH": os.pathsep.join(["", *filter(None, [os.environ.get("PYTHONPATH")])])},
    ),
}


def some_slow(names, slow):
    return [pytest.param(each, marks=[pytest.mark.slow] if each in slow else []) for each in names]


@pytest.fixture
def folder(study, tmp_path):
    """A folder with data, and with modules and settings that leave a trace when they are run."""
    here = study.parent
    (here / "runs.csv").write_text(TABLE)
    trace = tmp_path / "trace"
    for name in (*PLANTED, "owned"):
        (here / f"{name}.py").write_text(f"open({str(trace)!r}, 'a').write({name!r} + ' ')\n")
    (here / "matplotlibrc").write_text(RC)
    (here / "stylelib").mkdir()
    (here / "stylelib" / "owned.mplstyle").write_text(RC)
    return here


def carried_out(way, words, folder):
    command, more = WAYS[way]
    return subprocess.run(
        [*command, *words], cwd=folder, env=os.environ | more, capture_output=True, text=True, timeout=120, check=False
    )


DRAWING = [
    ("python -m ampler", "page"),
    ("ampler", "plot"),
]  # a page loads the most, and other parts draw pictures
OPENING = [(way, command) for way in ("python -m ampler", "ampler") for command in COMMANDS]


@pytest.mark.parametrize(
    ("way", "command"),
    [*DRAWING, *(pytest.param(*each, marks=pytest.mark.slow) for each in OPENING if each not in DRAWING)],
)
def test_opening_data_runs_nothing_of_the_folder(folder, tmp_path, way, command):
    done = carried_out(way, COMMANDS[command], folder)

    assert not (tmp_path / "trace").exists(), (tmp_path / "trace").read_text()
    assert done.returncode == 0, done.stderr
    assert "owned" not in done.stderr


def test_an_empty_entry_of_the_search_path_is_not_the_working_folder(folder, tmp_path):
    """Modules that are loaded before ours are the interpreter's own affair; those of ours are found elsewhere."""
    for name in ("sitecustomize", "usercustomize", "typing", "json", "dataclasses", "encodings"):
        (folder / f"{name}.py").unlink()

    done = carried_out("ampler, PYTHONPATH with an empty entry", COMMANDS["status"], folder)

    assert not (tmp_path / "trace").exists()
    assert done.returncode == 0, done.stderr


NAMES = (
    *("study.db.lock", "study.db-wal", "study.db-shm", "study.db-journal", ".study.toml.new", "study.toml.new"),
    *("out.html.part", "out.html.tmp", ".out.html.part", "out.csv.part", "out.db.part", "out.db.lock", "out.db-wal"),
    *("out.html", "out.csv", "out.md", "figures/intervals.pdf", "figures/accuracy.pdf", "new/study.toml", "out.db-shm"),
    *("new/solvers.py", "study-saved.db", "out.db-journal", "new.db-wal", "new.db.lock"),
)
WRITING = {
    "report": ("report", "study.db", "-o", "out.html"),
    "figures": ("report", "study.db", "-o", "out.md", "--figures", "figures"),
    "export": ("export", "study.db", "out.csv"),
    "merge": ("merge", "study.db", "-o", "out.db"),
    "rescue": ("rescue", "study.db", "-o", "out.db"),
    "init": ("init", "new"),
    "status": ("status", "study.db"),
    "check": ("check", "study.toml", "--store", "new.db", "--write-costs"),
}


def planted(kind, study, precious):
    """Links of every name that we could write to, all leading to what is precious."""
    for name in NAMES:
        place = study.parent / name
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            place.symlink_to(precious) if kind == "links" else place.hardlink_to(precious)


@pytest.mark.parametrize("command", some_slow(WRITING, {"figures", "check"}))
@pytest.mark.parametrize("kind", ["links", "hard links"])
def test_planted_links_are_never_written_through(study, shell, tmp_path, kind, command):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    planted(kind, study, precious)
    before = study.read_bytes()

    answer = shell(*WRITING[command])

    assert precious.read_text() == "precious"
    assert study.read_bytes() == before
    assert answer.code in (0, 1, 2)
    assert "defect" not in answer.err


EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e"


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Files whose names, columns and cells a terminal would obey."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / f"{name}{EVIL}.txt").write_text("1\n")
    rows = "".join(f"i{n}{EVIL},{name}{EVIL},{n}.5{n}\n" for n in range(6) for name in "ab")
    (tmp_path / f"runs{EVIL}.csv").write_text("instance,algorithm,value\n" + rows)
    (tmp_path / f"bad{EVIL}.csv").write_text(f"x{EVIL},y\n1,2\n")
    (tmp_path / f"study{EVIL}.toml").write_text('difference = "simple"\n"evil\\u001b[31m" = 3\n')
    (tmp_path / f"broken{EVIL}.toml").write_text(f"= {EVIL}")
    (tmp_path / f"damaged{EVIL}.db").write_bytes(b"SQLite format 3\0" + EVIL.encode() * 100)
    return tmp_path


WORDS = {
    "analyse": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE),
    "analyse, JSON": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--json"),
    "analyse, CSV": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--csv"),
    "analyse, LaTeX": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--latex"),
    "analyse, explored": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--explore"),
    "a bad table": ("analyse", f"bad{EVIL}.csv", *DIFFERENCE),
    "a missing table": ("analyse", f"gone{EVIL}.csv", *DIFFERENCE),
    "a reference": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--reference", EVIL),
    "a column": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--value", EVIL),
    "a condition": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--where", f"{EVIL}=3"),
    "an encoding": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--encoding", EVIL),
    "a policy": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--on-failure", EVIL),
    "an option": ("analyse", f"--{EVIL}", "x"),
    "a choice": ("analyse", f"runs{EVIL}.csv", "--difference", EVIL),
    "a number": ("analyse", f"runs{EVIL}.csv", *DIFFERENCE, "--alpha", EVIL),
    "a command": (EVIL,),
    "report": ("report", f"runs{EVIL}.csv", *DIFFERENCE, "-o", f"out{EVIL}.md"),
    "report, another ending": ("report", f"runs{EVIL}.csv", *DIFFERENCE, "-o", f"out{EVIL}"),
    "advise": ("advise", f"runs{EVIL}.csv", "--detect", "1", "--difference", "simple"),
    "advise, a cost": ("advise", f"runs{EVIL}.csv", "--detect", "1", "--difference", "simple", "--cost", EVIL),
    "check": ("check", f"study{EVIL}.toml"),
    "check, broken": ("check", f"broken{EVIL}.toml"),
    "run": ("run", f"study{EVIL}.toml"),
    "run, a part": ("run", f"study{EVIL}.toml", "--part", EVIL),
    "run, missing": ("run", f"gone{EVIL}.toml"),
    "status": ("status", f"damaged{EVIL}.db"),
    "status, missing": ("status", f"gone{EVIL}.db"),
    "export": ("export", f"damaged{EVIL}.db", f"out{EVIL}.csv"),
    "export, another ending": ("export", f"damaged{EVIL}.db", f"out{EVIL}"),
    "merge": ("merge", f"damaged{EVIL}.db", "-o", f"out{EVIL}.db"),
    "merge, no folder": ("merge", f"damaged{EVIL}.db", "-o", f"{EVIL}/out.db"),
    "rescue": ("rescue", f"damaged{EVIL}.db", "-o", f"out{EVIL}.db"),
    "init": ("init", EVIL),
    "demo": ("demo", "--output", f"runs{EVIL}.csv"),
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_nothing_that_a_terminal_obeys_is_printed(evil, shell, words):
    answer = shell(*words)

    printed = (answer.out + answer.err).replace("\n", "").replace("\t", "")
    assert printed.isprintable(), [mark for mark in printed if not mark.isprintable()]
    assert "defect" not in answer.err


def test_the_modules_beside_a_study_are_those_of_the_study_when_it_is_run(folder, shell):
    """What `run` and `check` do is said in the manual: they run what study.toml names."""
    for name in (*PLANTED, "owned"):
        (folder / f"{name}.py").unlink()
    shutil.rmtree(folder / "stylelib")

    done = shell("check", "study.toml", "--store", "new.db", cwd=folder)

    assert done.code == 0, done.err
