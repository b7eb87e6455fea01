"""Exact levels for t: the reference boundaries, simulated paths, a slow integral, and their laws."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.sequential import normal_levels, student_levels

from ampler.core.errors import InvalidDesign
from ampler.stats.sequential import boundaries as student
from ampler.stats.sequential.boundaries import critical_values, named_spending

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "sequential.json").read_text())


@pytest.mark.parametrize("row", GOLD["t_boundaries"], ids=lambda row: f"{row['kind']}-{row['instances'][-1]}")
def test_boundaries_are_the_reference_ones(row):
    levels = student_levels(named_spending(row["kind"]), row["level"], row["instances"])
    np.testing.assert_allclose(critical_values(levels, row["instances"]), row["t"], rtol=1e-5)


def t_paths(looks, paths, rng):
    """t of the first n of N(0, 1) values at each look, from sums of independent stretches."""
    new = np.diff(looks, prepend=0)
    total, squares = np.zeros(paths), np.zeros(paths)
    result = []
    for n, m in zip(looks, new, strict=True):
        step = rng.normal(size=paths) * np.sqrt(m)
        total = total + step
        squares = squares + step**2 / m + rng.chisquare(m - 1, paths)
        result.append(total / n / np.sqrt((squares - total**2 / n) / (n - 1) / n))
    return np.array(result).T


@pytest.mark.parametrize(
    ("name", "looks", "level"),
    [
        ("OF", (14, 21, 28, 35), 0.05),
        ("KD2", (6, 9, 12, 15), 0.1),
        ("P", (5, 9, 20), 0.05),
        ("KD3", (24, 35, 47, 58), 0.05 / 7),
    ],
)
def test_simulated_paths_stop_as_often_as_the_level_says(name, looks, level):
    t = t_paths(looks, 400_000, np.random.default_rng(3))
    for sides in (1, 2):
        levels = student_levels(named_spending(name), level, looks, sides=sides)
        limits = np.array(critical_values(levels, looks, sides=sides))
        error = ((np.abs(t) if sides == 2 else t) >= limits).any(axis=1).mean()
        assert abs(error - level) < 4 * np.sqrt(level / 400_000), sides


def test_the_error_of_given_limits_is_the_one_found_by_simulation_elsewhere():
    """Pocock's normal-theory levels on t, 57 instances and five looks: 0.051629, simulated 0.051637 ± 0.00009."""
    looks = (12, 23, 35, 46, 57)
    levels = normal_levels(named_spending("P"), 0.05, [n / 57 for n in looks])
    walk = student._StudentWalk(looks, 2, 1e-12, student.USUAL)
    paths, error = walk.first(levels[0]), levels[0]
    for look in range(1, 5):
        error += walk.exit(paths, look, levels[look])[0]
        if look < 4:
            paths = walk.carry(paths, look, levels[look])
    assert error == pytest.approx(0.051629, abs=2e-6)


@pytest.mark.parametrize("name", ["OF", "KD2"])
@pytest.mark.parametrize("looks", [(24, 35, 47, 58), (12, 23, 34), (40, 80, 120, 160, 200)])
def test_finer_quadrature_changes_nothing_that_matters(name, looks, monkeypatch):
    spending = named_spending(name)
    usual = student_levels(spending, 0.05 / 21, looks)
    monkeypatch.setattr(student, "USUAL", student._Fineness(160, 96))
    student.Schedule.nominal_levels.cache_clear()
    finer = student_levels(spending, 0.05 / 21, looks)
    student.Schedule.nominal_levels.cache_clear()
    np.testing.assert_allclose(critical_values(usual, looks), critical_values(finer, looks), rtol=3e-6)


@pytest.mark.parametrize("sides", [1, 2])
@settings(max_examples=settings().max_examples // 5)
@given(level=st.floats(1e-8, 0.4), name=st.sampled_from(["OF", "P", "KD2", "HSD-2"]))
def test_a_larger_level_lowers_every_limit(sides, level, name):
    less, more = (
        student_levels(named_spending(name), part, (10, 18, 26), sides=sides) for part in (level, 1.2 * level)
    )
    assert all(a < b for a, b in zip(less, more, strict=True))


@given(level=st.floats(1e-9, 1.0), instances=st.integers(3, 500))
def test_one_look_has_the_whole_level(level, instances):
    assert student_levels(named_spending("OF"), level, [instances])[0] == pytest.approx(level, rel=1e-9)


def test_many_instances_are_nearly_normal():
    looks = (4000, 6000, 8000, 10_000)
    exact = student_levels(named_spending("OF"), 0.05, looks)
    np.testing.assert_allclose(exact, normal_levels(named_spending("OF"), 0.05, [n / 10_000 for n in looks]), rtol=2e-3)


def test_the_shortcut_by_normal_theory_spends_too_much():
    looks = (14, 21, 28, 35)
    exact = student_levels(named_spending("OF"), 0.05, looks)
    shortcut = normal_levels(named_spending("OF"), 0.05, [n / 35 for n in looks])
    assert shortcut[-1] > exact[-1]


def test_fractions_may_differ_from_the_instances_when_some_failed():
    full = student_levels(named_spending("OF"), 0.05, (24, 35, 47, 58))
    short = student_levels(named_spending("OF"), 0.05, (24, 34, 45, 55), fractions=[24 / 58, 34 / 58, 45 / 58, 1.0])
    assert short[0] == full[0]
    assert short[1] < full[1]


@pytest.mark.parametrize("looks", [(), (2, 10), (10, 12, 20), (20, 10)])
def test_fewer_than_three_new_instances_a_look_are_refused(looks):
    with pytest.raises(InvalidDesign, match=r"at least 3 new instances"):
        student_levels(named_spending("OF"), 0.05, looks)
