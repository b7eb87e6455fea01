"""How many instances a comparison needs, which power it reaches, which effect it can detect. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from math import ceil, isfinite, sqrt
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ampler.errors import InvalidDesign
from ampler.holm import holm_levels
from ampler.model import Alternative, Test
from ampler.power import instances_for, paired_power, t_instances

Floats = NDArray[np.float64]
Target = Literal["mean", "median", "worst", "best"] | int
Correction = Literal["holm", "bonferroni"]

MOST_INSTANCES = 10**9  # nobody has more; the search ends here instead of running on
MOST_COMPARISONS = 10**7
LARGEST_EFFECT = 1000.0  # standard deviations; beyond it the noncentral t is no longer computed reliably
SMALLEST_ALPHA = 1e-100


@dataclass(frozen=True, slots=True)
class Design:
    """A comparison planned for one effect: instances, comparisons and the powers that go with them.

    `power` is the wanted one (where it was solved for: the one reached). The four powers are those of the K tests, each
    at its own level of Holm's (or Bonferroni's) procedure; `levels` and `powers` give them all, strictest first.
    """

    instances: int
    comparisons: int
    effect: float
    power: float
    alpha: float
    target: Target
    alternative: Alternative
    test: Test
    correction: Correction
    mean_power: float
    median_power: float
    worst_power: float
    best_power: float

    @property
    def levels(self) -> Floats:
        """The significance levels of the ranks 1..K, strictest first."""
        if self.correction == "bonferroni":
            return np.full(self.comparisons, self.alpha / self.comparisons)
        return holm_levels(self.comparisons, self.alpha)

    @property
    def powers(self) -> Floats:
        """The powers at these levels, strictest first."""
        return paired_power(self.instances, self.effect, self.levels, test=self.test, alternative=self.alternative)

    def as_dict(self, *, profile: bool = False) -> dict[str, Any]:
        """Return the fields as JSON has them; with `profile` also `levels` and `powers` by rank."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | ({"levels": self.levels.tolist(), "powers": self.powers.tolist()} if profile else {})

    def __str__(self) -> str:
        return f"{self.instances} instances: {_promise(self)} ({_procedure(self)})"


def required_instances(
    *,
    comparisons: int,
    effect: float,
    power: float = 0.8,
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
) -> Design:
    """Return the design with the fewest instances whose power reaches the wanted one for an effect of this size.

    >>> print(required_instances(comparisons=21, effect=0.5, power=0.8))
    57 instances: mean power 0.804 for d = 0.5 over 21 comparisons (two-sided paired t-tests, Holm, alpha = 0.05)
    """
    family = _family(comparisons, alpha, target, alternative, test, correction)
    effect, power = _effect(effect), _share("power", power)
    t_needed = _smallest(lambda n: _t_power_reached(family, n, effect), power, _first_guess(family, effect, power))
    instances = instances_for(t_needed, test)
    if instances > MOST_INSTANCES:
        raise _too_many(effect, power)
    return _design(family, instances, effect, power)


def achieved_power(
    *,
    instances: int,
    comparisons: int,
    effect: float,
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
) -> Design:
    """Return the design with these instances; its `power` is what the target reaches for an effect of this size.

    >>> round(achieved_power(instances=200, comparisons=7, effect=0.25).power, 3)
    0.853
    """
    family = _family(comparisons, alpha, target, alternative, test, correction)
    n, effect = _instances(instances), _effect(effect)
    return _design(family, n, effect, _t_power_reached(family, t_instances(n, test), effect))


def detectable_effect(
    *,
    instances: int,
    comparisons: int,
    power: float = 0.8,
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
) -> Design:
    """Return the design with these instances; its `effect` is the smallest that is detected with the wanted power.

    >>> round(detectable_effect(instances=200, comparisons=7, power=0.85).effect, 3)
    0.249
    """
    family = _family(comparisons, alpha, target, alternative, test, correction)
    n, power = _instances(instances), _share("power", power)
    n_t = t_instances(n, test)
    return _design(family, n, _root(lambda d: _t_power_reached(family, n_t, d), power, n), power)


