"""For your own tests: fakes that work, and the contracts that plug-ins are tested with.

Read in this order: `dummies` (algorithms and instances whose true means are known), `contracts` (`STORE_CONTRACT`: what
every store must do, `MemoryStore` and `SerialExecutor`). The package is public and may import every other but `app`;
nothing imports it but tests.
"""

from ampler.testing.contracts import STORE_CONTRACT, MemoryStore, SerialExecutor, StoreMaker, contract_plan
from ampler.testing.dummies import DummyAlgorithm, DummyInstance, dummy_algorithms, dummy_draw, dummy_instances

__all__ = ["DummyAlgorithm", "DummyInstance", "dummy_algorithms", "dummy_draw", "dummy_instances"]
__all__ += ["STORE_CONTRACT", "MemoryStore", "SerialExecutor", "StoreMaker", "contract_plan"]
