"""Sign flips: exact where differences are symmetric. Seeds were fixed beforehand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.holm import step_down as holm
from ampler.stats.paired import paired_test
from ampler.stats.resampling import sign_flip, sign_flip_equivalence, sign_flips

SEED = 2005
ALPHA = 0.05


def some_differences(seed=SEED, instances=8, comparisons=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(instances, comparisons)) + np.linspace(0.0, 1.2, comparisons)


def t_of(x):
    return x.mean() / (x.std(ddof=1) / np.sqrt(len(x)))


def slow_adjusted(differences, alternative):
    """Every flip, t statistics by their formula, one comparison leaving at a time."""
    turned = {"two-sided": abs, "greater": lambda t: t, "less": lambda t: -t}[alternative]
    observed = [turned(t_of(column)) for column in differences.T]
    flipped = [
        [turned(t_of(np.array(signs) * column)) for column in differences.T]
        for signs in product([1, -1], repeat=len(differences))
    ]
    order = np.argsort(observed)[::-1]
    adjusted, reached = np.empty(len(observed)), 0.0
    for step, k in enumerate(order):
        tops = [max(row[j] for j in order[step:]) for row in flipped]
        reached = max(reached, np.mean([top >= observed[k] - 1e-9 for top in tops]))
        adjusted[k] = reached
    return adjusted


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_p_values_are_shares_of_all_flips(alternative):
    differences = some_differences()

    steps = sign_flip(differences, alternative=alternative).steps

    np.testing.assert_allclose(steps.adjusted, slow_adjusted(differences, alternative), rtol=1e-12)


def test_one_comparison_of_equal_sizes_is_the_sign_test():
    differences = np.array([[1.0], [1.0], [1.0], [1.0], [1.0], [-1.0]])

    for alternative in ("two-sided", "less", "greater"):
        expected = paired_test("sign").p_value(differences[:, 0], alternative)
        assert sign_flip(differences, alternative=alternative).steps.p_values[0] == pytest.approx(expected)


def test_flips_are_all_taken_if_they_are_few_and_random_else():
    rng = np.random.default_rng(SEED)

    few, many = sign_flips(4, 15, rng), sign_flips(5, 15, rng)

    assert len({tuple(row) for row in few}) == 15
    assert (1.0, 1.0, 1.0, 1.0) not in {tuple(row) for row in few}
    assert many.shape == (15, 5)
    assert set(np.unique(many)) == {-1.0, 1.0}


@given(st.integers(0, 10**6), st.integers(3, 30), st.integers(1, 5))
def test_neither_units_nor_mirrors_nor_order_matter(seed, instances, comparisons):
    differences = some_differences(seed, instances, comparisons)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(instances), rng.permutation(comparisons)
    plain = sign_flip(differences, resamples=199)

    other = sign_flip(-7.0 * differences[rows][:, columns], resamples=199)

    np.testing.assert_array_equal(other.steps.adjusted, plain.steps.adjusted[columns])
    size = np.abs(differences).max()  # an end near zero is what is left of two numbers of this size
    np.testing.assert_allclose(
        other.joint_intervals / -7.0, plain.joint_intervals[columns][:, ::-1], rtol=1e-9, atol=1e-12 * size
    )


@given(st.integers(0, 10**6), st.integers(6, 30), st.sampled_from(["two-sided", "less", "greater"]))
def test_decisions_and_intervals_agree(seed, instances, alternative):
    family = sign_flip(some_differences(seed, instances), alternative=alternative, resamples=199)
    outside = (family.intervals[:, 0] > 0) | (family.intervals[:, 1] < 0)

    np.testing.assert_array_equal(outside, family.steps.rejected)
    assert (family.steps.adjusted >= family.steps.p_values - 1e-12).all()


def test_constant_zero_single_and_missing_differences_are_judged_as_they_deserve():
    differences = np.column_stack([np.full(12, 3.0), np.zeros(12), np.full(12, np.nan), np.arange(12.0) - 5])
    differences[0, 2] = 4.0

    steps = sign_flip(differences).steps

    assert steps.rejected.tolist() == [False, False, False, False]
    assert steps.adjusted[:3].tolist() == [1.0, 1.0, 1.0]


def test_equivalence_needs_both_sides():
    rng = np.random.default_rng(SEED)
    differences = rng.normal(size=(40, 3)) * 0.3 + [0.0, 0.5, -0.5]

    assert sign_flip_equivalence(differences, margin=0.45).rejected.tolist() == [True, False, False]
    assert sign_flip_equivalence(differences, margin=1.0).rejected.all()


def families_of(draw, count):
    rng = np.random.default_rng(SEED)
    return [draw(rng) for _ in range(count)]


def with_reference(rng, shape=(57, 21)):
    return np.sqrt(0.9) * rng.standard_normal((shape[0], 1)) - np.sqrt(0.1) * rng.standard_normal(shape)


def share(outcomes):
    outcomes = np.array(outcomes, dtype=float)
    return outcomes.mean(), outcomes.std() / np.sqrt(len(outcomes))


def t_rejects(differences):
    return holm([paired_test("t").p_value(column, "two-sided") for column in differences.T], ALPHA).rejected


def test_symmetric_families_err_at_the_level_and_no_more():
    wrong, error = share([sign_flip(x, resamples=499).steps.rejected.any() for x in families_of(with_reference, 300)])

    assert abs(wrong - ALPHA) <= 3 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [lambda rng: rng.standard_normal((57, 21)), lambda rng: rng.standard_t(3, (57, 21)), with_reference],
    ids=["normal", "t3", "reference"],
)
def test_the_level_is_kept_and_used(draw):
    wrong, error = share([sign_flip(x, resamples=999).steps.rejected.any() for x in families_of(draw, 1500)])

    assert abs(wrong - ALPHA) <= 3 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [lambda rng: rng.standard_normal((57, 21)), lambda rng: rng.standard_t(3, (57, 21)), with_reference],
    ids=["normal", "t3", "reference"],
)
def test_joint_intervals_cover_all_centres_together(draw):
    missed = []
    for x in families_of(draw, 1000):
        joint = sign_flip(x + 2.0, resamples=999).joint_intervals
        missed.append(((joint[:, 0] > 2.0) | (joint[:, 1] < 2.0)).any())
    wrong, error = share(missed)

    assert wrong <= ALPHA + 3 * error


@pytest.mark.slow
def test_power_is_holms_under_independence_and_more_with_a_reference():
    independent = families_of(lambda rng: rng.standard_normal((57, 21)) + 0.5, 400)
    shared = families_of(lambda rng: with_reference(rng) + 0.5, 400)

    def gain(everyone):
        ours = np.array([sign_flip(x, resamples=999).steps.rejected.mean() for x in everyone])
        return share(ours - np.array([t_rejects(x).mean() for x in everyone]))[0]

    assert gain(independent) > -0.01
    assert gain(shared) > 0.05
