"""The step-down bootstrap-t: against a slow version, as laws, and on families whose truth is known. Seeds were fixed
beforehand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.holm import step_down as holm
from ampler.stats.paired import paired_test
from ampler.stats.resampling import (
    Side,
    bootstrap_t,
    bootstrap_t_equivalence,
    columns_of,
    either_side,
    one_side,
    resampled_step_down,
    resampled_t,
    resampling_counts,
    side_of,
)

SEED = 2005
ALPHA = 0.05
K, N = 21, 57

SCATTER = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "exponential": lambda rng, size: rng.standard_exponential(size) - 1,
    "lognormal": lambda rng, size: (np.exp(rng.standard_normal(size)) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e),
    "t3": lambda rng, size: rng.standard_t(3, size) / np.sqrt(3),
}


def some_differences(seed=SEED, instances=15, comparisons=4, missing=False):
    rng = np.random.default_rng(seed)
    differences = rng.exponential(size=(instances, comparisons)) - np.linspace(0.2, 1.4, comparisons)
    if missing:
        differences[rng.random(differences.shape) < 0.2] = np.nan
    return differences


# ── against a slow version ─────────────────────────────────────────────────────────────────────────────────────────


def slow_statistics(differences, resamples, seed):
    """t and its resamples, one by one; the instances in the order in which the quick version takes them."""
    z = np.nan_to_num((differences - np.nanmean(differences, axis=0)) / np.nanstd(differences, axis=0, ddof=1))
    differences = differences[np.lexsort((np.round((z**3).sum(1), 9), np.round((z**2).sum(1), 9)))]
    counts = resampling_counts(len(differences), resamples, np.random.default_rng(seed)).astype(int)
    observed, resampled = [], np.empty((resamples, differences.shape[1]))
    for k, column in enumerate(differences.T):
        known = column[~np.isnan(column)]
        observed.append(known.mean() / (known.std(ddof=1) / np.sqrt(len(known))))
        for b in range(resamples):
            drawn = np.repeat(column, counts[b])
            drawn = drawn[~np.isnan(drawn)]
            resampled[b, k] = (drawn.mean() - known.mean()) / (drawn.std(ddof=1) / np.sqrt(len(drawn)))
    return np.array(observed), resampled


def slow_p(observed, resampled, members, k, alternative):
    above = 1 + sum(max(row[j] for j in members) >= observed[k] for row in resampled)
    below = 1 + sum(min(row[j] for j in members) <= observed[k] for row in resampled)
    count = {"greater": above, "less": below, "two-sided": 2 * min(above, below)}[alternative]
    return min(1.0, count / (1 + len(resampled)))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_p_values_are_those_of_statistics_resampled_one_by_one(alternative, missing):
    differences = some_differences(missing=missing)
    observed, resampled = slow_statistics(differences, 199, SEED)
    everyone = np.ones(4, dtype=bool)
    upper, lower = Side(observed, resampled, everyone), Side(-observed, -resampled, everyone)
    sides, combine = {
        "two-sided": ([upper, lower], either_side),
        "greater": ([upper], one_side),
        "less": ([lower], one_side),
    }[alternative]

    steps = bootstrap_t(differences, alternative=alternative, resamples=199, seed=SEED).steps
    slow = resampled_step_down(sides, combine, alpha=ALPHA, tail=ALPHA / len(sides), balanced=True)

    np.testing.assert_allclose(steps.adjusted, slow.adjusted, rtol=1e-12)
    alone = [slow_p(observed, resampled, [k], k, alternative) for k in range(4)]
    np.testing.assert_allclose(steps.p_values, alone, rtol=1e-12)


def test_the_quick_t_statistics_are_those_of_the_resampled_values():
    differences = some_differences(missing=True)
    observed, resampled = slow_statistics(differences, 50, SEED)
    columns = columns_of(differences)

    np.testing.assert_allclose(columns.t, observed, rtol=1e-12)
    np.testing.assert_allclose(resampled_t(columns, 50, np.random.default_rng(SEED)), resampled, rtol=1e-9)


def test_joint_intervals_leave_out_what_a_fortieth_of_the_resamples_reaches_on_each_side():
    differences = some_differences()
    mean, error = differences.mean(0), differences.std(0, ddof=1) / np.sqrt(len(differences))
    _, resampled = slow_statistics(differences, 999, SEED)

    low, high = bootstrap_t(differences, resamples=999, seed=SEED).joint_intervals.T

    assert (resampled > (mean - low) / error).any(axis=1).mean() == pytest.approx(24 / 999, abs=1.01 / 999)
    assert (resampled < (mean - high) / error).any(axis=1).mean() == pytest.approx(24 / 999, abs=1.01 / 999)


def test_one_far_instance_of_one_pair_does_not_silence_the_others():
    differences = np.random.default_rng(SEED).normal([0.85, 0.0, 0.0], 1.0, (30, 3))
    differences[7, 1] = -60.0

    alone = bootstrap_t(differences[:, [0, 2]]).steps.adjusted[0]
    together = bootstrap_t(differences).steps.adjusted[0]

    assert alone < 0.005
    assert together < 0.01
    assert bootstrap_t_equivalence(differences - [0.85, 0, 0], margin=0.8).rejected.tolist() == [True, False, True]


# ── laws ───────────────────────────────────────────────────────────────────────────────────────────────────────────

families = st.builds(
    some_differences,
    seed=st.integers(0, 10**6),
    instances=st.integers(6, 30),
    comparisons=st.integers(1, 6),
    missing=st.booleans(),
)


@given(families, st.sampled_from(["two-sided", "less", "greater"]))
def test_neither_units_nor_the_order_of_comparisons_or_instances_matter(differences, alternative):
    rng = np.random.default_rng(len(differences))
    columns, rows = (rng.permutation(size) for size in differences.shape[::-1])
    plain = bootstrap_t(differences, alternative=alternative, resamples=99).steps

    other = bootstrap_t(1e-3 * differences[rows][:, columns], alternative=alternative, resamples=99).steps

    np.testing.assert_array_equal(other.adjusted, plain.adjusted[columns])
    np.testing.assert_array_equal(other.p_values, plain.p_values[columns])


@given(families)
def test_the_mirror_image_says_the_same_of_the_other_side(differences):
    less, greater, both, mirrored = (
        bootstrap_t(sign * differences, alternative=side, resamples=99)
        for sign, side in [(1, "less"), (-1, "greater"), (1, "two-sided"), (-1, "two-sided")]
    )

    np.testing.assert_array_equal(less.steps.adjusted, greater.steps.adjusted)
    np.testing.assert_array_equal(both.steps.adjusted, mirrored.steps.adjusted)
    np.testing.assert_allclose(both.joint_intervals, -mirrored.joint_intervals[:, ::-1], rtol=1e-9)


@given(families)
def test_another_comparison_never_lowers_an_adjusted_p_value(differences):
    columns = columns_of(differences)
    resampled = resampled_t(columns, 99, np.random.default_rng(SEED))
    sides = [(columns.t, resampled), (-columns.t, -resampled)]

    def adjusted(size):
        chosen = [side_of(columns_of(differences[:, :size]), t[:size], many[:, :size]) for t, many in sides]
        if not all(side.usable.all() for side in chosen):
            return None  # left out for want of spread: another family, not a larger one
        return resampled_step_down(chosen, either_side, alpha=ALPHA, tail=ALPHA / 2).adjusted

    for size in range(1, differences.shape[1]):
        fewer, more = adjusted(size), adjusted(size + 1)
        assert fewer is None or more is None or (more[:size] >= fewer).all()


@given(families, st.sampled_from(["two-sided", "less", "greater"]))
def test_decisions_p_values_and_intervals_agree(differences, alternative):
    family = bootstrap_t(differences, alternative=alternative, resamples=199, alpha=0.1)
    steps = family.steps
    outside = (family.intervals[:, 0] > 0) | (family.intervals[:, 1] < 0)

    np.testing.assert_array_equal(steps.rejected, steps.adjusted <= 0.1)
    np.testing.assert_array_equal(outside, steps.rejected)
    assert (steps.adjusted >= steps.p_values - 1e-12).all()
    assert (family.joint_intervals[:, 0] <= family.intervals[:, 0]).all()
    assert (family.joint_intervals[:, 1] >= family.intervals[:, 1]).all()
    assert (np.diff(steps.adjusted[np.argsort(steps.ranks)]) >= 0).all()


@given(families, st.floats(0.1, 3.0))
def test_what_is_equivalent_within_a_margin_is_so_within_a_larger_one(differences, margin):
    narrow, wide = (bootstrap_t_equivalence(differences, margin=m, resamples=99) for m in (margin, 1.5 * margin))

    assert (wide.adjusted <= narrow.adjusted).all()


@given(families)
def test_no_comparison_is_equivalent_whose_joint_interval_leaves_the_margin_far_behind(differences):
    joint = bootstrap_t(differences, resamples=199).joint_intervals
    outside = (joint[:, 0] > 1.0) | (joint[:, 1] < -1.0)

    assert not bootstrap_t_equivalence(differences, margin=1.0, resamples=199).rejected[outside].any()


# ── edges ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_data_give_the_same_numbers_and_another_seed_others():
    differences = some_differences()

    first, again, other = (bootstrap_t(differences, seed=seed).steps.adjusted for seed in (1, 1, 2))

    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    np.testing.assert_allclose(first, other, atol=0.02)


def test_the_smallest_p_value_is_one_in_the_number_of_resamples_and_one():
    steps = bootstrap_t(np.random.default_rng(1).normal(9.0, 1.0, (20, 1)), alternative="greater", resamples=999).steps

    assert steps.adjusted.tolist() == [1 / 1000]


def test_constant_differences_say_nothing_of_how_they_vary():
    differences = np.column_stack([np.full(12, 3.0), np.zeros(12), np.arange(12.0) - 5])

    family = bootstrap_t(differences)

    assert family.steps.rejected.tolist() == [False, False, False]
    assert family.steps.adjusted[:2].tolist() == [1.0, 1.0]
    assert family.joint_intervals[:2].tolist() == [[-np.inf, np.inf]] * 2
    assert not bootstrap_t_equivalence(differences, margin=100.0).rejected[:2].any()


def test_a_comparison_with_hardly_any_spread_does_not_stand_in_the_way_of_the_others():
    rng = np.random.default_rng(SEED)
    rare = np.zeros(57)
    rare[[3, 30]] = -1.0  # a seventh of the resamples have none of the two
    differences = np.column_stack([rng.normal(1.0, 1.0, (57, 3)), rare])

    family = bootstrap_t(differences)

    assert family.steps.rejected.tolist() == [True, True, True, False]
    assert family.joint_intervals[3].tolist() == [-np.inf, np.inf]  # what rare values may do is not known
    assert np.isfinite(family.joint_intervals[:3]).all()


def test_rare_values_that_may_have_been_missed_are_no_evidence():
    # true mean 0: 0.95 once in twenty, −0.05 else; one of them seen, and nothing else
    differences = np.full((57, 1), -0.05)
    differences[7] = 0.95

    assert bootstrap_t(differences).steps.adjusted[0] > 0.2


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_extreme_magnitudes_change_nothing_but_the_intervals(scale):
    differences = some_differences()

    plain, scaled = bootstrap_t(differences, resamples=99), bootstrap_t(scale * differences, resamples=99)

    np.testing.assert_array_equal(scaled.steps.adjusted, plain.steps.adjusted)
    np.testing.assert_allclose(scaled.joint_intervals / scale, plain.joint_intervals, rtol=1e-9)


def test_two_and_three_instances_show_nothing_and_break_nothing():
    for instances in (2, 3):
        family = bootstrap_t(np.random.default_rng(1).normal(5.0, 1.0, (instances, 3)))

        assert not family.steps.rejected.any()
        assert np.isinf(family.joint_intervals).any(axis=1).all()


def test_a_comparison_with_a_single_difference_is_not_judged():
    differences = some_differences()
    differences[1:, 2] = np.nan

    family = bootstrap_t(differences)

    assert family.steps.adjusted[2] == family.steps.p_values[2] == 1.0
    assert family.joint_intervals[2].tolist() == [-np.inf, np.inf]
    assert bootstrap_t_equivalence(differences, margin=9.0).adjusted[2] == 1.0


def test_a_comparison_is_judged_on_its_own_instances():
    differences = some_differences(instances=40, comparisons=1)
    holes = np.vstack([differences, np.full((1, 1), np.nan)])

    assert columns_of(holes).t == pytest.approx(columns_of(differences).t)
    whole, part = (bootstrap_t(x).joint_intervals for x in (differences, holes))
    np.testing.assert_allclose(whole, part, atol=0.1 * np.diff(whole)[0, 0])


# ── families whose truth is known ──────────────────────────────────────────────────────────────────────────────────


REACHED = {"lognormal": 0.1}  # instead of the level; t has 0.42


def families_of(scatter, count, instances=N, comparisons=K, shift=0.0):
    rng = np.random.default_rng(SEED)
    for _ in range(count):
        yield SCATTER[scatter](rng, (instances, comparisons)) + shift


def share(outcomes):
    outcomes = np.array(outcomes, dtype=float)
    return outcomes.mean(), outcomes.std() / np.sqrt(len(outcomes))


def t_rejects(differences):
    p = [paired_test("t").p_value(column, "two-sided") for column in differences.T]
    return holm(p, ALPHA).rejected


def test_skewed_families_are_not_told_apart_by_chance():
    everyone = list(families_of("exponential", 200))

    wrong, error = share([bootstrap_t(x, resamples=499).steps.rejected.any() for x in everyone])
    by_t, _ = share([t_rejects(x).any() for x in everyone])

    assert wrong <= ALPHA + 3 * error
    assert by_t > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("scatter", SCATTER)
def test_the_family_wise_error_keeps_its_level_or_what_is_known_of_it(scatter):
    wrong, error = share([bootstrap_t(x, resamples=999).steps.rejected.any() for x in families_of(scatter, 1500)])

    assert wrong <= REACHED.get(scatter, ALPHA) + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["less", "greater"])
@pytest.mark.parametrize("scatter", ["exponential", "lognormal"])
def test_so_it_does_on_each_side(scatter, alternative):
    rejections = [
        bootstrap_t(x, alternative=alternative, resamples=999).steps.rejected.any() for x in families_of(scatter, 1000)
    ]
    wrong, error = share(rejections)

    assert wrong <= REACHED.get(scatter, ALPHA) + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("scatter", SCATTER)
def test_joint_intervals_cover_all_means_together(scatter):
    missed = []
    for x in families_of(scatter, 1000, shift=1.0):
        joint = bootstrap_t(x, resamples=999).joint_intervals
        missed.append(((joint[:, 0] > 1.0) | (joint[:, 1] < 1.0)).any())
    wrong, error = share(missed)

    assert wrong <= REACHED.get(scatter, ALPHA) + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("towards", [-1.0, 1.0])
@pytest.mark.parametrize("scatter", SCATTER)
def test_means_at_the_margin_are_not_called_equivalent(scatter, towards):
    claims = [
        bootstrap_t_equivalence(x, margin=0.8, alpha=0.025, resamples=999).rejected.any()
        for x in families_of(scatter, 1000, shift=0.8 * towards)
    ]
    wrong, error = share(claims)

    assert wrong <= REACHED.get(scatter, 0.025) + 3 * max(error, 0.003)


@pytest.mark.slow
def test_power_is_hardly_less_than_holms_and_more_where_the_reference_varies_most():
    rng = np.random.default_rng(SEED)
    independent = [rng.standard_normal((N, K)) + 0.5 for _ in range(400)]
    shared = [
        np.sqrt(0.9) * rng.standard_normal((N, 1)) - np.sqrt(0.1) * rng.standard_normal((N, K)) + 0.5
        for _ in range(400)
    ]
    gain = {}
    for name, everyone in (("independent", independent), ("shared", shared)):
        ours = np.array([bootstrap_t(x, resamples=999).steps.rejected.mean() for x in everyone])
        gain[name] = share(ours - np.array([t_rejects(x).mean() for x in everyone]))

    assert gain["independent"][0] > -0.02
    assert gain["shared"][0] > 0.05
