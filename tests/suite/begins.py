"""Where each worker begins to collect: in a first run, what one has compiled meanwhile, the others find.

All of them import all tests. If they did so in one order, each would compile each module, at the same moment.
"""

from __future__ import annotations

from itertools import accumulate

import pytest


def begun_elsewhere(nodes: list[pytest.Item | pytest.Collector], worker: int, workers: int) -> None:
    """Turn what a folder holds such that each worker begins after another share of its modules."""
    before = [0, *accumulate(map(_modules, nodes))]
    place = next(place for place, count in enumerate(before) if count * workers >= before[-1] * worker)
    nodes[:] = [*nodes[place:], *nodes[:place]]


def in_one_order(items: list[pytest.Item]) -> None:
    """Sort what was collected by its files, wherever collecting began."""
    items.sort(key=lambda item: item.nodeid.partition("::")[0])


def _modules(node: pytest.Item | pytest.Collector) -> int:
    return sum(1 for _ in node.path.rglob("test_*.py")) if node.path.is_dir() else 1
