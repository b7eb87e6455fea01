"""Whole studies in worlds whose truth is known: the small version of `make validate`."""

import math
from dataclasses import replace

import numpy as np
import pytest

from validate import ALPHA, Cell, Row, cells, page, promises, study, summed
from validation_studies import World

STUDIES = [3, pytest.param(25, marks=pytest.mark.slow)]  # what is allowed follows from their number
SIZES = ["fixed", "looks", "se", "detect"]


def row(**changes):
    usual = Row("fixed/all/7/shared/normal/0.0", 7, "t", 400, 0.05, 0.8, 0.01, 0.95, 0.95, 100.0, 47.0)
    return replace(usual, **changes)


@pytest.mark.parametrize("few", STUDIES)
@pytest.mark.parametrize("size", SIZES)
def test_studies_of_equal_algorithms_seldom_claim_a_difference(size, few):
    cell = Cell(size, "equal", 1)
    found = next(summed(cell, [study(cell, number) for number in range(few)]))

    assert found.error <= ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / few)
    assert found.coverage >= 1 - ALPHA - 3 * math.sqrt(ALPHA * (1 - ALPHA) / few)
    assert math.isnan(found.power)


@pytest.mark.parametrize("few", STUDIES)
@pytest.mark.parametrize("size", SIZES)
def test_studies_find_about_what_they_were_designed_for(size, few):
    cell = Cell(size, "all", 1)
    found = next(summed(cell, [study(cell, number) for number in range(few)]))

    assert found.power >= 0.8 - 3 * math.sqrt(0.8 * 0.2 / few)


def test_every_test_of_the_table_sees_the_same_studies():
    judged = study(Cell("fixed", "half", 7), 0)

    assert set(judged) == {"t", "wilcoxon", "sign", "bootstrap-t"}
    assert len({one.runs for one in judged.values()}) == 1


def test_a_study_is_the_same_whenever_it_is_made():
    assert study(Cell("detect", "all", 1), 3) == study(Cell("detect", "all", 1), 3)


def test_runs_that_fail_are_left_out_and_the_others_count():
    judged = study(Cell("fixed", "all", 7, failing=0.1), 0)["t"]

    assert 0.8 * 8 * 5 * 47 < judged.runs < 8 * 5 * 47


def test_the_truth_of_a_world_is_what_its_algorithms_do():
    world = World(comparisons=2, instances=4000, effect=0.5, null=1, noise=0.0)

    solvers = world.algorithms(np.random.default_rng(1))
    values = {name: np.array([solve(j, seed=1) for j in range(4000)]) for name, solve in solvers.items()}
    for name, truth in world.truth.items():
        differences = values["reference"] - values[name]
        assert differences.mean() == pytest.approx(truth, abs=4 / math.sqrt(4000))
        assert differences.std() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"power": 0.7}, "mean power"),
        ({"coverage": 0.9}, "joint coverage"),
        ({"effect_coverage": 0.9}, "coverage of d"),
        ({"cell": "fixed/half/7/shared/normal/0.0", "error": 0.12}, "family-wise error"),
    ],
)
def test_a_promise_that_is_not_kept_comes_first_on_the_page(changes, words):
    missed = [each for each in promises([row(**changes)]) if each.beyond > 3]

    assert [each.words for each in missed] == [words]
    text = page([row(**changes)])
    assert f"- {words}, t (fixed, K = 7" in text.split("## Family-wise error")[0]


def test_promises_that_are_kept_leave_the_list_empty():
    assert "Nothing: no promise is missed" in page([row()])


def test_every_cell_has_a_name_of_its_own():
    names = [cell.name for cell in cells()]

    assert len(set(names)) == len(names) > 30
