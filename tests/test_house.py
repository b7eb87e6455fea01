"""The house: few rooms, a page for each, names that mean one thing, tests in the same places as what they test."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "ampler"
MODULES = sorted(HOUSE.rglob("*.py"))
PAGES = [module for module in MODULES if module.name == "__init__.py"]
DOORS = {"__init__.py", "__main__.py"}

FROM_OUTSIDE = "a run is known by what it gives and leaves behind, the same for every way it is made"
TESTED_THROUGH = {
    "running/one_run/functions.py": ("running/one_run/test_execution.py", FROM_OUTSIDE),
    "running/one_run/threaded.py": ("running/one_run/test_execution.py", FROM_OUTSIDE),
}


def place(path: Path) -> str:
    """Where a file lies in the house."""
    return path.relative_to(HOUSE).as_posix()


def room(page: Path) -> str:
    return "ampler" if page.parent == HOUSE else place(page.parent)


@cache
def written(module: Path) -> tuple[str, list[tuple[type[ast.AST], str]]]:
    """What a module says of itself, and the kinds and names of what it defines at its top level."""
    tree = ast.parse(module.read_text(encoding="utf-8"))  # is not kept: trees of all modules are a lot to look after
    defined = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return ast.get_docstring(tree) or "", [(type(node), node.name) for node in tree.body if isinstance(node, defined)]


def public_names(module: Path, *kinds: type[ast.AST]) -> list[str]:
    """The public names of some kinds that a module defines at its top level."""
    return [name for kind, name in written(module)[1] if kind in kinds and not name.startswith("_")]


def homes(*kinds: type[ast.AST]) -> dict[str, list[str]]:
    """Every public name that is defined more than once, with the modules that define it."""
    found = defaultdict(list)
    for module in MODULES:
        for name in public_names(module, *kinds):
            found[name].append(place(module))
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def test_the_house_has_few_entries():
    entries = [path.name for path in HOUSE.iterdir() if path.name != "__pycache__"]

    assert len(entries) <= 16, entries


def test_a_public_class_has_one_home():
    assert homes(ast.ClassDef) == {}


@pytest.mark.parametrize("page", PAGES, ids=room)
def test_the_page_of_a_room_names_all_that_is_in_it(page):
    inside = [path for path in page.parent.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    word = r"\w+" if room(page) == "ampler" else r"`(\w+)`"  # the page of the whole house is a picture
    named = set(re.findall(word, written(page)[0]))

    assert {path.stem for path in inside if path.name not in DOORS} <= named


def test_tests_lie_where_the_code_lies():
    wanted = {
        place(module): module.relative_to(HOUSE).with_name(f"test_{module.name}")
        for module in MODULES
        if module.name not in DOORS and public_names(module, ast.FunctionDef, ast.ClassDef)
    }
    missing = {name for name, test in wanted.items() if not (ROOT / "tests" / test).is_file()}

    assert missing == TESTED_THROUGH.keys()
    assert all((ROOT / "tests" / test).is_file() for test, _ in TESTED_THROUGH.values())


def test_every_folder_of_tests_is_a_room():
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}

    hostile = Path("hostile")  # bad input of every kind, at the doors of all rooms
    assert [str(folder) for folder in folders - {hostile} if not (HOUSE / folder).is_dir()] == []


def test_nothing_refers_to_a_document_that_is_not_here():
    absent = re.compile(rf"\b({'|'.join(('METHOD', 'HOUSE', 'DESIGN', 'STYLE'))})\.md\b")
    folders = [ROOT / name for name in ("src", "docs", "tests", "benchmarks", "case_studies")]
    texts = [path for folder in folders for end in ("py", "md", "toml", "in") for path in folder.rglob(f"*.{end}")]

    assert [str(path.relative_to(ROOT)) for path in texts if absent.search(path.read_text(encoding="utf-8"))] == []
