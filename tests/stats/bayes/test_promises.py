"""How often posteriors are right: simulations with fixed seeds, held against what was measured before they were built.

The numbers beside the cells are those of the specification: 2000 studies for intervals, 300 for verdicts.
"""

from __future__ import annotations

import math

import pytest

from bayes_simulation import Cell, Truth, coverage, judged, looking, without_margin

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
