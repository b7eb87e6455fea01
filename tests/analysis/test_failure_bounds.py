"""Failures that were not seen: bounds of their rate, the rate that reverses a difference, and the verdicts."""

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest

import ampler
from ampler.analysis.claim_checks import runs_needed, upper_bound
from ampler.analysis.display import blocks


@given(st.integers(1, 400), st.data(), st.sampled_from([0.05, 0.01]))
def test_the_bound_is_that_of_clopper_and_pearson(runs, data, alpha):
    failures = data.draw(st.integers(0, runs))
    exact = binomtest(failures, runs).proportion_ci(1 - alpha, "exact").high
    assert upper_bound(failures, runs, alpha / 2) == pytest.approx(exact, rel=1e-9)


@given(st.integers(1, 400), st.data(), st.floats(1e-4, 0.9))
def test_the_runs_needed_are_the_fewest_that_settle_it(runs, data, rate):
    failures = data.draw(st.integers(0, runs - 1))
    needed = runs_needed(failures, runs, rate, 0.025)
    if needed is None:
        assert failures / runs >= rate * (1 - 1e-3)
    else:
        assert upper_bound(failures / runs * needed, needed, 0.025) < rate or needed == runs
        assert needed in (runs, runs + 1) or upper_bound(failures / runs * (needed - 1), needed - 1, 0.025) >= rate


