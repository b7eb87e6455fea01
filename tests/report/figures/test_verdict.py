from __future__ import annotations

import itertools

import pytest

from ampler.analysis.answer import finding_sentence
from ampler.report.figures import draw_verdict, verdict_data
from ampler.report.figures.colours import VERDICTS


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
        differences = analysis.differences[:, column[row.first, row.second]].tolist()
        found = next(each for each in analysis.comparisons if each.second == row.second)
        assert row.wins == f"{sum(each < 0 for each in differences)} of 12"
        assert (row.estimate, row.p) == (found.estimate, found.p_holm)
        assert (row.low, row.high) == found.joint_interval
        assert {name, row.estimate_text, row.wins, row.p_text, row.word} <= set(said)


def test_marks_and_colours_say_the_verdict(analysis):
    data = verdict_data(analysis)
    ax = draw_verdict(data)

    drawn = [(line.get_color(), line.get_marker()) for line in ax.lines if line.get_markersize() == 6.5]
    assert drawn == [VERDICTS.get(row.finding, VERDICTS["undecided"]) for row in data.rows]


def test_one_estimate_that_dwarfs_the_others_splits_the_axis_and_the_figure_says_so(study_of):
    from dataclasses import replace

    from ampler.report.axis import axis_of

    data = verdict_data(study_of(["full", "one", "two", "three"], reference="full"))
    far = replace(data.rows[0], estimate=-90.0, low=-95.0, high=-85.0)
    rows = (far, *data.rows[1:])
    axis = axis_of([(row.low, row.estimate, row.high) for row in rows], "simple", always=(0.0,))
    split = replace(data, forest=replace(data.forest, rows=rows, axis=axis))

    assert axis.is_split
    assert "╱╱" in words(draw_verdict(split))


def test_names_never_touch_what_stands_beside_them(study_of, nasty_names):
    ax = draw_verdict(verdict_data(study_of(nasty_names, reference=nasty_names[3])))
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]

    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_what_is_not_shown_is_counted(study_of):
    data = verdict_data(study_of([f"a{k}" for k in range(8)]), most=10)

    assert len(data.rows) == 10
    assert any("18 more comparisons are not shown" in text for text in words(draw_verdict(data)))


def test_an_analysis_draws_its_verdict(analysis):
    from matplotlib.figure import Figure

    ax = Figure().subplots()

    assert analysis.plot(ax) is ax
    assert words(analysis.plot()) == words(draw_verdict(verdict_data(analysis)))
