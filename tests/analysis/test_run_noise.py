"""Run noise in ratios: equal algorithms are found equal, and what noise may have made is not claimed."""

from __future__ import annotations

import numpy as np
import pytest

from ampler.analysis import analyse_runs
from ampler.core.arrays import Runs
from ampler.core.settings import Settings

DRAWS = {
    "normal": lambda rng, cv, shape: np.maximum(1 + cv * rng.standard_normal(shape), 0.05),
    "gamma": lambda rng, cv, shape: rng.gamma(1 / cv**2, cv**2, shape),
    "lognormal": lambda rng, cv, shape: np.exp(
        np.sqrt(np.log1p(cv * cv)) * rng.standard_normal(shape) - np.log1p(cv * cv) / 2
    ),
}


def runs_of(values):
    """Runs of values: instances × algorithms × runs."""
    instance, algorithm, _ = (axis.ravel() for axis in np.indices(values.shape))
    names = tuple(f"i{k}" for k in range(values.shape[0]))
    status = np.zeros(values.size, np.uint8)
    return Runs(names, tuple("abcdefgh"[: values.shape[1]]), instance, algorithm, values.ravel(), status)


def equal_runs(rng, kind, cv, instances, runs, algorithms=2, quiet=1.0):
    """Equal algorithms; the runs of all but the first vary less by a factor."""
    values = DRAWS[kind](rng, cv, (instances, algorithms, runs))
    values[:, 1:] = 1 + quiet * (values[:, 1:] - 1)
    return runs_of(100 * values)


def outcomes(studies, settings, **how):
    """Of so many studies: the share with a rejection, and with a claim."""
    found = []
    for seed in range(studies):
        analysis = analyse_runs(equal_runs(np.random.default_rng([36, seed]), **how), settings)
        found.append([any(getattr(each, name) for each in analysis.comparisons) for name in ("rejected", "claimed")])
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    ("asked", "how"),
    [
        ({"difference": "ratio"}, {"kind": "normal", "cv": 0.3, "instances": 300, "runs": 5, "quiet": 0.1}),
        ({"difference": "percent", "reference": "a"}, {"kind": "gamma", "cv": 0.3, "instances": 300, "runs": 5}),
        ({"difference": "percent"}, {"kind": "gamma", "cv": 1.0, "instances": 200, "runs": 10, "quiet": 0.1}),
    ],
)
def test_equal_algorithms_are_told_apart_no_more_often_than_the_level(asked, how):
    studies = 60
    corrected, _ = outcomes(studies, Settings(**asked), **how)
    delta, _ = outcomes(studies, Settings(**asked, formula="delta"), **how)
    assert corrected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)
    assert delta > corrected + 0.08


@pytest.mark.parametrize(
    ("asked", "how"),
    [
        ({"difference": "ratio"}, {"kind": "lognormal", "cv": 1.0, "instances": 1000, "runs": 2, "quiet": 0.1}),
        (
            {"difference": "percent", "reference": "a"},
            {"kind": "gamma", "cv": 1.0, "instances": 1000, "runs": 2, "algorithms": 3},
        ),
    ],
)
def test_what_the_bias_that_is_left_could_make_is_not_claimed(asked, how):
    rejected, claimed = outcomes(20, Settings(**asked), **how)
    assert rejected > 0.2
    assert claimed <= 0.1


def test_a_doubtful_difference_says_what_would_help():
    runs = equal_runs(np.random.default_rng(4), "lognormal", 1.0, 1000, 2, quiet=0.1)
    (found,) = analyse_runs(runs, Settings(difference="ratio", formula="delta")).comparisons
    assert found.rejected
    assert not found.claimed
    (doubt,) = found.doubts
    assert doubt.kind == "noise"
    assert found.verdict.startswith("Inconclusive: a seems better than b: ")
    assert "the noise of so few runs may bias it by" in found.verdict
    assert "make more runs, or compare geometric means" in found.verdict
    assert found.verdict.isprintable()


