"""A study that finds its own size, in words."""

import math
import re

import numpy as np
import pytest
from scipy.stats import skew

from ampler.design.detect import DetectGoal
from ampler.design.text import (
    after_pilot,
    at_end,
    before_pilot,
    carried_note,
    how_tested,
    method_sentences,
    skewness_note,
)
from ampler.stats.shape import largest_shares


def numbers(text):
    """The numbers of a text, in order; the wording is in tests/gold/texts."""
    return re.findall(r"\d[\d,.]*(?<=\d)", text)


def test_before_the_pilot_its_price_is_told():
    runs = {f"a{n}": 5 for n in range(22)}
    shown = before_pilot(DetectGoal(0.02, available=300), "percent", 20, 300, runs)
    assert numbers(shown) == ["5", "20", "300", "2", "0.8"]


def test_after_the_pilot_everything_is_told_that_was_decided(report):
    shown = after_pilot(report())
    assert numbers(shown) == ["1", "2", "10", "8", "40", "91", "14", "6", "1,835", "0.81", "90", "70", "115"]
    assert "b gets no more runs" in shown


def test_the_least_power_stands_next_to_the_mean_where_there_are_several(report):
    shown = after_pilot(report(clear=(False, False)))
    assert "none of 2 comparisons" in shown
    assert "0.81 (smallest 0.75)" in shown


def test_too_few_instances_are_told_with_what_they_find(report):
    shown = after_pilot(report(planned=57, needed=91, mean_power=0.77, least_power=0.6, detectable=0.021))
    assert numbers(shown)[5:] == ["57", "14", "6", "1,835", "2", "91", "57", "0.77", "0.8", "2.1"]


@pytest.mark.parametrize(("difference", "shown"), [("percent", "2 %"), ("simple", "0.02"), ("ratio", "2 %")])
def test_differences_have_the_unit_of_the_user(report, difference, shown):
    assert f"{shown} needs 92 instances" in after_pilot(report(difference=difference, needed=92))


def test_where_all_is_clear_the_study_ends(report):
    shown = after_pilot(report(clear=(True, True), runs=dict.fromkeys(("full", "a", "b"), 0)))
    assert shown.startswith("Pilot: all 2 comparisons significant")
    assert "the study ends here" in shown


def test_the_end_says_on_what_each_comparison_rests(report):
    assert numbers(at_end(report())) == ["1,835", "1", "91", "1", "3"]


def test_a_paper_says_how_the_size_was_chosen(report):
    _, main, early = method_sentences(report())
    assert "(91 − 3 degrees of freedom), at 90 %" in main
    assert numbers(early) == ["1", "2", "10"]


def test_where_half_of_the_pilot_decided_it_is_told_and_what_the_end_rests_on(report):
    half = report(seen=2, planned=3, needed=3, interval=(3, 5))
    assert numbers(after_pilot(half))[-5:] == ["0.81", "90", "3", "5", "2"]
    assert numbers(at_end(half)) == ["1,835", "1", "3", "2", "1", "3"]
    main = list(method_sentences(half))[1]
    assert numbers(main)[:5] == ["3", "2", "3", "3", "2"]


def test_next_to_the_tests_it_is_told_what_they_allow_for(report):
    assert numbers(how_tested(report())) == ["3", "10", "1", "2", "90"]
    assert numbers(how_tested(report(seen=2)))[-1] == "2"
    assert numbers(how_tested(report(clear=(True, True)))) == ["3", "10", "2", "2"]
    assert "ordinary" in how_tested(report(share=0.0))


def test_skewness_that_could_be_chance_or_does_no_harm_is_not_told(report):
    many = tuple(f"i{n}" for n in range(20))
    assert skewness_note(report(instances=many)) is None
    assert skewness_note(report(instances=many, skewness=(0.8, 0.0))) is None
    assert skewness_note(report(instances=many, freedom=(19.0, 19.0), skewness=(3.0, 0.0), planned=10**6)) is None


def test_skewness_that_does_harm_is_told_with_what_to_do(report):
    many = tuple(f"i{n}" for n in range(20))
    known = {"instances": many, "freedom": (19.0, 19.0)}
    said = skewness_note(report(**known, skewness=(3.0, math.nan)))
    assert said.startswith("in 1 of 2 comparisons the differences of the pilot are strongly skewed (most: full × a")
    assert "ratio" in said
    assert "ratio" not in skewness_note(report(**known, skewness=(3.0, 0.0), difference="ratio"))
    fixed = skewness_note(report(**known, skewness=(3.0, 0.0), share=0.0, planned=25, clear=(False, False)))
    assert fixed.endswith("analyse the study with test bootstrap-t, which keeps its level")


def test_nobody_is_sent_to_another_seed(report):
    known = {"instances": tuple(f"i{n}" for n in range(20)), "freedom": (19.0, 19.0), "skewness": (3.0, 0.0)}
    for how in ({}, {"share": 0.0, "clear": (False, False)}, {"final_test": "t"}):
        said = skewness_note(report(**known, **how))
        assert "bootstrap-t" in said
        assert "seed" not in said


def test_variances_that_one_instance_carries_are_told_with_the_measure_and_what_to_do(report):
    known = {"final_test": "t", "freedom": (19.0, 19.0), "clear": (False, False)}
    said = carried_note(report(**known, shares=(0.62, 0.2)))
    assert said.startswith(
        "the power may be lower than planned: in 1 of 2 comparisons one instance carries much of the variance"
        " (full × a: 62 %)."
    )
    assert "ratio differences" in said
    assert "ratio" not in carried_note(report(**known, shares=(0.62, 0.2), difference="ratio"))
    assert carried_note(report(**known, shares=(0.4, 0.2))) is None, "so much is chance where there are two"
    assert carried_note(report(**known, shares=())) is None
    assert carried_note(report(**known | {"clear": (True, True)}, shares=(0.9, 0.9))) is None


def test_the_final_t_test_is_named_wherever_tests_are_told(report):
    t = report(final_test="t")
    assert all("t-tests" in text for text in (at_end(t), how_tested(t), list(method_sentences(t))[1]))
    assert "paired t-tests on all 91 instances at 90 %" in list(method_sentences(t))[1]


@pytest.mark.parametrize("algorithms", [2, 5, 10])
def test_of_clean_normal_studies_few_are_warned(report, algorithms):
    """All with all of normal algorithms, a pilot of 20; each kind of note by itself."""
    rng, studies, skewed, carried = np.random.default_rng([20261120, algorithms]), 400, 0, 0
    first, second = np.triu_indices(algorithms, 1)
    size = len(first)
    same = {
        "pairs": (("a", "b"),) * size, "freedom": (19.0,) * size, "clear": (False,) * size, "planned": 40,
        "final_test": "t", "instances": tuple(f"i{n}" for n in range(20)),
    }  # fmt: skip
    for _ in range(studies):
        values = rng.normal(size=(20, algorithms))
        phi = values[:, first] - values[:, second]
        made = report(**same, skewness=tuple(skew(phi, bias=False)), shares=tuple(largest_shares(phi)))
        skewed += skewness_note(made) is not None
        carried += carried_note(made) is not None
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)
    assert skewed / studies <= most
    assert carried / studies <= most
