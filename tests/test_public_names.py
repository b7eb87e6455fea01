from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import ampler


def imports_for_type_checkers() -> dict[str, str]:
    """The names that type checkers see in ampler/__init__.py, each with the module it comes from."""
    tree = ast.parse(Path(ampler.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        if node.module == "typing":
            continue
        for alias in node.names:
            assert alias.asname == alias.name, f"write `{alias.name} as {alias.name}`: a public name is exported"
            found[alias.name] = node.module.removeprefix("ampler.")
    return found


def test_code_that_is_type_checked_uses_every_public_name():
    code = (Path(__file__).parent / "typing" / "user_code.py").read_text(encoding="utf-8")
    assert [name for name in ampler.__all__ if f"am.{name}" not in code] == []


def test_type_checkers_users_and_all_see_the_same_names():
    assert imports_for_type_checkers() == ampler._HOMES
    assert sorted(ampler.__all__) == sorted(ampler._HOMES)


def test_every_name_has_one_home_and_stands_in_alphabetical_order_there():
    rooms = [names.split() for names in ampler._MODULES.values()]
    assert sum(map(len, rooms)) == len(ampler._HOMES)
    for names in (*rooms, ampler.__all__):
        assert names == sorted(names)


@pytest.mark.parametrize("name", ampler.__all__)
def test_every_public_name_loads_from_its_home_and_is_documented(name):
    value = getattr(ampler, name)

    assert value is getattr(import_module(f"ampler.{ampler._HOMES[name]}"), name)
    assert not callable(value) or (value.__doc__ or "").strip()


def test_dir_lists_the_public_names():
    assert set(ampler.__all__) <= set(dir(ampler))


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'requierd_instances'"):
        ampler.requierd_instances  # noqa: B018


def test_the_root_is_small():
    assert len(ampler.__all__) < 32
