"""What the page of the paper's figures shows is what the runs give and what the paper prints."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from flat_study import flat_analyse

import ampler

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "figures" / "paper_table_1.csv"
PRINTED = json.loads((ROOT / "tests" / "gold" / "paper_tables.json").read_text(encoding="utf-8"))["table1_N57_K21"]


@pytest.fixture(scope="module")
def shown():
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_shown_is_the_papers_table_1(shown):
    assert [row["comparison"] for row in shown] == [row["comparison"] for row in PRINTED["rows"]]
    for ours, theirs in zip(shown, PRINTED["rows"], strict=True):
        half = (float(ours["high"]) - float(ours["low"])) / 2
        assert two_digits(ours["p"]) == theirs["p_printed"]
        assert two_digits(ours["estimate"]) == theirs["estimate"]
        assert two_digits(half) == theirs["halfwidth_printed"]
        assert two_digits(ours["d"]) == theirs["d_printed"]
        assert float(ours["alpha"]) == pytest.approx(theirs["alpha_exact"], rel=5e-4)
        assert (ours["rejected"] == "yes") == theirs["reject"]


def two_digits(number) -> float:
    """As the paper prints its numbers."""
    return float(f"{float(number):.2g}")


def test_the_numbers_shown_are_those_of_the_runs(shown, public_data):
    runs = public_data / "paper_experiment1_runs.csv"
    paper = {"reference": "Full", "difference": "percent", "formula": "paper"}
    analysis = flat_analyse(runs, **paper, better="lower", settings=ampler.Settings(se=0.05, budget=1100))

    for row, each in zip(shown, analysis.comparisons, strict=True):
        ours = [each.alpha, each.p_value, each.estimate, *each.interval, *each.joint_interval, each.effect_size]
        names = ["alpha", "p", "estimate", "low", "high", "joint low", "joint high", "d"]
        assert [float(row[name]) for name in names] == pytest.approx(ours, rel=6e-4)  # four digits are kept


@pytest.mark.parametrize("name", ["paper_figure_3.svg", "paper_figure_4.svg"])
def test_the_figures_that_need_the_runs_are_kept(name):
    assert (ROOT / "docs" / "figures" / name).read_text(encoding="utf-8").lstrip().startswith("<?xml")
