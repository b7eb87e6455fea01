"""Our estimates beside the published ones: which rows agree, what the table says, what the figure shows."""

from dataclasses import replace

import pytest

from ampler_upmsp import published
from ampler_upmsp.replication import (
    EstimatePair,
    OwnEstimate,
    draw_estimate_pairs,
    estimate_pairs,
    markdown_table,
    table_cells,
)
from ampler_upmsp.sheets import read_sheet, write_sheet


def row(published_row, **changes):
    """A row of which our half is the published one, but for the changes."""
    same = OwnEstimate(
        published_row.variant,
        published_row.estimate,
        *published_row.interval,
        published_row.effect_size,
        published_row.p_value,
        published_row.rejected,
    )
    return EstimatePair(replace(same, **changes), published_row)


FOUND, NOT_FOUND = published.FIRST[0], published.FIRST[-1]


@pytest.mark.parametrize(
    ("mine", "agrees"),
    [
        (row(FOUND), True),
        (row(FOUND, rejected=False), False),
        (row(FOUND, estimate=+0.1), False),
        (row(NOT_FOUND), True),
        (row(NOT_FOUND, estimate=-0.01), True),  # neither is told apart from nothing
        (row(NOT_FOUND, rejected=True), False),
    ],
)
def test_rows_agree_when_both_reject_with_the_same_sign_or_neither_does(mine, agrees):
    assert mine.agrees is agrees


def test_the_table_shows_both_with_their_half_widths():
    mine = row(FOUND, estimate=-0.5, low=-0.6, high=-0.4, effect_size=-1.2, p_value=3e-9)
    shown = ("no-SWP.no-TSK", "-50 ± 10 *", "-79 ± 15 *", "-1.2", "-2.2", "3e-09", "3.7e-23", "yes")
    assert table_cells(mine) == shown
    assert f"| {' | '.join(shown)} |" in markdown_table([mine])


def test_variants_without_the_task_move_have_a_panel_of_their_own():
    rows = [row(each) for each in published.FIRST]
    upper, lower = draw_estimate_pairs(rows).get_figure().axes
    labels = [[text.get_text() for text in ax.get_yticklabels()] for ax in (upper, lower)]
    assert [len(group) for group in labels] == [6, 15]
    assert all("TSK" in label for label in labels[0])
    assert upper.get_xlim()[0] < -0.79 < -0.1 < lower.get_xlim()[0] < 0
    assert len(draw_estimate_pairs([row(each) for each in published.SECOND]).get_figure().axes) == 1


def test_rows_come_back_from_their_file_in_the_published_order(tmp_path):
    rows = [row(each, estimate=each.estimate / 3) for each in published.FIRST]
    write_sheet([each.ours for each in reversed(rows)], tmp_path / "ours.csv")
    assert estimate_pairs(read_sheet(OwnEstimate, tmp_path / "ours.csv"), published.FIRST) == tuple(rows)
