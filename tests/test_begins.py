"""Where workers begin to collect: elsewhere each, nothing is lost, and what they collected has one order."""

from types import SimpleNamespace

import pytest
from begins import begun_elsewhere, in_one_order


@pytest.fixture
def nodes(tmp_path):
    """What a folder holds: folders with one, six and two modules, and three modules."""
    for name, modules in {"a": 1, "b": 6, "c": 2}.items():
        for number in range(modules):
            module = tmp_path / name / "deeper" / f"test_{number}.py"
            module.parent.mkdir(parents=True, exist_ok=True)
            module.touch()
    return [SimpleNamespace(path=tmp_path / name) for name in ("a", "b", "c", "test_d.py", "test_e.py", "test_f.py")]


@pytest.mark.parametrize("workers", [1, 2, 3, 20])
def test_every_worker_collects_all_in_turn(nodes, workers):
    for worker in range(workers):
        turned = list(nodes)
        begun_elsewhere(turned, worker, workers)
        place = nodes.index(turned[0])

        assert turned == nodes[place:] + nodes[:place]


def test_each_of_three_begins_after_a_third_of_the_modules(nodes):
    begins = []
    for worker in range(3):
        turned = list(nodes)
        begun_elsewhere(turned, worker, 3)
        begins.append(turned[0].path.name)

    assert begins == ["a", "c", "test_d.py"]


def test_what_was_collected_has_one_order_and_a_module_keeps_its_own():
    names = ["tests/b.py::test_z", "tests/b.py::test_a", "tests/a.py::test_b", "tests/c.py::test_a[x::y]"]
    items = [SimpleNamespace(nodeid=name) for name in names]
    in_one_order(items)

    assert [item.nodeid for item in items] == [names[2], names[0], names[1], names[3]]
