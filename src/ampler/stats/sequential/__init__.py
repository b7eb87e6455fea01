"""Looking before all instances are there, with the error rate kept: group-sequential tests for many comparisons. Pure.

A spending function says how much of a level may be used up by each look. `normal_levels` and `student_levels` turn that
into nominal levels: a test that meets the level of its look in its ordinary p-value may stop there. Everything else
follows from them: `repeated_p_values` and `sequential_p_values` say at which level a comparison would have stopped, an
ordinary interval at the nominal level is a repeated confidence interval, and `decide` runs Holm's procedure over looks.

In reading order:

* `spending`: how much of a level may be used up when a share of the instances is there
* `boundaries`, `student`: the nominal level of each look, in normal theory and exact for t
* `schedule`: looks and a spending function together
* `evidence`: what the differences say at each look
* `p_values`: p-values that stay valid over looks
* `decisions`: which comparisons stop, with which verdict, and who needs no more runs
* `skewed`: how often looks err where differences are skewed
"""

from ampler.stats.sequential.boundaries import critical_values, equivalence_levels, normal_levels
from ampler.stats.sequential.decisions import Declared, EquivalenceStop, Standing, Verdict, decide, needless, standings
from ampler.stats.sequential.evidence import LookEvidence, equivalence_p_values, repeated_interval, t_evidence
from ampler.stats.sequential.p_values import repeated_p_values, sequential_p_values
from ampler.stats.sequential.schedule import Schedule, student_schedule
from ampler.stats.sequential.skewed import looked_inflation
from ampler.stats.sequential.spending import Spending, named_spending
from ampler.stats.sequential.student import student_levels

__all__ = [
    "Declared",
    "EquivalenceStop",
    "LookEvidence",
    "Schedule",
    "Spending",
    "Standing",
    "Verdict",
    "critical_values",
    "decide",
    "equivalence_levels",
    "equivalence_p_values",
    "looked_inflation",
    "named_spending",
    "needless",
    "normal_levels",
    "repeated_interval",
    "repeated_p_values",
    "sequential_p_values",
    "standings",
    "student_levels",
    "student_schedule",
    "t_evidence",
]
