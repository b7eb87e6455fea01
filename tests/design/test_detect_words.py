"""A study that finds its own size, in words."""

import math

import numpy as np
import pytest
from scipy.stats import skew

from ampler.design.detect import DetectGoal
from ampler.design.detect_words import (
    after_pilot,
    at_end,
    before_pilot,
    carried_note,
    how_tested,
    method_sentences,
    skewness_note,
)
from ampler.stats.shape import largest_shares


def test_before_the_pilot_its_price_is_told():
    runs = {f"a{n}": 5 for n in range(22)}
    assert before_pilot(DetectGoal(0.02, available=300), "percent", 20, 300, runs) == (
        "Pilot: 20 of 300 instances, 5 runs of each of 22 algorithms (2,200 runs). Then it is decided how many"
        " instances and runs find a difference of 2 % with mean power 0.8."
    )


def test_after_the_pilot_everything_is_told_that_was_decided(report):
    assert after_pilot(report()) == (
        "1 of 2 comparisons is clear already (10 % of the level was set aside for this); b gets no more runs. The other"
        " comparison varies by 8 % from instance to instance; run noise is 40 % of the variance. 91 instances with 14"
        " runs of full and 6 of a: 1,835 runs in all, mean power 0.81 (other pilots would have"
        " asked for 70 to 115 instances, 90 % interval)."
    )


def test_the_least_power_stands_beside_the_mean_where_there_are_several(report):
    said = after_pilot(report(clear=(False, False)))
    assert said.startswith("None of 2 comparisons is clear already. The 2 comparisons vary by 3 % to 8 %")
    assert "mean power 0.81, the least of a comparison 0.75 (" in said


def test_too_few_instances_are_told_with_what_they_find(report):
    said = after_pilot(report(planned=57, needed=91, mean_power=0.77, least_power=0.6, detectable=0.021))
    assert said.endswith(
        "All 57 instances with 14 runs of full and 6 of a: 1,835 runs in all. 2 % needs 91 instances and 57 are there."
        " With 57 it is found with mean power 0.77; with mean power 0.8 they find 2.1 %. Going on with all 57."
    )


@pytest.mark.parametrize(
    ("difference", "shown"), [("percent", "2 %"), ("simple", "0.02"), ("ratio", "A factor of 1.02")]
)
def test_differences_have_the_unit_of_the_user(report, difference, shown):
    assert f"{shown} needs 92 instances" in after_pilot(report(difference=difference, needed=92))


def test_where_all_is_clear_the_study_ends(report):
    said = after_pilot(report(clear=(True, True), runs=dict.fromkeys(("full", "a", "b"), 0)))
    assert said == (
        "All 2 comparisons are clear already (10 % of the level was set aside for this): the study ends here."
    )


def test_the_end_says_on_what_each_comparison_rests(report):
    assert at_end(report()) == (
        "All that was decided on is run: 1,835 runs; 1 comparison can be tested on 91 instances, by the mean of all and"
        " the variance after the pilot, and 1 on the pilot's 3."
    )


def test_a_paper_says_how_the_size_was_chosen(report):
    _, main, early = method_sentences(report())
    assert "the variance since then (91 − 3 degrees of freedom), at 90 % of Holm's levels" in main
    assert early == "1 of 2 comparisons was decided by the pilot, at 10 % of Holm's levels, and got no more runs"


def test_where_half_of_the_pilot_decided_it_is_told_and_what_the_end_rests_on(report):
    half = report(seen=2, planned=3, needed=3, interval=(3, 5))
    assert after_pilot(half).endswith(
        "The pilot's 3 instances are enough, with 14 runs of full and 6 of a: 1,835 runs in all, mean power 0.81 (other"
        " pilots would have asked for 3 to 5 instances, 90 % interval). The first 2 instances of the pilot decided this"
        " alone, so that the variance of all others counts at the end."
    )
    assert "by the mean of all and the variance after the pilot's first 2, and 1 on the pilot's 3." in at_end(half)
    main = list(method_sentences(half))[1]
    assert main.startswith("Sample size was re-estimated once, after 3 instances, from the variances of the first 2")
    assert "the mean of all 3 instances and the variance after these (3 − 2 degrees of freedom)" in main


def test_where_no_other_pilot_would_ask_for_another_number_none_is_told(report):
    assert "(other pilots would have asked for as many)" in after_pilot(report(interval=(91, 91)))


def test_beside_the_tests_it_is_told_what_they_allow_for(report):
    assert how_tested(report()) == (
        "the size was chosen after a pilot of 3 instances: 10 % of every level was for the pilot, which decided 1 of 2;"
        " the others have 90 % at the end, by the mean of all and the variance after the pilot"
    )
    assert how_tested(report(seen=2)).endswith("the variance after the pilot's first 2")
    assert how_tested(report(clear=(True, True))).endswith("which decided 2 of 2")
    assert how_tested(report(share=0.0)).endswith("so that the tests are ordinary ones")


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
        "in 1 of 2 comparisons one instance carries much of the variance (most: full × a, 62 % by one of 20)."
    )
    assert "the power lower than planned" in said
    assert said.endswith("ratio differences hang less on single instances")
    assert "ratio" not in carried_note(report(**known, shares=(0.62, 0.2), difference="ratio"))
    assert carried_note(report(**known, shares=(0.4, 0.2))) is None, "so much is chance where there are two"
    assert carried_note(report(**known, shares=())) is None
    assert carried_note(report(**known | {"clear": (True, True)}, shares=(0.9, 0.9))) is None


def test_the_final_t_test_is_named_wherever_tests_are_told(report):
    t = report(final_test="t")
    assert "by t-tests at a level that allows for the choice of the size, and 1 on the pilot's 3" in at_end(t)
    assert how_tested(t).endswith(
        "the others have 90 % at the end, by t-tests at a level that allows for the choice of the size"
    )
    assert (
        "the final tests are paired t-tests on all 91 instances at 90 % of Holm's levels, lowered"
        in list(method_sentences(t))[1]
    )
    assert "(by resampling the pilot 70 to 115 instances are needed, 90 % interval)" in after_pilot(t)


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
