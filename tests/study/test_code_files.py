"""Which files the runs of an algorithm hang on: those of the study, by names that mean the same on every machine."""

import hashlib
import importlib
import shutil
import sys
from functools import partial

import pytest

from ampler.core.plan import Command, Function
from ampler.study import code as study_code
from ampler.study.code import codes_of, digest_of


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that comes first on the import path, and whose modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def write(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)


def function(module, name="solve"):
    importlib.invalidate_caches()
    call = getattr(importlib.import_module(module), name)
    return Function("mine", call, f"{module}:{name}")


def command(folder, *argv, **parameters):
    return Command("mine", argv, parameters, folder=str(folder))


def code_of(algorithm):
    """The whole files, without what is used of them."""
    files = study_code.code_of(algorithm).items()
    return {name: digest for name, digest in files if not name.startswith(study_code.USED)}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_function_hangs_on_its_module_and_on_what_that_imports_from_its_folder(folder):
    write(folder, first="import second\nimport json\ndef solve(i, s): return second.x", second="x = 1", other="y = 2")

    code = code_of(function("first"))

    assert code == {"first.py": sha256(folder / "first.py"), "second.py": sha256(folder / "second.py")}


def test_a_function_under_partial_arguments_and_one_that_is_passed_on_hang_on_the_module_that_defines_them(folder):
    write(folder, door="from inner import solve", inner="def solve(i, s, k=1): return k")
    passed_on = function("door")

    assert list(code_of(passed_on)) == ["door.py", "inner.py"]
    assert "inner.py" in code_of(Function("mine", partial(passed_on.call, k=2), "inner:solve"))


def test_modules_of_packages_have_their_path_as_name(folder):
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("")
    (folder / "pack" / "core.py").write_text("from . import help\ndef solve(i, s): return help.x")
    (folder / "pack" / "help.py").write_text("x = 1")

    assert set(code_of(function("pack.core"))) == {"pack/core.py", "pack/__init__.py", "pack/help.py"}


def test_installed_packages_are_no_part_of_the_study():
    import numpy as np

    code = code_of(Function("mine", np.median, "numpy:median"))

    assert len(code) <= 2, "the files that were named, and nothing they import"


def test_a_function_without_a_file_has_no_code():
    assert code_of(Function("mine", len, "builtins:len")) == {}


def test_a_command_hangs_on_its_executable_and_the_files_in_its_arguments(folder):
    for name in ("solve", "model.bin", "settings.json", "weights"):
        (folder / name).write_text(name)
    words = ("./solve", "--model", "model.bin", "--set=settings.json", "{weights}", "{seed}", "{instance}")

    code = code_of(command(folder, *words, weights="weights"))

    assert set(code) == {"./solve", "model.bin", "settings.json", "weights"}
    assert code["model.bin"] == sha256(folder / "model.bin")


def test_words_that_change_with_the_run_are_no_files_of_the_command(folder):
    (folder / "{seed}.txt").write_text("")
    (folder / "out-{instance}").write_text("")

    assert set(code_of(command(folder, "true", "{seed}.txt", "out-{instance}"))) == {"true"}


def test_a_program_on_the_path_is_hashed_under_its_name(folder):
    found = shutil.which("true")

    assert code_of(command(folder, "true", "{instance}"))["true"] == digest_of(folder / found)


@pytest.mark.parametrize("argv", [("solver.py",), ("-m", "solver"), ("-u", "-m", "solver")])
def test_a_python_script_hangs_on_what_it_imports_however_it_is_started(folder, argv):
    write(folder, solver="import helper", helper="x = 1")

    code = code_of(command(folder, "python3", *argv, "{instance}"))

    assert {"solver.py", "helper.py"} <= set(code)


def test_a_script_in_a_subfolder_imports_from_there(folder):
    (folder / "src").mkdir()
    write(folder / "src", solver="import helper", helper="x = 1")

    assert {"src/solver.py", "src/helper.py"} <= set(code_of(command(folder, "python3", "src/solver.py", "{instance}")))


def test_a_study_that_was_moved_has_the_same_code(folder):
    for place in ("here", "there"):
        (folder / place).mkdir()
        write(folder / place, solver="import helper", helper="x = 1")
    here, there = (code_of(command(folder / place, "python3", "solver.py")) for place in ("here", "there"))

    assert here == there


def test_words_that_are_no_paths_and_programs_that_are_not_there_are_left_out(folder):
    assert codes_of([command(folder, "no-such-program", "x" * 5000, "a\0b", "{instance}")]) == {"mine": {}}
