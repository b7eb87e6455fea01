"""An analysis as text: its tables in a terminal."""

import pandas as pd

from ampler import analyse
from ampler.analysis.text import holm_columns, stability_columns, text_lines


def found(far: float, near: float = 10.0, **options):
    """An analysis on eight instances: `near` hardly differs from `full`, `far` by as much as said."""
    frame = pd.DataFrame({"instance": list("abcdefgh")})
    for name, level, spread in (("full", 10.0, 0.0), ("near", near, 0.2), ("far", far, 0.1)):
        frame[name] = [level + k + spread * (-1) ** k * (1 + k % 3) / 2 for k in range(8)]
    return analyse(frame, difference="simple", better="lower", **options)


def test_the_table_tells_the_verdict_in_a_word_and_where_rejecting_stops():
    lines = holm_columns(found(20.0, reference="full")).fitted(200).lines

    assert lines[1].endswith("worse")
    assert "stop rejecting" in lines[2]
    assert "Holm-level interval" in lines[0]
    pairs = holm_columns(found(20.0)).fitted(200).lines
    assert any(line.endswith(("first better", "second better")) for line in pairs)


def test_rejecting_stops_nowhere_when_all_is_rejected():
    assert not any("stop rejecting" in line for line in holm_columns(found(20.0, near=15.0)).fitted().lines)


def test_the_table_counts_the_instances_on_which_the_first_is_better():
    lines = holm_columns(found(20.0, reference="full")).fitted(200).lines

    assert "first better" in lines[0]
    assert "8 of 8" in lines[1]


def test_the_whole_as_text_keeps_to_eighty_columns_in_its_table_and_says_what_it_leaves_out():
    lines = list(text_lines(found(20.0, reference="full")))

    start = next(place for place, line in enumerate(lines) if line.startswith("rank"))
    assert max(map(len, lines[start : start + 4])) <= 80
    assert any(line.startswith("Left out at 80 columns: ") and "alpha" in line for line in lines)


def test_other_choices_have_a_row_each():
    analysis = found(20.0)

    assert len(stability_columns(analysis).fitted().body) == len(analysis.stability)
