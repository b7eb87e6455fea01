"""Whether the machine was fair: busy, drifting, or neither."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from ampler.core.runs import Observation, RunKey
from ampler.study.warnings import busy, drift, trend


def run(index, value=1.0, *, seconds=1.0, cpu=1.0, started=0.0, instance="i1", status="ok"):
    given = None if status != "ok" else value
    return Observation(RunKey(instance, "a", index), given, seconds, status=status, cpu=cpu, started=started)


def test_a_machine_that_runs_what_it_is_given_is_not_busy():
    assert busy([run(n, seconds=1.1) for n in range(9)], [run(9, status="timeout")]) is None
    assert busy([], []) is None


def test_a_busy_machine_is_told_by_the_median_of_clock_over_processor():
    found = busy([run(n, seconds=8.0) for n in range(5)] + [run(9)], [])

    assert found.kind == "busy"
    assert "6 runs took 8.0 times as long by the clock as on a processor (median)" in found.sentence
    assert "cpu-timeout" in found.sentence


def test_runs_ended_by_the_clock_while_they_waited_are_counted():
    cut = [run(n, seconds=1.0, cpu=0.1, status="timeout") for n in range(3)] + [run(9, status="timeout")]

    assert "3 of 4 runs that reached a time limit had used less than half" in busy([], cut).sentence


def test_what_was_not_measured_or_is_too_short_to_measure_says_nothing():
    assert busy([run(n, seconds=9.0, cpu=None) for n in range(5)], [run(9, cpu=None, status="timeout")]) is None
    assert busy([run(n, seconds=0.05, cpu=0.001) for n in range(5)], []) is None


def test_a_machine_that_slows_down_drifts_and_one_that_does_not_does_not():
    rng = np.random.default_rng(1)
    places = [(n, f"i{i}", 60.0 * i + n) for i in range(8) for n in range(10)]
    noise = rng.normal(10, 0.3, len(places))
    slowing = [run(n, x + 0.1 * n, started=t, instance=i) for (n, i, t), x in zip(places, noise, strict=True)]
    steady = [run(n, x, started=t, instance=i) for (n, i, t), x in zip(places, noise, strict=True)]

    found = drift(slowing)

    assert found.kind == "drift"
    assert "later runs took longer" in found.sentence
    assert "second half against first: +" in found.sentence
    assert drift(steady) is None
    assert "later runs took shorter" in drift([run(n, 30.0 - n, started=n) for n in range(20)]).sentence


def test_in_one_cell_the_correlation_is_spearmans():
    rng = np.random.default_rng(2)
    times, values = np.arange(30.0), np.round(rng.normal(size=30) + np.arange(30) / 20, 1)

    found = trend([(times, values)])

    assert found.correlation == pytest.approx(stats.spearmanr(times, values).statistic, rel=1e-12)


def test_over_all_orders_of_the_values_the_statistic_has_the_variance_it_is_given():
    times = np.arange(5.0)
    found = [trend([(times, np.array(values))]) for values in permutations([1.0, 2.0, 4.0, 8.0, 16.0])]

    assert np.mean([each.correlation for each in found]) == pytest.approx(0, abs=1e-12)
    assert np.mean([each.correlation**2 for each in found]) == pytest.approx(1 / 4, rel=1e-12), "1 / (n - 1)"
    for each in found:
        assert each.p_value == pytest.approx(2 * stats.norm.sf(abs(each.correlation) * np.sqrt(4)), rel=1e-12)


def test_cells_add_up_whatever_their_sizes():
    rng = np.random.default_rng(3)
    cells = [(rng.random(size), rng.random(size)) for size in (4, 7, 12)]
    ranks = [(stats.rankdata(t) - (len(t) + 1) / 2, stats.rankdata(v) - (len(v) + 1) / 2) for t, v in cells]

    total = sum(a @ b for a, b in ranks)
    spread = np.sqrt(sum((a @ a) * (b @ b) / (len(a) - 1) for a, b in ranks))

    assert trend(cells).p_value == pytest.approx(2 * stats.norm.sf(abs(total) / spread), rel=1e-12)


def test_constant_values_and_runs_without_a_start_have_no_trend():
    assert trend([(np.arange(5.0), np.ones(5))]) is None
    assert drift([run(n, float(n), started=None) for n in range(50)]) is None
    assert drift([run(n, float(n), started=n) for n in range(2)]) is None


def test_who_measures_processor_time_is_not_told_to_do_so():
    slow = [run(n, seconds=8.0) for n in range(5)]
    assert "measure and limit processor time" in busy(slow, []).sentence
    said = busy(slow, [], by_processor=True).sentence
    assert "measure" not in said
    assert "use fewer workers all the same" in said
