"""Carries out a plan: where decisions, workers and store meet; progress as values.

    plan ─► driver ─► instance: asks the rule ─► queue ─► engines ─► work ─► one_run
              │                    ▲                                            │
              └──── store ◄────────┴──────────── observations ◄─────────────────┘

In reading order:

* `driver`: `run_plan`, one thread in which everything meets; it alone writes to the store
* `interrupts`: Ctrl-C and SIGTERM, heard in any case
* `code`: changed code is asked about before anything runs
* `instance`: one instance on its way; resuming is replaying
* `ruling`: what a rule says, heard with care
* `remaining`: what is still to be made
* `queue`: which runs come next, and how many make a chunk
* `work`: what travels to a worker and back; `instance_files`: whether the file of an instance is still the planned one
* `engines`: who makes the runs
* `one_run`: one run of one algorithm, under its limits
* `progress`, `words`, `bar`: how far a study is, as values, in sentences and as a bar
* `check`: each algorithm tried once, before a study is carried out

It may import `study`, `sampling`, `stats` and `core`. Decisions are not taken here: rules and study rules take them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ampler.core.values import Progress as Progress

if TYPE_CHECKING:
    from ampler.running.driver import run_plan as run_plan


def __getattr__(name: str) -> Any:
    """Load the driver when it is asked for: workers make runs without it, and start in a quarter of the time."""
    if name != "run_plan":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ampler.running.driver import run_plan

    return run_plan
