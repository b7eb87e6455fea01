"""Spending functions: the reference values, and what every one of them must do."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidDesign
from ampler.stats.sequential.boundaries import named_spending

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "sequential.json").read_text())
NAMES = ("OF", "P", "KD2", "KD3", "KD0.5", "HSD-2", "HSD1", "HSD0")


@pytest.mark.parametrize("row", GOLD["spending"], ids=lambda row: f"{row['kind']}-{row['comparisons']}")
def test_spent_levels_are_the_reference_ones(row):
    spent = named_spending(row["kind"]).spent(row["level"], np.array([row["fraction"]]))
    np.testing.assert_allclose(spent, row["spent"], rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@given(level=st.floats(1e-9, 1.0), fractions=st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6, unique=True))
def test_spending_rises_from_nothing_to_the_whole_level(name, level, fractions):
    spent = named_spending(name).spent(level, np.array([*sorted(fractions), 1.0]))
    assert (np.diff(spent) >= -1e-15).all()
    assert (spent >= 0).all()
    assert spent[-1] == pytest.approx(level, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
@given(level=st.floats(1e-9, 0.5), fraction=st.floats(0.05, 1.0))
def test_a_larger_level_may_spend_more_at_every_look(name, level, fraction):
    spending = named_spending(name)
    less, more = (float(spending.spent(part, np.array([fraction]))[0]) for part in (level, 1.5 * level))
    assert less < more or more == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_spending_function_is_read_by_the_name_it_has(name):
    spending = named_spending(name)
    assert spending.name == name
    assert named_spending(spending.name) == spending


@pytest.mark.parametrize("name", ["of", "KD", "Pocock", "", "HSD", "KD-", 3])
def test_an_unknown_name_is_refused_with_the_names_there_are(name):
    with pytest.raises(InvalidDesign, match=r"a spending function must be 'OF' .*, got .*: 'OF' is the default"):
        named_spending(name)


@pytest.mark.parametrize("name", ["KD0", "KD-1", "HSD900"])
def test_a_shape_out_of_range_is_refused(name):
    with pytest.raises(InvalidDesign, match="must"):
        named_spending(name)
