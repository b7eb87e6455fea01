from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler import achieved_power, required_instances
from ampler.core.errors import InvalidDesign
from ampler.design.text import (
    Ask,
    answer_sentence,
    answer_to,
    borrowed_sentence,
    hints,
    rank_rows,
    simulated_sentence,
    with_available,
)

PAPER = Ask(comparisons=21, effect=0.5, power=0.8, algorithms=22, reference=True)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (Ask(comparisons=7, effect=0.5, power=0.8), "instances"),
        (Ask(comparisons=7, instances=200, power=0.8), "effect"),
        (Ask(comparisons=7, instances=200, effect=0.5), "power"),
    ],
)
def test_the_one_that_is_missing_is_wanted(question, wanted):
    assert question.unknown == wanted


@pytest.mark.parametrize(
    "given_numbers", [{}, {"effect": 0.5}, {"instances": 9}, {"instances": 9, "effect": 0.5, "power": 0.8}]
)
def test_more_or_less_than_two_of_three_is_no_question(given_numbers):
    with pytest.raises(InvalidDesign, match="give two of instances, effect and power"):
        answer_to(Ask(comparisons=7, **given_numbers))


def test_powers_that_are_borrowed_from_the_t_test_are_said_to_be():
    planned = required_instances(comparisons=21, effect=0.5, test="bootstrap-t")
    assert "those of paired t-tests with Holm on 57 instances" in borrowed_sentence(planned)
    assert "bootstrap-t tests (step-down, α = 0.05)" in str(planned)
    simulated = required_instances(comparisons=2, effect=1.0, test="sign-flip", target="simulated", replications=50)
    assert borrowed_sentence(simulated) is None


@pytest.mark.parametrize("work", [4, pytest.param(15, marks=pytest.mark.slow)])
def test_tests_that_judge_together_have_no_ranks_and_are_run_for_real(monkeypatch, work):
    monkeypatch.setattr("ampler.design.text.RESAMPLED", work)
    question = Ask(comparisons=7, effect=0.5, power=0.8, test="bootstrap-t", algorithms=8, reference=True)
    answer = answer_to(question)
    assert rank_rows(answer) == []
    assert not any("strictest" in hint.sentence for hint in hints(question, answer))
    assert "Simulated mean power of the step-down's procedure: 0.8" in simulated_sentence(question, answer)


def test_the_settings_of_a_question_reach_the_design():
    question = Ask(
        comparisons=4,
        effect=0.5,
        power=0.7,
        alpha=0.1,
        target=2,
        alternative="less",
        test="sign",
        correction="bonferroni",
    )

    expected = required_instances(
        comparisons=4,
        effect=0.5,
        power=0.7,
        alpha=0.1,
        target=2,
        alternative="less",
        test="sign",
        correction="bonferroni",
    )
    assert answer_to(question) == expected


def test_a_simulated_target_is_simulated_with_the_dependence_of_the_comparisons():
    with_reference = answer_to(replace(PAPER, target="simulated", seed=3))
    independent = answer_to(replace(PAPER, target="simulated", reference=None, seed=3))

    assert with_reference.simulated.dependence == "reference"
    assert independent.simulated.dependence == "independent"
    assert independent.instances < with_reference.instances < 57
    assert with_reference.simulated.seed == 3


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            PAPER,
            "57 instances: mean power 0.804 for d = 0.5. Tests: 21 two-sided paired t-tests (Holm, α = 0.05).",
        ),
        (
            Ask(comparisons=7, instances=200, effect=0.25),
            "Mean power 0.853 for d = 0.25 with 200 instances. Tests: 7 two-sided paired t-tests (Holm, α = 0.05).",
        ),
        (
            Ask(comparisons=7, instances=200, power=0.85),
            "d = 0.249 is detectable: mean power 0.850 with 200 instances. Tests: 7 two-sided paired "
            "t-tests (Holm, α = 0.05).",
        ),
        (
            Ask(comparisons=1, effect=0.5, power=0.8, alternative="greater"),
            "27 instances: power 0.812 for d = 0.5. Test: one-sided paired t-test (α = 0.05).",
        ),
        (
            replace(PAPER, target="worst", test="wilcoxon", correction="bonferroni"),
            "76 instances: worst power 0.802 for d = 0.5. Tests: 21 two-sided Wilcoxon signed-rank tests "
            "(Bonferroni, α = 0.05).",
        ),
    ],
)
def test_the_answer_is_one_sentence(question, sentence):
    assert answer_sentence(question, answer_to(question)) == sentence


def test_a_power_that_is_nearly_certain_is_not_called_certain():
    ask = Ask(comparisons=3, instances=400, effect=0.9)
    assert answer_sentence(ask, answer_to(ask)).startswith("Mean power above 0.999 for d = 0.9 with 400 instances")


def test_a_simulated_power_says_that_the_comparisons_share_an_algorithm():
    design = answer_to(replace(PAPER, target="simulated"))
    assert re.fullmatch(
        r"53 instances: simulated mean power 0\.\d{3} for d = 0\.5. Tests: 21 two-sided paired t-tests with a "
        r"shared reference \(Holm, α = 0\.05\)",
        str(design),
    )


def test_a_design_and_the_answer_to_a_question_for_instances_read_alike():
    for ask in (PAPER, replace(PAPER, target=5), replace(PAPER, test="sign", correction="bonferroni")):
        assert answer_sentence(ask, answer_to(ask)) == f"{answer_to(ask)}."


