"""Golden values of clusters, nested, crossed and resampled runs and shared seeds (tests/gold/dependence.json)."""

import json
from pathlib import Path

import numpy as np
import pytest

from ampler.stats import dependence as dep
from ampler.stats.contrasts import contrasts_among
from ampler.stats.two_samples import welch_comparisons

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "dependence.json").read_text())


def by_name(entry):
    return entry.get("name", "")


@pytest.mark.parametrize("gold", GOLD["clusters"], ids=by_name)
@pytest.mark.parametrize("kind", ["clusters", "instances"])
def test_means_of_clustered_instances_equal_the_reference(gold, kind):
    x, codes = np.array(gold["x"]), dep.cluster_codes(gold["cluster"])
    mean = (dep.mean_over_clusters if kind == "clusters" else dep.mean_over_instances)(x, codes)
    wanted = gold[kind]
    rtol = 1e-7 if gold["name"] == "large offset" else 1e-9

    assert mean.estimate == pytest.approx(wanted["estimate"], rel=rtol)
    assert mean.error == pytest.approx(wanted["error"], rel=rtol)
    assert mean.df == pytest.approx(wanted["df"], rel=1e-9)
    assert mean.estimate / mean.error == pytest.approx(wanted["t"], rel=rtol)
    assert mean.p_value() == pytest.approx(wanted["p"], rel=max(rtol * 100, 1e-7))
    assert mean.p_value("less") == pytest.approx(wanted["p_less"], rel=1e-7)
    assert mean.p_value("greater") == pytest.approx(wanted["p_greater"], rel=max(rtol * 100, 1e-7))
    assert mean.interval()[:2] == pytest.approx(wanted["interval95"], abs=1e-9 * mean.error + rtol)
    assert mean.interval(alpha=0.05 / 7)[:2] == pytest.approx(wanted["interval_alpha_0.05_over_7"], abs=1e-9 + rtol)
    equivalence_p = max(mean.p_value("greater", -gold["margin"]), mean.p_value("less", gold["margin"]))
    assert equivalence_p == pytest.approx(wanted["equivalence_p"], rel=1e-7)


@pytest.mark.parametrize(
    "gold", [entry for entry in GOLD["clusters"] if "sign_flip_p" in entry["instances"]], ids=by_name
)
def test_flips_of_whole_clusters_equal_the_enumeration(gold):
    assert dep.sign_flip_p(np.array(gold["x"]), dep.cluster_codes(gold["cluster"])) == gold["instances"]["sign_flip_p"]


@pytest.mark.parametrize("gold", GOLD["clusters"], ids=by_name)
def test_variance_components_equal_the_reference(gold):
    found = dep.variance_components(np.array(gold["x"]), dep.cluster_codes(gold["cluster"]))
    wanted = gold["components"]
    rtol = 1e-7 if gold["name"] == "large offset" else 1e-9

    assert (found.between, found.within) == pytest.approx((wanted["between"], wanted["within"]), rel=rtol, abs=1e-12)
    assert found.icc == pytest.approx(wanted["icc"], rel=rtol, abs=1e-12)
    assert found.icc_interval == pytest.approx(wanted["icc_interval"], abs=1e-7)
    assert found.design_effect == pytest.approx(wanted["design_effect"], rel=1e-7)


@pytest.mark.parametrize("gold", GOLD["clusters"], ids=by_name)
def test_fixed_clusters_equal_the_reference(gold):
    found = dep.mean_over_fixed_clusters(np.array(gold["x"]), dep.cluster_codes(gold["cluster"]))
    wanted = gold["fixed"]

    assert (found is None) == (wanted is None)
    if found is not None:
        assert found.estimate == pytest.approx(wanted["estimate"], rel=1e-7)
        assert found.error == pytest.approx(wanted["error"], rel=1e-7)
        assert found.df == pytest.approx(wanted["df"], rel=1e-7)
        assert found.p_value() == pytest.approx(wanted["p"], rel=1e-5)


@pytest.mark.parametrize("gold", GOLD["errors"])
@pytest.mark.parametrize(
    ("kind", "difference", "reference"),
    [
        ("simple", "simple", 0),
        ("percent_reference", "percent", 0),
        ("percent_all", "percent", None),
        ("log_ratio", "ratio", 0),
    ],
)
def test_errors_with_shared_seeds_equal_the_reference(gold, kind, difference, reference):
    runs = sorted({int(index) for values in gold["values"] for index in values})
    table = np.array([[values.get(str(run), np.nan) for values in gold["values"]] for run in runs])
    contrasts = contrasts_among(table.shape[1], difference=difference, reference=reference)

    noise = dep.shared_noise(contrasts.gradient(np.nanmean(table, axis=0)), table)
    squared = dep.noise_errors(noise, np.isfinite(table).sum(axis=0).astype(float))

    assert np.sqrt(squared) == pytest.approx(gold["se"][kind], rel=1e-9)


@pytest.mark.parametrize("gold", GOLD["nested"])
def test_nested_runs_equal_the_reference(gold):
    means = []
    for name in ("first", "second"):
        mean = dep.mean_over_clusters(np.array(gold[name]), dep.cluster_codes(gold[f"{name}_group"]))
        assert (mean.estimate, mean.error**2, mean.df) == pytest.approx(gold[f"{name}_mean_se2_df"], rel=1e-9)
        means.append(mean)
    theta, errors, degrees = np.array(means).T
    pair = contrasts_among(2, difference="simple")
    (difference,) = welch_comparisons(pair, pair.differences(theta), theta, errors**2, degrees)

    assert (difference.estimate, difference.error, difference.df, difference.p_value()) == pytest.approx(
        [gold["welch"][key] for key in ("estimate", "error", "df", "p")], rel=1e-7
    )


@pytest.mark.parametrize("gold", GOLD["crossed"])
def test_sessions_crossed_with_instances_equal_the_reference(gold):
    mean = dep.crossed_mean(np.array(gold["table"]))

    found = (mean.estimate, mean.error, mean.df, mean.p_value())
    assert found == pytest.approx([gold[key] for key in ("estimate", "error", "df", "p")], rel=1e-7)


@pytest.mark.parametrize("gold", GOLD["columns"])
def test_labels_that_group_differences_are_found(gold):
    phi, codes = np.array(gold["phi"]), dep.cluster_codes(gold["labels"])

    assert dep.grouping_p(phi, codes) == pytest.approx(gold["p_999_permutations"], abs=0.02)


def test_one_common_run_says_nothing_of_a_covariance():
    values = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, 7.0], [4.0, np.nan]])
    covariances, common = dep.shared_covariances(values)

    assert common.tolist() == [[3, 1], [1, 2]]
    assert covariances[0, 1] == covariances[1, 0] == 0
    assert np.diag(covariances) == pytest.approx([7 / 3, 2])


def test_labels_that_separate_the_differences_have_the_smallest_p_value_that_permutations_give():
    codes = np.repeat(np.arange(4), 5)

    assert dep.grouping_p(100.0 * codes[:, None], codes, permutations=99) == pytest.approx(1 / 100)


def test_ignoring_clusters_costs_what_was_simulated():
    """30 passages of 10 questions with intraclass correlation 0.5: 40 % false claims (300 instances)."""
    assert dep.false_positive_rate(5.5, 299) == pytest.approx(0.40, abs=0.005)
