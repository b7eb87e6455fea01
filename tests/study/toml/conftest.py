"""What the tests of study.toml share: a folder with instances and modules, and a reader of texts."""

from __future__ import annotations

import json
import sys
from textwrap import dedent

import pytest

from ampler.study.toml import read_study_file


@pytest.fixture
def folder(tmp_path):
    """A folder with instances and modules; what is imported from it is forgotten afterwards."""
    for number in (1, 2, 10):
        (tmp_path / "instances").mkdir(exist_ok=True)
        (tmp_path / "instances" / f"{number}.txt").write_text(f"{number}\n")
    (tmp_path / "solvers.py").write_text("def anneal(instance, seed, cooling=0.9):\n    return 1.0\n")
    (tmp_path / "problems.py").write_text("small = {'x': 1, 'y': [2]}\ndef large():\n    return {'z': 3, **small}\n")
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in ("solvers", "problems", "broken", "leaving"):
        sys.modules.pop(name, None)


@pytest.fixture
def read(folder):
    """`read(text)`: the study file of this text in the folder."""

    def read(text):
        (folder / "study.toml").write_text(dedent(text).lstrip())
        return read_study_file(folder / "study.toml")

    return read


@pytest.fixture(scope="session")
def as_toml():
    """`as_toml(value)`: a value in TOML; `as_toml.key(name)`: a key."""
    toml.key = key
    return toml


def toml(value):
    """A value in TOML, strings in any of their forms that can hold them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key(name)} = {toml(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list):
        return "[\n  # a comment with ] in it\n" + "".join(f"  {toml(each)},\n" for each in value) + "]"
    if isinstance(value, str):
        if value.isprintable() and "'" not in value and len(value) % 2:
            return f"'''\n{value}'''" if len(value) % 3 else f"'{value}'"
        plain = "".join(c if c.isascii() else f"\\U{ord(c):08x}" for c in json.dumps(value, ensure_ascii=False))
        plain = plain.replace("\x7f", "\\u007f")
        return f'"""{plain[1:-1]}"""' if len(value) % 2 else plain
    return repr(value)


def key(name):
    bare = name and name.isascii() and all(c.isalnum() or c in "_-" for c in name)
    return name if bare else '"' + "".join(f"\\U{ord(c):08x}" for c in name) + '"'