def solvers(runs=10, instances=20, factor=1.1, seed=1):
    """Two solvers, `quick` and `slow`; neither fails."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        [
            (f"i{i}", name, base * ratio * rng.uniform(0.97, 1.03), "ok")
            for i, base in enumerate(rng.uniform(50, 100, instances))
            for name, ratio in (("quick", 1.0), ("slow", factor))
            for _ in range(runs)
        ],
        columns=["instance", "algorithm", "time", "status"],
    )
    return frame.assign(run=frame.groupby(["instance", "algorithm"]).cumcount())


def analysed(frame, **asked):
    return flat_analyse(frame, **{"difference": "simple", "better": "lower", "on_failure": "penalty=1000"} | asked)


def only(analysis):
    [comparison], [diagnosis] = analysis.comparisons, analysis.diagnoses
    return comparison, diagnosis.failure_bound


MEAN_DIFFERENCES = {
    ("simple", None): lambda a, b: a - b,
    ("ratio", None): lambda a, b: np.log(a / b),
    ("percent", None): lambda a, b: 2 * (a - b) / (a + b),
    ("percent", "quick"): lambda a, b: (a - b) / a,
    ("percent", "slow"): lambda a, b: (b - a) / b,
}


@pytest.mark.parametrize(("difference", "reference"), list(MEAN_DIFFERENCES))
def test_the_reversal_is_the_rate_at_which_the_difference_of_the_means_is_zero(difference, reference):
    frame = solvers()
    comparison, bound = only(analysed(frame, difference=difference, reference=reference))
    quick, slow = (frame[frame.algorithm == name].groupby("instance").time.mean() for name in ("quick", "slow"))
    of_means = MEAN_DIFFERENCES[difference, reference]
    expected = brentq(lambda rate: of_means(quick + rate * (1000 - quick), slow).mean(), 0, 1, xtol=1e-14)
    assert (bound.algorithm, bound.failures, bound.runs) == ("quick", 0, 200)
    assert bound.reversal == pytest.approx(expected, rel=0.02)  # the mean may be corrected for a bias of its own
    assert bound.upper == pytest.approx(1 - 0.025 ** (1 / 200))
    assert (comparison.rejected, comparison.claimed) == (True, False)
    assert [doubt.kind for doubt in comparison.doubts] == ["failures"]
    for words in ("quick failed in 0 of 200 runs", "which allows for 1.8 %", "would settle it"):
        assert words in comparison.verdict
        assert words in ampler.analysis.text.headline(analysed(frame, difference=difference, reference=reference))


def test_geometric_means_have_a_reversal_of_their_own():
    frame = solvers()
    comparison, bound = only(analysed(frame, difference="ratio", statistic="geometric-mean"))
    quick, slow = (
        np.log(frame[frame.algorithm == name].time).groupby(frame.instance).mean() for name in ("quick", "slow")
    )
    expected = brentq(lambda rate: (quick + rate * (np.log(1000) - quick) - slow).mean(), 0, 1, xtol=1e-14)
    assert bound.reversal == pytest.approx(expected, rel=1e-6)
    assert comparison.claimed == (bound.upper < expected)


def test_with_the_runs_named_the_difference_is_claimed():
    _, bound = only(analysed(solvers(), on_failure="penalty=500"))
    enough = -(-bound.enough // 20)
    comparison, after = only(analysed(solvers(runs=enough + 3), on_failure="penalty=500"))
    assert comparison.claimed
    assert after.upper < after.reversal
    assert not only(analysed(solvers(runs=enough // 2), on_failure="penalty=500"))[0].claimed


@pytest.mark.parametrize(
    "asked",
    [
        {"on_failure": None},
        {"on_failure": "drop"},
        {"on_failure": "penalty=1"},  # a failure is no loss
        {"on_failure": "penalty=120"},  # no worse than an ordinary run
        {"statistic": "median"},
        {"test": "sign"},
        {"test": "wilcoxon"},
    ],
)
def test_what_rare_failures_cannot_reverse_is_claimed(asked):
    assert only(analysed(solvers(), **asked))[0].claimed


@pytest.mark.parametrize("difference", ["simple", "ratio", "percent"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_equivalence_and_non_inferiority_allow_for_failures_too(difference, better):
    asked = {"difference": difference, "better": better, "reference": "quick"}
    sizes = {"margin": 4.0, "non_inferior": 4.0} if difference == "simple" else {"margin": 0.04, "non_inferior": 0.04}
    policy = "penalty=1000" if better == "lower" else "penalty=0.01"

    def shown(runs, **changed):
        [row] = analysed(solvers(runs=runs, factor=1.0), **asked, **sizes, **changed).diagnoses
        return row.equivalence, row.non_inferiority

    for item in shown(2, on_failure=policy):
        assert not item.established
        assert item.doubt.startswith("failures may not have been seen")
    for items in (shown(5, on_failure="drop"), shown(300, on_failure="penalty=100")):
        assert [(item.established, item.doubt) for item in items] == [(True, ""), (True, "")]


def test_where_higher_is_better_a_failure_is_a_low_value():
    frame = solvers().assign(time=lambda table: table.time / 10)
    comparison, bound = only(analysed(frame, better="higher", on_failure="penalty=-1e4"))
    assert (bound.algorithm, comparison.claimed) == ("slow", False)


def test_par_without_a_failure_takes_the_cutoff_that_is_said():
    comparison, bound = only(analysed(solvers(), on_failure="par=10,cutoff=100"))
    assert (comparison.claimed, bound.algorithm) == (False, "quick")


def test_failures_that_both_have_in_common_say_nothing_of_a_difference():
    """40 of 400 instances are too hard for both; one fails on 2 others, the other on these and on 38 more."""
    rows = [
        (f"i{i}", name, 10 + i % 7 * 0.1, "timeout" if i < 40 or (40 <= i < 40 + failed) else "ok")
        for i in range(400)
        for name, failed in (("good", 2), ("bad", 40))
    ]
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", "time", "status"])
    comparison, bound = only(analysed(frame, on_failure="par=10,cutoff=100"))
    assert comparison.claimed
    assert (bound.algorithm, bound.failures, bound.runs) == ("good", 0, 320)


def test_many_algorithms_share_the_confidence():
    frame = pd.concat([solvers(), solvers().query("algorithm == 'slow'").assign(algorithm="third")])
    bounds = [each.failure_bound for each in analysed(frame).diagnoses if each.failure_bound]
    assert bounds
    assert [bound.upper for bound in bounds] == pytest.approx([1 - (0.05 / 3) ** (1 / 200)] * len(bounds))


def test_on_one_instance_unseen_failures_count_as_well():
    frame = solvers(instances=1, runs=30)
    comparison, bound = only(analysed(frame))
    assert (comparison.claimed, bound.runs) == (False, 30)


def test_a_claim_says_how_far_it_is_from_being_reversed():
    explained = blocks(analysed(solvers(runs=30, factor=2.0)), explain=True)
    said = " ".join(str(block) for block in explained)
    assert "quick failed in 0 of 600 runs, which allows for 0.61 %; 7.9 % would reverse a claim" in said


@pytest.mark.parametrize("on_failure", ["penalty=1", "par=10,cutoff=5"])
def test_a_failure_that_counts_as_less_than_values_raises_a_warning(on_failure):
    frame = solvers(factor=1.0)
    frame.loc[0, "status"] = "timeout"
    (found,) = [item for item in analysed(frame, on_failure=on_failure).warnings if "with a value" in item.message]
    assert found.severity == "could reverse a verdict"
    dear = on_failure.replace("penalty=1", "penalty=1000").replace("cutoff=5", "cutoff=1000")
    assert not [item for item in analysed(frame, on_failure=dear).warnings if "with a value" in item.message]
