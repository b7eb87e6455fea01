"""Tests of a study whose size was chosen after a pilot."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.growth import conclusions

from ampler.analysis.adaptive import (
    decision_stage,
    decisive_estimates,
    pilot_equivalence,
    pilot_family,
    planned_power_clause,
)
from ampler.analysis.analyse import analyse_runs
from ampler.analysis.compare import compare
from ampler.core.arrays import Runs
from ampler.core.settings import Settings
from ampler.design.detect import PilotReport
from ampler.stats.internal_pilot import clear_after_pilot, growth_test

PAIRS = (("a", "b"), ("a", "c"), ("a", "d"))


def report_of(pilot, *, share=0.1, alternative="two-sided", clear=(False, False, False)):
    test = growth_test(pilot, 1, alternative=alternative)
    nothing = (0.0,) * 3
    return PilotReport(
        difference="simple", detect=1.0, power=0.8, alpha=0.05, alternative=alternative, share=share,
        instances=tuple(f"i{n}" for n in range(len(pilot))), start=5, available=100, pairs=PAIRS,
        means=tuple(test.means), errors=tuple(test.errors), freedom=tuple(test.freedom),
        p_values=tuple(test.p_values), clear=clear, skewness=nothing, deviations=nothing, noise_shares=nothing,
        runs=dict.fromkeys("abcd", 5), planned=40, needed=40, interval=(30, 50), mean_power=0.81, least_power=0.7,
        se=0.1, detectable=0.9, total=800,
    )  # fmt: skip


def drawn(seed, effects=(0.0, 0.0, 0.0), instances=40):
    return np.random.default_rng(seed).normal(effects, 1.0, (instances, 3))


NAMES = [f"i{n}" for n in range(40)]


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_family_is_that_of_the_growth_tests(alternative):
    values = drawn(1, (0.6, 0.0, 2.0))
    values[12:, 2] = np.nan
    pilot = growth_test(values[:12], 1, alternative=alternative)
    wanted = conclusions(values, pilot, since=12, alpha=0.05, share=0.1, alternative=alternative)
    report = report_of(values[:12], alternative=alternative, clear=tuple(wanted.clear.tolist()))

    family = pilot_family(report, values, NAMES, 0.05)

    np.testing.assert_allclose(family.tests.steps.adjusted, wanted.adjusted, rtol=1e-12)
    found, known = np.array([each[:2] for each in family.tests.joint_intervals]), ~np.isnan(wanted.intervals)
    np.testing.assert_allclose(found[known], wanted.intervals[known], rtol=1e-12)


def test_the_order_of_the_instances_does_not_matter():
    values, order = drawn(2, (0.5, 0.0, 0.0)), np.random.default_rng(3).permutation(40)
    report = report_of(values[:12])
    one = pilot_family(report, values, NAMES, 0.05)
    other = pilot_family(report, values[order], [NAMES[place] for place in order], 0.05)
    np.testing.assert_allclose(one.tests.p_values, other.tests.p_values, rtol=1e-9)


def test_intervals_at_the_level_of_their_rank_agree_with_the_decisions():
    for seed in range(30):
        values = drawn(seed, (0.5, 0.2, 0.0))
        family = pilot_family(report_of(values[:12]), values, NAMES, 0.05)
        for level, bounds, p in zip(
            family.tests.steps.levels, family.tests.intervals, family.end.p_values, strict=True
        ):
            assert (p / 0.9 <= level) == (not bounds.lower <= 0 <= bounds.upper)


def test_a_comparison_that_the_pilot_decided_is_told_by_the_pilot():
    values = drawn(4, (0.0, 0.0, 3.0))
    report = report_of(values[:12], clear=(False, False, True))
    family = pilot_family(report, values, NAMES, 0.05)
    comparisons = decisive_estimates(compare(values, PAIRS, family=family.tests), family)
    assert [decision_stage(report, place) for place in range(3)] == ["end", "end", "pilot"]
    assert comparisons[2].estimate == report.means[2]
    assert comparisons[2].instances == 12
    assert comparisons[2].rejected
    assert comparisons[2].joint_interval[0] < report.means[2] < comparisons[2].joint_interval[1]


def test_when_all_was_clear_the_pilot_says_everything():
    values = drawn(5, (3.0, -3.0, 3.0), instances=12)
    report = report_of(values, clear=(True, True, True))
    family = pilot_family(report, values, NAMES[:12], 0.05)
    assert family.tests.steps.rejected.all()
    np.testing.assert_allclose(family.tests.p_values, np.array(report.p_values) / 0.1)
    assert all(math.isfinite(each.lower) for each in family.tests.joint_intervals)


def test_equivalence_is_claimed_by_the_half_that_decided():
    values = 0.1 * drawn(6)
    family = pilot_family(report_of(values[:12], clear=(False, False, True)), values, NAMES, 0.025)
    same = pilot_equivalence(family, 0.5, 0.025)
    assert [each.established for each in same] == [True, True, True]
    wide = pilot_family(report_of(10 * values[:12]), 10 * values, NAMES, 0.025)
    assert not any(each.established for each in pilot_equivalence(wide, 0.01, 0.025))


def test_equivalence_is_the_interval_inside_the_margin():
    values = drawn(7, (0.1, 0.0, -0.2))
    report = report_of(values[:12])
    family = pilot_family(report, values, NAMES, 0.05)
    for margin in (0.2, 0.4, 0.6, 0.8):
        found = pilot_equivalence(family, margin, 0.05)
        bounds = growth_test(values, 12).intervals(2 * 0.9 * 0.05)
        alone = [0.9 * each.p_value <= 0.9 * 0.05 for each in found]
        assert alone == [bool(low > -margin and high < margin) for low, high in bounds]


def test_what_was_not_found_is_told_in_the_units_of_the_user():
    report = replace(report_of(drawn(8)[:12]), difference="percent", detect=0.02)
    assert planned_power_clause(report) == (
        "this study had 81 % power for a difference of 2 %, as planned after the pilot"
    )


@pytest.mark.parametrize("runs", ["a few", pytest.param("many", marks=pytest.mark.slow)])
def test_equal_algorithms_are_found_different_no_more_often_than_the_level(runs):
    """Sizes chosen from the pilot's variances by a greedy rule: 20 or 60 instances, whichever flatters."""
    families = {"a few": 400, "many": 10_000}[runs]
    rng, errors = np.random.default_rng(20261115), 0
    for _ in range(families):
        values = rng.normal(0, 1, (60, 3))
        more = 60 if values[:12].var(axis=0, ddof=1).mean() > 1 else 20
        used = values[:more]
        pilot = growth_test(used[:12], 1)
        report = report_of(used[:12])
        clear = tuple((pilot.p_values / 0.1 <= 0.05 / 3).tolist())
        family = pilot_family(replace(report, clear=clear), used, [f"i{n}" for n in range(more)], 0.05)
        errors += family.tests.steps.rejected.any()
    assert errors / families <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / families)


