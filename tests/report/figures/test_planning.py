"""The data behind Figures 1, 2 and 6 of Campelo & Wanner (2019) against R, and what the drawings show of it."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest

from ampler import Detect, Study, achieved_power, required_instances
from ampler.core.errors import InvalidData
from ampler.plots import (
    draw_pilot,
    draw_power_curve,
    draw_power_profiles,
    draw_sample_sizes,
    draw_spending,
    pilot_data,
    power_curve_data,
    power_profiles_data,
    sample_sizes_data,
    spending_data,
)
from ampler.report import render, subject_of
from ampler.report.drawings import drawings
from ampler.testing import SerialExecutor

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "figures.json").read_text(encoding="utf-8"))
TOLERANCE = 1e-9  # as promised with the reference values; reached: 1e-12


@pytest.fixture(scope="module")
def sizes():
    return sample_sizes_data(effect=0.5, power=0.9, comparisons=range(1, 31))


@pytest.fixture(scope="module")
def profiles():
    return power_profiles_data(effect=0.5, power=0.9, comparisons=range(1, 31))


@pytest.fixture(scope="module")
def curve():
    effects = [row["d"] for row in GOLD["fig6"]["rows"]]
    return power_curve_data(achieved_power(instances=200, comparisons=7, effect=0.25), effects=effects)


def test_figure_1_has_the_instances_of_the_reference(sizes):
    rows = GOLD["fig1"]["rows"]

    assert list(sizes.comparisons) == [row["K"] for row in rows]
    assert list(sizes.bonferroni) == [row["N_bonferroni"] for row in rows]
    assert list(sizes.holm) == [row["N_holm_mean"] for row in rows]


def test_figure_2_has_the_powers_of_the_reference(profiles):
    rows = GOLD["fig2"]["rows"]

    assert [design.instances for design in profiles.designs] == [row["N"] for row in rows]
    for design, powers, row in zip(profiles.designs, profiles.powers, rows, strict=True):
        assert powers == pytest.approx(row["powers_rank1_to_K"], abs=TOLERANCE)
        assert design.mean_power == pytest.approx(row["mean"], abs=TOLERANCE)
        assert (design.worst_power, design.best_power) == pytest.approx((row["worst"], row["best"]), abs=TOLERANCE)


def test_figure_2_goes_on_to_a_thousand_comparisons():
    rows = GOLD["fig2"]["extra_large_K"]

    profiles = power_profiles_data(effect=0.5, power=0.9, comparisons=[row["K"] for row in rows])

    assert [design.instances for design in profiles.designs] == [row["N"] for row in rows]
    for design, row in zip(profiles.designs, rows, strict=True):
        assert design.mean_power == pytest.approx(row["mean"], abs=TOLERANCE)
        assert (design.worst_power, design.best_power) == pytest.approx((row["worst"], row["best"]), abs=TOLERANCE)


def test_figure_6_has_the_power_curve_of_the_reference(curve):
    for name in ("mean", "worst", "best", "median"):
        ours = [getattr(design, f"{name}_power") for design in curve.designs]
        assert ours == pytest.approx([row[name] for row in GOLD["fig6"]["rows"]], abs=TOLERANCE)


def test_a_curve_without_given_effects_runs_from_next_to_nothing_to_near_certainty():
    design = required_instances(comparisons=21, effect=0.5, power=0.8)

    powers = [point.worst_power for point in power_curve_data(design).designs]

    assert powers == sorted(powers)
    assert powers[0] < 0.01
    assert powers[-1] >= 0.995


@pytest.mark.parametrize("target", ["mean", "median", "worst", "best", 3])
def test_the_marked_point_is_the_power_that_the_target_reaches(target):
    design = required_instances(comparisons=7, effect=0.5, power=0.8, target=target)

    marked = power_curve_data(design).marked

    assert marked.instances == design.instances
    assert 0.8 <= marked.power < 0.83


def test_the_marked_effect_is_always_inside_the_curve():
    design = achieved_power(instances=50, comparisons=3, effect=4.0)

    assert max(point.effect for point in power_curve_data(design).designs) > 4.0


def test_the_drawing_of_figure_1_shows_both_corrections(sizes):
    ax = draw_sample_sizes(sizes)

    heights = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert heights == {"Bonferroni": list(sizes.bonferroni), "Holm, mean power": list(sizes.holm)}


def test_the_drawing_of_figure_2_shows_every_test_and_labels_the_largest_design(profiles):
    ax = draw_power_profiles(profiles)

    dots = [line for line in ax.lines if line.get_linestyle() == "None"]
    assert sum(len(line.get_ydata()) for line in dots) == sum(range(1, 31))
    assert str(profiles.designs[-1].instances) in {text.get_text() for text in ax.texts}


def test_labels_of_figure_2_leave_room_for_each_other(profiles):
    ax = draw_power_profiles(profiles)
    ax.figure.draw_without_rendering()

    numbers = [text.get_window_extent() for text in ax.texts if text.get_text().isdigit()]
    boxes = sorted((box.x0, box.x1) for box in numbers)
    assert len(boxes) > 5
    assert all(left[1] < right[0] for left, right in itertools.pairwise(boxes))


def test_the_drawing_of_figure_6_marks_the_design(curve):
    ax = draw_power_curve(curve)

    assert ax.figure.get_suptitle() == "N = 200, K = 7: power 0.853 for d = 0.25"
    marked = next(line for line in ax.lines if line.get_marker() == "o")
    assert marked.get_xydata() == pytest.approx(np.array([[0.25, curve.marked.power]]))


def test_one_comparison_has_no_band_between_worst_and_best():
    ax = draw_power_curve(power_curve_data(required_instances(comparisons=1, effect=0.5, power=0.8)))

    assert len(ax.collections) == 0
    assert (
        len(draw_power_curve(power_curve_data(achieved_power(instances=9, comparisons=2, effect=1))).collections) == 1
    )


def test_a_drawing_goes_onto_the_axes_it_is_given(sizes):
    from matplotlib.figure import Figure

    ax = Figure().subplots()

    assert draw_sample_sizes(sizes, ax) is ax


# The figures of a study that found its own size.


def solver(shift):
    return lambda instance, seed: 100 + instance + shift + random.Random(seed).gauss(0, 2)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("pilot") / "study.db"
    study = Study(
        algorithms={"a": solver(0), "b": solver(0.3), "c": solver(40)},
        instances={f"i{n}": n for n in range(50)},
        difference="percent",
        reference="a",
        design=Detect(0.01, pilot=6, runs=3),
        seed=5,
        better="lower",
    )
    study.run(file, executor=SerialExecutor())
    return file


@pytest.fixture(scope="module")
def analysis(path):
    return subject_of(path).analysis


def test_the_pilot_shows_each_comparison_with_its_interval_and_verdict(analysis):
    data = pilot_data(analysis)
    assert data.labels == ("b", "c")
    assert data.verdicts == ("inconclusive", "worse")
    assert all(low < mean < high for mean, (low, high) in zip(data.means, data.intervals, strict=True))
    assert data.intervals[1][0] > 0  # c − a
    assert (data.detect, data.instances, data.left_out) == (0.01, 6, 0)
    assert pilot_data(analysis, most=1).left_out == 1


def test_where_the_runs_went_adds_up(analysis):
    data = spending_data(analysis)
    assert data.pilot == (18, 18, 18)
    assert (data.topped_up[2], data.new[2]) == (0, 0)
    assert sum(data.pilot) + sum(data.topped_up) + sum(data.new) == data.total == analysis.course.total


def test_the_drawings_have_a_row_for_each(analysis):
    ax = draw_pilot(pilot_data(analysis))
    assert [each.get_text() for each in ax.get_yticklabels()] == ["b", "c"]
    bars = draw_spending(spending_data(analysis)).patches
    assert sum(bar.get_width() for bar in bars) == analysis.course.total


def test_other_studies_have_no_such_figure(analysis):
    from dataclasses import replace

    plain = replace(analysis, course=None)
    with pytest.raises(InvalidData, match="of a study that found its own size"):
        pilot_data(plain)
    assert "pilot" not in {drawing.name for drawing in drawings(plain)}


def test_a_report_says_how_the_size_was_found(path, figures_only_of):
    figures_only_of("course")
    subject = subject_of(path)
    page = render(subject, "html")
    assert "How its size was found" in page
    assert 'id="figure-pilot"' in page
    assert 'id="figure-spending"' in page
    text = render(subject, "md")
    assert "c gets no more runs" in text
    assert "Sample size was re-estimated once, after 6 instances" in text
    assert "at 90 % of Holm's α" in text
    assert "Sample size was re-estimated once" in render(subject, "tex")


def test_the_json_has_the_course(analysis):
    document = analysis.as_dict()
    assert document["course"]["planned"] == analysis.course.planned
    assert [each["decided"] for each in document["diagnoses"]] == ["end", "pilot"]
    assert "significant at the pilot stage" in document["comparisons"][0]["verdict"]
