"""For your own tests: fakes that work, and the contracts that plug-ins are tested with.

Read in this order: `dummies` (algorithms and instances whose true means are known), `executors` (`SerialExecutor`),
`stores` (`MemoryStore`), `store_contract` (`STORE_CONTRACT`: what every store must do). The room is public, ships with
the package and may import every room but `app`; nothing imports it but tests.
"""

from ampler.testing.dummies import DummyAlgorithm, DummyInstance, dummy_algorithms, dummy_draw, dummy_instances
from ampler.testing.executors import SerialExecutor
from ampler.testing.store_contract import (
    STORE_CONTRACT,
    StoreMaker,
    check_store_adds_all_or_nothing,
    check_store_closes_twice,
    check_store_counts_the_last_attempt,
    check_store_gives_back_what_was_added,
    check_store_gives_runs_as_columns,
    check_store_joins_what_several_decisions_asked_for,
    check_store_keeps_decisions_over_instances,
    check_store_keeps_every_plan,
    check_store_keeps_finished_instances_by_decisions,
    check_store_keeps_progress,
    check_store_lets_a_command_be_mended,
    check_store_lets_a_study_grow,
    check_store_needs_a_plan_first,
    check_store_reads_in_the_order_of_the_plan,
    check_store_refuses_another_plan,
    check_store_refuses_what_is_no_observation,
    check_store_reopens_what_a_further_attempt_touches,
    contract_plan,
)
from ampler.testing.stores import MemoryStore

__all__ = [
    "STORE_CONTRACT",
    "DummyAlgorithm",
    "DummyInstance",
    "MemoryStore",
    "SerialExecutor",
    "StoreMaker",
    "check_store_adds_all_or_nothing",
    "check_store_closes_twice",
    "check_store_counts_the_last_attempt",
    "check_store_gives_back_what_was_added",
    "check_store_gives_runs_as_columns",
    "check_store_joins_what_several_decisions_asked_for",
    "check_store_keeps_decisions_over_instances",
    "check_store_keeps_every_plan",
    "check_store_keeps_finished_instances_by_decisions",
    "check_store_keeps_progress",
    "check_store_lets_a_command_be_mended",
    "check_store_lets_a_study_grow",
    "check_store_needs_a_plan_first",
    "check_store_reads_in_the_order_of_the_plan",
    "check_store_refuses_another_plan",
    "check_store_refuses_what_is_no_observation",
    "check_store_reopens_what_a_further_attempt_touches",
    "contract_plan",
    "dummy_algorithms",
    "dummy_draw",
    "dummy_instances",
]