def test_where_half_of_the_pilot_decided_the_variance_of_the_other_half_counts():
    values, order = drawn(12, (0.5, 0.0, 0.0), instances=24), np.random.default_rng(13).permutation(24)
    report = replace(report_of(values[:20]), seen=10, planned=24)
    names = [NAMES[row] for row in order]

    family = pilot_family(report, values[order], names, 0.05)

    expected = growth_test(values, 10)
    assert family.since == 10
    assert family.end.freedom.tolist() == [14, 14, 14]
    np.testing.assert_allclose(family.end.p_values, expected.p_values, rtol=1e-9)
    assert PilotReport.from_data(report.to_data()).since == tuple(NAMES[:10])


def test_a_decision_that_was_kept_before_pilots_had_halves_rests_on_all_of_it():
    kept = report_of(drawn(14)[:12]).to_data()
    del kept["seen"]
    assert PilotReport.from_data(kept).since == tuple(NAMES[:12])


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_differences_that_are_all_equal_are_not_claimed_whatever_the_pilot_says():
    values = 100.0 - np.column_stack([np.zeros(40), np.full((40, 2), 3.0), np.random.default_rng(2).normal(1, 1, 40)])
    differences = values[:, [0]] - values[:, 1:]
    rows = [(f"i{i}", "abcd"[k], values[i, k]) for i, k in np.ndindex(values.shape)]
    settings = Settings(difference="simple", reference="a", margin=10.0)

    for clear in ((False, False, False), (True, False, False)):
        analysis = analyse_runs(
            Runs.from_columns(*zip(*rows, strict=True)), settings, course=report_of(differences[:12], clear=clear)
        )
        found = {each.second: each for each in analysis.comparisons}
        assert [found[name].rejected for name in "bcd"] == [False, False, True]
        assert [found[name].p_value for name in "bc"] == [1.0, 1.0]
        assert [each.equivalence.established for each in analysis.diagnoses] == [False, False, True]


# the final t-test ------------------------------------------------------------------------------------------------


