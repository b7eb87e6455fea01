"""Differences on one instance with their standard errors."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.arrays import Samples
from ampler.core.errors import InvalidRule, InvalidSamples
from ampler.stats.contrasts import contrasts_among, contrasts_of
from ampler.stats.estimate import estimate
from ampler.stats.summaries import Mean, resampled

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "se.json").read_text(encoding="utf-8"))
DATASETS = {dataset["name"]: dataset for dataset in GOLD["datasets"]}
CASES = ["simple/all.vs.all", "simple/all.vs.first", "perc/all.vs.all", "perc/all.vs.first"]
DIFFERENCES = {"simple": "simple", "perc": "percent"}


def samples_of(dataset):
    return {f"a{k}": values for k, values in enumerate(dataset["X"], 1)}


def words(case):
    difference, comparisons = case.split("/")
    return {"difference": DIFFERENCES[difference], "reference": "a1" if comparisons == "all.vs.first" else None}


def numbers(values):
    return np.array([float(value) for value in values])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", DATASETS)
def test_estimates_agree_with_exact_arithmetic(name, case):
    dataset = DATASETS[name]
    if dataset["nonpositive"] and case.startswith("perc"):
        with pytest.raises(InvalidSamples, match="need positive statistics"):
            estimate(samples_of(dataset), formula="paper", **words(case))
        return
    exact, tolerance = dataset["exact"][case], dataset["tolerance"]
    found = estimate(samples_of(dataset), formula="paper", **words(case))
    phi_tolerance = tolerance["Phi_simple_atol" if case.startswith("simple") else "Phi_perc_atol"]
    np.testing.assert_allclose([e.difference for e in found], numbers(exact["Phi"]), rtol=0, atol=phi_tolerance)
    np.testing.assert_allclose([e.error for e in found], numbers(exact["SE"]), rtol=tolerance["SE_rtol"])
    np.testing.assert_allclose([e.best_ratio for e in found], numbers(exact["ropt"]), rtol=tolerance["ropt_rtol"])
    ratios = [dataset["n"][int(e.first[1:]) - 1] / dataset["n"][int(e.second[1:]) - 1] for e in found]
    assert [e.ratio for e in found] == ratios


@pytest.mark.parametrize("case", GOLD["bootstrap"], ids=lambda case: case["name"])
def test_bootstrapped_differences_agree_with_a_million_resamples(case):
    how, dataset = words(f"{case['dif']}/{case['comparisons']}"), samples_of(DATASETS[case["name"]])
    found = estimate(dataset, method="bootstrap", resamples=100_000, **how)
    plain = [e.error / widened for e, widened in zip(found, widened_by(dataset, how), strict=True)]
    np.testing.assert_allclose(plain, numbers(case["vectorised_R1e6_SE"]), rtol=case["SE_rtol_at_R1e5"])


def test_a_bootstrapped_error_is_the_standard_deviation_of_the_resampled_differences_however_few():
    values = np.array([3.0, 4.0, 8.0, 9.0])
    (found,) = estimate({"a": values, "b": [5.0, 5.0]}, difference="simple", method="bootstrap", resamples=5)
    assert found.error == pytest.approx(resampled(Mean(), values, 5).std(ddof=1) * np.sqrt(4 / 3))


def widened_by(dataset, how):
    """The ratio of the errors when each variance is s²/(n−1) to those when it is s²/n."""
    values = [np.asarray(each, dtype=float) for each in dataset.values()]
    theta, counts = np.array([each.mean() for each in values]), np.array([len(each) for each in values])
    spread = np.array([each.var(ddof=1) for each in values])
    contrasts = contrasts_of(list(dataset), formula="delta", **how)
    return np.sqrt(
        contrasts.squared_errors(theta, spread / (counts - 1)) / contrasts.squared_errors(theta, spread / counts)
    )


def test_bootstrapped_errors_are_right_on_average_for_three_values():
    rng = np.random.default_rng(19)
    errors = [
        estimate({"a": rng.normal(size=3), "b": rng.normal(size=3)}, difference="simple", method="bootstrap")[0].error
        for _ in range(800)
    ]
    squares = np.square(errors)
    assert abs(squares.mean() - 2 / 3) < 3.5 * squares.std() / np.sqrt(len(squares))


@pytest.mark.parametrize("statistic", ["mean", "median", "trimmed-mean", "quantile:0.7", np.mean])
@pytest.mark.parametrize("method", ["formula", "bootstrap"])
@pytest.mark.parametrize(
    ("difference", "reference"), [("simple", None), ("percent", None), ("percent", "b"), ("ratio", None)]
)
def test_magnitude_scales_simple_errors_and_leaves_the_others_alone(statistic, method, difference, reference):
    values = {"a": [1.0, 1.5, 2.5, 1.25, 3.0], "b": [2.0, 2.5, 2.25, 3.5, 4.0], "c": [3.0, 3.5, 5.0, 6.0, 5.5]}
    how = {"difference": difference, "reference": reference, "statistic": statistic, "method": method}
    plain = estimate(values, **how)
    for size in (1e-300, 1e-160, 1e-60, 1e60, 1e150, 1e300):
        unit = 2.0 ** round(math.log2(size))  # an exact scale, so that only the arithmetic is tested
        scaled = {name: [unit * x for x in numbers] for name, numbers in values.items()}
        factor = unit if difference == "simple" else 1.0
        large = estimate(scaled, **how)
        for of_interest, scale in (("error", factor), ("difference", factor), ("best_ratio", 1.0)):
            expected = [scale * getattr(each, of_interest) for each in plain]
            found = [getattr(each, of_interest) for each in large]
            assert found == pytest.approx(expected, rel=1e-12), (size, of_interest)


def test_algorithms_of_very_different_magnitude_keep_their_relative_errors():
    small, large = [1e-300, 2e-300, 3e-300], [1e10, 3e10, 5e10]
    (found,) = estimate({"a": small, "b": large}, difference="ratio", formula="delta")
    assert found.difference == pytest.approx(math.log(2e-300) - math.log(3e10), rel=1e-14)
    assert found.error == pytest.approx(math.sqrt(1 / 3 / 4 + 4 / 3 / 9), rel=1e-14)
    (found,) = estimate({"a": small, "b": large}, difference="simple")
    assert found.error == pytest.approx(2e10 / math.sqrt(3), rel=1e-14)


def test_an_algorithm_that_is_always_zero_does_not_hide_tiny_errors():
    (found,) = estimate({"a": [0.0, 0.0], "b": [1e-200, 3e-200]}, difference="simple")
    assert found.error == pytest.approx(1e-200, rel=1e-14)


def test_only_what_changed_is_resampled():
    calls = []

    def middle(values):
        calls.append(values.shape)
        return np.median(values)

    samples = Samples.of({name: list(np.random.default_rng(3).normal(9, 1, 12)) for name in "abcd"})
    estimate(samples, difference="simple", statistic=middle)
    before = len(calls)
    estimate(samples, difference="simple", statistic=middle)
    assert len(calls) == before
    samples.add("b", 9.5)
    estimate(samples, difference="simple", statistic=middle)
    assert len(calls) - before == before / 4


def test_zero_variances_give_zero_errors_never_nan():
    for difference in ("simple", "percent", "ratio"):
        (found,) = estimate({"a": [2.0, 2.0], "b": [3.0, 3.0]}, difference=difference)
        assert found.error == 0.0


def test_a_deterministic_algorithm_needs_one_value_only():
    samples = Samples.of({"a": [2.0], "b": [3.0, 5.0]}, deterministic=["a"])
    for statistic in ("mean", "median", np.mean):
        (found,) = estimate(samples, difference="simple", statistic=statistic)
        assert found.difference == -2.0
        assert found.error > 0.0


def test_an_algorithm_of_zeros_does_not_swallow_the_errors_of_tiny_values():
    (found,) = estimate({"a": [0.0] * 3, "b": [1e-200, 2e-200, 4e-200]}, difference="simple")
    assert found.error == pytest.approx(1e-200 * np.std([1, 2, 4], ddof=1) / np.sqrt(3), rel=1e-12, abs=0)


# --- laws -------------------------------------------------------------------------------------------------------------

values = st.lists(st.floats(0.5, 100.0), min_size=2, max_size=6)
tables = st.lists(values, min_size=2, max_size=5)
how = st.fixed_dictionaries(
    {
        "difference": st.sampled_from(["simple", "percent", "ratio"]),
        "formula": st.sampled_from(["corrected", "delta", "paper"]),
        "statistic": st.sampled_from(["mean", "median", "trimmed-mean"]),
    }
)


def by_pair(found):
    return {(e.first, e.second): e for e in found}


@given(table=tables, how=how, seed=st.randoms(use_true_random=False), with_reference=st.booleans())
def test_reordering_algorithms_reorders_the_pairs_and_flips_signs_only(table, how, seed, with_reference):
    data = {f"a{k}": row for k, row in enumerate(table)}
    shuffled = list(data)
    seed.shuffle(shuffled)
    reference = "a0" if with_reference else None
    before = by_pair(estimate(data, reference=reference, **how))
    after = by_pair(estimate({name: data[name] for name in shuffled}, reference=reference, **how))
    size = max(max(row) for row in table)
    for (i, j), found in before.items():
        sign, other = (1, after[i, j]) if (i, j) in after else (-1, after[j, i])
        assert found.difference == pytest.approx(sign * other.difference, rel=1e-9, abs=1e-12 * size)
        assert found.error == pytest.approx(other.error, rel=1e-6, abs=1e-8 * size)


@given(table=tables, how=how)
def test_renaming_algorithms_renames_the_result_only(table, how):
    old = estimate({f"a{k}": row for k, row in enumerate(table)}, **how)
    new = estimate({f"name {k}": row for k, row in enumerate(table)}, **how)
    assert [(e.difference, e.error, e.ratio) for e in old] == [(e.difference, e.error, e.ratio) for e in new]


@given(table=tables, how=how, exponent=st.integers(-30, 30))
def test_scaling_all_values_scales_simple_differences_only(table, how, exponent):
    factor = 2.0**exponent
    old = estimate({f"a{k}": row for k, row in enumerate(table)}, **how)
    new = estimate({f"a{k}": [factor * x for x in row] for k, row in enumerate(table)}, **how)
    scale = factor if how["difference"] == "simple" else 1.0
    for one, other in zip(old, new, strict=True):
        assert other.difference == pytest.approx(scale * one.difference, rel=1e-9, abs=1e-12 * scale)
        assert other.error == pytest.approx(scale * one.error, rel=1e-9, abs=1e-12 * scale)


@pytest.mark.parametrize("method", ["formula", "bootstrap"])
def test_the_bootstrap_of_a_difference_depends_on_neither_names_nor_order(method):
    rng = np.random.default_rng(0)
    data = {name: rng.normal(10 + k, 1 + k, 15).tolist() for k, name in enumerate("abc")}
    one = by_pair(estimate(data, difference="simple", method=method))
    other = by_pair(estimate({name: data[name] for name in "cab"}, difference="simple", method=method))
    assert one["a", "c"].error == pytest.approx(other["c", "a"].error, rel=1e-12)
    assert one["a", "b"].error == pytest.approx(other["a", "b"].error, rel=1e-12)


# --- the formulas against the truth -----------------------------------------------------------------------------------


def true_errors(theta, sds, counts, replications, difference, reference, rng):
    """The standard deviation of each pair's difference over many repetitions of the whole experiment."""
    contrasts = contrasts_among(len(theta), difference=difference, reference=reference)
    means = rng.normal(theta, sds / np.sqrt(counts), (replications, len(theta)))
    claimed = np.sqrt(contrasts.squared_errors(theta, sds**2 / counts))
    return contrasts.differences(theta), claimed, contrasts.differences(means).std(axis=0)


