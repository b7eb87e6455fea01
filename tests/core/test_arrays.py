"""The kinds of arrays have one home."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ampler
from ampler.core import arrays
from ampler.core.arrays import STATUSES, Runs, Samples
from ampler.core.errors import InvalidData, InvalidSamples
from ampler.core.runs import Observation, RunKey

SOURCE = Path(ampler.__file__).parent


def elsewhere() -> list[Path]:
    return [path for path in SOURCE.rglob("*.py") if path != Path(arrays.__file__)]


@pytest.mark.parametrize("kind", ["float64", "int64", "intp", "bool_"])
def test_no_other_module_spells_a_kind_of_array(kind: str) -> None:
    assert [path.name for path in elsewhere() if f"NDArray[np.{kind}]" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("name", ["Floats", "Counts", "Codes", "Bools", "Pair", "Interval"])
def test_no_other_module_defines_a_name_again(name: str) -> None:
    assert [path.name for path in elsewhere() if f"\n{name} = " in path.read_text(encoding="utf-8")] == []


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
    np.testing.assert_allclose(*shifted.scaled_fourth, rtol=1e-13)


def test_ordinary_values_are_not_scaled_and_agree_with_numpy():
    rng = np.random.default_rng(7)
    values = {"a": rng.lognormal(3, 2, 200), "b": rng.normal(-5, 1, 100)}
    samples = Samples.of(values)
    assert samples.ordinary
    np.testing.assert_allclose(samples.means, [v.mean() for v in values.values()], rtol=1e-13)
    np.testing.assert_allclose(samples.variances, [v.var(ddof=1) for v in values.values()], rtol=1e-12)
    fourth = [((v - v.mean()) ** 4).sum() for v in values.values()]
    np.testing.assert_allclose(samples.scaled_fourth, fourth, rtol=1e-12)


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


def test_names_stand_in_the_order_of_first_appearance():
    runs = Runs.from_columns(["z", "a", "z", "a"], ["second", "first", "first", "second"], [1, 2, 3, 4])
    assert runs.instances == ("z", "a")
    assert runs.algorithms == ("second", "first")
    assert runs.instance.tolist() == [0, 1, 0, 1]
    assert runs.algorithm.tolist() == [0, 1, 1, 0]
    assert runs.ok.all()


def test_observations_become_runs_with_their_status():
    ok = Observation(RunKey("i", "a", 0), 3.5)
    late = Observation(RunKey("i", "a", 1), None, status="timeout", message="60 s")
    runs = Runs.of([ok, late])
    assert runs.ok.tolist() == [True, False]
    assert STATUSES[runs.status[1]] == "timeout"
    assert np.isnan(runs.value[1])


def test_ok_is_the_first_status():
    assert STATUSES[0] == "ok"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_ok_run_without_a_finite_value_is_named(value):
    with pytest.raises(InvalidData, match=r"'b' on instance 'j'"):
        Runs.from_columns(["i", "j"], ["a", "b"], [1.0, value])


def test_an_unknown_status_is_refused():
    with pytest.raises(InvalidData, match="memout"):
        Runs.from_columns(["i"], ["a"], [1.0], ["memout"])


def test_no_run_at_all_is_refused():
    with pytest.raises(InvalidData, match="at least one run"):
        Runs.from_columns([], [], [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": np.array([1.0, 2.0])}, "equally long"),
        ({"instance": np.array([5])}, "instance codes"),
        ({"algorithms": ("a", "a")}, "'a' twice"),
        ({"status": np.array([9], np.uint8)}, "status codes"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change, message):
    columns = {
        "instances": ("i",),
        "algorithms": ("a",),
        "instance": np.array([0]),
        "algorithm": np.array([0]),
        "value": np.array([1.0]),
        "status": np.array([0], np.uint8),
    }
    with pytest.raises(InvalidData, match=message):
        Runs(**(columns | change))
