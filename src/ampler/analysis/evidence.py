"""What an analysis may be told besides the runs: what their source says about them, be it a table or a study file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ampler.core.runs import Runs
from ampler.core.values import Caution

if TYPE_CHECKING:
    from ampler.analysis.looked import LookCourse
    from ampler.design.pilot import PilotReport
    from ampler.sampling.rules import Accuracy


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Runs with what their source says about them: groups of instances, settings of the study, what was noticed."""

    runs: Runs
    features: Mapping[str, Mapping[str, object]]
    settings: Mapping[str, Any]  # those of an analysis, as far as the source knows; what the user says comes before
    notes: tuple[Caution, ...]
    deterministic: tuple[str, ...] | None = None  # algorithms whose value never changes; None: not known
    rule: Accuracy | None = None  # that looked at the values and decided on the runs; None: none did, or not known
    course: PilotReport | None = None  # how the values decided on the number of instances; None: they did not
    looks: LookCourse | None = None  # how the values were looked at on the way; None: they were not
    unfinished: str = ""  # why nothing is tested yet: what is missing of the plan; nothing where it is complete
    time_limit: float | None = None  # of all runs, in the unit of their values; None: not known
    fixed_runs: bool = False  # the plan fixed how many runs are made on an instance, or its pilot did
    measure: str = "value"  # what was measured
