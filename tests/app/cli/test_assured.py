"""`ampler design --assurance`: the instances for a probability of success over what is believed of the effect."""

from __future__ import annotations

import pytest

BELIEF = ("--effect", "0.5", "--effect-sd", "0.2")
NONE = ("--effect", "0", "--effect-sd", "0.05", "--margin", "0.3", "--goal", "inside")
SMALL = ("--effect", "0.3", "--effect-sd", "0.2", "--margin", "0.1")


def test_the_answer_comes_with_its_ceiling(shell):
    answer = shell("design", "--assurance", "0.8", *BELIEF)

    assert answer.code == 0
    assert answer.words.startswith("48 instances: assurance 0.802 that the 95 % credible interval lies above 0")
    assert "Ceiling 0.994" in answer.words


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (("--assurance", "0.8", *BELIEF, "--margin", "0.1"), "instances", 90),
        (("--assurance", "0.8", "--effect", "0.5", "--effect-sd", "0"), "instances", 34),
        (("--assurance", "0.8", *NONE), "instances", 134),
        (("--instances", "57", *BELIEF), "assurance", 0.8359305833174626),
        (("--instances", "57", *BELIEF, "--alpha", "0.1"), "level", 0.9),
        (("--instances", "57", *BELIEF, "--algorithms", "22", "--vs-one"), "comparisons", 21),
    ],
)  # fmt: skip
def test_every_option_reaches_the_answer(shell, options, field, value):
    assert shell("design", *options, "--json").json[field] == pytest.approx(value, abs=1e-9)


def test_a_raw_effect_takes_its_uncertainty_and_margin_in_its_own_unit(shell):
    raw = ("--difference", "2.5", "--sd", "4", "--se", "3", "--effect-sd", "1", "--margin", "0.5")

    assert shell("design", "--assurance", "0.8", *raw, "--json").json["instances"] == 90


def test_costs_are_told_beside(shell):
    answer = shell("design", "--assurance", "0.8", *BELIEF, "--algorithms", "2", "--vs-one", "--runs", "30", "--json")

    assert answer.json["cost"]["total_runs"] == 48 * 2 * 30


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--assurance", "0.9", *SMALL), "with probability 0.841 only"),
        (("--assurance", "0.8", "--effect", "0.3"), "--effect-sd"),
        (("--assurance", "0.8", "--effect-sd", "0.3"), "--effect-sd"),
        (("--assurance", "0.8", *BELIEF, "--power", "0.8"), "omit --power"),
        (("--assurance", "0.8", *BELIEF, "--test", "sign", "--target", "worst"), "omit --target, --test"),
        (("--assurance", "0.8", "--instances", "57", *BELIEF), "give one of --assurance and --instances"),
        (BELIEF, "give one of --assurance and --instances"),
        (("--assurance", "0.8", *BELIEF, "--goal", "inside"), "inside a margin of 0"),
        (("--assurance", "1.2", *BELIEF), "assurance must lie strictly between 0 and 1"),
        (("--assurance", "0.8", "--effect", "0.5", "--effect-sd", "-1"), "effect_sd must be a number"),
        (("--assurance", "0.8", *BELIEF, "--margin", "-1"), "margin must be a number that is not negative"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_sentence(shell, options, sentence):
    answer = shell("design", *options)

    assert answer.code == 2  # no data could make it right
    assert sentence in answer.err
    assert answer.out == ""
