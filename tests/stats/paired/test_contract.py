"""The table of tests: a row for every name, and rows that say what they are."""

from typing import get_args

import numpy as np
import pytest

from ampler.core.settings import Test
from ampler.report.methods import reference
from ampler.stats.paired import ESTIMANDS, TESTS, paired_test


def test_the_table_has_a_row_for_every_name_that_may_be_asked_for():
    assert tuple(TESTS) == get_args(Test)
    assert all(row.name == name for name, row in TESTS.items())


def test_what_results_call_an_estimate_leads_to_what_it_is():
    for row in TESTS.values():
        assert ESTIMANDS[row.estimate_of] is row.estimand
        assert row.estimand.is_share == (row.estimand.neutral == 0.5)


@pytest.mark.parametrize("test", TESTS)
def test_an_estimate_is_neutral_where_the_differences_are_symmetric(test):
    symmetric = np.array([-3.0, -1.5, -0.5, 0.5, 1.5, 3.0])
    row = paired_test(test)
    assert row.estimate(symmetric) == row.estimand.neutral
    assert row.p_value(symmetric, "two-sided") == 1.0


@pytest.mark.parametrize("test", TESTS)
def test_the_works_a_row_cites_can_be_cited(test):
    assert [reference(key).key for key in paired_test(test).cites] == list(paired_test(test).cites)


def test_tests_are_named_one_by_one_and_together():
    assert [(row.words, row.plural) for row in (paired_test("t"), paired_test("sign"))] == [
        ("paired t-test", "paired t-tests"),
        ("sign test", "sign tests"),
    ]
