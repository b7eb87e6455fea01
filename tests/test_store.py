"""The study file: the contract of a store, and what only a file can suffer."""

from __future__ import annotations

import pytest

from ampler.store import open_store
from ampler.testing import STORE_CONTRACT, MemoryStore


@pytest.mark.parametrize("check", STORE_CONTRACT, ids=lambda check: check.__name__)
def test_memory_store_fills_the_contract(check):
    check(MemoryStore)


@pytest.mark.parametrize("check", STORE_CONTRACT, ids=lambda check: check.__name__)
def test_study_file_fills_the_contract(check, tmp_path):
    opened = []

    def make():
        opened.append(open_store(tmp_path / f"study-{len(opened)}.db"))
        return opened[-1]

    try:
        check(make)
    finally:
        for store in opened:
            store.close()
