"""Shifted geometric means: ratios of values to which ten seconds are added, everywhere alike."""

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler.core.errors import InvalidInput
from ampler.core.plan import Question
from ampler.core.settings import Settings

RNG = np.random.default_rng(10)
TIMES = pd.DataFrame(
    [
        (f"i{i}", solver, factor * base * (1 + 0.1 * RNG.random()))
        for i, base in enumerate(np.exp(RNG.normal(1, 2.5, 15)))
        for solver, factor in (("a", 1.0), ("b", 1.6))
        for _ in range(3)
    ],
    columns=["instance", "solver", "seconds"],
)


def analysed(frame, **settings):
    policy = settings.pop("on_failure", None)
    results = am.read_results(frame, on_failure=policy)
    return am.analyse(results, difference="ratio", better="lower", settings=Settings(**settings))


def test_a_shift_is_what_adding_it_to_the_values_is():
    shifted, added = analysed(TIMES, shift=10), analysed(TIMES.assign(seconds=TIMES.seconds + 10))

    np.testing.assert_allclose(shifted.differences, added.differences, rtol=1e-12)
    assert shifted.comparisons[0].interval == pytest.approx(added.comparisons[0].interval)


def test_the_estimate_is_the_ratio_of_shifted_geometric_means():
    found = analysed(TIMES, shift=10, formula="paper").comparisons[0].estimate
    means = TIMES.groupby(["instance", "solver"]).seconds.mean().unstack()

    assert np.exp(found) == pytest.approx(np.exp(np.log(means.a + 10).mean() - np.log(means.b + 10).mean()))


def test_failed_runs_are_shifted_as_the_others_and_their_policy_stays_as_it_was_asked_for():
    late = TIMES.assign(status=np.where(TIMES.seconds > 20, "timeout", "ok"))
    value = np.where(TIMES.seconds > 20, 200.0, TIMES.seconds) + 10
    shifted = analysed(late, shift=10, on_failure="par=10,cutoff=20")

    np.testing.assert_allclose(shifted.differences, analysed(TIMES.assign(seconds=value)).differences, rtol=1e-12)
    assert shifted.settings.failures == am.Par(10, 20)


def test_zeros_and_values_above_minus_the_shift_have_ratios():
    frame = TIMES.assign(seconds=TIMES.seconds - TIMES.seconds.min())

    assert np.isfinite(analysed(frame, shift=10).differences).all()
    costs = frame.assign(cost=frame.seconds - 11).drop(columns="seconds")
    with pytest.raises(InvalidInput, match="positive"):
        analysed(costs, shift=10)


def test_a_shift_is_for_ratios():
    with pytest.raises(InvalidInput, match="shift is for ratios"):
        Settings(difference="simple", shift=10)
    with pytest.raises(InvalidInput, match="shift must be"):
        Settings(difference="ratio", shift=-1)


def test_decisions_count_values_as_the_analysis_does():
    question = Question("ratio", floor=1.0, shift=10.0)

    assert [question.adjusted(value) for value in (0.5, 3.0)] == [11.0, 13.0]


def test_intervals_of_shifted_ratios_contain_the_true_one():
    """Simulated: 300 tables of 60 instances and 3 runs, seeds 0 to 299. (Of 30 instances it is 0.91: skewness 1.5.)"""

    def true_times(rng, instances):
        base = np.exp(rng.normal(1, 2, instances))
        return np.stack([base, base * np.exp(rng.normal(0.3, 0.5, instances))])

    population = true_times(np.random.default_rng(2019), 10**6)
    truth = float(np.diff(np.log(population + 10).mean(axis=1))[0])
    covered = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        runs = rng.gamma(0.3**-2, 0.3**2, (3, 2, 60)) * true_times(rng, 60)
        run, solver, instance = (axis.ravel() for axis in np.indices(runs.shape))
        frame = pd.DataFrame({"instance": instance, "solver": np.array(["a", "b"])[solver], "run": run})
        [comparison] = analysed(frame.assign(seconds=runs.ravel()), shift=10).comparisons
        low, high = sorted((-1) ** (comparison.first == "a") * end for end in comparison.interval)
        covered += low <= truth <= high
    assert covered / 300 >= 0.95 - 3 * (0.95 * 0.05 / 300) ** 0.5
