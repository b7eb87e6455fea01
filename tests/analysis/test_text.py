"""An analysis in words: who is better, by how much of what, and how sure; the answer of the whole; its table."""

import dataclasses
import math
import re

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse
from hypothesis import given
from hypothesis import strategies as st

from ampler import analyse
from ampler.analysis import analyse_runs
from ampler.analysis.compare import Comparison, Equivalence
from ampler.analysis.text import headline, together, verdict, verdict_sentences
from ampler.core.arrays import Runs
from ampler.core.settings import Settings

COMPARISON = Comparison(
    first="full",
    second="mine",
    estimate=-0.0341,
    estimate_of="mean",
    p_value=1e-9,
    p_holm=2e-8,
    alpha=0.0033,
    rank=7,
    rejected=True,
    interval=(-0.046, -0.022),
    level=0.9967,
    joint_interval=(-0.0464, -0.0218),
    effect_size=-1.2,
    effect_interval=(-1.5, -0.8),
    instances=57,
)
ASKED = Settings(difference="percent", reference="full")
SAME = Equivalence(margin=0.01, p_value=1e-6, p_holm=1e-5, alpha=0.001, rank=1, established=True)


def say(same=None, detectable=0.374, **changes):
    fields = {field.name for field in dataclasses.fields(Comparison)}
    comparison = dataclasses.replace(COMPARISON, **{key: changes[key] for key in changes if key in fields})
    asked = dataclasses.replace(ASKED, **{key: changes[key] for key in changes if key not in fields})
    return verdict(comparison, same, asked, detectable)


def test_a_percent_difference_names_what_it_is_a_percentage_of():
    assert say() == ("mine is worse than full: +3.41 % (simultaneous 95 % CI 2.18 to 4.64 %)")
    assert "of the grand mean" in say(reference=None)


def test_better_chooses_the_winner():
    assert say(better="higher").startswith("mine is better than full: +3.41 %")
    assert say(estimate=0.0341, joint_interval=(0.0218, 0.0464)).startswith("mine is better than full: −3.41 %")
    assert say(better="higher", estimate=0.0341, joint_interval=(0.0218, 0.0464)).startswith("mine is worse than full")


def test_without_a_reference_the_first_is_the_subject():
    assert say(reference=None, difference="simple").startswith("full is better than mine: −0.0341 (")


def test_a_pair_without_common_instances_is_not_compared():
    assert (
        say(instances=0, rejected=False)
        == "Not compared: mine and full both have values on 0 instances, and 2 are needed"
    )
    assert "on 1 instance, and 2" in say(instances=1, rejected=False)


# a difference that was found, and an interval that holds zero --------------------------------------------------------

WHY = ("as it covers all comparisons at once", "as it says less than the p-value", "out of reach with so few")


