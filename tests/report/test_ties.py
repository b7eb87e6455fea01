"""Where several share the first place, no title and no headline names one of them as the winner."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler import plots
from ampler.analysis.standings import disagreements
from ampler.analysis.text import finding_sentence
from ampler.core.arrays import Runs
from ampler.plots import verdict_data
from ampler.report import subject_of
from ampler.report.drawings import drawings
from ampler.report.html import html_report
from ampler.report.rows import forest_of
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
    return am.analyse(am.read_results(runs, on_failure="drop"), difference="simple", better="lower")


def test_the_headline_names_all_who_lose_to_none(tied):
    assert re.match(
        "(one and two|two and one) share the lead: no algorithm is better; 2 of 3 pairs differ", finding_sentence(tied)
    )
    assert not any("best mean rank" in sentence for sentence in disagreements(tied))


def test_instances_with_equal_values_have_the_colour_of_neither_side():
    table = pd.DataFrame({"instance": list("abcdef"), "one": [1.0, 2, 3, 4, 5, 6], "two": [1.0, 2, 3, 4, 6, 8]})
    page = html_report(subject_of(am.analyse(table, difference="simple", better="lower")))
    points = re.findall(r'class="points (\w+)" d="([^"]*)"', page)

    assert {kind: path.count("h0") for kind, path in points} == {"better": 2, "inconclusive": 4}


def test_no_title_of_a_figure_names_one_of_two_that_share_the_first_place(tied):
    assert plots.ranks_data(tied).finding == "one and two share the best rank"
    assert plots.profile_data(tied).finding == "one and two are each best on 50 % of instances"
    assert plots.scatter_data(tied, "one", "two").finding == "one and two are each better on 6 of 12 instances"
    assert plots.pair_differences_data(tied, "one", "two").finding.startswith("one and two are each better on 6 of 12")
    assert plots.cactus_data(tied, cutoff=100.0).finding.startswith("one, two and three solve most: 48 of 48 runs")
    winner = re.compile(r"^(one|two) (ranks|is|has|solves|reaches|beats)\b(?!.*three)")
    for drawing in drawings(tied):
        assert not winner.search(drawing.summary), drawing.summary


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "sign-flip"])
@pytest.mark.parametrize("instances", [5, 8, 11])
def test_no_p_value_of_ranks_or_signs_is_smaller_than_the_instances_support(test, instances):
    frame = pd.DataFrame({"dataset": [f"d{k}" for k in range(instances)], "old": np.arange(instances) + 10.0})
    analysis = am.analyse(frame.assign(new=frame["old"] - 2), difference="simple", better="lower", test=test)
    table = comparisons_table(analysis)
    (row,) = table.rows
    shown = float(row[table.header.index("p")].text.replace("−", "-"))
    assert shown >= 0.95 * 2.0 ** (1 - instances)  # of the two digits that are written


def many(seed, algorithms=6):
    """All pairs of algorithms, some of which are alike: a shared lead for most seeds."""
    rng = np.random.default_rng(seed)
    level, gains = rng.uniform(90, 110, (14, 1)), np.sort(rng.choice([0.0, 0.4, 1.0, 3.0], algorithms))
    values = level + gains + rng.normal(0, 0.7, (14, algorithms))
    frame = pd.DataFrame(values, columns=[f"a{k}" for k in range(algorithms)])
    return am.analyse(frame.assign(instance=[f"i{k}" for k in range(14)]), difference="simple", better="lower")


@pytest.mark.parametrize("seed", range(4))
def test_no_medium_names_one_of_several_that_share_the_lead_as_the_winner(seed, without_figures):
    from ampler.analysis.text import findings, leaders
    from ampler.report import Subject, render
    from ampler.report.drawings import figures_of

    analysis = many(seed)
    shared = leaders(findings(analysis))
    winner = re.compile(
        rf"(?<!, )(?<!and )\b({'|'.join(shared)}) (leads|ranks best|is the best|wins|is better than all)\b"
    )
    media = [str(analysis), repr(analysis), analysis._repr_html_()]
    media += [render(Subject("x", analysis), kind) for kind in ("html", "md", "tex")]
    media += [drawing.summary for drawing in figures_of(analysis)]
    media += [verdict_data(analysis).finding, plots.ranks_data(analysis).finding]

    assert len(shared) > 1
    assert forest_of(analysis).lines[0].standing == "–"
    for text in media:
        assert not winner.search(text), winner.search(text)


@pytest.mark.parametrize("seed", range(6))
def test_only_a_leader_whom_nobody_equals_is_called_so(seed):
    frame = pd.DataFrame({"instance": list("abcdefgh"), "one": np.arange(8.0) + 0.25, "two": np.arange(8.0) + 5})
    rng = np.random.default_rng(seed)
    frame = frame.assign(two=frame["two"] + rng.normal(0, 0.1, 8), three=frame["one"] + 9 + rng.normal(0, 0.1, 8))

    first, *others = forest_of(am.analyse(frame, difference="simple", better="lower")).lines
    assert (first.name, first.standing) == ("one", "leader")
    assert {line.name for line in others} == {"two", "three"}


@pytest.mark.parametrize("seed", range(6))
def test_letters_ranks_and_cells_are_the_decisions_of_holm_s_procedure(seed):
    analysis = many(seed)
    lines = {line.name: line for line in forest_of(analysis).lines}
    names = list(lines)
    document = {row["algorithm"]: row for row in analysis.as_dict()["algorithms"]}

    for comparison in analysis.comparisons:
        one, other = (lines[name] for name in comparison.pair)
        assert bool(set(one.group) & set(other.group)) == (not comparison.claimed)
        cell = one.decisions[names.index(other.name)]
        assert (cell.verdict in ("better", "worse")) == comparison.claimed
    for name, line in lines.items():
        own = [decision.verdict for decision in line.decisions if decision is not None]
        low, high = document[name]["ranks"]
        assert (low, high) == (1 + own.count("worse"), len(names) - own.count("better"))
        assert document[name]["group"] == line.group
