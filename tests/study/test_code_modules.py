"""What a Python file imports from its folder is found by reading it."""

import pytest

from ampler.study.code import file_of, reached


def names(folder, start="start.py"):
    return [file.relative_to(folder).as_posix() for file in reached(folder / start, folder)]


@pytest.mark.parametrize(
    "text",
    [
        "import other",
        "import json, other",
        "from other import x",
        "def f():\n    import other as o",
        "if True:\n    from other import *",
        "try:\n    import other\nexcept ImportError: pass",
    ],
)
def test_every_way_of_importing_is_seen(tmp_path, text):
    (tmp_path / "start.py").write_text(text)
    (tmp_path / "other.py").write_text("x = 1")

    assert names(tmp_path) == ["start.py", "other.py"]


def test_packages_are_followed_with_all_that_is_executed_on_the_way(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("a/__init__.py", "a/b/__init__.py", "a/b/d.py", "a/e.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "a/b/c.py").write_text("from . import d\nfrom .. import e")
    (tmp_path / "start.py").write_text("from a.b import c")

    assert set(names(tmp_path)) == {
        *("start.py", "a/__init__.py", "a/b/__init__.py", "a/b/c.py", "a/b/d.py", "a/e.py"),
    }


def test_modules_that_import_each_other_are_read_once(tmp_path):
    (tmp_path / "start.py").write_text("import other")
    (tmp_path / "other.py").write_text("import start")

    assert names(tmp_path) == ["start.py", "other.py"]


def test_a_file_that_cannot_be_read_as_python_imports_nothing(tmp_path):
    (tmp_path / "start.py").write_text("import other\nthis is no Python")
    (tmp_path / "other.py").write_text("")

    assert names(tmp_path) == ["start.py"]


def test_compiled_modules_are_files_too(tmp_path):
    (tmp_path / "fast.cpython-311-x86_64-linux-gnu.so").write_bytes(b"\x7fELF")

    assert file_of("fast", tmp_path) == tmp_path / "fast.cpython-311-x86_64-linux-gnu.so"
    assert file_of("slow", tmp_path) is None
