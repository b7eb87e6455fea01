"""Runs that share a fold or a seed are compared run by run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ampler.analysis import analyse_runs
from ampler.core.arrays import Runs, at_rows
from ampler.core.errors import InvalidData
from ampler.core.failures import Drop
from ampler.core.settings import Settings

SHARED, OWN = 2.0, 0.3  # spread of what runs share, and of what is their own
ALGORITHMS = ("a", "b", "c")


def runs_of(instances=6, runs=8, seed=0, levels=(20.0, 21.0, 22.0)):
    """Runs with the same label are high or low together."""
    rng = np.random.default_rng(seed)
    shape = instances, runs, len(ALGORITHMS)
    common = rng.normal(0, SHARED, (instances, runs, 1))
    values = np.array(levels) + common + rng.normal(0, OWN, shape)
    instance, label, algorithm = (axis.ravel() for axis in np.indices(shape))
    names = tuple(f"i{k}" for k in range(instances))
    return Runs(names, ALGORITHMS, instance, algorithm, values.ravel(), np.zeros(values.size, np.uint8), label), values


@pytest.mark.parametrize(
    ("difference", "reference"), [("simple", None), ("percent", "b"), ("percent", None), ("ratio", "a")]
)
def test_the_standard_error_is_that_of_the_paired_differences(difference, reference):
    runs, _ = runs_of(instances=300, runs=12, seed=1)
    asked = Settings(difference=difference, reference=reference)
    paired, alone = analyse_runs(runs, asked), analyse_runs(replace(runs, shared=None), asked)
    assert np.allclose(paired.differences, alone.differences) == (difference in ("simple", "ratio"))
    claimed = np.sqrt((paired.errors**2).mean(axis=0))
    seen = paired.differences.std(axis=0, ddof=1)  # over instances that differ by their runs alone
    assert claimed == pytest.approx(seen, rel=0.12)  # 300 instances know a standard deviation to 4 %
    assert (paired.errors < alone.errors / 2).all()
    assert (paired.guarded_errors > paired.errors).all()


def test_percent_differences_of_runs_that_share_all_are_not_corrected():
    """Where every run is the reference's times a constant the ratio is the same in all, and has no noise."""
    runs, values = runs_of()
    values[:, :, 1], values[:, :, 2] = 1.5 * values[:, :, 0], 0.5 * values[:, :, 0]
    asked = Settings(difference="percent", reference="a")
    paired = analyse_runs(replace(runs, value=values.ravel()), asked)
    assert paired.differences == pytest.approx(np.tile([-0.5, 0.5], (6, 1)), abs=1e-12)
    alone = analyse_runs(replace(runs, value=values.ravel(), shared=None), asked)
    assert (alone.differences > paired.differences + 1e-6).all()


@pytest.mark.parametrize("reference", [None, "a"])
def test_percent_differences_of_paired_runs_are_right_on_average(reference):
    rng = np.random.default_rng(8)
    runs, values = runs_of(instances=4000, runs=3)
    values = rng.gamma(4.0, 0.25, (4000, 3, 1)) * rng.gamma(9.0, 1 / 9, values.shape)
    runs = replace(runs, value=values.ravel())
    by = {
        formula: analyse_runs(runs, Settings(difference="percent", reference=reference, formula=formula))
        for formula in ("corrected", "delta")
    }
    errors = {formula: found.differences.std(axis=0) / np.sqrt(4000) for formula, found in by.items()}
    assert (np.abs(by["corrected"].differences.mean(axis=0)) < 3.5 * errors["corrected"]).all()
    if reference is not None:
        assert (by["delta"].differences.mean(axis=0) < -4 * errors["delta"]).all()


def test_simple_differences_have_the_error_of_the_paired_t_test():
    runs, values = runs_of()
    found = analyse_runs(runs, Settings(difference="simple")).errors
    d = values[:, :, 0] - values[:, :, 1]
    assert found[:, 0] == pytest.approx(d.std(axis=1, ddof=1) / np.sqrt(d.shape[1]))


