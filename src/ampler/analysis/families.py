"""Later families of comparisons: algorithms that joined a finished study, with an error rate of their own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from ampler.analysis.results import Analysis
from ampler.core.text import count, digits, listed

MAX_NAMES = 8


@dataclass(frozen=True, slots=True, eq=False)
class LaterFamily:
    """Comparisons with algorithms that were added when the earlier families were finished.

    `analysis` has the pairs with at least one added algorithm, tested with Holm's procedure at `alpha` on a fixed
    number of instances; None: too few of them are finished. `needed` instances reach the planned power, and the
    instances of the family reach `power` for the `smallest` difference of interest; None: not known.
    """

    number: int
    added: tuple[str, ...]
    planned: str  # date
    instances: int
    needed: int | None
    power: float | None
    smallest: str
    alpha: float
    analysis: Analysis | None = None

    @property
    def head(self) -> str:
        """Which comparisons were added when, and on how many instances."""
        names, power = listed(self.added, MAX_NAMES), ""
        if self.power is not None and self.smallest:
            power = f", power {self.power:.2f} for {self.smallest}"
        return (
            f"Family {self.number}: {names} joined on {self.planned[:10]}, after the earlier families were finished"
            f" ({count(self.instances, 'instance')}{power})."
        )

    @property
    def notes(self) -> str:
        """What is missing before the family can be tested, and warnings that could reverse a verdict."""
        if self.analysis is None:
            return "It has no results yet; resume the study."
        if self.analysis.unfinished:
            return f"It is not finished ({self.analysis.unfinished}); resume the study."
        grave = [item.sentence for item in self.analysis.warnings if item.severity == "could reverse a verdict"]
        return " ".join(f"Warning: {sentence}" for sentence in grave)

    def as_dict(self) -> dict[str, Any]:
        """Return the family as plain values for JSON."""
        own: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)[:-1]}
        whole = {} if self.analysis is None else self.analysis.as_dict()
        shown = {name: whole.get(name) for name in ("settings", "comparisons", "diagnoses", "warnings", "unfinished")}
        return own | {"added": list(self.added)} | shown


def families_sentence(families: Sequence[LaterFamily]) -> str:
    """State how many families a study has, and that each has its own error rate."""
    alphas = listed(dict.fromkeys(f"{digits(100 * family.alpha)} %" for family in families), MAX_NAMES)
    return (
        f"This study has {len(families) + 1} families of comparisons. The family-wise error rate ({alphas}) holds for"
        " each family, not for all of them together."
    )
