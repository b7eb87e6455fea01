"""The seed of a run and the order of the instances: a recipe that anybody can follow."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.plan import Instance
from ampler.study.run_inputs import in_order, run_seed

names = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)

# Made by `printf '%s' '<the list>' | b2sum | cut -c1-8`, halved.
GOLDEN_SEEDS = [
    ((2019, "i1", "full", 0), 1973357352),
    ((0, "", "", 0), 2085901010),
    ((-1, "instances/größe 1.txt", 'α "x"\\y', 2**32), 1028988991),
    ((2**63 - 1, "i\tn", "😀", 7), 902862329),
]


@pytest.mark.parametrize(("run", "seed"), GOLDEN_SEEDS)
def test_the_seed_of_a_run_is_the_recipe_that_b2sum_follows(run, seed):
    assert run_seed(*run) == seed


@pytest.mark.skipif(not shutil.which("b2sum"), reason="needs b2sum")
@given(st.integers(-(2**63), 2**63 - 1), names, names, st.integers(0, 2**40))
def test_seeds_can_be_checked_with_tools_that_know_nothing_of_us(study, instance, algorithm, index):
    text = json.dumps([study, instance, algorithm, index], ensure_ascii=False, separators=(",", ":"))
    told = subprocess.run(["b2sum"], input=text.encode(), capture_output=True, check=True).stdout
    assert run_seed(study, instance, algorithm, index) == int(told[:8], 16) // 2


@given(st.integers(-(2**63), 2**63 - 1), names, names, st.integers(0, 10**9))
def test_a_seed_is_a_31_bit_number(study, instance, algorithm, index):
    assert 0 <= run_seed(study, instance, algorithm, index) < 2**31


def test_seeds_of_different_runs_differ_as_random_numbers_do():
    """Of 40 000 draws from 2^31, 0.37 pairs agree on average; more than 5 pairs has probability 5e-6."""
    seeds = [run_seed(1, f"i{i}", a, n) for i in range(100) for a in "abcd" for n in range(100)]
    assert len(seeds) - len(set(seeds)) <= 5
    assert abs(sum(seed >= 2**30 for seed in seeds) / len(seeds) - 0.5) < 0.015


def test_names_cannot_be_shifted_into_each_other():
    assert run_seed(1, "ab", "c", 0) != run_seed(1, "a", "bc", 0)
    assert run_seed(1, 'a","b', "c", 0) != run_seed(1, "a", 'b","c', 0)


@given(st.sets(names, min_size=2, max_size=30), st.integers(0, 99), st.randoms())
def test_the_order_of_instances_hangs_on_seed_and_names_alone(given_names, seed, random):
    instances = [Instance(name) for name in given_names]
    ordered = in_order(seed, instances)
    random.shuffle(instances)
    assert in_order(seed, instances) == ordered
    fewer = [instance for instance in ordered if random.random() < 0.5]
    assert in_order(seed, fewer) == tuple(fewer), "a further instance does not disturb the order of the others"