def worst_mismatch(difference, reference, algorithms, replications, seed):
    """Means such that φ reaches 1, unequal sds, and relative errors of a few percent, as in a sampled instance."""
    rng = np.random.default_rng(seed)
    low = 1 / 3 if difference == "percent" and reference is None else math.exp(-1)
    theta = np.linspace(low, 1.0, algorithms) * 30
    if difference == "percent" and reference is not None:
        theta = np.linspace(30.0, 60.0, algorithms)  # φ from 0 to −1
    rng.shuffle(theta[1:])
    sds = theta * rng.uniform(0.05, 0.3, algorithms)
    phi, claimed, true = true_errors(theta, sds, np.full(algorithms, 50), replications, difference, reference, rng)
    assert 0.9 < np.abs(phi).max() < 2.1
    return np.abs(claimed / true - 1.0).max()


KINDS = [("percent", None), ("percent", 0), ("ratio", None), ("ratio", 0)]


@pytest.mark.parametrize(("difference", "reference"), KINDS)
@pytest.mark.parametrize("algorithms", [2, 5, 10])
def test_the_formulas_are_within_two_percent_of_the_truth(difference, reference, algorithms):
    assert worst_mismatch(difference, reference, algorithms, 60_000, seed=11) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("difference", "reference"), KINDS)
