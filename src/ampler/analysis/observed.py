"""From runs to the differences that are tested: who decides and who concludes goes this way and no other. Pure.

A study that is looked at decides by the differences that its analysis will test. Both come from here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ampler.analysis import cautions
from ampler.analysis.blocks import Comparable, comparable, gather, summarise
from ampler.analysis.compare import check_number
from ampler.analysis.estimates import Estimates
from ampler.analysis.pairing import matched
from ampler.core.arrays import Floats, Pair
from ampler.core.errors import InvalidData
from ampler.core.failures import FailurePolicy, WorstSeen
from ampler.core.runs import Runs, floored
from ampler.core.settings import AnalysisSettings
from ampler.core.wording import listed
from ampler.sampling.rules import Accuracy
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.paired import FEWEST


@dataclass(frozen=True, eq=False)
class Observed:
    """What runs say of each pair on each instance, and which instances say nothing."""

    runs: Runs  # with values below the floor as the floor
    contrasts: Contrasts
    estimates: Estimates
    excluded: Mapping[str, str]
    incomplete: Mapping[str, str]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The compared algorithms, by name."""
        return named_pairs(self.contrasts, self.runs.algorithms)


def observe(
    runs: Runs, settings: AnalysisSettings, deterministic: Collection[str] | None, rule: Accuracy | None
) -> Observed:
    """Return what runs say; InvalidInput tells what does not fit. `rule` decided on them by their values, if any."""
    if len(runs.algorithms) < 2:
        raise InvalidData(f"there must be at least two algorithms to compare, got {runs.algorithms[0]!r} alone")
    check_number(len(runs.algorithms), settings.reference)
    _check_pairing(runs, settings, rule)
    runs = floored(runs, settings.floor)
    contrasts = contrasts_of(
        runs.algorithms, difference=settings.difference, reference=settings.reference, formula=settings.formula
    )
    found = usable_cells(runs, settings.failures, contrasts, deterministic)
    paired = runs.shared is not None
    blocks = summarise(found.cells, settings.statistic, deterministic=deterministic, paired=paired)
    estimates = Estimates(found.cells, blocks, settings.statistic, rule)
    return Observed(runs, contrasts, estimates, found.excluded, found.incomplete)


def named_pairs(contrasts: Contrasts, names: Sequence[str]) -> tuple[Pair, ...]:
    """Return the compared algorithms, by name."""
    return tuple((names[i], names[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True))


def placed(differences: Floats, instances: Sequence[str], among: Sequence[str]) -> Floats:
    """Return the differences on some instances (rows) where these stand among others; NaN on the rest."""
    places = {name: place for place, name in enumerate(among)}
    table = np.full((len(among), differences.shape[1]), np.nan)
    table[[places[name] for name in instances]] = differences
    return table


def _check_pairing(runs: Runs, settings: AnalysisSettings, rule: Accuracy | None) -> None:
    """Runs are paired one by one, which fits means, and runs whose number no value decided."""
    if runs.shared is None:
        return
    if settings.statistic_name != "mean":
        raise InvalidData(f"paired runs are compared by their mean, got statistic {settings.statistic_name!r}")
    if len(runs.instances) == 1:
        raise InvalidData("paired runs are compared over instances, and there is one: leave out the pairing")
    if rule is not None:
        raise InvalidData("paired runs cannot have been ended by their values: leave out start, or the pairing")


def usable_cells(
    runs: Runs,
    policy: FailurePolicy | WorstSeen | None,
    contrasts: Contrasts,
    deterministic: Collection[str] | None,
) -> Comparable:
    """The cells that comparisons can rest on; InvalidData if no pair has two instances."""
    single = len(runs.instances) == 1
    cells = gather(matched(runs, policy), policy)
    found = comparable(cells, contrasts, (deterministic or ()) if single else deterministic)
    common = contrasts.both(found.cells.counts > 0).sum(axis=0)
    if common.max() >= (1 if single else FEWEST):
        return found
    left_out = {**found.excluded, **found.incomplete}
    why = listed([f"{name} ({reason})" for name, reason in left_out.items()], cautions.SHOWN)
    if single:
        raise InvalidData(
            "with one instance its runs are compared, and at least two algorithms must have two values or more there"
            f" (or there must be at least two instances); left out: {why}"
        )
    raise InvalidData(
        "there must be at least two instances with values of both algorithms of a pair, as the sample size is the"
        f" number of instances and not of runs, got {common.max()} of {len(runs.instances)}"
        + (f"; left out: {why}" if why else "")
    )
