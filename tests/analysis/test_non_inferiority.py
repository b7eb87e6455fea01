"""Non-inferiority on its own: one-sided, with its bound, power and planned size. Fixed seeds."""

import numpy as np
import pytest
from tests.helpers.simulated_claims import limit, wide_table

import ampler as am
from ampler.core.errors import InvalidDesign
from ampler.design import required_instances

ASKED = {"difference": "simple", "better": "lower", "reference": "a"}


def shown(table, margin, **asked):
    analysis = am.analyse(table, **ASKED | asked, settings=am.Settings(non_inferior=margin))
    return {row.second: row.non_inferiority for row in analysis.diagnoses}, analysis


def test_the_bound_is_that_of_a_one_sided_t_test():
    from scipy import stats

    table = wide_table([0.0, 0.1], seed=[44, 4], instances=30, correlation=0.9)
    loss = table["b"] - table["a"]
    expected = loss.mean() + stats.t.ppf(0.95, 29) * loss.std(ddof=1) / np.sqrt(30)
    found, analysis = shown(table, 1.0)
    assert found["b"].bound == pytest.approx(expected, rel=1e-9)
    assert found["b"].established
    assert "not worse than a by more than 1 (one-sided 95 % bound" in analysis.comparisons[0].verdict


@pytest.mark.parametrize("difference", ["ratio", "percent"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_loss_is_a_share_of_the_reference_whichever_values_are_better(difference, better):
    rng = np.random.default_rng(44)
    base = 100 * np.exp(rng.normal(0, 0.2, 20))
    worse = base * (1.05 if better == "lower" else 0.95) * np.exp(rng.normal(0, 0.001, 20))
    table = wide_table([0.0, 0.0], seed=1).assign(a=base, b=worse)
    found, _ = shown(table, 0.06, difference=difference, better=better)
    assert found["b"].bound == pytest.approx(0.05, abs=0.002)
    assert found["b"].established
    assert not shown(table, 0.04, difference=difference, better=better)[0]["b"].established


def test_it_needs_a_reference_and_differences_of_known_size():
    table = wide_table([0.0, 0.1], seed=1)
    for wrong, sentence in (({"reference": None}, "needs a reference"), ({"test": "sign"}, "choose another test")):
        with pytest.raises(InvalidDesign, match=sentence):
            shown(table, 1.0, **wrong)


@pytest.mark.parametrize("studies", [200, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("losses", "skewed"), [((0.5,), False), ((0.5, 0.5, 0.5), False), ((0.5, 0.5, 0.0), True)])
def test_claims_at_the_margin_itself_keep_the_level_together(losses, skewed, studies):
    assert false_claims(losses, 0.5, studies, skewed=skewed) <= limit(0.05, studies)


def false_claims(losses, margin, studies, *, skewed):
    """Return the share of studies in which an algorithm that is worse by the margin is called non-inferior."""
    false = 0
    for study in range(studies):
        table = wide_table((0.0, *losses), seed=[44, 5, study, len(losses)], instances=20, skewed=skewed)
        found = shown(table, margin)[0]
        false += any(found[name].established for name, loss in zip("bcd", losses, strict=False) if loss >= margin)
    return false / studies


@pytest.mark.parametrize("studies", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_planned_size_reaches_its_power_where_nothing_differs(studies):
    size = required_instances(effect=0.5 / np.sqrt(2), power=0.8, comparisons=1, alternative="greater").instances
    found = [shown(wide_table([0.0, 0.0], seed=[44, 6, k], instances=size), 0.5)[0]["b"] for k in range(studies)]
    assert np.mean([row.established for row in found]) >= 0.8 - 3 * np.sqrt(0.8 * 0.2 / studies)
