"""Run inside a mount namespace: every command that writes, on a disk that is full; prints what came of each as JSON."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import sys
import traceback
from pathlib import Path

COMMANDS = {
    "merge": ("merge", "study.db", "-o", "out.db"),
    "merge into": ("merge", "study.db", "-o", "again.db"),
    "rescue": ("rescue", "study.db", "-o", "out.db"),
    "export": ("export", "study.db", "out.csv"),
    "export parquet": ("export", "study.db", "out.parquet"),
    "report": ("report", "study.db", "-o", "out.html"),
    "report tex": ("report", "study.db", "-o", "out.tex"),
    "report over": ("report", "study.db", "-o", "old.md"),
    "figures": ("report", "study.db", "-o", "@/out.md", "--figures", "figures"),
    "figures png": ("report", "study.db", "-o", "@/out.md", "--figures", "figures", "--figure-format", "png"),
    "init": ("init", "new"),
    "check": ("check", "study.toml", "--store", "new.db"),
    "run": ("run", "study.toml", "--store", "new.db", "--workers", "1"),
    "plot": ("design", "--algorithms", "3", "--vs-all", "--effect", "1", "--power", "0.8", "--plot", "out.pdf"),
}


LOADED = ("ampler.app.shell", "ampler.front", "ampler.report", "ampler.running.driver", "ampler.study.toml")


def main(sound: str, disk: str, answers: str, *chosen: str) -> None:
    """Carry out the chosen commands on the full disk `disk`; `answers` is a folder on another one."""
    for name in LOADED:  # once, for all children
        importlib.import_module(name)
    with contextlib.redirect_stdout(None):
        sys.modules["ampler.app.shell.app"].app(
            ["--version"], standalone_mode=False
        )  # loads what the shell reads words with
    os.chdir(disk)
    shutil.copytree(sound, "study")
    os.chdir("study")
    shutil.copy("study.db", "again.db")
    Path("old.md").write_text("old")
    fill()
    told = {name: carried_out(COMMANDS[name], Path(answers)) for name in chosen}
    print(json.dumps(told))


def fill() -> None:
    """Leave next to nothing."""
    with open("ballast", "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def carried_out(words: tuple[str, ...], answers: Path) -> dict[str, object]:
    """Carry a command out in a child, and say what it said, how it left, and which files it left."""
    before = names()
    child = os.fork()
    if child == 0:
        leave(words, answers)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return {"code": code, "err": (answers / "err").read_text(), "left": sorted(names() - before)}


def leave(words: tuple[str, ...], answers: Path) -> None:
    from ampler.app.shell import main as ampler

    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(answers / name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), stream)
    sys.argv = ["ampler", *(word.replace("@", str(answers)) for word in words)]
    code = 99
    try:
        ampler()
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def names() -> set[str]:
    return {str(path) for path in Path().rglob("*")}


if __name__ == "__main__":
    main(*sys.argv[1:])
