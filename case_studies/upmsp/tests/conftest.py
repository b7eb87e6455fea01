"""What the tests of the case study share: the search, compiled once."""

import pytest
from one_compiles import one_compiles

from ampler_upmsp.annealing import anneal
from ampler_upmsp.instance import generate_instance


@pytest.fixture(scope="session", autouse=True)
def _the_search_is_compiled_once():
    with one_compiles("search"):
        anneal(generate_instance(4, 2, 9, seed=1), seed=1, iterations=10)
