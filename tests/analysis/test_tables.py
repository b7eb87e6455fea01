"""An analysis as text: its tables in a terminal."""

import pandas as pd
from flat_study import flat_analyse

from ampler.analysis.display import plain_text
from ampler.analysis.tables import comparison_columns, stability_columns


def found(far: float, near: float = 10.0, **options):
    """An analysis on eight instances: `near` hardly differs from `full`, `far` by as much as said."""
    frame = pd.DataFrame({"instance": list("abcdefgh")})
    for name, level, spread in (("full", 10.0, 0.0), ("near", near, 0.2), ("far", far, 0.1)):
        frame[name] = [level + k + spread * (-1) ** k * (1 + k % 3) / 2 for k in range(8)]
    return flat_analyse(frame, difference="simple", better="lower", **options)


def test_the_table_tells_the_verdict_in_a_word_and_where_rejecting_stops():
    lines = comparison_columns(found(20.0, reference="full")).fitted(200).lines

    assert lines[1].startswith("▼  far")
    assert lines[1].endswith("worse")
    assert "not significant below this line" in lines[2]
    assert "simultaneous 95 % CI" in lines[0]
    pairs = comparison_columns(found(20.0)).fitted(200).lines
    assert any("full − far" in line and line.startswith("▲") and line.endswith("better") for line in pairs)


def test_rejecting_stops_nowhere_when_all_is_rejected():
    assert not any("not significant" in line for line in comparison_columns(found(20.0, near=15.0)).fitted().lines)


def test_the_table_counts_the_instances_on_which_the_subject_is_better():
    lines = comparison_columns(found(20.0, reference="full")).fitted(200).lines

    assert "better on" in lines[0]
    assert "0/8" in lines[1]


def test_the_whole_as_text_keeps_to_eighty_columns_in_its_table():
    lines = plain_text(found(20.0, reference="full")).splitlines()

    start = next(place for place, line in enumerate(lines) if "adj. p" in line)
    assert max(map(len, lines[start : start + 4])) <= 80
    assert lines[start].endswith("verdict")


def test_other_choices_have_a_row_each():
    analysis = found(20.0)

    assert len(stability_columns(analysis).fitted().body) == len(analysis.stability)
