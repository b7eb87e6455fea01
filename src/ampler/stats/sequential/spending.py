"""Spending functions: how much of a level may be used up when a share of the instances is there. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import e, isfinite
from typing import ClassVar, Protocol

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidDesign

KINDS = "'OF' (O'Brien-Fleming), 'P' (Pocock), 'KD2' (Kim-DeMets, any power) or 'HSD-2' (Hwang-Shih-DeCani, any γ)"


class Spending(Protocol):
    """A rising function of the share of the instances, 0 at no instances and the whole level at all of them."""

    @property
    def name(self) -> str:
        """The short name that `named_spending` reads."""

    def spent(self, level: float, fractions: Floats) -> Floats:
        """Return how much of a two-sided level may be used up at each share of the instances."""

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class OBrienFleming:
    """Next to nothing early, nearly everything at the end (Lan & DeMets 1983, of O'Brien & Fleming's type)."""

    name: ClassVar[str] = "OF"

    def spent(self, level: float, fractions: Floats) -> Floats:
        """Return 4·(1 − Φ(z_{1−level/4}/√t)): both sides of a Brownian path that meets a constant."""
        from scipy.special import ndtr, ndtri

        return np.asarray(4 * ndtr(ndtri(level / 4) / np.sqrt(fractions)))


@dataclass(frozen=True, slots=True)
class Pocock:
    """Much at every look, dear at the end (Lan & DeMets 1983, of Pocock's type)."""

    name: ClassVar[str] = "P"

    def spent(self, level: float, fractions: Floats) -> Floats:
        """Return level·ln(1 + (e − 1)·t)."""
        return level * np.log1p((e - 1) * fractions)


@dataclass(frozen=True, slots=True)
class KimDeMets:
    """A power of the share of the instances (Kim & DeMets 1987): 1 is near Pocock's, 3 near O'Brien and Fleming's."""

    power: float

    def __post_init__(self) -> None:
        if not (isfinite(self.power) and self.power > 0):
            raise InvalidDesign(f"the power of a Kim-DeMets spending must be positive, got {self.power!r}: 2 is usual")

    @property
    def name(self) -> str:
        """The short name."""
        return f"KD{self.power:g}"

    def spent(self, level: float, fractions: Floats) -> Floats:
        """Return level·t^power."""
        return np.asarray(level * fractions**self.power)


@dataclass(frozen=True, slots=True)
class HwangShihDeCani:
    """One family for both: γ = 1 is near Pocock's, γ = −4 near O'Brien and Fleming's (Hwang, Shih & DeCani 1990)."""

    gamma: float

    def __post_init__(self) -> None:
        if not abs(self.gamma) <= 500:  # beyond, the exponential is no longer a number
            raise InvalidDesign(f"γ of a Hwang-Shih-DeCani spending must lie within ±500, got {self.gamma!r}: -4 to 1")

    @property
    def name(self) -> str:
        """The short name."""
        return f"HSD{self.gamma:g}"

    def spent(self, level: float, fractions: Floats) -> Floats:
        """Return level·(1 − e^{−γt})/(1 − e^{−γ}), which is level·t at γ = 0."""
        if self.gamma == 0:
            return np.asarray(level * fractions)
        return np.asarray(level * np.expm1(-self.gamma * fractions) / np.expm1(-self.gamma))


def named_spending(name: str) -> Spending:
    """Return the spending function of this short name.

    >>> named_spending("KD2").spent(0.05, np.array([0.5, 1.0])).tolist()
    [0.0125, 0.05]
    """
    match = re.fullmatch(r"(OF|P)|(KD|HSD)(-?\d+(?:\.\d+)?)", name) if isinstance(name, str) else None
    if match is None:
        raise InvalidDesign(f"a spending function must be {KINDS}, got {name!r}: 'OF' is the default")
    plain, family, shape = match.groups()
    if plain:
        return OBrienFleming() if plain == "OF" else Pocock()
    return KimDeMets(float(shape)) if family == "KD" else HwangShihDeCani(float(shape))
