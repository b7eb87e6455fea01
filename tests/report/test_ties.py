"""Where several share the first place, no title and no headline names one of them as the winner."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler.analysis.answer import finding_sentence
from ampler.analysis.standings import disagreements
from ampler.core.runs import Runs
from ampler.report import figures as plots
from ampler.report.drawings import drawings
from ampler.report.tables import comparisons_table


@pytest.fixture(scope="module")
def tied():
    """One and two have the same values in another order of the instances; three is far behind."""
    rng = np.random.default_rng(2)
    values = rng.normal(10, 1, (12, 4))
    table = np.stack([values, np.roll(values, 6, axis=0), values + rng.normal(20, 1, (12, 1))], axis=1)
    table[:6, 1], table[6:, 1] = table[:6, 0] + 0.1, table[6:, 0] - 0.1
    instance, algorithm, _ = np.indices(table.shape)
    runs = Runs.from_columns(
        np.array([f"i{k}" for k in range(12)], object)[instance.ravel()],
        np.array(["one", "two", "three"], object)[algorithm.ravel()],
        table.ravel(),
    )
    return am.analyse(runs, difference="simple", better="lower", on_failure="drop")


def test_the_headline_names_all_who_lose_to_none(tied):
    assert re.match("(one and two|two and one) lose to none; 2 of 3 pairs differ", finding_sentence(tied))
    assert not any("best mean rank" in sentence for sentence in disagreements(tied))


def test_no_title_of_a_figure_names_one_of_two_that_share_the_first_place(tied):
    assert plots.ranks_data(tied).finding == "one and two share the best rank"
    assert plots.profile_data(tied).finding == "one and two are each best on 50 % of instances"
    assert plots.scatter_data(tied, "one", "two").finding == "one and two are each better on 6 of 12 instances"
    assert plots.pair_differences_data(tied, "one", "two").finding.startswith("one and two are each better on 6 of 12")
    assert plots.cactus_data(tied, cutoff=100.0).finding.startswith("one, two and three solve most: 48 of 48 runs")
    winner = re.compile(r"^(one|two) (ranks|is|has|solves|reaches|beats)\b(?!.*three)")
    for drawing in drawings(tied):
        assert not winner.search(drawing.words), drawing.words


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "sign-flip"])
@pytest.mark.parametrize("instances", [5, 8, 11])
def test_no_p_value_of_ranks_or_signs_is_smaller_than_the_instances_support(test, instances):
    frame = pd.DataFrame({"dataset": [f"d{k}" for k in range(instances)], "old": np.arange(instances) + 10.0})
    analysis = am.analyse(frame.assign(new=frame["old"] - 2), difference="simple", better="lower", test=test)
    table = comparisons_table(analysis)
    (row,) = table.rows
    shown = float(row[table.header.index("p")].text.replace("−", "-"))
    assert shown >= 0.95 * 2.0 ** (1 - instances)  # of the two digits that are written
