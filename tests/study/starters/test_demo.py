"""The annealers and instances of the demonstration: small, right, and the same everywhere."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.study.starters import demo
from ampler.study.toml import read_study_file

CITIES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=12)


@pytest.mark.parametrize("move", demo.MOVES)
@given(CITIES, st.integers(0, 10**6))
def test_a_move_keeps_all_cities_and_tells_how_much_longer_the_tour_becomes(move, cities, seed):
    tour, before = list(cities), demo.length(cities)
    worse, go = demo.MOVES[move](tour, random.Random(seed))
    assert tour == cities
    go()

    assert sorted(tour) == sorted(cities)
    assert demo.length(tour) == pytest.approx(before + worse, abs=1e-9)


def test_a_ring_of_cities_is_solved():
    ring = [(math.cos(angle), math.sin(angle)) for angle in range(12)]
    shortest = demo.length(sorted(ring, key=lambda city: math.atan2(city[1], city[0])))
    found = [demo.anneal(ring, seed, moves=["reverse", "insert"]) for seed in range(10)]

    assert min(each["length"] for each in found) == pytest.approx(shortest)
    assert all(0 < each["taken"] < 1 for each in found)


def test_a_run_is_a_function_of_instance_and_seed():
    cities = demo.instances()["ring-1"]
    first, again, other = (demo.anneal(cities, seed, moves=["insert"], steps=200) for seed in (1, 1, 2))

    assert first == again != other


def test_the_instances_are_always_the_same():
    made = demo.instances()

    assert len(made) == demo.INSTANCES == 24
    assert demo.instances() == made
    assert made["even-1"][0] == pytest.approx(EVEN_1)


EVEN_1 = (0.025597742103699028, 0.33594276223754105)


def test_the_study_is_in_order_and_is_not_overwritten(tmp_path):
    file = demo.write_study(tmp_path / "new")
    plan = read_study_file(file).plan
    file.write_text("mine")

    assert [algorithm.name for algorithm in plan.algorithms] == ["both", "reversals", "insertions"]
    assert (plan.needed, len(plan.instances), plan.warnings) == (16, 20, ())
    assert demo.write_study(tmp_path / "new").read_text() == "mine"
