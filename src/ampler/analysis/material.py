"""What the steps of an analysis look at: the question, checked, and the differences it is about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import get_args

from ampler.analysis import cautions
from ampler.analysis.blocks import Blocks, Cells, Worst, complete, gather, summarise
from ampler.analysis.exploration import Signs, decisions
from ampler.analysis.results import Settings
from ampler.core.arrays import Floats, Pair
from ampler.core.checks import choice, number, share, whole
from ampler.core.contracts import Statistic
from ampler.core.errors import InvalidData
from ampler.core.runs import Runs
from ampler.core.values import Alternative, Better, FailurePolicy, Test
from ampler.core.wording import listed
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.guard import Guard


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What every step looks at."""

    settings: Settings
    runs: Runs
    contrasts: Contrasts
    cells: Cells
    blocks: Blocks
    excluded: Mapping[str, str]
    pairs: tuple[Pair, ...]
    differences: Floats
    errors: Floats
    guarded: Floats
    differences_under: Callable[[FailurePolicy | Worst | None], Floats]
    decide: Callable[[Floats], Signs]


def material_of(
    runs: Runs, settings: Settings, statistic: str | Statistic, deterministic: Collection[str] | None
) -> Material:
    """Return everything the steps need; InvalidInput says what does not fit."""
    _check(settings)
    if len(runs.algorithms) < 2:
        raise InvalidData(f"there must be at least two algorithms to compare, got {runs.algorithms[0]!r} alone")
    contrasts = contrasts_of(
        runs.algorithms, difference=settings.difference, reference=settings.reference, formula=settings.formula
    )

    def used(policy: FailurePolicy | Worst | None) -> tuple[Cells, dict[str, str]]:
        cells, excluded = complete(gather(runs, policy), deterministic)
        _check_instances(cells, excluded)
        return cells, excluded

    def differences_under(policy: FailurePolicy | Worst | None) -> Floats:
        return summarise(used(policy)[0], statistic, accuracy=False).differences(contrasts)

    cells, excluded = used(settings.failures)
    blocks = summarise(cells, statistic, deterministic=deterministic)
    return Material(
        settings=settings,
        runs=runs,
        contrasts=contrasts,
        cells=cells,
        blocks=blocks,
        excluded=excluded,
        pairs=tuple(
            (runs.algorithms[i], runs.algorithms[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True)
        ),
        differences=blocks.differences(contrasts),
        errors=blocks.errors(contrasts),
        guarded=blocks.errors(contrasts, guard=settings.guard),
        differences_under=differences_under,
        decide=partial(decisions, test=settings.test, alternative=settings.alternative, alpha=settings.family_alpha),
    )


def _check(settings: Settings) -> None:
    """The words and numbers of the question fit; `contrasts_of` checks `difference`, `reference` and `formula`."""
    choice("better", settings.better, get_args(Better), "it decides the words of the verdict")
    choice("test", settings.test, get_args(Test), "t is the default")
    choice("alternative", settings.alternative, get_args(Alternative), "it speaks of first minus second")
    choice("guard", settings.guard, get_args(Guard), "pairs is the default")
    share("alpha", settings.alpha, "0.05 is usual")
    share("power", settings.power, "0.8 is usual")
    for name in ("se", "margin", "effect"):
        value = getattr(settings, name)
        if value is not None and number(name, value, "leave it out if it is not known") <= 0:
            raise InvalidData(f"{name} must be positive, got {value!r}; leave it out if it is not known")
    if settings.budget is not None:
        whole("budget", settings.budget, 1, 10**12, "it is the largest number of runs on one instance")
    if settings.alternative != "two-sided" and settings.reference is None:
        raise InvalidData(
            f"alternative {settings.alternative!r} needs a reference, as in a comparison of all with all no side is"
            " special; name one or use 'two-sided'"
        )


def _check_instances(cells: Cells, excluded: Mapping[str, str]) -> None:
    if len(cells.instances) >= 2:
        return
    total = len(cells.instances) + len(excluded)
    why = listed([f"{name} ({reason})" for name, reason in excluded.items()], cautions.SHOWN)
    raise InvalidData(
        "there must be at least two instances with values of every algorithm, as the sample size is the number of"
        f" instances and not of runs, got {len(cells.instances)} of {total}" + (f"; left out: {why}" if why else "")
    )