def test_a_number_of_tests_as_target_is_told_as_such():
    words = answer_sentence(replace(PAPER, target=5), answer_to(replace(PAPER, target=5)))

    assert re.match(r"\d+ instances: power 0\.8\d\d or more in 5 of the comparisons for d = 0\.5", words)


def test_the_table_has_every_rank_of_a_usual_family():
    design = answer_to(PAPER)

    rows = rank_rows(design)

    assert [row.rank for row in rows] == list(range(1, 22))
    assert [row.level for row in rows] == pytest.approx(design.levels.tolist())
    assert [row.power for row in rows] == pytest.approx(design.powers.tolist())


@given(st.integers(31, 100_000), st.sampled_from(["holm", "bonferroni"]))
def test_the_table_of_a_large_family_is_short_and_true(comparisons, correction):
    design = achieved_power(instances=50, comparisons=comparisons, effect=0.5, correction=correction)

    rows = rank_rows(design)

    ranks = [row.rank for row in rows]
    assert len(rows) <= 20
    assert ranks == sorted(set(ranks))
    assert {1, 2, 3, comparisons - 1, comparisons} <= set(ranks)
    for row in rows:
        assert row.level == pytest.approx(design.levels[row.rank - 1])
    assert rows[0].power == pytest.approx(design.worst_power)
    assert rows[-1].power == pytest.approx(design.best_power)


def test_one_sided_tests_are_suggested_where_there_is_a_reference():
    first, *_ = hints(PAPER, answer_to(PAPER))

    assert first.sentence == "If only one direction matters, one-sided tests would need 50 instances instead of 57."
    assert first.change == {"alternative": "greater"}
    assert answer_to(replace(PAPER, **first.change)).instances == 50


def test_one_sided_tests_are_not_suggested_without_a_reference_or_twice():
    for question in (
        replace(PAPER, reference=None),
        replace(PAPER, reference=False, comparisons=231),
        replace(PAPER, alternative="less"),
    ):
        assert not any("one-sided" in point.sentence for point in hints(question, answer_to(question)))


def test_all_vs_one_is_suggested_to_who_compares_all_with_all():
    question = replace(PAPER, reference=False, comparisons=231)

    first, *_ = hints(question, answer_to(question))

    assert first.sentence == "All algorithms against one reference would need 57 instances instead of 81."
    assert answer_to(replace(question, **first.change)).instances == 57


def test_holm_is_suggested_to_who_uses_bonferroni():
    question = replace(PAPER, reference=None, correction="bonferroni")

    (only,) = hints(question, answer_to(question))

    assert only.sentence == "Holm's procedure, as sound as Bonferroni's, would need 57 instances instead of 65."


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (PAPER, "The strictest test has power 0.719; 65 instances would give it 0.8."),
        (
            Ask(comparisons=21, instances=57, power=0.8),
            "The strictest test has power 0.714; it has 0.8 from d = 0.537 on.",
        ),
        (Ask(comparisons=21, instances=57, effect=0.5), "The strictest test has power 0.719."),
    ],
)
def test_the_strictest_test_is_spoken_of(question, sentence):
    *_, last = hints(question, answer_to(question))

    assert last.sentence == sentence
    assert last.change == {"target": "worst"}


def test_a_single_comparison_needs_no_advice():
    question = Ask(comparisons=1, effect=0.5, power=0.8)

    assert list(hints(question, answer_to(question))) == []
    assert simulated_sentence(question, answer_to(question)) is None


def test_hints_for_a_given_number_of_instances_speak_of_power_and_effect():
    power, *_ = hints(replace(PAPER, instances=57, power=None), answer_to(replace(PAPER, instances=57, power=None)))
    effect, *_ = hints(replace(PAPER, instances=57, effect=None), answer_to(replace(PAPER, instances=57, effect=None)))

    assert "would reach mean power 0.8" in power.sentence
    assert "instead of 0.804" in power.sentence
    assert re.search(r"would detect d = 0\.4\d\d instead of 0\.498", effect.sentence)


def test_the_instances_at_hand_and_what_they_can_detect():
    assert with_available(PAPER, 40) == (
        "With the 40 instances you have, d = 0.61 is detectable with mean power 0.8; for d = 0.5 it is 0.596."
    )


def test_what_is_called_detectable_is():
    stated = float(re.search(r"d = ([\d.]+) is", with_available(PAPER, 40))[1])

    assert achieved_power(instances=40, comparisons=21, effect=stated).power >= 0.8


def test_a_simulated_target_still_says_what_the_instances_at_hand_can_detect():
    assert "d = 0.61 is detectable with mean power 0.8" in with_available(replace(PAPER, target="simulated"), 40)


def test_the_simulation_gives_the_range_of_the_method_page():
    """At the designed N, 0.86 to 0.90 when all 21 are real and about 0.77 when half are null."""
    words = simulated_sentence(replace(PAPER, reference=None), answer_to(PAPER))

    all_real, half_real = (float(number) for number in re.findall(r"0\.\d\d", words))
    assert all_real == pytest.approx(0.90, abs=0.01)
    assert half_real == pytest.approx(0.77, abs=0.015)
    assert "all differences exist" in words
    assert "if 11 of them do" in words


def test_the_simulation_is_the_same_for_the_same_seed():
    design = answer_to(PAPER)

    assert simulated_sentence(PAPER, design) == simulated_sentence(PAPER, design)


def test_a_family_too_large_to_simulate_at_once_is_not_simulated():
    design = required_instances(comparisons=100_000, effect=0.5, power=0.8)

    assert simulated_sentence(Ask(comparisons=100_000, effect=0.5, power=0.8), design) is None
