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


def test_pairs_without_two_instances_are_not_shown_in_detail(gappy):
    drawn = list(drawings(gappy))

    assert all("four" not in pair for pair in telling_pairs(gappy))
    assert {"intervals", "accuracy", "power", "runs", "subgroups-1", "pair-1"} <= {drawing.name for drawing in drawn}
    assert "ranks" not in {drawing.name for drawing in drawn}
    assert "4 instances, the fewest of a comparison," in next(d.caption for d in drawn if d.name == "power")


def test_figures_are_drawn_one_at_a_time(nasty):
    names = [drawing.name for drawing in drawings(nasty)]

    assert len(set(names)) == len(names)
    assert "subgroups-1" in names
