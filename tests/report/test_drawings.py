from __future__ import annotations

from ampler.report.drawings import drawings, telling_pairs


def test_the_pairs_shown_in_detail_are_those_that_tell_most(paper):
    pairs = telling_pairs(paper)

    assert [(second, why) for _, second, why in pairs] == [
        ("no-SWP.no-TSK", "the smallest p-value"),
        ("no-DSW.no-SWT", "the last rejected"),
        ("no-SHF.no-DSW", "the first not rejected"),
        ("no-TSK", "the most skewed differences"),
    ]


def test_figures_are_drawn_one_at_a_time(nasty):
    names = [drawing.name for drawing in drawings(nasty)]

    assert len(set(names)) == len(names)
    assert "subgroups-1" in names
