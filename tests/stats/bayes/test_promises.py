"""How often posteriors are right: simulations with fixed seeds, held against what was measured before they were built.

The numbers beside the cells are those of the specification: 2000 studies for intervals, 300 for verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import stdtr

from ampler.stats.bayes.posterior import CERTAIN, Areas, agreed_verdict, posterior
from ampler.stats.bayes.shared import shared_posteriors

# How often posteriors are right: coverage of their intervals, false verdicts, and what looking again and again does.
Floats = NDArray[np.float64]
Generator = np.random.Generator
SEED = 1929  # fixed before the first look
COMPARISONS = 21


@dataclass(frozen=True)
class Cell:
    """Instances of one kind: `tau` is the spread of the true differences, in units of a usual standard error."""

    errors: str
    instances: int
    tau: float

    def draw(self, rng: Generator) -> tuple[Floats, Floats]:
        """True differences around 0 with their standard errors."""
        return KINDS[self.errors](rng, self.instances, self.tau)


@dataclass(frozen=True)
class Held:
    """Shares of studies whose 95 % interval holds what it should."""

    equal: float  # the mean, equal weights
    equal_new: float  # a new instance, equal weights
    precision: float
    precision_new: float
    studies: int


def _equal(rng: Generator, n: int, tau: float) -> tuple[Floats, Floats]:
    return rng.normal(0, tau, n), np.ones(n)


def _lognormal(rng: Generator, n: int, tau: float) -> tuple[Floats, Floats]:
    return rng.normal(0, tau, n), np.exp(rng.normal(0, 1, n))


def _budget(rng: Generator, n: int, tau: float) -> tuple[Floats, Floats]:
    return rng.normal(0, tau, n), np.where(rng.random(n) < 0.15, 6.0, 1.0)


def _budget_related(rng: Generator, n: int, tau: float) -> tuple[Floats, Floats]:
    limited = rng.random(n) < 0.15
    return rng.normal(0, tau, n) + tau * (limited - 0.15), np.where(limited, 6.0, 1.0)


def _related(rng: Generator, n: int, tau: float, spread: float) -> tuple[Floats, Floats]:
    """Errors that are lognormal, and a difference that is correlated with them."""
    se, rest = np.exp(spread * rng.normal(size=n)), rng.normal(size=n)
    grown = np.exp(spread**2)
    standardised = (se - np.sqrt(grown)) / np.sqrt((grown - 1) * grown)
    return tau * (0.6 * standardised + 0.8 * rest), se


KINDS: dict[str, Callable[[Generator, int, float], tuple[Floats, Floats]]] = {
    "equal": _equal,
    "lognormal, log-sd 1": _lognormal,
    "15 % six times as large": _budget,
    "15 % six times as large, differing by +1 tau": _budget_related,
    "log-sd 0.5, correlated 0.6 with the difference": lambda rng, n, tau: _related(rng, n, tau, 0.5),
    "log-sd 1, correlated 0.6 with the difference": lambda rng, n, tau: _related(rng, n, tau, 1.0),
}


def coverage(cell: Cell, studies: int, seed: int = SEED) -> Held:
    """Return how often intervals hold the true mean, and the difference on one more instance."""
    rng = np.random.default_rng(seed)
    held = np.zeros(4)
    for _ in range(studies):
        phi, se = cell.draw(rng)
        new = cell.draw(rng)[0][0]
        y = 0.3 + phi + se * rng.normal(size=len(se))
        for place, weights in enumerate(("equal", "precision")):
            found = posterior(y, se, margin=0.1, weights=weights)  # type: ignore[arg-type]
            held[2 * place] += found.interval[0] <= 0.3 <= found.interval[1]
            held[2 * place + 1] += found.new_interval[0] <= 0.3 + new <= found.new_interval[1]
    return Held(*(held / studies).tolist(), studies)


@dataclass(frozen=True)
class Truth:
    """Twenty-one comparisons with one reference (correlation ½); differences and margin in standard deviations."""

    kind: str
    instances: int
    margin: float

    def effects(self, rng: Generator) -> Floats:
        effects = np.zeros(COMPARISONS)
        if self.kind == "three at ±0.6":
            effects[:3] = [0.6, -0.6, 0.6]
        elif self.kind == "spread 0.2":
            effects = rng.normal(0, 0.2, COMPARISONS)
        elif self.kind == "all just outside the margin":
            effects[:] = 1.1 * self.margin
        elif self.kind == "the reference better by 0.4":
            effects[:] = 0.4
        return effects


@dataclass(frozen=True)
class Judged:
    """Shares of studies with a false claim, and claims per study."""

    plain: float  # any false difference, by the plain posterior alone
    both: float  # the same where both must agree
    shared_equivalent: float  # any false equivalence, by the shared posterior alone
    both_equivalent: float
    plain_claims: float  # differences claimed per study
    both_claims: float
    studies: int


def judged(truth: Truth, studies: int, seed: int = SEED, certain: float = CERTAIN) -> Judged:
    """Return how often a study claims something that is false."""
    rng = np.random.default_rng(seed)
    rows = np.array([_study(truth, rng, certain) for _ in range(studies)])
    return Judged(*rows.mean(axis=0).tolist(), studies)


def _study(truth: Truth, rng: Generator, certain: float) -> list[float]:
    effects, n = truth.effects(rng), truth.instances
    table = (rng.normal(size=(n, COMPARISONS)) + rng.normal(size=(n, 1))) / sqrt(2) + effects
    plain = _students(table, truth.margin)
    shared = [one.areas for one in shared_posteriors(table, margin=truth.margin).comparisons]
    true = np.where(effects < -truth.margin, "less", np.where(effects > truth.margin, "more", "equivalent"))
    alone, learnt = (np.array([agreed_verdict([areas], certain) for areas in each]) for each in (plain, shared))
    both = np.array([agreed_verdict(pair, certain) for pair in zip(plain, shared, strict=True)])

    def false(claims: NDArray[np.str_], *, equivalence: bool) -> bool:
        kind = claims == "equivalent" if equivalence else (claims == "less") | (claims == "more")
        return bool((kind & (claims != true)).any())

    def differences(claims: NDArray[np.str_]) -> float:
        return float(((claims == "less") | (claims == "more")).sum())

    return [
        false(alone, equivalence=False),
        false(both, equivalence=False),
        false(learnt, equivalence=True),
        false(both, equivalence=True),
        differences(alone),
        differences(both),
    ]


def _students(table: Floats, margin: float) -> list[Areas]:
    """The plain posteriors of all columns at once: with equal weights that of the mean is Student's t."""
    n = len(table)
    mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / sqrt(n)
    less, more = (stdtr(n - 1, (side * mean - margin) / error) for side in (-1, 1))
    return [Areas.of_tails(float(low), float(high)) for low, high in zip(less, more, strict=True)]


