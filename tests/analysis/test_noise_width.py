"""Run noise that contradicts a claim: intervals, verdicts, and an instance at the time limit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ampler.analysis import analyse_runs
from ampler.analysis.claim_checks import CHANCE, noise_tests
from ampler.analysis.compare import compare
from ampler.core.arrays import STATUSES, Runs
from ampler.core.failures import Par
from ampler.core.settings import Settings

LIMIT, INSTANCES, RUNS = 100.0, 20, 5


def at_the_limit(rng, chances, *, runs=RUNS, gain=1.0):
    """Algorithms that differ by a gain on all instances but one; there each fails by its chance."""
    shape = INSTANCES, len(chances), runs
    instance, algorithm, _ = (each.ravel() for each in np.indices(shape))
    value = rng.uniform(20, 60, shape[0])[instance] + rng.normal(0, 0.5, shape[:2])[instance, algorithm]
    value += rng.normal(0, 1, len(value)) - gain * (algorithm == 0)
    value[instance == 0] = rng.uniform(85, LIMIT, int((instance == 0).sum()))
    late = (instance == 0) & (rng.random(len(value)) < np.array(chances)[algorithm])
    value[late] = np.nan
    status = np.where(late, STATUSES.index("timeout"), 0).astype(np.uint8)
    names = tuple(f"i{i}" for i in range(INSTANCES)), tuple("abcde"[: len(chances)])
    return Runs(*names, instance, algorithm, value, status)


def true_differences(chances, gain=1.0):
    """The means of the first algorithm less those of each other, over instances and runs."""
    there = [(85 + LIMIT) / 2 * (1 - chance) + 10 * LIMIT * chance for chance in chances]
    return [((INSTANCES - 1) * -gain + there[0] - mean) / INSTANCES for mean in there[1:]]


@pytest.mark.parametrize("chances", [(0.6, 0.5), (0.2, 0.1), (0.9, 0.8), (0.6, 0.5, 0.5)])
def test_an_instance_at_the_time_limit_makes_no_wrong_claim(chances):
    rng, studies, covered, wrong = np.random.default_rng(5), 150, 0, 0
    settings = Settings(difference="simple", reference="a", failures=Par(10, LIMIT))
    for _ in range(studies):
        found = {each.second: each for each in analyse_runs(at_the_limit(rng, chances), settings).comparisons}
        truth = dict(zip("bcde", true_differences(chances), strict=False))
        covered += all(c.joint_interval[0] <= truth[name] <= c.joint_interval[1] for name, c in found.items())
        wrong += any(c.claimed and (c.estimate > 0) != (truth[name] > 0) for name, c in found.items())
    assert covered / studies >= 0.94 - 3 * np.sqrt(0.94 * 0.06 / studies)
    assert wrong / studies <= 0.05


def test_noise_above_the_variance_widens_the_interval_and_makes_the_claim_inconclusive():
    rng = np.random.default_rng(1)
    noise = {"i0": [-40.0, -20.0, 0.0, 20.0, 40.0]}  # large, and by chance of the same mean for both
    rows = [
        (f"i{i}", name, 10 + (name == "b") + noise.get(f"i{i}", [0.0] * 5)[run] + rng.normal(0, 0.01))
        for i in range(12)
        for name in "ab"
        for run in range(5)
    ]
    runs = Runs.from_columns(*zip(*rows, strict=True))
    analysis = analyse_runs(runs, Settings(difference="simple"))
    [comparison], [diagnosis] = analysis.comparisons, analysis.diagnoses
    errors, n = analysis.errors[:, 0], 12
    assert comparison.rejected
    assert not comparison.claimed
    assert {doubt.kind for doubt in comparison.doubts} >= {"noise-width"}
    half = stats.t.ppf(0.975, 1e9) * np.sqrt(np.mean(errors**2) / n)
    for low, high in (comparison.interval, comparison.joint_interval):
        assert low <= comparison.estimate - half
        assert high >= comparison.estimate + half
    share = 100 * diagnosis.noise_share
    assert share > 1000
    assert f"{share:,.0f} %" in " ".join(each.sentence for each in analysis.warnings)
    assert "run noise alone" in comparison.verdict


@given(st.integers(2, 30), st.floats(0.01, 100.0), st.integers(0, 10**6))
def test_noise_counts_where_it_exceeds_the_variance_by_more_than_chance(n, ratio, seed):
    differences = np.random.default_rng(seed).normal(size=(n, 1))
    variance = differences.var(ddof=1)
    errors = np.full((n, 1), np.sqrt(ratio * variance))
    [found] = noise_tests(compare(differences, [("a", "b")]), differences, errors, np.full((n, 1), 8.0))
    surprising = ratio > 1 and stats.chi2.cdf((n - 1) / ratio, n - 1) < CHANCE
    assert (found is not None) == surprising
    if found is not None:
        assert found.error == pytest.approx(np.sqrt(ratio * variance / n))
        assert found.df == pytest.approx(8.0 * n)


def test_equivalence_is_not_established_within_the_noise():
    rng = np.random.default_rng(3)
    runs = at_the_limit(rng, (0.4, 0.4), gain=0.0)
    even = next(
        found
        for _ in range(200)
        if (found := at_the_limit(rng, (0.5, 0.5), gain=0.0)).failures()["a", "timeout"]
        == found.failures()["b", "timeout"]
        > 1
    )
    asked = {"difference": "simple", "failures": Par(10, LIMIT), "margin": 4.0}
    for each in (runs, even):
        [diagnosis] = analyse_runs(each, Settings(**asked)).diagnoses
        assert not diagnosis.equivalence.established