def power_curve(
    *,
    instances: int,
    comparisons: int,
    effects: Iterable[float],
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
) -> tuple[Design, ...]:
    """Return one design per effect: the power that these instances have for each of them.

    >>> [round(design.mean_power, 2) for design in power_curve(instances=200, comparisons=7, effects=[0.1, 0.2, 0.3])]
    [0.16, 0.64, 0.96]
    """
    first = achieved_power
    return tuple(
        first(
            instances=instances,
            comparisons=comparisons,
            effect=effect,
            alpha=alpha,
            target=target,
            alternative=alternative,
            test=test,
            correction=correction,
        )
        for effect in effects
    )


def n_comparisons(algorithms: int, *, reference: bool = False) -> int:
    """Return how many pairs are compared: A − 1 with a reference, A·(A − 1)/2 without.

    >>> n_comparisons(22, reference=True), n_comparisons(22, reference=False)
    (21, 231)
    """
    count = _whole("algorithms", algorithms, 2, "compare two or more")
    return count - 1 if reference else count * (count - 1) // 2


def effect_from(difference: float, sd: float, *, se: float = 0.0) -> float:
    """Return the standardised effect of a raw difference; the runs' noise `se` adds to the spread `sd` over instances.

    >>> effect_from(2.0, 4.0), effect_from(2.0, 4.0, se=3.0)
    (0.5, 0.4)
    """
    size, spread, noise = abs(_number("difference", difference)), _number("sd", sd), _number("se", se)
    return size / sqrt(spread**2 + noise**2)


@dataclass(frozen=True, slots=True)
class _Family:
    """What stays fixed while one of instances, effect and power is solved for; checked at the door."""

    comparisons: int
    alpha: float
    target: Target
    alternative: Alternative
    test: Test
    correction: Correction


def _family(comparisons: Any, alpha: Any, target: Any, alternative: Any, test: Any, correction: Any) -> _Family:
    count = _whole("comparisons", comparisons, 1, "compare two algorithms or more")
    return _Family(
        count,
        _share("alpha", alpha),
        _target(target, count),
        _choice("alternative", alternative, get_args(Alternative)),
        _choice("test", test, get_args(Test)),
        _choice("correction", correction, get_args(Correction)),
    )


