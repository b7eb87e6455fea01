"""A design for what is believed of the effect, in words."""

import pytest

from ampler.core.errors import InvalidDesign
from ampler.design.assurance import (
    BeliefAsk,
    assurance,
    assured_answer,
    assured_document,
    assured_points,
    assured_sentence,
    instances_for_assurance,
)


def test_instances_and_assurance_answer_each_other():
    wanted = assured_answer(BeliefAsk(effect=0.5, effect_sd=0.2, margin=0.1, assurance=0.8))
    given = assured_answer(BeliefAsk(effect=0.5, effect_sd=0.2, margin=0.1, instances=wanted.instances))

    assert wanted == given == instances_for_assurance(0.8, effect=0.5, effect_sd=0.2, margin=0.1)


@pytest.mark.parametrize("given", [{}, {"instances": 20, "assurance": 0.8}])
def test_one_of_the_two_must_be_given(given):
    with pytest.raises(InvalidDesign, match="give one of instances and assurance"):
        assured_answer(BeliefAsk(effect=0.5, effect_sd=0.2, **given))


def test_the_sentence_has_the_answer_and_what_was_believed():
    ask = BeliefAsk(effect=0.0, effect_sd=0.05, margin=0.3, goal="inside", assurance=0.8, level=0.9)

    sentence = assured_sentence(ask, assured_answer(ask))

    assert sentence.startswith(f"{assured_answer(ask).instances} instances: assurance 0.80")
    assert "the 90 % credible interval lies inside ±0.3, for an effect of d = 0 ± 0.05." in sentence


def test_the_ceiling_is_always_told_and_beside_it_what_certainty_would_give():
    ask = BeliefAsk(effect=0.3, effect_sd=0.2, margin=0.1, instances=200)

    ceiling, certain = assured_points(ask, assured_answer(ask))

    assert ceiling.startswith("Ceiling 0.841: no number of instances gives more")
    assert f"{assurance(200, effect=0.3, effect_sd=0.0, margin=0.1):.3f}" in certain


def test_a_certain_effect_is_not_compared_with_itself_and_several_comparisons_are_told():
    ask = BeliefAsk(effect=0.5, effect_sd=0.0, assurance=0.8, comparisons=21)

    points = list(assured_points(ask, assured_answer(ask)))

    assert points[0].startswith("Ceiling above 0.999")
    assert points[1].startswith("This is the assurance of each of the 21 comparisons by itself")
    assert "second posterior" in points[1]
    two = BeliefAsk(effect=0.5, effect_sd=0.0, assurance=0.8, comparisons=2)
    assert "second posterior" not in list(assured_points(two, assured_answer(two)))[1]


def test_the_document_holds_the_answer_and_the_ask():
    ask = BeliefAsk(effect=0.5, effect_sd=0.2, assurance=0.8)

    document = assured_document(ask, assured_answer(ask))

    assert (document["instances"], document["solved_for"], document["goal"]) == (48, "instances", "above")
    assert document["ceiling"] == pytest.approx(0.99379, abs=1e-5)
