"""Whether higher or lower values are better, where their whole name leaves no doubt; the names are in `vocabulary`."""

from __future__ import annotations

from ampler.core.choices import Better
from ampler.data.tables.vocabulary import HIGHER, LOWER, measure_in


def better_by_name(name: object) -> Better | None:
    """Return what is better of values that are called so; None where the name does not say it beyond doubt.

    >>> better_by_name("Test accuracy (%)"), better_by_name("CPU time"), better_by_name("fitness")
    ('higher', 'lower', None)
    >>> better_by_name("accuracy_drop"), better_by_name("gap_closed")
    (None, None)
    """
    measure = measure_in(name)
    return "higher" if measure in HIGHER else "lower" if measure in LOWER else None