def test_the_order_of_the_runs_does_not_matter():
    runs, _ = runs_of()
    mixed = at_rows(runs, np.random.default_rng(3).permutation(len(runs)))
    asked = Settings(difference="percent")
    assert np.allclose(analyse_runs(mixed, asked).errors, analyse_runs(runs, asked).errors)


def test_runs_without_a_partner_count_by_themselves():
    runs, values = runs_of()
    lacking = at_rows(runs, np.delete(np.arange(len(runs)), 0))  # label 0 of a on i0
    analysis = analyse_runs(lacking, Settings(difference="simple", paired="seed"))
    a, b = values[0, 1:, 0], values[0, :, 1]
    squared = a.var(ddof=1) / 7 + b.var(ddof=1) / 8 - 2 * np.cov(a, b[1:])[0, 1] * 7 / (7 * 8)
    assert analysis.runs == len(runs) - 1
    assert analysis.differences[0, 0] == pytest.approx(a.mean() - b.mean())
    assert analysis.errors[0, 0] == pytest.approx(np.sqrt(squared))


def test_an_algorithm_that_lacks_an_instance_does_not_unpair_the_others():
    runs, values = runs_of()
    rows = np.flatnonzero(~((runs.instance == 0) & (runs.algorithm == 2)))
    found = analyse_runs(at_rows(runs, rows), Settings(difference="simple"))
    d = values[0, :, 0] - values[0, :, 1]
    assert found.errors[0, 0] == pytest.approx(d.std(ddof=1) / np.sqrt(len(d)))
    assert np.isnan(found.errors[0, 1:]).all()


def test_a_failed_run_leaves_its_partners():
    runs, _ = runs_of()
    status = runs.status.copy()
    status[0] = 2
    analysis = analyse_runs(replace(runs, status=status), Settings(difference="simple", failures=Drop()))
    assert analysis.runs == len(runs) - 1
    assert np.isfinite(analysis.errors).all()


def test_statistics_other_than_the_mean_take_runs_for_independent_and_it_is_said():
    runs, _ = runs_of()
    asked = Settings(difference="simple", statistic="median", paired="seed")
    paired, alone = analyse_runs(runs, asked), analyse_runs(replace(runs, shared=None), replace(asked, paired=None))
    assert np.array_equal(paired.errors, alone.errors)
    assert "pairing" in {caution.kind for caution in paired.warnings}


@pytest.mark.parametrize("columns", [1, 2])
def test_runs_that_were_sorted_are_not_paired(columns):
    runs, values = runs_of()
    values[:, :, :columns] = np.sort(values[:, :, :columns], axis=1)
    runs = replace(runs, value=values.ravel())
    if columns == 1:
        assert np.isfinite(analyse_runs(runs, Settings(difference="simple", paired="run")).errors).all()
    else:
        with pytest.raises(InvalidData, match="sorted"):
            analyse_runs(runs, Settings(difference="simple", paired="run"))


def test_one_instance_is_tested_by_its_paired_runs():
    runs, values = runs_of(instances=1)
    analysis = analyse_runs(runs, Settings(difference="simple", paired="seed"))
    comparison = next(item for item in analysis.comparisons if item.pair == ("a", "b"))
    found = stats.ttest_rel(values[0, :, 0], values[0, :, 1])
    assert comparison.p_value == pytest.approx(found.pvalue)


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({"shared": np.zeros(144, np.intp)}, {}, "'a' has two of the same pair on 'i0'"),
        ({"shared": np.arange(144)}, {}, "form a pair"),
        ({}, {"statistic": "median", "test_over_train": 0.1}, "compared by their mean, got statistic 'median'"),
        ({}, {"se": 0.1, "start": 5}, "cannot have adaptive sampling"),
    ],
)
def test_pairs_that_cannot_be_are_refused(change, settings, message):
    runs, _ = runs_of()
    with pytest.raises(InvalidData, match=message):
        analyse_runs(replace(runs, **change), Settings(difference="simple", **settings))