@st.composite
def questions(draw):
    """Families of differences of every strength, and a question to them."""
    n, size = draw(st.integers(4, 25)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    digits = draw(st.sampled_from([0, 1, 6]))  # coarse values have ties and zeros
    values = 20 + np.round(rng.normal(rng.uniform(-1.5, 1.5, size + 1), 1.0, (n, size + 1)), digits)
    alternative = draw(st.sampled_from(["two-sided", "less", "greater"]))
    asked = {
        "difference": draw(st.sampled_from(["simple", "percent", "ratio"])),
        "test": draw(st.sampled_from(["t", "wilcoxon", "sign", "bootstrap-t", "sign-flip"])),
        "alternative": alternative,
        "better": draw(st.sampled_from(["lower", "higher"])),
        "reference": "a0" if alternative != "two-sided" else draw(st.sampled_from([None, "a0"])),
    }
    rows = [(f"i{i}", f"a{k}", values[i, k]) for i in range(n) for k in range(size + 1)]
    return Runs.from_columns(*zip(*rows, strict=True)), Settings(**asked)


@given(questions())
def test_no_difference_is_found_with_an_interval_that_holds_zero_unless_the_words_say_why(question):
    for found in analyse_runs(*question).comparisons:
        neutral = 0.5 if found.estimate_of == "P(φ>0)" else 0.0
        low, high = found.joint_interval
        said = [why for why in WHY if why in found.verdict and found.rejected]
        assert bool(said) == (found.rejected and low <= neutral <= high)
        assert found.claimed == bool(re.search(r" is (better|worse) than ", found.verdict))
        assert found.in_doubt == (found.verdict.startswith("Inconclusive") and " seems " in found.verdict)


def test_an_interval_for_all_pairs_at_once_can_hold_zero_where_decisions_step_down():
    noise = np.random.default_rng(5).normal(size=20)
    between = (noise - noise.mean()) / noise.std(ddof=1) + 2.3 / np.sqrt(20)  # t = 2.3: p is 0.033, above 0.05/3
    values = np.column_stack([np.zeros(20), noise + 5, noise + 6, between])
    rows = [(f"i{i}", f"a{k}", values[i, k]) for i in range(20) for k in range(4)]
    runs = Runs.from_columns(*zip(*rows, strict=True))
    found = analyse_runs(runs, Settings(difference="simple", reference="a0")).comparisons[-1]
    assert found.rejected
    assert found.joint_interval[0] < 0 < found.joint_interval[1]
    assert found.verdict.endswith("; the interval includes no difference, as it covers all comparisons at once")


def test_what_favours_neither_is_said_in_the_unit_of_the_differences():
    crossing = {"joint_interval": (-0.07, 0.01)}
    assert "includes no difference, as" in say(**crossing)
    assert "−1.00 to 7.00 %" in say(**crossing)
    assert "includes no difference, as" in say(difference="ratio", **crossing)
    share = {"estimate_of": "P(φ>0)", "estimate": 0.2, "interval": (0.1, 0.4), "joint_interval": (0.05, 0.6)}
    assert "40.0 to 95.0 %); the interval includes 50 %, as it covers all comparisons" in say(**share)


def test_a_test_whose_own_interval_holds_zero_is_not_excused_by_the_other_pairs():
    assert "where differences tie" in say(interval=(-0.05, 0.0), joint_interval=(-0.07, 0.01))


def test_a_simple_difference_is_in_its_own_unit():
    words = say(difference="simple", estimate=-12.5, joint_interval=(-20.0, -5.0))
    assert words == "mine is worse than full: +12.5 (simultaneous 95 % CI 5.0 to 20.0)"


@pytest.mark.parametrize(
    ("factors", "better", "found", "limits"),
    [
        ((0.5, 0.25, 0.8), "lower", "worse than full: ×2.00", "×1.25 to ×4.00"),
        ((0.981, 0.973, 0.99), "lower", "worse than full: +1.94 %", "1.01 to 2.77 %"),
        ((1.25, 1.2, 1.3), "higher", "worse than full: −20.0 %", "−23.1 to −16.7 %"),
        ((1.25, 1.2, 1.3), "lower", "better than full: −20.0 %", "−23.1 to −16.7 %"),
        ((283.6, 1.03, 78113), "higher", "worse than full: ×0.00353", "×1.28e−05 to ×0.971"),
        ((0.5, 0.0, 0.8), "lower", "worse than full: +100 %", "from 25 % up"),
    ],
)
def test_a_ratio_is_a_percent_change_of_the_subject_near_one_and_a_factor_beyond(factors, better, found, limits):
    estimate, *ends = (math.log(factor) if factor else -math.inf for factor in factors)
    words = say(difference="ratio", better=better, estimate=estimate, joint_interval=tuple(ends))
    assert words == f"mine is {found} (simultaneous 95 % CI {limits})"


def test_a_pseudomedian_is_not_called_an_average():
    assert "in the pseudomedian" in say(estimate_of="pseudomedian")
    assert "average" not in say(estimate_of="pseudomedian")


def test_the_sign_test_speaks_of_instances():
    words = say(estimate_of="P(φ>0)", estimate=0.2, joint_interval=(0.1, 0.4))
    assert (
        words == "mine is worse than full: larger on 80.0 % of the instances without a tie"
        " (simultaneous 95 % CI 60.0 to 90.0 %)"
    )


def test_a_one_sided_interval_has_one_end():
    words = say(alternative="less", joint_interval=(-math.inf, -0.02))
    assert words.endswith("(simultaneous 95 % CI from 2.00 % up)")


def test_an_interval_out_of_reach_is_said():
    assert say(joint_interval=(-math.inf, math.inf)).endswith("out of reach with so few instances)")


def test_nothing_found_says_what_would_have_been_found():
    plain = "Inconclusive: mine against full, +3.41 % (simultaneous 95 % CI 2.18 to 4.64 %)"
    assert say(rejected=False) == f"{plain}; this study had 80 % power for d ≥ 0.37"
    assert say(rejected=False, detectable=math.nan) == plain


def test_equivalence_is_claimed_only_when_established():
    assert say(rejected=False, same=SAME) == "mine and full are equivalent within ±1 %"
    missed = dataclasses.replace(SAME, established=False)
    assert say(rejected=False, same=missed).startswith("Inconclusive: mine against full, +3.41 %")
    assert say(same=SAME).endswith("; but equivalent within ±1 %")
    assert say(rejected=False, same=SAME, difference="ratio") == "mine and full are equivalent within a factor of 1.01"
    assert say(rejected=False, same=SAME, difference="simple") == "mine and full are equivalent within ±0.01"


def test_a_margin_leaves_the_joint_level_except_in_studies_of_earlier_versions():
    assert "simultaneous 95 % CI" in say(margin=0.01)
    assert "simultaneous 97.5 % CI" in say(margin=0.01, equivalence_level="shared")


# the answer of the whole ------------------------------------------------------------------------------------------


def found(far: float, near: float = 10.0, **options):
    """An analysis on eight instances: `near` hardly differs from `full`, `far` by as much as said."""
    wobble = [0.1, -0.1, 0.2, -0.2, 0.15, -0.15, 0.05, -0.05]
    table = {
        "instance": [f"i{k}" for k in range(8)],
        "full": [10.0 + k for k in range(8)],
        "near": [near + k + w for k, w in enumerate(wobble)],
        "far": [far + k + w / 2 for k, w in enumerate(wobble)],
    }
    return flat_analyse(pd.DataFrame(table), difference="simple", better="lower", **options)


def test_the_headline_counts_for_the_reference():
    assert headline(found(20.0, reference="full")).startswith("full is better than far.")
    assert headline(found(1.0, reference="full")).startswith("full is worse than far.")


def test_a_single_comparison_is_named_instead_of_counted():
    table = pd.DataFrame({"instance": list("abcd"), "full": [1.0, 2, 3, 4], "other": [3.0, 4.1, 5, 6]})
    said = headline(analyse(table, difference="simple", better="lower", reference="full"))
    assert said.startswith("full is better than other.")


def test_the_headline_counts_pairs_without_a_reference():
    assert headline(found(20.0)).startswith(
        "full and near share the lead: no algorithm is better; 2 of 3 pairs differ significantly."
    )


def test_the_headline_says_when_nothing_is_found():
    assert headline(found(10.0, reference="full")).startswith("All 2 comparisons with full are inconclusive")


def test_claims_come_one_by_one_and_the_rest_together():
    said = list(verdict_sentences(found(20.0, reference="full")))

    assert [sentence.partition(":")[0] for sentence in said] == ["far is worse than full", "Inconclusive"]


def test_an_established_equivalence_is_a_claim():
    said = list(verdict_sentences(found(20.0, reference="full", margin=1.0)))

    assert "equivalent within ±1" in said[1]


def test_of_many_claims_the_first_are_told_and_the_others_counted():
    said = list(verdict_sentences(found(20.0, near=15.0), most=2))

    assert len(said) == 2
    assert said[1] == "… and 2 more, which the table shows."


def test_friedmans_test_stands_beside_the_comparisons():
    assert "Friedman χ²(2) = " in together(found(20.0))


def test_where_claims_are_many_what_was_not_found_is_told_all_the_same():
    said = list(verdict_sentences(found(20.0, near=15.0, reference="full", test="sign", alpha=0.001), most=3))

    assert len(said) <= 3
    assert "no difference could have been significant" in said[-1]
