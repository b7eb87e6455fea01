"""What the tests of the case study share: the search, compiled once, and reports with few figures."""

from itertools import islice

import pytest
from one_compiles import one_compiles

from ampler_upmsp.annealing import anneal
from ampler_upmsp.instance import generate_instance


@pytest.fixture(scope="session", autouse=True)
def _the_search_is_compiled_once():
    with one_compiles("search"):
        anneal(generate_instance(4, 2, 9, seed=1), seed=1, iterations=10)


@pytest.fixture(scope="module")
def few_figures():
    """Reports with three of their figures: drawing takes most of the time, and the others have their tests."""
    from ampler.report.drawings import drawings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ampler.report.html.drawings", lambda analysis: islice(drawings(analysis), 3))
        yield
