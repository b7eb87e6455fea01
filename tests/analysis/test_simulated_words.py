"""What is said of dropped failures and of joint intervals, in simulated studies whose truth is known. Fixed seeds."""

import numpy as np
import pytest

from ampler.analysis import analyse_runs
from ampler.analysis.text import SUCCEEDED, headline
from ampler.core.arrays import Runs
from ampler.core.failures import Drop, Par
from ampler.core.settings import Settings
from ampler.stats.paired import family_verdict

LIMIT = 100.0
many = pytest.param(60, marks=pytest.mark.slow)


def solvers(seed, instances=24, runs=6):
    """`bold` is a little quicker where it ends in time, which it seldom does where it is hard; `calm` always ends."""
    rng = np.random.default_rng([7, seed])
    rows = []
    for i in range(instances):
        hard = i % 3 == 0
        for _ in range(runs):
            rows.append((f"i{i}", "calm", (60.0 if hard else 12.0) * np.exp(0.1 * rng.standard_normal()), "ok"))
            gives_up = hard and rng.random() < 0.7
            quick = (50.0 if hard else 9.0) * np.exp(0.1 * rng.standard_normal())
            rows.append((f"i{i}", "bold", LIMIT if gives_up else quick, "timeout" if gives_up else "ok"))
    names, algorithms, values, status = zip(*rows, strict=True)
    return Runs.from_columns(names, algorithms, values, status=status)


@pytest.mark.parametrize("studies", [4, many])
def test_a_claim_on_dropped_failures_says_of_which_runs_it_is_and_that_penalties_reverse_it(studies):
    for seed in range(studies):
        runs = solvers(seed)
        asked = {"difference": "simple", "better": "lower", "reference": "calm"}
        dropped = analyse_runs(runs, Settings(**asked, failures=Drop()))
        counted = analyse_runs(runs, Settings(**asked, failures=Par(10.0, LIMIT)))

        assert f"bold is better than calm {SUCCEEDED}: " in dropped.comparisons[0].verdict
        assert SUCCEEDED in headline(dropped)
        assert [row.solved < row.runs for row in dropped.algorithms] == [
            row.algorithm == "bold" for row in dropped.algorithms
        ]
        assert "bold is worse than calm: " in counted.comparisons[0].verdict
        assert any("left out 1 verdict would reverse (calm × bold)" in each.sentence for each in counted.warnings)


@pytest.mark.parametrize("families", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_joint_intervals_hold_together_and_would_not_if_they_were_cut_off_at_zero(families):
    """20 large differences and one that is zero: decisions step down to it, the joint intervals do not."""
    truth = np.array([2.0] * 20 + [0.0])
    held = cut = 0
    for family in range(families):
        data = np.random.default_rng([11, family]).normal(truth, 1.0, (30, 21))
        found = family_verdict(data, test="t", alternative="two-sided", alpha=0.05)
        low, high = np.array([bounds[:2] for bounds in found.joint_intervals]).T
        inside = (low <= truth) & (truth <= high)
        held += inside.all()
        cut += (inside & ~(found.steps.rejected & (truth == 0))).all()
    error = 2 * np.sqrt(0.05 * 0.95 / families)
    assert held / families >= 0.95 - error
    assert cut / families == pytest.approx(0.91, abs=0.01 + 2 * error)
