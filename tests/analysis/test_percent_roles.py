import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.analysis import analyse_runs
from ampler.analysis.answer import findings
from ampler.analysis.words import headline
from ampler.core.runs import Runs
from ampler.core.settings import AnalysisSettings


def runs_of(values):
    """One run of each algorithm (column) on each instance (row)."""
    rows = [(f"i{i}", "ABCDE"[k], value) for i, row in enumerate(values) for k, value in enumerate(row)]
    return Runs.from_columns(*zip(*rows, strict=True))


def analysed(values, reference="A", difference="percent", **settings):
    return analyse_runs(runs_of(values), AnalysisSettings(difference=difference, reference=reference, **settings))


def exchangeable(rng, instances=300, spread=0.3):
    """Two algorithms, each better on half of the instances by the same factors."""
    factors = np.exp(np.abs(rng.normal(0, spread, instances // 2)))
    base = rng.lognormal(3, 1, instances)
    return np.column_stack([base, base * np.concatenate([factors, 1 / factors])])


@pytest.mark.parametrize("reference", ["A", "B"])
def test_percentages_that_favour_their_reference_are_inconclusive(reference):
    analysis = analysed(exchangeable(np.random.default_rng(20261)), reference)
    [comparison] = analysis.comparisons

    assert comparison.rejected
    assert not comparison.claimed
    assert [doubt.kind for doubt in comparison.doubts] == ["roles"]
    assert findings(analysis) == {(comparison.first, comparison.second): "undecided"}
    assert comparison.verdict.startswith(f"inconclusive: {reference} looks better")
    assert headline(analysis).startswith("Inconclusive")


@pytest.mark.parametrize("reference", ["A", None])
def test_a_difference_that_every_way_of_counting_shows_is_claimed(reference):
    rng = np.random.default_rng(20262)
    base = rng.lognormal(3, 1, 40)
    values = np.column_stack([base, base * np.exp(rng.normal(0.2, 0.2, 40)), base * np.exp(rng.normal(0, 0.2, 40))])
    claimed = {(each.first, each.second) for each in analysed(values, reference).comparisons if each.claimed}

    assert ("A", "B") in claimed


def test_only_the_algorithms_that_differ_are_claimed_beside_equal_ones():
    rng = np.random.default_rng(20263)
    base = exchangeable(rng)
    analysis = analysed(np.column_stack([base, 1.3 * base[:, 0] * np.exp(rng.normal(0, 0.1, 300))]))

    assert {each.second: each.claimed for each in analysis.comparisons} == {"B": False, "C": True}
    assert "Inconclusive" in headline(analysis)


def test_percent_of_the_grand_mean_needs_the_support_of_the_ratio():
    rng = np.random.default_rng(20264)
    base = np.full(60, 10.0)
    rival = np.where(np.arange(60) % 5 == 0, 40.0, 9.2) * np.exp(rng.normal(0, 0.01, 60))  # rarely far worse
    analysis = analysed(np.column_stack([base, rival]), None)

    assert analysis.comparisons[0].rejected == bool(analysis.comparisons[0].doubts) or analysis.comparisons[0].claimed
    ratio = analysed(np.column_stack([base, rival]), None, "ratio").comparisons[0]
    assert not (analysis.comparisons[0].claimed and not ratio.rejected)


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1.0), st.floats(-0.5, 0.5), st.integers(5, 60))
def test_no_two_references_claim_the_opposite(seed, spread, shift, instances):
    rng = np.random.default_rng(seed)
    base = rng.lognormal(0, 1, instances)
    values = np.column_stack([base, base * np.exp(rng.normal(shift, spread, instances))])
    winners = set()
    for reference in "AB":
        [found] = analysed(values, reference).comparisons
        if found.claimed:
            winners.add(found.first if found.estimate < 0 else found.second)

    assert len(winners) <= 1
