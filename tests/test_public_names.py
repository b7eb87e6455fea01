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
        for alias in node.names:
            assert alias.asname == alias.name, f"write `{alias.name} as {alias.name}`: a public name is exported"
            found[alias.name] = node.module.removeprefix("ampler.")
    return found


def test_type_checkers_users_and_all_see_the_same_names():
    assert imports_for_type_checkers() == ampler._HOMES
    assert sorted(ampler.__all__) == sorted(ampler._HOMES)


def test_every_name_has_one_home_and_stands_in_alphabetical_order_there():
    rooms = [names.split() for names in ampler._ROOMS.values()]
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


def test_no_name_of_an_earlier_version_is_gone():
    first = """
    Accuracy Advice AmplerError Analysis Command Design DesignCheck Drop Estimate Fixed Function
    Instance Observation Par Penalty Plan Progress Question Reading RunKey Sample Samples Stop StopStudy
    Study achieved_power advise analyse detectable_effect effect_from estimate make_plan merge_stores
    n_comparisons open_store power_curve read_store read_study_file required_instances run_plan run_seed
    sample simulate_design suggest_se write_report
    """

    assert set(first.split()) <= set(ampler.__all__)
