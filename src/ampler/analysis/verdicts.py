"""What a comparison shows, in a sentence that knows which values are better and what the estimate is. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ampler.analysis.compare import Equivalence, Result
from ampler.core.arrays import Interval
from ampler.core.values import Alternative, Better, Difference


@dataclass(frozen=True, slots=True)
class Wording:
    """What must be known besides the numbers to put a comparison into words."""

    difference: Difference
    reference: str | None
    better: Better
    alternative: Alternative
    alpha: float  # of the family of differences
    detectable_effect: float  # d found with mean power `power`; NaN when it is not known
    power: float


def verdict(first: str, second: str, result: Result, equivalence: Equivalence | None, wording: Wording) -> str:
    """Return the verdict on first against second, without a full stop."""
    if result.rejected:
        words = _difference_found(first, second, result, wording)
        if equivalence is not None and equivalence.established:
            words += f"; but equivalent within {margin_in_words(equivalence.margin, wording)}"
        return words
    if equivalence is not None and equivalence.established:
        return f"equivalent within {margin_in_words(equivalence.margin, wording)}"
    return _nothing_found(first, equivalence, wording)


def margin_in_words(margin: float, wording: Wording) -> str:
    """Return the margin of equivalence in the unit of the differences."""
    if wording.difference == "percent":
        return f"±{number(100 * margin)} %"
    if wording.difference == "log-ratio":
        return f"a factor of {number(math.exp(margin))}"
    return f"±{number(margin)}"


def number(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, without an exponent where that reads well.

    >>> number(1234.5), number(0.034561), number(1.5e-9)
    ('1230', '0.0346', '1.5e-09')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "unknown"
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e6:
        return f"{rounded:.10f}".rstrip("0").rstrip(".")
    return f"{value:.{digits}g}"


def _difference_found(first: str, second: str, result: Result, wording: Wording) -> str:
    centre = 0.5 if result.estimate_of == "P(φ>0)" else 0.0
    first_is_larger = result.estimate > centre
    first_wins = first_is_larger == (wording.better == "higher")
    winner = first if first_wins else second
    if result.estimate_of == "P(φ>0)":
        return f"{winner} is better: {_on_how_many(result, wording, first_is_larger=first_is_larger)}"
    kind = "on average" if result.estimate_of == "mean" else "in the pseudomedian"
    amount = _amount(abs(result.estimate), wording)
    bounds = _advantage(result.joint_interval, flip=not first_is_larger)
    return f"{winner} is better: {wording.better} by {amount} {kind}, {_joint(wording)} {_range(bounds, wording)}"


def _on_how_many(result: Result, wording: Wording, *, first_is_larger: bool) -> str:
    """For the sign test: the share of the instances on which the winner is ahead."""
    share = result.estimate if first_is_larger else 1 - result.estimate
    low, high = result.joint_interval
    bounds = (low, high) if first_is_larger else (1 - high, 1 - low)
    shares = " to ".join(f"{number(100 * bound)} %" for bound in bounds)
    return f"{wording.better} on {number(100 * share)} % of the instances without a tie, {_joint(wording)} {shares}"


def _amount(size: float, wording: Wording) -> str:
    if wording.difference == "log-ratio":
        return f"a factor of {_in_unit(size, wording)}"
    if wording.difference == "simple":
        return _in_unit(size, wording)
    base = f"{wording.reference}'s value" if wording.reference is not None else "the grand mean"
    return f"{_in_unit(size, wording)} of {base}"


def _in_unit(value: float, wording: Wording) -> str:
    if wording.difference == "percent":
        return f"{number(100 * value)} %"
    if wording.difference == "log-ratio":
        return number(_exp(value))
    return number(value)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _advantage(interval: Interval, *, flip: bool) -> Interval:
    """The interval of the winner's advantage: φ itself, or −φ."""
    low, high = interval
    return (-high, -low) if flip else (low, high)


def _joint(wording: Wording) -> str:
    return f"joint {number(100 * (1 - wording.alpha))} % interval"


def _range(bounds: Interval, wording: Wording) -> str:
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return "out of reach with so few instances"
    if math.isinf(high):
        return f"from {_in_unit(low, wording)} up"
    return f"{_in_unit(low, wording)} to {_in_unit(high, wording)}"


def _nothing_found(first: str, equivalence: Equivalence | None, wording: Wording) -> str:
    shown = {
        "two-sided": "no difference found",
        "less": f"{first} not shown to be lower",
        "greater": f"{first} not shown to be higher",
    }[wording.alternative]
    if equivalence is not None:
        shown += f", nor equivalence within {margin_in_words(equivalence.margin, wording)}"
    if math.isnan(wording.detectable_effect):
        return shown
    would = f"d ≥ {wording.detectable_effect:.2f} would have been found with mean power {number(wording.power)}"
    return f"{shown}; {would}"