@dataclass(frozen=True)
class Looks:
    """Shares of studies that claim a difference which is not there, or of claims that are false."""

    once: float
    once_of: int  # studies, or claims
    every: float
    every_of: int


def looking(margin: float, studies: int, *, spread: float = 0.0, first: int = 10, last: int = 57) -> Looks:
    """Return false claims of one comparison when it is judged once, and after every instance from the `first` on.

    With equal weights the posterior of the mean is Student's t; a claim stops the study. True means are 0, or differ
    between studies by `spread`: then it is the share of the claims that is false.
    """
    rng = np.random.default_rng(SEED)
    mu = spread * rng.normal(size=studies)
    y = mu[:, None] + rng.normal(size=(studies, last))
    n = np.arange(1, last + 1)
    mean = y.cumsum(axis=1) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(((y**2).cumsum(axis=1) / n - mean**2) / (n - 1))
        sides = [stdtr(n - 1, (side * mean - margin) / error) >= CERTAIN for side in (1, -1)]
    wrong = [mu <= margin, mu >= -margin]  # a claim of more, of less
    once = _share([claims[:, -1] for claims in sides], wrong, of_claims=spread > 0)
    places = [np.where(c[:, first - 1 :].any(axis=1), c[:, first - 1 :].argmax(axis=1), last) for c in sides]
    earliest = [places[0] < np.minimum(places[1], last), places[1] < np.minimum(places[0], last)]
    return Looks(*once, *_share(earliest, wrong, of_claims=spread > 0))


def _share(claims: list[NDArray[np.bool_]], wrong: list[NDArray[np.bool_]], *, of_claims: bool) -> tuple[float, int]:
    """The share of false ones, and of how many."""
    false = sum(int((claim & falsely).sum()) for claim, falsely in zip(claims, wrong, strict=True))
    number = sum(int(claim.sum()) for claim in claims) if of_claims else len(claims[0])
    return false / number, number


def without_margin(instances: int, studies: int) -> float:
    """Return the share of studies of equal algorithms in which the probability of some direction passes 0.975."""
    rng = np.random.default_rng(SEED)
    found = 0
    for _ in range(studies):
        y = rng.normal(size=(instances, COMPARISONS)) + rng.normal(size=(instances, 1))
        t = np.abs(y.mean(axis=0)) / (y.std(axis=0, ddof=1) / sqrt(instances))
        found += bool((stdtr(instances - 1, t) >= CERTAIN).any())
    return found / studies


RELATED = "log-sd {}, correlated 0.6 with the difference"