def _design(family: _Family, instances: int, effect: float, power: float) -> Design:
    n = t_instances(instances, family.test)
    K = family.comparisons
    middle = _powers(family, n, effect, np.array([(K + 1) // 2, K // 2 + 1], dtype=float))
    worst, best = _powers(family, n, effect, np.array([K, 1], dtype=float))
    return Design(
        instances=instances,
        comparisons=K,
        effect=effect,
        power=power,
        alpha=family.alpha,
        target=family.target,
        alternative=family.alternative,
        test=family.test,
        correction=family.correction,
        mean_power=_mean_power(family, n, effect),
        median_power=float(middle.mean()),
        worst_power=float(worst),
        best_power=float(best),
    )


def _t_power_reached(family: _Family, n: int, effect: float) -> float:
    if family.target == "mean":
        return _mean_power(family, n, effect)
    return float(_powers(family, n, effect, np.array([_divisor(family)], dtype=float))[0])


def _divisor(family: _Family) -> int:
    K = family.comparisons
    if isinstance(family.target, int):
        return family.target
    return {"worst": K, "median": K - ceil(K / 2) + 1, "best": 1}[family.target]


def _powers(family: _Family, n: int, effect: float, divisors: Floats) -> Floats:
    if family.correction == "bonferroni":
        divisors = np.full_like(divisors, family.comparisons)
    return paired_power(n, effect, family.alpha / divisors, alternative=family.alternative)


def _mean_power(family: _Family, n: int, effect: float) -> float:
    if family.correction == "bonferroni":
        return float(_powers(family, n, effect, np.array([1.0]))[0])
    divisors, weights = _quadrature(family.comparisons)
    return float(weights @ _powers(family, n, effect, divisors))


@lru_cache(maxsize=64)
def _quadrature(comparisons: int) -> tuple[Floats, Floats]:
    if comparisons <= 128:
        return np.arange(1.0, comparisons + 1), np.full(comparisons, 1 / comparisons)
    y, w = np.polynomial.legendre.leggauss(32)
    low, high = np.log(64.5), np.log(comparisons + 0.5)
    x = np.exp(low + (high - low) * (y + 1) / 2)
    divisors = np.concatenate([np.arange(1.0, 65), x, [64, 65, comparisons, comparisons + 1]])
    weights = np.concatenate([np.ones(64), w * (high - low) / 2 * x, np.array([-1, 1, 1, -1]) / 24])
    return divisors, weights / comparisons


def _first_guess(family: _Family, effect: float, power: float) -> int:
    from scipy.special import ndtri

    K = family.comparisons
    divisor = max(1.0, K / np.e) if family.target == "mean" else _divisor(family)
    tail = family.alpha / divisor / (2 if family.alternative == "two-sided" else 1)
    quantile = -ndtri(tail)
    return ceil(min(MOST_INSTANCES, max(2.0, ((quantile + ndtri(power)) / effect) ** 2 + quantile**2 / 2)))


def _smallest(power_at: Callable[[int], float], wanted: float, guess: int) -> int:
    low, high = 1, max(2, guess)
    while power_at(high) < wanted:
        if high == MOST_INSTANCES:
            raise InvalidDesign("too many")
        low, high = high, min(MOST_INSTANCES, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= wanted else (middle, high)
    return high


def _root(power_at: Callable[[float], float], wanted: float, instances: int) -> float:
    from scipy.optimize import brentq

    if power_at(0.0) >= wanted or power_at(LARGEST_EFFECT) < wanted:
        raise InvalidDesign("no effect")
    return float(brentq(lambda d: power_at(d) - wanted, 0.0, LARGEST_EFFECT, xtol=1e-13, rtol=1e-14))


def _promise(design: Design) -> str:
    subject = f"for d = {design.effect:.4g} over {design.comparisons} comparisons"
    if isinstance(design.target, int):
        return f"power {design.power:.3f} or more in at least {design.target} of them {subject}"
    return f"{design.target} power {getattr(design, design.target + '_power'):.3f} {subject}"


def _procedure(design: Design) -> str:
    tests = {"t": "paired t-tests", "wilcoxon": "Wilcoxon signed-rank tests", "sign": "sign tests"}[design.test]
    sides = "two-sided" if design.alternative == "two-sided" else "one-sided"
    return f"{sides} {tests}, {design.correction.capitalize()}, alpha = {design.alpha:g}"


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(value, bool | str | bytes) or not isfinite(number):
        raise InvalidDesign(f"{name} must be a finite number, got {value!r}")
    return number


def _share(name: str, value: Any) -> float:
    number = _number(name, value)
    if not 0 < number < 1:
        raise InvalidDesign(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def _effect(value: Any) -> float:
    number = _number("effect", value)
    if not 0 < number <= LARGEST_EFFECT:
        raise InvalidDesign(f"effect must be positive, got {value!r}")
    return number


def _whole(name: str, value: Any, least: int, way_out: str) -> int:
    number = _number(name, value)
    if number != int(number) or number < least:
        raise InvalidDesign(f"{name} must be a whole number of {least} or more, got {value!r}: {way_out}")
    return int(number)


def _instances(value: Any) -> int:
    return _whole("instances", value, 2, "give 2 or more")


def _target(value: Any, comparisons: int) -> Target:
    if isinstance(value, int):
        return value
    name: Target = _choice("target", value, ("mean", "median", "worst", "best"))
    return name


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> Any:
    if value not in choices:
        raise InvalidDesign(f"{name} must be one of {', '.join(choices)}, got {value!r}")
    return value


def _too_many(effect: float, power: float) -> InvalidDesign:
    return InvalidDesign(f"an effect of {effect!r} needs more than {MOST_INSTANCES} instances")
