from __future__ import annotations

import json
from pathlib import Path

import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.plots import draw_intervals, intervals_data

GOLD = Path(__file__).parents[2] / "gold" / "paper_tables.json"


@pytest.fixture(scope="module")
def analysis(study_of):
    return study_of(["full", "delta", "beta", "gamma"], reference="full", difference="percent")


def test_the_paper_figure_5_has_the_rows_of_its_first_table(public_data):
    rows = json.loads(GOLD.read_text(encoding="utf-8"))["table1_N57_K21"]["rows"]
    runs = public_data / "paper_experiment1_runs.csv"

    data = intervals_data(
        ampler.analyse(
            runs, reference="Full", difference="percent", better="lower", settings=ampler.Settings(formula="paper")
        )
    )

    assert [row.label for row in data.rows] == [row["comparison"] for row in rows]
    assert [row.rejected for row in data.rows] == [row["reject"] for row in rows]
    for ours, printed in zip(data.rows, rows, strict=True):
        low, high = ours.holm
        assert float(f"{ours.estimate:.2g}") == -printed["estimate"]  # the paper prints Full − other
        assert float(f"{(high - low) / 2:.2g}") == printed["halfwidth_printed"]


def test_the_data_hold_both_intervals_of_every_comparison_in_holms_order(analysis):
    data = intervals_data(analysis)

    assert [row.holm for row in data.rows] == [
        (-high, -low) for low, high in (c.interval for c in analysis.comparisons)
    ]
    assert [row.joint[0] for row in data.rows] == [-each.joint_interval[1] for each in analysis.comparisons]
    assert data.left_out == 0


def test_joint_intervals_hold_those_at_the_holm_level(analysis):
    for row in intervals_data(analysis).rows:
        assert row.joint[0] <= row.holm[0] <= row.estimate <= row.holm[1] <= row.joint[1]


def test_the_order_is_by_option(analysis):
    def labels(order):
        return [row.label for row in intervals_data(analysis, order=order).rows]

    assert labels("given") == ["delta", "beta", "gamma"]
    assert labels("name") == ["beta", "delta", "gamma"]
    estimates = {each.second: -each.estimate for each in analysis.comparisons}
    assert labels("estimate") == sorted(estimates, key=estimates.get)


def test_another_order_is_refused_in_one_sentence(analysis):
    with pytest.raises(InvalidInput, match=r"order must be one of 'rank', .*, got 'size'"):
        intervals_data(analysis, order="size")


def test_what_does_not_fit_is_counted_and_said(study_of):
    data = intervals_data(study_of([f"a{k}" for k in range(12)]), most=50)

    assert (len(data.rows), data.left_out) == (50, 16)
    assert "16 more comparisons are not shown" in draw_intervals(data).get_xlabel()


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ("holm", "Holm level of each rank, not"),
        ("joint", "Simultaneous 95 %"),
        ("both", "Thick: Holm level; thin: simultaneous"),
    ],
)
def test_the_drawing_says_which_intervals_it_shows(analysis, interval, words):
    assert words in draw_intervals(intervals_data(analysis), interval=interval).get_xlabel()


def test_rejected_and_kept_hypotheses_differ_in_colour_and_marker(study_of):
    ax = draw_intervals(intervals_data(study_of(["full", "same", "far"], reference="full", instances=6, alpha=0.3)))
    found = {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}

    if len(found) == 2:
        one, other = found.values()
        assert one.get_color() != other.get_color()
        assert one.get_marker() != other.get_marker()
    assert sum(len(line.get_xdata()) for line in found.values()) == 2


def test_open_intervals_of_one_sided_tests_end_at_the_border(study_of):
    analysis = study_of(["full", "one", "two"], reference="full", alternative="less")

    ax = draw_intervals(intervals_data(analysis))

    assert [each.interval[0] for each in analysis.comparisons] == [-float("inf")] * 2
    assert all(abs(bound) < 100 for bound in ax.get_xlim())


def test_the_sign_tests_share_is_neutral_at_one_half(study_of):
    data = intervals_data(study_of(["full", "one"], test="sign"))

    assert data.neutral == 0.5
    assert data.name == "Share of instances where φ > 0"


def test_estimates_are_written_with_the_digits_asked_for(analysis):
    texts = [text.get_text() for text in draw_intervals(intervals_data(analysis), digits=1).texts]

    assert texts == [f"{-100 * each.estimate:.1f} %".replace("-", "−") for each in analysis.comparisons]


def test_large_numbers_are_written_at_their_marks_and_not_as_a_factor(study_of):
    from dataclasses import replace

    data = intervals_data(study_of(["one", "two"]))
    huge = tuple(replace(row, estimate=2e7, holm=(1e7, 3e7), joint=(1e7, 3e7)) for row in data.rows)

    ax = draw_intervals(replace(data, rows=huge))
    ax.figure.draw_without_rendering()

    assert ax.xaxis.get_offset_text().get_text() == ""
    assert "2e7" in [label.get_text() for label in ax.get_xticklabels()]


def test_one_estimate_that_dwarfs_the_others_splits_the_axis_and_the_figure_says_so(analysis):
    from dataclasses import replace

    data = intervals_data(analysis)
    far = replace(data.rows[0], estimate=-0.9, holm=(-1.0, -0.8), joint=(-1.05, -0.75))

    ax = draw_intervals(replace(data, rows=(far, *data.rows[1:])))
    ax.figure.draw_without_rendering()

    assert ax.get_xscale() == "function"
    assert "The axis is split" in ax.get_xlabel()
    width = ax.transAxes.inverted().transform(ax.transData.transform([(row.holm[1], 0) for row in data.rows]))[:, 0]
    below = ax.transAxes.inverted().transform(ax.transData.transform([(row.holm[0], 0) for row in data.rows]))[:, 0]
    assert (width - below)[1:].min() > 0.05  # the others can still be seen
    assert draw_intervals(data).get_xscale() == "linear"


def test_a_row_by_hand_shows_whether_it_is_rejected(analysis):
    from dataclasses import replace

    data = intervals_data(analysis)
    rows = tuple(replace(row, finding=None, rejected=place == 0) for place, row in enumerate(data.rows))

    ax = draw_intervals(replace(data, rows=rows, finding=""))

    assert "◆ rejected  ● inconclusive" in ax.get_xlabel()
