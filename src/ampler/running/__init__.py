"""Carries out a plan: where decisions, workers and store meet; progress as values.

    plan ─► driver ─► instance: asks the rule ─► queue ─► engines ─► work ─► one_run
              │                    ▲                                            │
              └──── store ◄────────┴──────────── observations ◄─────────────────┘

In reading order:

* `driver`: `run_plan`, one thread in which everything meets; it alone writes to the store, and hears Ctrl-C and
  SIGTERM; changed code is asked about before anything runs
* `instance`: one instance on its way; resuming is replaying, and a rule is heard with care; which runs come next,
  and how many make a chunk
* `work`: what travels to a worker and back, and whether the file of an instance is still the planned one
* `engines`: who makes the runs; `external`: runs that another workflow makes
* `one_run`: one run of one algorithm, under its limits
* `progress`: how far a study is, as values, in sentences and as a bar
* `check`: each algorithm tried once, before a study is carried out

It may import `study`, `sampling`, `stats` and `core`. Decisions are not taken here: rules and study rules take them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ampler.core.runs import Progress as Progress

if TYPE_CHECKING:
    from ampler.running.driver import run_plan as run_plan


def __getattr__(name: str) -> Any:
    """Load the driver on demand: workers do not need it, and start four times as fast."""
    if name != "run_plan":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ampler.running.driver import run_plan

    return run_plan
