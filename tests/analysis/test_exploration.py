"""Subgroups, stability of the conclusion, and failed runs counted otherwise."""

import numpy as np
import pytest

from ampler.analysis.blocks import gather, summarise
from ampler.analysis.exploration import Findings, decisions, other_policies, stability, subgroups
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData
from ampler.core.settings import Settings
from ampler.stats.contrasts import contrasts_among
from ampler.stats.paired import paired_test

PAIRS = [("a", "b")]
INSTANCES = [f"i{i}" for i in range(12)]
DIFFERENCES = np.random.default_rng(3).normal(0.5, 1, (12, 1))


SETTINGS = Settings(difference="simple")


def groups(feature):
    return subgroups(DIFFERENCES, PAIRS, INSTANCES, {"size": dict(zip(INSTANCES, feature, strict=True))}, SETTINGS)


def test_a_text_groups_by_its_values_and_a_group_of_one_is_left_out():
    found = groups(["small"] * 5 + ["large"] * 6 + ["alone"])
    assert [(group.value, group.instances) for group in found] == [("small", 5), ("large", 6)]
    part = DIFFERENCES[:5, 0]
    assert found[0].estimate == pytest.approx(part.mean())
    assert found[0].p_value == paired_test("t").p_value(part, "two-sided")
    assert found[0].interval == paired_test("t").interval(part, "two-sided", 0.05)[:2]


def test_a_number_with_few_values_groups_by_each_and_with_many_at_its_median():
    assert [group.value for group in groups([50, 100] * 6)] == ["50", "100"]
    assert [group.value for group in groups([str(n) for n in range(12)])] == ["≤ 5.5", "> 5.5"]


def test_the_median_itself_belongs_to_the_lower_group_and_six_values_are_few():
    cut = groups([1, 2, 3, 4, 5, 6, 7, 4, 4, 4, 4, 4])
    assert [(group.value, group.instances) for group in cut] == [("≤ 4", 9), ("> 4", 3)]
    assert [group.value for group in groups([1, 2, 3, 4, 5, 6] * 2)] == ["1", "2", "3", "4", "5", "6"]


def test_unknown_values_belong_to_no_group():
    assert [(group.value, group.instances) for group in groups([None] * 4 + ["x"] * 8)] == [("x", 8)]


def test_a_feature_that_names_every_instance_makes_no_groups():
    names = [f"name {i}" for i in range(30)]
    differences = np.arange(30.0)[:, None]
    features = {"file": dict(zip(names, names, strict=True))}
    assert subgroups(differences, PAIRS, names, features, SETTINGS) == ()


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_decisions_carry_the_direction(test):
    rng = np.random.default_rng(4)
    x = np.column_stack([rng.normal(3, 1, 15), rng.normal(-3, 1, 15), np.tile([1.0, -1.0, 0.0], 5)])
    assert decisions(x, test=test, alternative="two-sided", alpha=0.05).tolist() == [1, -1, 0]


def test_decisions_are_those_of_the_whole_family():
    x = np.tile(np.linspace(-1, 1, 12) + 0.45, (2, 1)).T
    alone = decisions(x[:, :1], test="t", alternative="two-sided", alpha=0.05)
    assert 0.025 < paired_test("t").p_value(x[:, 0], "two-sided") < 0.05
    assert (alone.tolist(), decisions(x, test="t", alternative="two-sided", alpha=0.05).tolist()) == ([1], [0, 0])


def cells_of(values):
    n, a = values.shape
    rows = [(f"i{i}", f"a{k}", x) for i in range(n) for k in range(a) for x in values[i, k] + np.array([0.0, 0.1, 0.5])]
    return gather(Runs.from_columns(*zip(*rows, strict=True)))


def differencing(values):
    """What gives the differences by each statistic."""
    return lambda statistic: summarise(cells_of(values), statistic).differences


def test_a_clear_difference_is_found_whichever_way_one_looks():
    values = 100 + np.random.default_rng(5).normal(0, 1, (20, 2)) + np.array([0.0, 10.0])
    contrasts = contrasts_among(2, difference="simple")
    table = stability(differencing(values), contrasts, np.array([-1], np.int8), SETTINGS)
    assert len(table) == len({(row.test, row.difference, row.statistic) for row in table}) == 18
    assert all(row.decisions == (-1,) and row.same == 1 for row in table)


def test_whichever_way_one_looks_the_same_pairs_are_compared():
    values = 100 + np.random.default_rng(5).normal(0, 1, (20, 3)) + np.array([0.0, 10.0, -10.0])
    contrasts = contrasts_among(3, difference="simple", reference=1)
    table = stability(differencing(values), contrasts, np.array([1, 1], np.int8), SETTINGS)
    assert all(row.decisions == (1, 1) and row.same == 2 for row in table)


def test_an_outlier_is_seen_by_the_mean_alone():
    values = np.full((20, 2), 100.0)
    values[:, 1] += np.random.default_rng(6).normal(1, 0.2, 20)
    values[0, 1] += 60.0
    contrasts = contrasts_among(2, difference="simple")
    table = stability(differencing(values), contrasts, np.array([0], np.int8), SETTINGS)
    by_test = {row.test: row for row in table if (row.difference, row.statistic) == ("simple", "mean")}
    assert by_test["t"].decisions == (0,)
    assert by_test["wilcoxon"].decisions == by_test["sign"].decisions == (-1,)
    assert (by_test["t"].same, by_test["sign"].same) == (1, 0)


def test_what_cannot_be_computed_says_why():
    values = np.random.default_rng(7).normal(0, 1, (10, 2))
    contrasts = contrasts_among(2, difference="simple")
    table = stability(differencing(values), contrasts, np.array([0], np.int8), SETTINGS)
    ratios = [row for row in table if row.difference != "simple"]
    assert all(row.decisions == () and "positive values" in row.note for row in ratios)


def test_other_policies_name_the_pairs_that_change():
    def impossible():
        raise InvalidData("nothing is left")

    found = np.array([1, 0], np.int8)
    pairs = [("a", "b"), ("a", "c")]
    table = other_policies(
        {"left out": lambda: Findings(np.array([1, 1], np.int8), 5), "punished": impossible}, pairs, found
    )
    assert table[0].changed == (("a", "c"),)
    assert table[0].reversed == ()
    assert table[0].instances == 5
    assert (table[1].decisions, table[1].note) == ((), "nothing is left")


def test_a_decision_that_goes_the_other_way_is_reversed_and_one_that_falls_is_not():
    (table,) = other_policies(
        {"punished": lambda: Findings(np.array([-1, 0, -1], np.int8), 5)},
        [("a", "b"), ("a", "c"), ("a", "d")],
        np.array([1, 1, -1], np.int8),
    )
    assert table.changed == (("a", "b"), ("a", "c"))
    assert table.reversed == (("a", "b"),)
