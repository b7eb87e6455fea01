"""Running moments of the runs on one instance."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidSamples
from ampler.core.samples import Samples

finite = st.floats(allow_nan=False, allow_infinity=False)
lists = st.lists(finite, min_size=2, max_size=12)


def exact(values):
    """Mean, variance, M2 and M4 in exact arithmetic."""
    x = [Fraction(v) for v in values]
    mean = sum(x) / len(x)
    second = sum((v - mean) ** 2 for v in x)
    fourth = sum((v - mean) ** 4 for v in x)
    return mean, second / (len(x) - 1), second, fourth


def relative_error(got, exponent, wanted, scale):
    return abs(Fraction(float(got)) * Fraction(2) ** exponent - wanted) / scale


@pytest.mark.costly
@given(lists)
def test_running_moments_agree_with_exact_arithmetic_at_any_magnitude(values):
    samples = Samples.of({"a": values, "b": [1.0, 2.0]})
    mean, variance, second, fourth = exact(values)
    size = max(abs(Fraction(v)) for v in values)
    e = int(samples.exponents[0])
    if size == 0:
        assert samples.scaled_means[0] == samples.scaled_variances[0] == 0.0
        return
    assert relative_error(samples.scaled_means[0], e, mean, size) < 1e-14
    # The spread cannot be known better than the values allow: their last digits are the first error.
    noise = len(values) * (size * Fraction(1, 2**50)) ** 2
    assert relative_error(samples.scaled_variances[0], 2 * e, variance, variance + noise) < 1e-10
    assert relative_error(samples.scaled_second[0], 2 * e, second, second + noise) < 1e-10
    assert relative_error(samples.scaled_fourth[0], 4 * e, fourth, fourth + noise**2) < 1e-9


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-160, 1e-60, 1.0, 1e15, 1e150, 1e300])
def test_variance_keeps_its_digits_at_extreme_magnitudes(size):
    values = [size * step for step in (1.0, 1.25, 1.5, 0.75, 1.125)]
    samples = Samples.of({"a": values, "b": values})
    _, variance, _, fourth = exact(values)
    e = int(samples.exponents[0])
    assert relative_error(samples.scaled_variances[0], 2 * e, variance, variance) < 1e-14
    assert relative_error(samples.scaled_fourth[0], 4 * e, fourth, fourth) < 1e-13


def test_an_offset_of_1e15_costs_no_digit_of_the_variance():
    noise = [3.0, -2.0, 7.0, 0.0, -5.0, 4.0]
    shifted = Samples.of({"a": [1e15 + x for x in noise], "b": noise})
    np.testing.assert_allclose(shifted.variances[0], shifted.variances[1], rtol=1e-14)
    np.testing.assert_allclose(shifted.fourth[0], shifted.fourth[1], rtol=1e-13)


def test_ordinary_values_are_not_scaled_and_agree_with_numpy():
    rng = np.random.default_rng(7)
    values = {"a": rng.lognormal(3, 2, 200), "b": rng.normal(-5, 1, 100)}
    samples = Samples.of(values)
    assert samples.ordinary
    np.testing.assert_allclose(samples.means, [v.mean() for v in values.values()], rtol=1e-13)
    np.testing.assert_allclose(samples.variances, [v.var(ddof=1) for v in values.values()], rtol=1e-12)
    np.testing.assert_allclose(samples.fourth, [((v - v.mean()) ** 4).sum() for v in values.values()], rtol=1e-12)


def test_a_later_huge_value_rescales_what_was_there():
    samples = Samples.of({"a": [1e-300, 2e-300, 0.0, 1e300], "b": [1.0, 2.0]})
    sd = math.sqrt(samples.scaled_variances[0]) * 2.0 ** float(samples.exponents[0])
    assert not samples.ordinary
    assert sd == pytest.approx(5e299, rel=1e-14)


def test_values_that_become_ordinary_are_plain_again():
    samples = Samples.of({"a": [1e-300, 2e-300], "b": [1.0, 2.0]})
    assert not samples.ordinary
    samples.add("a", 1.0)
    assert samples.ordinary
    assert samples.variances[0] == pytest.approx(1 / 3, rel=1e-14)


def test_arrays_are_live_and_read_only():
    samples = Samples(["a", "b"])
    counts, variances = samples.counts, samples.variances
    samples.extend("a", [1.0, 3.0])
    assert counts.tolist() == [2, 0]
    assert variances[0] == 2.0
    assert math.isnan(variances[1])
    with pytest.raises(ValueError, match="read-only"):
        counts[0] = 5


def test_equal_values_have_variance_exactly_zero():
    samples = Samples.of({"a": [0.1] * 50, "b": [1e300] * 3})
    assert samples.variances.tolist() == [0.0, 0.0]
    assert samples.means.tolist() == [0.1, 1e300]


def test_a_dropped_run_is_spent_but_no_value():
    samples = Samples.of({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    samples.drop("b")
    assert samples.counts.tolist() == [2, 2]
    assert samples.spent.tolist() == [2, 3]
    assert samples.total_spent == 5


def test_one_value_of_a_deterministic_algorithm_has_variance_zero():
    samples = Samples.of({"a": [4.0], "b": [3.0, 5.0]}, deterministic=["a"])
    assert samples.variances.tolist() == [0.0, 2.0]


def test_derived_numbers_are_remembered_until_the_algorithm_gets_a_value():
    samples = Samples.of({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    seen = []

    def total(values):
        seen.append(len(values))
        return float(values.sum())

    assert samples.derived("a", "total", total) == samples.derived("a", "total", total) == 3.0
    samples.add("b", 1.0)
    assert samples.derived("a", "total", total) == 3.0
    samples.add("a", 5.0)
    assert samples.derived("a", "total", total) == 8.0
    assert seen == [2, 3]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "fast"])
def test_a_value_that_is_no_finite_number_is_refused_by_name(bad):
    with pytest.raises(InvalidSamples, match=r"finite number.*algorithm 'b'"):
        Samples.of({"a": [1.0], "b": [2.0, bad]})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Samples(["a"]), "at least two algorithms"),
        (lambda: Samples(["a", "b", "a"]), "got a twice"),
        (lambda: Samples(["a", "b"], deterministic=["c"]), "got 'c'"),
        (lambda: Samples(["a", "b"]).add("c", 1.0), "one of 'a', 'b', got 'c'"),
        (lambda: Samples.of([[1.0], [2.0]]), "must be a mapping"),
        (lambda: Samples.of({"a": [1, 2], "b": [1.0]}, deterministic=["a"]), "declared deterministic"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_reason(make, message):
    with pytest.raises(InvalidSamples, match=message):
        make()
