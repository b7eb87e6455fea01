"""Families of comparisons judged together by resampling the instances: bootstrap-t and sign flips. Pure.

Differences come as an array with instances in rows and comparisons in columns; NaN where a pair lacks an instance, and
each comparison then uses the instances it has. All comparisons see the same resampled instances, so whatever ties them
together, a shared reference above all, is in the joint distribution and need not be paid for as in Holm's correction.

In reading order:

* `family`: the differences in standard units, and a family's verdict with its intervals
* `steps`: stepping down through a family by the smallest of its p-values, balanced
* `bootstrap`: instances drawn anew, every comparison studentised in every resample
* `flips`: signs of the differences turned, exact where they are symmetric
"""

from ampler.stats.resampling.bootstrap import bootstrap_t, bootstrap_t_equivalence, joint_coverage
from ampler.stats.resampling.family import Family
from ampler.stats.resampling.flips import sign_flip, sign_flip_equivalence
from ampler.stats.resampling.steps import RESAMPLES, SEED, Steps

__all__ = [
    "RESAMPLES",
    "SEED",
    "Family",
    "Steps",
    "bootstrap_t",
    "bootstrap_t_equivalence",
    "joint_coverage",
    "sign_flip",
    "sign_flip_equivalence",
]