def test_clean_data_are_never_doubted():
    """Real differences of every size, runs that vary by a tenth and a quarter, means and medians."""
    rng = np.random.default_rng(7)
    for cv, runs, statistic in ((0.1, 5, "mean"), (0.25, 10, "mean"), (0.1, 10, "median")):
        for shift in (0.01, 0.03, 0.1):
            values = DRAWS["normal"](rng, cv, (60, 3, runs)) * np.array([1.0, 1.0 + shift, 1.0])[:, None]
            for difference, reference in (("ratio", None), ("percent", "a"), ("percent", None)):
                settings = Settings(difference=difference, reference=reference, statistic=statistic)
                analysis = analyse_runs(runs_of(values), settings)
                assert not any(doubt.kind == "noise" for each in analysis.comparisons for doubt in each.doubts)


def test_large_differences_are_claimed_however_noisy_the_runs():
    values = DRAWS["gamma"](np.random.default_rng(3), 1.0, (100, 2, 5)) * np.array([[1.0], [2.0]])
    for difference, reference in (("ratio", None), ("percent", "a"), ("percent", None)):
        (found,) = analyse_runs(runs_of(values), Settings(difference=difference, reference=reference)).comparisons
        assert found.claimed


@pytest.mark.parametrize(("difference", "reference"), [("ratio", None), ("percent", "a"), ("percent", None)])
def test_single_runs_and_algorithms_that_never_vary_are_as_they_are(difference, reference):
    values = DRAWS["gamma"](np.random.default_rng(3), 0.5, (30, 3, 1))
    same = np.repeat(values, 4, axis=2)
    for runs in (runs_of(values), runs_of(same)):
        corrected, delta = (
            analyse_runs(runs, Settings(difference=difference, reference=reference, formula=formula))
            for formula in ("corrected", "delta")
        )
        np.testing.assert_allclose(corrected.differences, delta.differences, rtol=1e-13)


def test_an_algorithm_that_lacks_an_instance_corrects_nothing_there():
    values = DRAWS["gamma"](np.random.default_rng(3), 0.5, (12, 3, 6))
    whole = runs_of(values)
    kept = ~((whole.algorithm == 2) & (whole.instance < 4))
    part = Runs(
        whole.instances, whole.algorithms, whole.instance[kept], whole.algorithm[kept], whole.value[kept],
        whole.status[kept],
    )  # fmt: skip
    alone = runs_of(values[:, :2])
    for difference in ("ratio", "percent"):
        settings = Settings(difference=difference)
        found, pair = (analyse_runs(runs, settings).differences for runs in (part, alone))
        np.testing.assert_allclose(found[:4, 0], pair[:4, 0], rtol=1e-12)
        assert np.isnan(found[:4, 1:]).all()


def test_ratios_of_geometric_means_are_mean_differences_of_logarithms():
    values = DRAWS["lognormal"](np.random.default_rng(3), 1.5, (40, 2, 5))
    analysis = analyse_runs(runs_of(values), Settings(difference="ratio", statistic="geometric-mean"))
    logs = np.log(values)
    np.testing.assert_allclose(analysis.differences[:, 0], logs[:, 0].mean(axis=1) - logs[:, 1].mean(axis=1), rtol=1e-9)
    np.testing.assert_allclose(analysis.errors[:, 0], np.sqrt(logs.var(axis=2, ddof=1).sum(axis=1) / 5), rtol=1e-9)
    assert "denominator" not in {each.kind for each in analysis.warnings}


def test_a_median_on_a_floor_has_the_error_of_its_logarithm():
    values = np.full((20, 2, 9), 1e-8)
    values[:, :, 5:] = np.random.default_rng(3).uniform(1, 9, (20, 2, 4))  # the median is the floor
    analysis = analyse_runs(runs_of(values), Settings(difference="ratio", statistic="median", floor=1e-8))
    assert (analysis.errors < 30).all()  # logarithms lie between log 1e-8 = -18 and 2
    assert (analysis.errors > 3).all()
