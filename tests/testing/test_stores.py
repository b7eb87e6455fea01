from __future__ import annotations

import pytest

from ampler.core.runs import Observation, RunKey
from ampler.testing import STORE_CONTRACT, MemoryStore, contract_plan


@pytest.mark.parametrize("check", STORE_CONTRACT, ids=lambda check: check.__name__)
def test_memory_store_fills_the_contract(check):
    check(MemoryStore)


def test_two_stores_share_nothing():
    one, other = MemoryStore(), MemoryStore()
    one.begin(contract_plan(), {})
    one.add([Observation(RunKey("i1", "a", 0), 1.0)])

    assert other.begun() == frozenset()
    assert other.plans() == ()