MEASURED_INTERVALS = [  # equal weights, precision weights, and a new instance under these
    (Cell("equal", 5, 2.0), 0.947, 0.964, 0.963),
    (Cell("equal", 20, 0.5), 0.952, 0.974, 0.989),
    (Cell("equal", 57, 0.05), 0.945, 0.966, 1.0),
    (Cell("lognormal, log-sd 1", 10, 2.0), 0.954, 0.951, 0.950),
    (Cell("lognormal, log-sd 1", 20, 0.5), 0.967, 0.959, 0.960),
    (Cell("lognormal, log-sd 1", 57, 2.0), 0.952, 0.945, 0.950),
    (Cell("15 % six times as large", 20, 2.0), 0.946, 0.952, 0.945),
    (Cell("15 % six times as large", 57, 0.5), 0.957, 0.954, 0.973),
    (Cell("15 % six times as large", 57, 1.0), 0.956, 0.951, None),
    (Cell("15 % six times as large", 57, 2.0), 0.958, 0.960, None),
    (Cell("15 % six times as large, differing by +1 tau", 57, 2.0), 0.953, 0.882, None),
    (Cell(RELATED.format("0.5"), 57, 0.5), 0.955, 0.784, None),
    (Cell(RELATED.format("1"), 57, 1.0), 0.955, 0.662, None),
]

MEASURED_VERDICTS = [  # any false difference: plain posterior alone, both
    (Truth("nothing differs", 57, 0.1), 0.103, 0.003),
    (Truth("nothing differs", 20, 0.1), 0.193, 0.020),
    (Truth("three at ±0.6", 57, 0.1), 0.077, 0.040),
    (Truth("three at ±0.6", 20, 0.1), 0.177, 0.060),
    (Truth("all just outside the margin", 57, 0.2), 0.0, 0.0),
    (Truth("all just outside the margin", 57, 0.4), 0.0, 0.0),
]

MEASURED_EQUIVALENCES = [  # any false equivalence where 0.95 is enough: shared posterior alone, both
    (Truth("all just outside the margin", 57, 0.2), 0.780, 0.007),
    (Truth("all just outside the margin", 57, 0.4), 0.827, 0.227),
]


def agrees(found, measured, studies, measured_studies):
    """Whether two shares differ by less than three standard errors of their difference."""
    share = min(max(measured, 0.01), 0.99)
    return abs(found - measured) <= 3 * math.sqrt(share * (1 - share) * (1 / studies + 1 / measured_studies))


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "equal", "precision", "new"), MEASURED_INTERVALS, ids=str)
def test_intervals_hold_as_often_as_was_measured(cell, equal, precision, new):
    held = coverage(cell, 2000)

    assert agrees(held.equal, equal, 2000, 2000)
    assert agrees(held.precision, precision, 2000, 2000)
    assert new is None or agrees(held.precision_new, new, 2000, 2000)
    assert held.equal_new >= 0.925 - 3 * math.sqrt(0.925 * 0.075 / 2000)  # the worst that was measured


def test_equal_weights_hold_their_level_where_precision_weights_do_not_in_a_small_simulation():
    held = coverage(Cell(RELATED.format("1"), 57, 1.0), 150)

    assert held.equal >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 150)
    assert held.precision < 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("truth", "plain", "both"), MEASURED_VERDICTS, ids=str)
def test_differences_are_claimed_falsely_as_seldom_as_was_measured(truth, plain, both):
    found = judged(truth, 400)

    assert agrees(found.plain, plain, 400, 300)
    assert agrees(found.both, both, 400, 300)
    assert found.both_equivalent <= found.shared_equivalent


@pytest.mark.slow
@pytest.mark.parametrize(("truth", "shared", "both"), MEASURED_EQUIVALENCES, ids=str)
def test_equivalence_is_claimed_falsely_as_seldom_as_was_measured_and_seldomer_by_the_rule(truth, shared, both):
    lenient, ours = judged(truth, 400, certain=0.95), judged(truth, 400)

    assert agrees(lenient.shared_equivalent, shared, 400, 300)
    assert agrees(lenient.both_equivalent, both, 400, 300)
    assert ours.both_equivalent < max(lenient.both_equivalent, 0.01)


def test_verdicts_are_seldom_false_in_a_small_simulation():
    found = judged(Truth("nothing differs", 20, 0.1), 40)

    assert found.both <= found.plain
    assert agrees(found.both, 0.020, 40, 300)
    assert found.both_equivalent == 0


@pytest.mark.parametrize(
    ("margin", "spread", "once", "every"),
    [(0.0, 0.0, 0.049, 0.24), (0.1, 0.0, 0.0075, 0.091), (0.1, 0.3, 0.010, 0.075)],
)
def test_looking_again_and_again_makes_many_false_claims(margin, spread, once, every):
    found = looking(margin, 6000, spread=spread)

    assert agrees(found.once, once, found.once_of, 2000)
    assert agrees(found.every, every, found.every_of, 2000)
    assert found.every > 3 * found.once


@pytest.mark.parametrize("instances", [20, 57])
def test_without_a_margin_two_of_five_studies_of_equal_algorithms_claim_a_direction(instances):
    assert 0.41 - 0.06 <= without_margin(instances, 600) <= 0.47 + 0.06
