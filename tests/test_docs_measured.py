"""Pages that are written from measurements say what their tables hold."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
FOLDER = BENCHMARKS.parent / "docs" / "benchmarks"


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in [name for name in sys.modules if name.startswith(("peers_", "sampling_", "kept_results"))]:
        del sys.modules[name]


def test_the_page_on_sampling_rules_is_that_of_its_table():
    from sampling_page import page
    from sampling_table import read

    assert page(read(FOLDER / "sampling.csv")) == (FOLDER / "sampling.md").read_text(encoding="utf-8")


def test_every_cell_of_the_grid_of_sampling_rules_was_run_and_none_besides():
    from sampling_table import _key, every_cell, read, rules_for

    wanted = {(*_key(cell), rule.name) for cell in every_cell() for rule in rules_for(cell)}

    assert {row.key for row in read(FOLDER / "sampling.csv")} == wanted


def test_the_page_on_other_tools_is_that_of_its_table():
    from kept_results import read
    from peers_page import page
    from peers_rows import Row

    rows = read(FOLDER / "peers.csv", Row)

    assert page(rows) == (FOLDER / "peers.md").read_text(encoding="utf-8")
    assert {"autorank", "baycomp", "irace", "hyperfine", "CAISEr"} <= {row.tool for row in rows}


def test_a_claim_about_tools_is_right_only_in_its_direction():
    from peers_tables import SCENARIOS, scored

    truth = SCENARIOS["three equal, two worse"].truth

    assert scored({("a0", "a4")}, truth) == {"found": 1, "wrong": 0, "missed": 6}
    assert scored({("a4", "a0"), ("a0", "a1")}, truth) == {"found": 0, "wrong": 2, "missed": 7}


def test_a_line_that_was_measured_beside_another_program_stays_where_that_is_absent(tmp_path, monkeypatch):
    import speed_page
    from speed_page import Line

    monkeypatch.setattr("speed_page.FOLDER", tmp_path)

    def measured(ratio, seconds, who):
        code = speed_page.keep(
            "bench_decision",
            [Line("a ratio", "≥ 2 ×", f"{ratio} ×", ratio >= 2, who), Line("alone", "", f"{seconds} s", True, "")],
        )
        return code, [row["measured"] for row in speed_page.kept()]

    absent = f"as timed earlier; {speed_page.ABSENT}"
    assert measured(9, 1, absent) == (0, ["9 ×", "1 s"])
    assert measured(3, 2, "timed in this run") == (0, ["3 ×", "2 s"])
    assert measured(1, 3, absent) == (1, ["3 ×", "3 s"])
    assert measured(4, 4, "timed in this run") == (0, ["4 ×", "4 s"])
