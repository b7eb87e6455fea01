"""Assurance: reference values, power as its special case, simulated studies, the ceiling."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from scipy.stats import t as student

from ampler.core.errors import InvalidDesign
from ampler.design import required_instances
from ampler.design.assurance import BeliefAsk, assurance, instances_for_assurance
from ampler.stats.power import paired_power

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "bayes.json").read_text())["design"]


@pytest.mark.parametrize("row", GOLD, ids=lambda row: f"{row['goal']}-{row['N80']}")
def test_assurances_are_the_reference_ones(row):
    belief = {"effect": row["mean"], "effect_sd": row["sd"], "margin": row["rope"], "goal": row["goal"]}
    assert assurance(57, **belief) == pytest.approx(row["at57"], abs=1e-9)
    assert assurance(200, **belief) == pytest.approx(row["at200"], abs=1e-9)
    assert instances_for_assurance(0.8, **belief).instances == row["N80"]


@given(st.integers(3, 300), st.floats(0.05, 2.0))
def test_a_certain_effect_gives_the_power_of_the_t_test(instances, effect):
    expected = paired_power(instances, effect, [0.05])[0]
    assert assurance(instances, effect=effect, effect_sd=0.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("effect", [0.3, 0.5, 0.8])
def test_a_certain_effect_needs_the_instances_of_a_design(effect):
    found = instances_for_assurance(0.8, effect=effect, effect_sd=0.0)
    assert found.instances == required_instances(comparisons=1, effect=effect, power=0.8).instances


@pytest.mark.parametrize(
    ("n", "effect", "sd", "margin", "goal"),
    [
        (40, 0.5, 0.2, 0.1, "above"),
        (20, 0.8, 0.3, 0.0, "above"),
        (150, 0.0, 0.1, 0.3, "inside"),
        (60, 0.1, 0.1, 0.5, "inside"),
    ],
)
def test_simulated_studies_succeed_as_often(n, effect, sd, margin, goal):
    rng = np.random.default_rng(1)
    studies = 200_000
    means = rng.normal(effect, sd, studies) + rng.normal(size=studies) / math.sqrt(n)
    half = student.ppf(0.975, n - 1) * np.sqrt(rng.chisquare(n - 1, studies) / (n - 1) / n)
    low, high = means - half, means + half
    success = low > margin if goal == "above" else (low > -margin) & (high < margin)
    found = assurance(n, effect=effect, effect_sd=sd, margin=margin, goal=goal)
    assert abs(success.mean() - found) < 4 * math.sqrt(found * (1 - found) / studies)


@pytest.mark.parametrize("n", [50, 500, 5000])
def test_the_mean_over_what_is_believed_is_that_of_adaptive_quadrature(n):
    """With many instances success is nearly a step of the effect, which few fixed nodes do not see."""

    def weighted(effect):
        return norm.pdf(effect, 0.3, 0.2) * paired_power(n, effect - 0.1, [0.05])[0]

    around = [0.1 + k / math.sqrt(n) for k in range(-6, 13, 2)]
    expected = quad(weighted, -0.9, 1.5, points=around, limit=500, epsabs=1e-12)[0]
    assert assurance(n, effect=0.3, effect_sd=0.2, margin=0.1) == pytest.approx(expected, abs=1e-9)


beliefs = st.fixed_dictionaries(
    {"effect": st.floats(-0.5, 1.5), "effect_sd": st.floats(0.05, 0.6), "margin": st.floats(0.01, 0.5)}
)


@given(beliefs, st.sampled_from(["above", "inside"]), st.integers(10, 2000))
def test_more_instances_assure_more_and_never_pass_the_ceiling(belief, goal, instances):
    assume(
        BeliefAsk(goal=goal, **belief).ceiling > 0.5
    )  # where success would mostly be an error, more instances lower it
    less, more = (assurance(n, goal=goal, **belief) for n in (instances, 2 * instances))
    by_luck = goal == "inside" and less <= 1e-3  # that the deviation seen is small and the interval short enough
    assert by_luck or less <= more + 1e-9
    assert more <= BeliefAsk(goal=goal, **belief).ceiling + (0.02 if goal == "above" else 1e-6)


@given(beliefs)
def test_the_ceiling_is_the_probability_of_the_effect_itself(belief):
    effect, sd, margin = belief["effect"], belief["effect_sd"], belief["margin"]
    assert BeliefAsk(**belief).ceiling == pytest.approx(norm.sf(margin, effect, sd), abs=1e-12)
    inside = norm.cdf(margin, effect, sd) - norm.cdf(-margin, effect, sd)
    assert BeliefAsk(goal="inside", **belief).ceiling == pytest.approx(inside, abs=1e-12)


def test_a_certain_effect_has_a_ceiling_of_nothing_or_all():
    assert BeliefAsk(effect=0.5, effect_sd=0.0, margin=0.1).ceiling == 1.0
    assert BeliefAsk(effect=0.05, effect_sd=0.0, margin=0.1).ceiling == 0.0
    assert BeliefAsk(effect=0.05, effect_sd=0.0, margin=0.1, goal="inside").ceiling == 1.0


def test_the_fewest_instances_are_the_fewest():
    found = instances_for_assurance(0.75, effect=0.6, effect_sd=0.3, margin=0.1)
    assert found.assurance >= 0.75 > assurance(found.instances - 1, effect=0.6, effect_sd=0.3, margin=0.1)
    assert found.ceiling == pytest.approx(norm.sf(0.1, 0.6, 0.3))


def test_more_than_the_ceiling_is_refused_and_the_ceiling_told():
    with pytest.raises(InvalidDesign, match=r"no number of instances has an assurance of 0.9: .* 0.841 only"):
        instances_for_assurance(0.9, effect=0.3, effect_sd=0.2, margin=0.1)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"effect": float("nan"), "effect_sd": 0.1}, "effect must be a finite number"),
        ({"effect": 0.5, "effect_sd": -0.1}, "effect_sd must be a number that is not negative, got -0.1"),
        ({"effect": 0.5, "effect_sd": 0.1, "margin": -1.0}, "margin must be a number that is not negative, got -1.0"),
        ({"effect": 0.5, "effect_sd": 0.1, "goal": "below"}, "goal must be one of 'above', 'inside', got 'below'"),
        ({"effect": 0.5, "effect_sd": 0.1, "goal": "inside"}, "inside a margin of 0"),
        ({"effect": 0.5, "effect_sd": 0.1, "level": 0.0}, "level must lie strictly between 0 and 1"),
    ],
)
def test_a_belief_that_cannot_be_is_refused_in_a_sentence(wrong, sentence):
    with pytest.raises(InvalidDesign, match=sentence):
        assurance(50, **wrong)


@pytest.mark.parametrize("instances", [1, 0, 2.5])
def test_instances_that_cannot_be_are_refused(instances):
    with pytest.raises(InvalidDesign, match="instances must be a whole number from 2 to"):
        assurance(instances, effect=0.5, effect_sd=0.1)
