"""Pages that are written from measurements say what their tables hold."""

from __future__ import annotations

from pathlib import Path

import speed_page
from kept_results import read
from peers_page import page
from peers_rows import Row
from peers_tables import SCENARIOS, scored
from speed_page import Line

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"


def test_the_page_on_other_tools_is_that_of_its_table():
    rows = read(FOLDER / "peers.csv", Row)

    assert page(rows) == (FOLDER / "peers.md").read_text(encoding="utf-8")
    assert {"autorank", "baycomp", "irace", "hyperfine", "CAISEr"} <= {row.tool for row in rows}


def test_a_claim_about_tools_is_right_only_in_its_direction():
    truth = SCENARIOS["three equal, two worse"].truth

    assert scored({("a0", "a4")}, truth) == {"found": 1, "wrong": 0, "missed": 6}
    assert scored({("a4", "a0"), ("a0", "a1")}, truth) == {"found": 0, "wrong": 2, "missed": 7}


def test_a_line_that_was_measured_beside_another_program_stays_where_that_is_absent(tmp_path, monkeypatch):
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
