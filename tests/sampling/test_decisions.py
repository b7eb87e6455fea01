"""Decisions stay what they were, to the run: kept ones, and those of instances decided together, by other code."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.rounds import next_rounds

from ampler.core.arrays import Samples
from ampler.core.plan import Sample
from ampler.sampling.allocation import aims, next_runs, pairs_of, predicted_runs
from ampler.sampling.rules import Accuracy
from ampler.stats.contrasts import contrasts_among

KEPT = Path(__file__).parents[1] / "gold" / "decisions.json"
RULES = {
    "optimal": {"guard": "pairs"},
    "safe": {"guard": "all", "batch": 5},
    "paper": {"allocation": "greedy", "guard": "none", "formula": "paper", "batch": 1},
    "greedy": {"allocation": "greedy", "guard": "pairs"},
    "balanced": {"allocation": "balanced", "guard": "none"},
}
SHAPES = [(2, False), (3, True), (5, False), (5, True), (22, False), (22, True)]


def values_of(size, seed):
    """Values without a random generator, whose draws may change: sums of twelve numbers of a congruential sequence."""
    state, values = 7 * seed + size, {}
    for k in range(size):
        row = []
        for _ in range(12 + (5 * k + seed) % 17):
            total = 0.0
            for _ in range(12):
                state = (state * 1103515245 + 12345) % 2**31
                total += state / 2**31
            row.append(100.0 + 2 * k + (1 + (k + seed) % 5) * (total - 6.0))
        values[f"a{k}"] = row if (k + seed) % 6 else [90.0] * len(row)  # some do not vary
    return values


def decisions():
    """One decision of every rule, kind of difference and shape, as plain data."""
    for (how, rule), difference, (size, reference) in itertools.product(
        RULES.items(), ("simple", "percent", "log-ratio"), SHAPES
    ):
        samples = Samples.of(values_of(size, len(how)))
        for share in (0.6, 1.2, 1.6):  # full rounds, and some that end early
            se = share * (0.9 if difference == "simple" else 0.009)
            how_exact = {"formula": "delta"} | rule
            chosen = Accuracy(se=se, difference=difference, reference="a0" if reference else None, **how_exact)
            decision = chosen(samples)
            said = dict(decision.counts) if isinstance(decision, Sample) else decision.reason
            yield f"{how} {difference} {size} {'one' if reference else 'all'} {share}", said


def test_decisions_are_those_that_were_kept():
    assert dict(decisions()) == json.loads(KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("reference", [None, 0, 4])
@pytest.mark.parametrize("formula", ["delta", "paper"])
@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
def test_one_instance_is_decided_as_it_is_among_many(difference, formula, reference):
    """Simulations rest on rounds of many at once; constant algorithms and equals are among them."""
    rng = np.random.default_rng(22)
    shape = (40, 22)
    counts = rng.integers(5, 40, shape).astype(float)
    variances, means = np.round(np.exp(rng.normal(0, 1, shape)), 1), np.round(rng.uniform(60, 140, shape))
    variances[rng.random(shape) < 0.1] = 0.0
    variances[20:, 1:] = variances[20:, :1] + 0.1  # all alike
    counts[30:] = 10.0
    contrasts = contrasts_among(22, difference=difference, reference=reference, formula=formula)
    se = float(np.median(pairs_of(contrasts, variances, means).largest_error(counts)))
    for allocation, size in itertools.product(("optimal", "greedy", "balanced"), (1, 16)):
        how = {"se": se, "allocation": allocation}
        many = next_rounds(contrasts, counts, variances, means, size=size, **how)
        far = aims(contrasts, variances, means, start=10, **how)
        for row, (n, v, m) in enumerate(zip(counts, variances, means, strict=True)):
            assert next_runs(contrasts, n, v, m, size=size, **how).tolist() == many[row].tolist()
            np.testing.assert_allclose(aims(contrasts, v, m, start=10, **how), far[row], rtol=1e-9)
    assert (many.sum(axis=-1) == 0).any()
    assert (many.sum(axis=-1) == 16).any()


def test_a_prediction_is_what_rounds_without_end_would_come_to():
    contrasts = contrasts_among(3, difference="simple", reference=0)
    counts, variances, means = np.full(3, 10.0), np.array([9.0, 4.0, 1.0]), np.zeros(3)
    runs = predicted_runs(contrasts, counts, variances, means, se=0.5)
    errors = pairs_of(contrasts, variances, means)
    assert errors.largest_error(counts + runs) <= 0.5
    for place in runs.nonzero()[0]:
        fewer = runs - (np.arange(3) == place)
        assert errors.largest_error(counts + fewer) > 0.5
