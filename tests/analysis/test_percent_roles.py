import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.analysis import analyse_runs
from ampler.analysis.text import findings, headline
from ampler.core.arrays import Runs
from ampler.core.settings import Settings


def runs_of(values):
    """One run of each algorithm (column) on each instance (row)."""
    rows = [(f"i{i}", "ABCDE"[k], value) for i, row in enumerate(values) for k, value in enumerate(row)]
    return Runs.from_columns(*zip(*rows, strict=True))


def analysed(values, reference="A", difference="percent", **settings):
    return analyse_runs(runs_of(values), Settings(difference=difference, reference=reference, **settings))


def exchangeable(rng, instances=300, spread=0.3):
    """Two algorithms, each better on half of the instances by the same factors."""
    factors = np.exp(np.abs(rng.normal(0, spread, instances // 2)))
    base = rng.lognormal(3, 1, instances)
    return np.column_stack([base, base * np.concatenate([factors, 1 / factors])])


def test_a_difference_in_doubt_within_the_margin_is_equivalent_in_the_headline_too():
    analysis = analysed(exchangeable(np.random.default_rng(20261)), margin=0.3)
    assert analysis.comparisons[0].in_doubt
    assert findings(analysis)["A", "B"] == "equivalent"
    assert headline(analysis) == "A is equivalent to B within ±30 %."


@pytest.mark.parametrize("reference", ["A", "B"])
def test_percentages_that_favour_their_reference_are_inconclusive(reference):
    analysis = analysed(exchangeable(np.random.default_rng(20261)), reference)
    [comparison] = analysis.comparisons

    assert comparison.rejected
    assert not comparison.claimed
    assert [doubt.kind for doubt in comparison.doubts] == ["roles"]
    assert findings(analysis) == {(comparison.first, comparison.second): "inconclusive"}
    other = "AB".replace(reference, "")
    assert comparison.verdict.startswith(f"Inconclusive: {other} seems worse than {reference}: ")
    assert headline(analysis).startswith(f"{comparison.second} against {comparison.first} is inconclusive, because")


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


def worse_by(rng, share, instances=2500, spread=0.4):
    """The second gives smaller values by a share, and scatters by a factor: in percent of the first it seems equal."""
    base = rng.lognormal(3, 1, instances)
    logs = rng.normal(0, spread, instances)
    return np.column_stack([base, base * np.exp(logs - logs.mean() + np.log(1 - share))])


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_percentages_alone_show_no_equivalence(better):
    alike = analysed(worse_by(np.random.default_rng(20265), 0.08), margin=0.05, better=better)
    [same] = [row.equivalence for row in alike.diagnoses]

    assert same.p_holm < 0.001
    assert not same.established
    assert same.doubt in headline(alike).replace("Equivalence", "equivalence")
    assert findings(alike) == {("A", "B"): "inconclusive"}


def test_a_loss_that_percentages_hide_is_not_tolerated():
    values = worse_by(np.random.default_rng(20265), 0.08)
    [row] = analysed(values, better="higher", non_inferior=0.03).diagnoses

    assert row.non_inferiority.bound < 0.03
    assert not row.non_inferiority.established
    assert "the ratio does not show it" in row.non_inferiority.doubt


def test_small_differences_are_equivalent_in_every_way_of_counting():
    rng = np.random.default_rng(20266)
    base = rng.lognormal(3, 1, 60)
    for reference in ("A", None):
        values = np.column_stack([base, base * np.exp(rng.normal(0, 0.02, 60))])
        [row] = analysed(values, reference, margin=0.05).diagnoses
        assert row.equivalence.established
        assert row.equivalence.doubt == ""
    [row] = analysed(values, non_inferior=0.05).diagnoses
    assert row.non_inferiority.established


def test_bayesian_verdicts_of_percentages_need_the_tests():
    favoured = analysed(exchangeable(np.random.default_rng(20261)), "A", margin=0.001).bayes
    alike = analysed(worse_by(np.random.default_rng(20265), 0.08), better="higher", margin=0.05).bayes

    assert favoured.comparisons[0].chances.worse > 0.975
    assert alike.comparisons[0].chances.equivalent > 0.975
    assert [bayes.comparisons[0].verdict for bayes in (favoured, alike)] == ["inconclusive", "inconclusive"]
    ratio = analysed(worse_by(np.random.default_rng(20265), 0.08), difference="ratio", better="higher", margin=0.05)
    assert ratio.bayes.comparisons[0].verdict == "worse"