def t_family(values, pilot=12, *, alternative="two-sided", share=0.1):
    """The family of a study that ends with t-tests, after a pilot whose size was chosen."""
    test = growth_test(values[:pilot], 1, alternative=alternative)
    clear = tuple(clear_after_pilot(test.p_values, alpha=0.05, share=share).tolist())
    report = replace(
        report_of(values[:pilot], alternative=alternative, clear=clear, share=share), final_test="t", available=200
    )
    return pilot_family(report, values, NAMES[: len(values)], 0.05)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_p_values_intervals_and_effect_sizes_of_a_row_tell_one_story(alternative):
    for seed in range(40):
        family = t_family(drawn(seed, (0.45, 0.2, 1.6)), alternative=alternative)
        rows = decisive_estimates(
            compare(family.differences, PAIRS, alternative=alternative, family=family.tests), family
        )
        for row, joint in zip(rows, family.tests.joint_intervals, strict=True):
            assert (row.p_value <= row.alpha) == (not row.interval[0] <= 0 <= row.interval[1])
            assert (row.p_value <= 0.05 / 3) == (not joint.lower <= 0 <= joint.upper)
            if alternative == "two-sided":
                assert (row.p_value <= 0.05) == (not row.effect_interval[0] <= 0 <= row.effect_interval[1])
            assert row.effect_interval[0] < row.effect_size < row.effect_interval[1]
            assert np.sign(row.effect_size) == np.sign(row.estimate)


def test_the_final_t_test_is_the_ordinary_one_and_its_p_value_never_smaller():
    values = drawn(3, (0.5, 0.2, 0.0))
    family = t_family(values)
    ordinary = growth_test(values, 1)
    np.testing.assert_array_equal(family.end.statistics, ordinary.statistics)
    assert (family.end.p_values > ordinary.p_values).all()
    assert (np.argsort(family.end.p_values) == np.argsort(-np.abs(ordinary.statistics))).all()


def test_a_comparison_that_the_pilot_decided_has_the_pilots_effect_size():
    values = drawn(4, (0.0, 0.0, 3.0))
    family = t_family(values)
    row = decisive_estimates(compare(values, PAIRS, family=family.tests), family)[2]
    first = values[:12, 2]
    assert family.report.clear[2]
    assert row.effect_size == pytest.approx(first.mean() / first.std(ddof=1), rel=1e-12)
    assert (row.estimate, row.instances) == (family.report.means[2], 12)


@pytest.mark.parametrize("margin", [0.2, 0.4, 0.6, 0.8])
def test_equivalence_and_the_interval_at_its_level_agree(margin):
    family = t_family(drawn(7, (0.1, 0.0, -0.2)))
    bounds = replace(family.end, alternative="two-sided").intervals(2 * 0.9 * 0.025)
    alone = [each.p_value <= 0.025 for each in pilot_equivalence(family, margin, 0.025)]
    assert alone == [bool(low > -margin and high < margin) for low, high in bounds]


def test_an_outlier_in_the_pilot_is_seen_in_the_variance():
    """The example of a real study: far smaller p-values by the growth test than by the t-test of the same values."""
    values = 0.1 * drawn(11, (1.0, 0.0, 0.0))
    values[:3, 1] = 2.0
    family = t_family(values)
    grown = pilot_family(replace(family.report, final_test="growth"), values, NAMES, 0.05)
    assert grown.tests.p_values[1] < 0.05 < family.tests.p_values[1]


@pytest.mark.parametrize("comparisons", [1, 5, 21])
@pytest.mark.parametrize("correlated", [False, True])
def test_families_of_unequal_variances_that_share_one_size_hold_their_level(comparisons, correlated):
    """The single comparison's bound, with the size chosen from all variances and leavers after the pilot."""
    rng, studies, errors = np.random.default_rng([20261120, comparisons, correlated]), 1500, 0
    spread = np.linspace(0.5, 2.0, comparisons)
    for _ in range(studies):
        own = rng.normal(size=(120, comparisons)) * spread
        values = own + rng.normal(size=(120, 1)) if correlated else own
        pilot = growth_test(values[:20], 1)
        clear = clear_after_pilot(pilot.p_values, alpha=0.05, share=0.1)
        going = ~clear
        if going.any():
            size = int(np.clip(np.ceil(16 * values[:20, going].var(axis=0, ddof=1).mean()), 20, 120))
            found = conclusions(
                values[:size], pilot, since=20, alpha=0.05, share=0.1, alternative="two-sided", available=120
            )
            errors += (found.adjusted <= 0.05).any()
        else:
            errors += 1
    assert errors / studies <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)


@pytest.mark.parametrize("world", ["outliers", "t2", "t3"])
def test_rare_outliers_make_no_claims(world):
    """A pilot of 20, 40 instances, nothing differs; the growth test errs up to four times as often as it says."""
    rng, studies = np.random.default_rng(20261120), 1500
    if world == "outliers":
        values = rng.normal(size=(studies, 40)) * np.where(rng.random((studies, 40)) < 0.05, 20.0, 1.0)
    else:
        values = rng.standard_t(int(world[1]), (studies, 40))
    how = {"since": 20, "alpha": 0.05, "share": 0.1, "alternative": "two-sided"}
    t, grown = (
        sum(
            conclusions(row[:, None], growth_test(row[:20, None], 1), **how, available=available).adjusted[0] <= 0.05
            for row in values
        )
        / studies
        for available in (40, None)
    )
    assert t <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)
    assert grown > t + 0.02
