"""Example studies: a commented study.toml with its files, for each kind of algorithm.

`demo` is the one that `ampler demo` runs.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from textwrap import wrap
from typing import Literal

from ampler.core.errors import InvalidInput
from ampler.core.serialization import write_new_files
from ampler.core.settings import choices, help_text

Flavour = Literal["python", "command", "irace", "worker"]
PROGRAMS: Mapping[Flavour, str] = {
    "python": "solvers.py",
    "command": "solver.py",
    "irace": "target-runner",
    "worker": "worker.py",
}
INSTANCES = 16
EXECUTABLE = 0o755


def starter(flavour: Flavour) -> dict[str, str]:
    """Return the files of a study to start from: their text by name."""
    program = PROGRAMS[flavour]
    study = text_of("study.toml").replace("@ALGORITHMS@", text_of(f"{flavour}/algorithms.toml"))
    code = text_of(f"{flavour}/{program}.in").replace("@SOLVE@", text_of("solve.py.in").rstrip("\n"))
    return {"study.toml": study.replace("@PYTHON@", _python()), program: code, **_instances()}


def text_of(name: str) -> str:
    """Return a file of this folder; @alpha@ becomes a comment with the text, choices and default of alpha."""

    def comment(mark: re.Match[str]) -> str:
        text, words = help_text(mark[1]), choices(mark[1])
        if words and words[-1] not in text:
            text = f"{text} One of {', '.join(words)}."
        return "# " + f"\n{' ' * 29}# ".join(wrap(text, 90))

    return re.sub("@([a-z_]+)@", comment, (files("ampler.study.starters") / name).read_text(encoding="utf-8"))


def write_starter(folder: Path, flavour: Flavour) -> list[str]:
    """Write a study to start from into a folder and return the names of its files; nothing is overwritten."""
    texts = starter(flavour)
    if old := [name for name in texts if os.path.lexists(folder / name)]:
        first, more = folder / old[0], f" and {len(old) - 1} more" if len(old) > 1 else ""
        raise InvalidInput(f"a new study overwrites nothing, and {first} is there{more}; choose another folder")
    write_new_files({folder / name: text for name, text in texts.items()})
    for name, text in texts.items():
        if text.startswith("#!"):
            (folder / name).chmod(EXECUTABLE)
    return list(texts)


def _instances() -> dict[str, str]:
    """Fixed artificial scheduling instances: the number of machines, then the times of the jobs."""
    rng = random.Random(2019)
    texts = {}
    for number in range(1, INSTANCES + 1):
        machines, jobs = rng.randint(3, 8), rng.randint(30, 60)
        times = [rng.randint(5, 99) for _ in range(jobs)]
        texts[f"instances/{number:02}.txt"] = f"{machines}\n{' '.join(map(str, times))}\n"
    return texts


def _python() -> str:
    """The Python for commands: `python3` if available, otherwise this interpreter."""
    return "python3" if shutil.which("python3") else sys.executable
