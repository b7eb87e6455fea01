"""Packages describe themselves, public classes have one home, and tests mirror the packages.

The layers between packages are contracts of import-linter in pyproject.toml; `make check` holds them.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ampler"
MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(page.parent for page in SOURCE.rglob("__init__.py"))


def test_a_public_class_has_one_home():
    homes = defaultdict(list)
    for module in MODULES:
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(module.relative_to(SOURCE)))

    twice = {name for name, modules in homes.items() if len(modules) > 1}
    assert twice == {"Detect"}  # of the interface, and the rule whose name study files record


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: str(package.relative_to(SOURCE.parent)))
def test_the_docstring_of_a_package_names_its_modules(package):
    modules = {path.stem for path in package.glob("*.py")} | {
        path.parent.name for path in package.glob("*/__init__.py")
    }
    docstring = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    word = r"\w+" if package == SOURCE else r"`(\w+)`"  # the top package shows a diagram

    assert modules - {"__init__", "__main__"} <= set(re.findall(word, docstring))


def test_the_folders_of_tests_mirror_the_packages():
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}

    assert [str(folder) for folder in folders - {Path("hostile")} if not (SOURCE / folder).is_dir()] == []
