"""What a pilot tells: noise, true variation, and the runs that an accuracy takes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ampler.analysis.blocks import gather, summarise
from ampler.analysis.cost_curve import pilot_of, variance_factors
from ampler.core.arrays import Runs
from ampler.stats.contrasts import contrasts_among


@pytest.fixture(scope="module")
def pilot():
    """Three algorithms, the last ten times as noisy, on twelve instances with five runs of each."""
    rng = np.random.default_rng(7)
    rows = [
        (f"i{i}", name, float(10 + i + rng.normal() * noise))
        for i in range(12)
        for name, noise in (("a", 1.0), ("b", 1.0), ("c", 10.0))
        for _ in range(5)
    ]
    blocks = summarise(gather(Runs.from_columns(*zip(*rows, strict=True))))
    return pilot_of(blocks, contrasts_among(3, difference="simple"), start=2, costs=np.array([1.0, 1.0, 3.0]))


def test_the_parts_add_up_and_the_noise_of_loud_algorithms_is_seen(pilot):
    quiet, loud, _ = pilot.parts

    for part in pilot.parts:
        assert part.between == pytest.approx(max(0.0, part.total - part.within))
        assert part.between_interval[0] <= part.between <= part.between_interval[1]
    assert (quiet.first, quiet.second, loud.second) == ("a", "b", "c")
    assert loud.within > 10 * quiet.within
    assert quiet.noise_share >= 0


def test_the_runs_for_an_accuracy_give_it_everywhere_and_start_suffices_at_the_top(pilot):
    counts = pilot.counts(pilot.top / 2)

    errors = np.sqrt(pilot.contrasts.squared_errors(pilot.theta, pilot.spread / counts))
    assert errors.max() <= pilot.top / 2 * (1 + 1e-9)
    assert (counts >= 2).all()
    assert (pilot.counts(pilot.top) == 2).all()
    assert pilot.cost(counts) == pytest.approx((counts @ [1.0, 1.0, 3.0]).mean())


def test_more_runs_leave_less_noise_in_the_variance_of_the_differences(pilot):
    few, many = (pilot.variances(np.full(pilot.theta.shape, float(runs))) for runs in (2, 200))

    assert (many < few).all()
    assert (many >= pilot.between).all()


def test_other_units_change_variances_by_their_square(pilot):
    part = pilot.parts[1].times(10.0)

    assert (part.difference, part.total) == (10 * pilot.parts[1].difference, 100 * pilot.parts[1].total)
    assert part.noise_share == pytest.approx(pilot.parts[1].noise_share)


@pytest.mark.parametrize("instances", [2, 5, 40])
def test_the_factors_of_a_variance_are_those_of_chi_square(instances):
    low, high = variance_factors(instances)
    chi = stats.chi2(instances - 1)

    assert low == pytest.approx((instances - 1) / chi.ppf(0.95))
    assert high == pytest.approx((instances - 1) / chi.ppf(0.05))