@pytest.mark.parametrize("algorithms", [2, 3, 5, 10, 16, 22])
@pytest.mark.parametrize("seed", range(5))
def test_the_formulas_are_within_two_percent_of_the_truth_in_many_cases(difference, reference, algorithms, seed):
    assert worst_mismatch(difference, reference, algorithms, 200_000, seed) < 0.02


@pytest.mark.parametrize(("sds", "off"), [((1.0, 9.0), 2.1), ((9.0, 1.0), 0.74)])
def test_the_paper_formula_is_off_where_the_delta_formula_is_not(sds, off):
    rng = np.random.default_rng(4)
    theta, sds, counts = np.array([10.0, 30.0]), np.array(sds), np.full(2, 100)
    _, claimed, true = true_errors(theta, sds, counts, 200_000, "percent", None, rng)
    paper = contrasts_among(2, difference="percent", formula="paper")
    assert claimed == pytest.approx(true, rel=0.02)
    assert np.sqrt(paper.squared_errors(theta, sds**2 / counts)) / true == pytest.approx(off, abs=0.05)


# --- bad input --------------------------------------------------------------------------------------------------------


def hole(x):
    """A statistic that does not exist for every resample."""
    return 1.0 if x.any() else math.inf


@pytest.mark.parametrize(
    ("data", "how", "error", "message"),
    [
        ({"a": [1.0, 2.0], "b": [1.0]}, {}, InvalidSamples, "at least two values of each algorithm, got 1 of 'b'"),
        ({"a": [1.0, 2.0], "b": []}, {}, InvalidSamples, "got 0 of 'b'"),
        ({"a": [1.0, 2.0]}, {}, InvalidSamples, "at least two algorithms"),
        ({"a": [1.0, 2.0], "b": [math.nan, 1.0]}, {}, InvalidSamples, "finite number, got nan from algorithm 'b'"),
        ({"a": [1.0, 2.0], "b": [-1.0, 0.5]}, {"difference": "percent"}, InvalidSamples, "positive .* got -0.25 .*'b'"),
        ({"a": [0.0, 0.0], "b": [1.0, 2.0]}, {"difference": "ratio"}, InvalidSamples, "got 0 for algorithm 'a'"),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, {"reference": "c"}, InvalidRule, "algorithms 'a', 'b', got 'c'"),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, {"method": "jackknife"}, InvalidRule, "got 'jackknife'"),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, {"statistic": "mode"}, InvalidRule, "statistic must be"),
        ({"a": [1.0, 2.0], "b": [1.0, 2.0]}, {"statistic": lambda x: math.inf}, InvalidSamples, "finite .*got inf"),
        ({"a": [1.0, 2.0], "b": [0.0, 2.0]}, {"statistic": hole}, InvalidSamples, "variance nan"),
        (
            {"a": [1.0, 2.0], "b": [-1.0, 9.0]},
            {"difference": "percent", "method": "bootstrap"},
            InvalidSamples,
            "positive statistics in every resample",
        ),
        (
            {"a": [1.0, 2.0], "b": [0.0, 0.0, 9.0]},
            {"difference": "ratio", "method": "bootstrap"},
            InvalidSamples,
            "positive statistics in every resample, got 0;",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_reason(data, how, error, message):
    with pytest.raises(error, match=message):
        estimate(data, **{"difference": "simple"} | how)


@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12, 1e15])
def test_an_offset_costs_standard_errors_no_digits_and_differences_those_of_a_mean(offset):
    rng = np.random.default_rng(1)
    plain = {name: np.round(rng.normal(mean, 10.0, 20) * 8) / 8 for name, mean in (("a", 0.0), ("b", 3.0))}
    without = estimate(plain, difference="simple")[0]
    beside = estimate({name: offset + values for name, values in plain.items()}, difference="simple")[0]

    assert beside.error == pytest.approx(without.error, rel=1e-12)
    assert abs(beside.difference - without.difference) <= np.spacing(offset)
