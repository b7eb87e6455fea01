"""Interim analyses of t-tests on a table of differences, as tests simulate them."""

from __future__ import annotations

import numpy as np

from ampler.stats.paired.contract import p_of_t
from ampler.stats.paired.student import t_statistic
from ampler.stats.sequential.boundaries import Schedule
from ampler.stats.sequential.decisions import LookEvidence, equivalence_p_values, repeated_p_values


def normal_levels(spending, level, fractions, *, sides=2):
    """Return the nominal level of each look by normal theory."""
    return Schedule(spending, tuple(fractions), None, sides).nominal_levels(level)


def student_schedule(spending, instances, *, sides=2):
    """Return the schedule of t-tests on this many instances, the last look having all of them."""
    return Schedule(spending, tuple(n / (instances[-1] or 1) for n in instances), tuple(instances), sides)


def student_levels(spending, level, instances, *, fractions=None, sides=2):
    """Return the nominal level of each look for t-tests on this many instances."""
    if fractions is None:
        return student_schedule(spending, instances, sides=sides).nominal_levels(level)
    return Schedule(spending, tuple(fractions), tuple(instances), sides).nominal_levels(level)


def t_evidence(differences, looks, *, alternative="two-sided", effect=None):
    """Return the t-tests of each interim analysis; instances in rows, comparisons in columns."""
    counts = np.array([(~np.isnan(differences[:n])).sum(axis=0) for n in looks], dtype=np.int64)
    t = np.array([[_t_of_those_there(column[:n]) for column in differences.T] for n in looks])
    p_values = p_of_t(t, np.maximum(counts - 1, 1), alternative)
    return LookEvidence(counts, p_values, None if effect is None else equivalence_p_values(t, counts, effect))


def sequential_p_values(schedule, p_values):
    """Return the smallest repeated p-value up to each look."""
    return np.minimum.accumulate(repeated_p_values(schedule, p_values), axis=0)


def _t_of_those_there(differences):
    """The t statistic of the differences that are there: 0 if all are 0, NaN if all are equal or there is one."""
    values = differences[~np.isnan(differences)]
    if len(values) < 2:
        return np.nan
    return t_statistic(values) if values.any() else 0.0
