"""Omnibus tests against R, against scipy and least squares, and on published data."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from ampler.stats.omnibus import block_anova, critical_difference, friedman, omnibus, ranks

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "analysis.json").read_text())

tables = st.tuples(st.integers(2, 12), st.integers(2, 6)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(-9, 9))
)


@pytest.mark.parametrize("data", GOLD, ids=lambda data: data["name"])
def test_friedman_and_anova_are_those_of_r(data):
    values = np.array(data["Y"], float)
    ranked, anova = friedman(values), block_anova(values)
    assert ranked.freedom == data["friedman"]["df"]
    np.testing.assert_allclose(
        [ranked.corrected.statistic, ranked.corrected.p_value],
        [data["friedman"]["statistic"], data["friedman"]["p"]],
        rtol=1e-9,
    )
    gold = data["anova_cbd"]
    assert anova.freedom == (gold["df1"], gold["df2"])
    np.testing.assert_allclose(
        [
            anova.statistic,
            anova.p_value,
            anova.mean_square_algorithms,
            anova.mean_square_instances,
            anova.mean_square_residual,
        ],
        [gold["F"], gold["p"], gold["MS_alg"], gold["MS_block"], gold["MS_resid"]],
        rtol=1e-9,
    )


def test_the_corrected_friedman_statistic_is_scipys():
    values = np.random.default_rng(1).integers(0, 4, (15, 5)).astype(float)
    theirs = stats.friedmanchisquare(*values.T)
    assert friedman(values).has_ties
    assert friedman(values).corrected.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert friedman(values).corrected.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_the_uncorrected_friedman_statistic_is_the_textbook_formula():
    values = np.random.default_rng(2).integers(0, 4, (15, 5)).astype(float)
    n, a = values.shape
    sums = [sum(1 + sum(row < row[k]) + (sum(row == row[k]) - 1) / 2 for row in values) for k in range(a)]
    textbook = 12 / (n * a * (a + 1)) * sum(total**2 for total in sums) - 3 * n * (a + 1)
    assert friedman(values).uncorrected.statistic == pytest.approx(textbook, rel=1e-12)


def test_block_anova_is_the_f_test_of_two_least_squares_fits():
    values = np.random.default_rng(3).normal(size=(7, 4)) + np.arange(4)
    n, a = values.shape
    blocks = np.kron(np.eye(n), np.ones((a, 1)))
    algorithms = np.kron(np.ones((n, 1)), np.eye(a))[:, 1:]
    small, large = (
        float(np.linalg.lstsq(design, values.ravel(), rcond=None)[1][0])
        for design in (blocks, np.hstack([blocks, algorithms]))
    )
    f = (small - large) / (a - 1) / (large / ((n - 1) * (a - 1)))
    assert block_anova(values).statistic == pytest.approx(f, rel=1e-10)


@given(tables)
def test_iman_davenport_corrected_for_ties_is_the_anova_of_the_ranks(values):
    corrected, anova = friedman(values).corrected, block_anova(ranks(values))
    if np.isfinite(corrected.iman_davenport) and anova.mean_square_residual > 1e-9:
        assert corrected.iman_davenport == pytest.approx(anova.statistic, rel=1e-7, abs=1e-9)


@given(tables)
def test_increasing_transformations_of_each_instance_change_no_rank(values):
    bent = np.exp(values / 4) * np.arange(1, len(values) + 1)[:, None]
    assert np.array_equal(ranks(values), ranks(bent))
    assert friedman(values).corrected == friedman(bent).corrected


@given(tables)
def test_better_only_turns_the_ranks_round(values):
    assert np.array_equal(ranks(values, better="higher"), values.shape[1] + 1 - ranks(values))
    assert friedman(-values).corrected.statistic == pytest.approx(friedman(values).corrected.statistic)


def test_the_best_algorithm_has_rank_one():
    values = np.array([[10.0, 30.0, 20.0], [5.0, 5.0, 9.0]])
    assert ranks(values).tolist() == [[1.0, 3.0, 2.0], [1.5, 1.5, 3.0]]
    assert omnibus(values, better="higher").mean_ranks == (2.75, 1.75, 1.5)


def test_all_results_together_are_those_of_the_level_that_was_asked_for():
    values = np.random.default_rng(5).normal(size=(6, 4))
    assert omnibus(values, alpha=0.2).critical_difference == critical_difference(4, 6, alpha=0.2)


def test_differences_without_any_residual_are_certain():
    result = block_anova(np.array([[1.0, 2.0, 4.0], [11.0, 12.0, 14.0], [21.0, 22.0, 24.0]]))
    assert (result.statistic, result.p_value, result.mean_square_residual) == (np.inf, 0.0, 0.0)


@pytest.mark.parametrize("magnitude", [1e-300, 1e-160, 1e160, 1e300])
def test_extreme_magnitudes_change_no_f(magnitude):
    values = np.random.default_rng(4).normal(size=(6, 3)) + 10
    assert block_anova(values * magnitude).statistic == pytest.approx(block_anova(values).statistic, rel=1e-9)


def test_algorithms_that_tie_everywhere_do_not_differ():
    values = np.repeat(np.arange(5.0)[:, None], 3, axis=1)
    assert friedman(values).corrected.statistic == 0.0
    assert friedman(values).corrected.p_value == 1.0
    assert block_anova(values).p_value == 1.0


def test_an_order_that_never_changes_is_as_certain_as_can_be():
    values = np.arange(12.0).reshape(4, 3)
    assert friedman(values).corrected.statistic == pytest.approx(8.0)  # N(A − 1)
    assert friedman(values).corrected.iman_davenport_p == 0.0


@pytest.mark.parametrize(
    ("algorithms", "alpha", "q"),
    [(2, 0.05, 1.960), (4, 0.05, 2.569), (10, 0.05, 3.164), (2, 0.10, 1.645), (7, 0.10, 2.693)],
)
def test_nemenyis_distance_uses_the_printed_critical_values(algorithms, alpha, q):
    """Demšar (2006), table 5(a)."""
    distance = critical_difference(algorithms, 14, alpha=alpha)
    assert distance / np.sqrt(algorithms * (algorithms + 1) / (6 * 14)) == pytest.approx(q, abs=6e-4)


def test_the_example_of_demsar_2006(public_data):
    table = pd.read_csv(public_data / "demsar2006_table6.csv", index_col=0)
    printed = omnibus(table.to_numpy(), better="higher")
    assert printed.friedman.uncorrected.statistic == pytest.approx(9.857, abs=5e-4)
    assert printed.friedman.corrected.statistic == pytest.approx(10.952, abs=5e-4)
    table.loc["voting", "C4.5+cf"] = 0.9754  # the printed table is rounded: this breaks the tie as in the article
    exact = omnibus(table.to_numpy(), better="higher")
    assert exact.mean_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    assert exact.friedman.uncorrected.statistic == pytest.approx(9.28, abs=5e-3)
    assert exact.friedman.uncorrected.iman_davenport == pytest.approx(3.69, abs=5e-3)
    assert exact.critical_difference == pytest.approx(1.25, abs=5e-3)


def test_published_friedman_statistics(public_data):
    example = pd.read_csv(public_data / "cd_diagram_example.csv")
    example = example.pivot_table(index="dataset_name", columns="classifier_name", values="accuracy")
    found = friedman(example.to_numpy()).corrected
    assert (found.statistic, found.p_value) == (pytest.approx(33.466, abs=5e-4), pytest.approx(9.589e-07, rel=1e-4))
    benavoli = pd.read_csv(public_data / "benavoli2017_accuracies_mean.csv", index_col=0)
    found = friedman(benavoli.to_numpy()).corrected
    assert (found.statistic, found.p_value) == (pytest.approx(20.8405, abs=5e-5), pytest.approx(0.00034058, abs=5e-9))
    cec = pd.read_csv(public_data / "cec17_extended_final.csv.gz").query("Dimension == 30")
    cec = cec.pivot_table(index="Benchmark", columns="Algorithm", values="Result")
    assert friedman(cec.to_numpy()).corrected.statistic == pytest.approx(230.990, abs=5e-4)


@pytest.mark.parametrize("alpha", [1e-5, 0.01, 0.05, 0.5])
@pytest.mark.parametrize("algorithms", [2, 10, 60])
def test_nemenyis_distance_is_that_of_the_studentized_range(algorithms, alpha):
    q = float(stats.studentized_range.isf(alpha, algorithms, np.inf)) / np.sqrt(2)
    expected = q * np.sqrt(algorithms * (algorithms + 1) / (6 * 20))

    assert critical_difference(algorithms, 20, alpha=alpha) == pytest.approx(expected, rel=1e-9)
