from __future__ import annotations

import itertools

import pytest

from ampler.analysis.text import finding_sentence
from ampler.plots import draw_verdict, verdict_data
from ampler.report.theme import VERDICTS


@pytest.fixture(scope="module")
def analysis(study_of):
    return study_of(["full", "delta", "beta", "gamma"], reference="full", difference="percent", margin=0.002)


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_the_title_is_the_answer_of_the_analysis(analysis):
    ax = draw_verdict(verdict_data(analysis))

    bold = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    assert " ".join(bold) == finding_sentence(analysis)


def test_each_row_has_name_estimate_wins_p_and_verdict(analysis):
    data = verdict_data(analysis)
    said = words(draw_verdict(data))

    column = {pair: k for k, pair in enumerate(analysis.pairs)}
    for row, name in zip(data.rows, data.labels, strict=True):
        differences = analysis.differences[:, column[row.pair]].tolist()
        found = next(each for each in analysis.comparisons if each.second == row.subject)
        assert row.wins_text == f"{sum(each > 0 for each in differences)} of 12"
        assert (row.estimate, row.p_adjusted) == (-found.estimate, found.p_holm)
        assert row.joint_interval == (-found.joint_interval[1], -found.joint_interval[0])
        assert {name, row.estimate_text, row.wins_text, row.p_text, row.verdict} <= set(said)


def test_marks_and_colours_say_the_verdict(analysis):
    data = verdict_data(analysis)
    ax = draw_verdict(data)

    drawn = [(line.get_color(), line.get_marker()) for line in ax.lines if line.get_markersize() == 6.5]
    assert drawn == [VERDICTS.get(row.verdict, VERDICTS["inconclusive"]) for row in data.rows]


def test_one_estimate_that_dwarfs_the_others_splits_the_axis_and_the_figure_says_so(study_of):
    from dataclasses import replace

    from ampler.report.axis import axis_of

    data = verdict_data(study_of(["full", "one", "two", "three"], reference="full"))
    far = replace(data.rows[0], estimate=-90.0, joint_interval=(-95.0, -85.0))
    compared = (far, *data.rows[1:])
    lines = tuple(
        replace(line, row=row, thin=row.joint_interval) for line, row in zip(data.lines, compared, strict=True)
    )
    ends = [(each.joint_interval[0], each.estimate, each.joint_interval[1]) for each in compared]
    axis = axis_of(ends, "simple", always=(0.0,))
    split = replace(data, forest=replace(data.forest, lines=lines, axis=axis))

    assert axis.is_split
    assert "╱╱" in words(draw_verdict(split))


def test_names_never_touch_what_stands_beside_them(study_of, nasty_names):
    ax = draw_verdict(verdict_data(study_of(nasty_names, reference=nasty_names[3])))
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]

    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_what_is_not_shown_is_counted(study_of):
    data = verdict_data(study_of([f"a{k}" for k in range(8)]), most=5)

    assert len(data.lines) == 5
    assert any("3 more algorithms are not shown" in text for text in words(draw_verdict(data)))


def test_an_analysis_draws_its_verdict(analysis):
    from matplotlib.figure import Figure

    ax = Figure().subplots()

    assert analysis.plot(ax) is ax
    assert words(analysis.plot()) == words(draw_verdict(verdict_data(analysis)))
