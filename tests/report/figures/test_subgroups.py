from __future__ import annotations

import pytest

from ampler.core.errors import InvalidInput
from ampler.plots import draw_subgroups, subgroups_data

FEATURES = {"size": ["small", "large", "huge"], "shape": ["round", "square"]}


@pytest.fixture(scope="module")
def analysis(study_of):
    return study_of(["full", "one", "two"], reference="full", features=FEATURES)


def test_the_marks_are_the_subgroups_of_the_analysis(analysis):
    data = subgroups_data(analysis, "shape")

    for label, marks in zip(data.pairs, data.marks, strict=True):
        for group, mark in zip(["round", "square"], marks, strict=True):
            found = next(
                each
                for each in analysis.subgroups
                if (each.feature, each.value, each.second) == ("shape", group, label)
            )
            low, high = found.interval
            assert (mark.estimate, mark.interval) == (-found.estimate, (-high, -low))  # of the row's subject


def test_groups_are_named_with_their_number_of_instances(analysis):
    assert subgroups_data(analysis).groups == ("small (4)", "large (4)", "huge (4)")


def test_a_feature_that_is_not_there_is_refused_with_those_that_are(analysis):
    with pytest.raises(InvalidInput, match="the feature must be one of 'size', 'shape', got 'colour'"):
        subgroups_data(analysis, "colour")


def test_an_analysis_without_features_has_nothing_to_draw(study_of):
    with pytest.raises(InvalidInput, match="must have subgroups to draw, got none; give features"):
        subgroups_data(study_of(["one", "two"]))


def test_only_the_first_comparisons_are_shown_and_the_rest_counted(analysis):
    data = subgroups_data(analysis, most=1)

    assert (len(data.pairs), data.left_out) == (1, 1)
    assert "1 more comparisons are not shown" in draw_subgroups(data).get_xlabel()


def test_every_group_has_a_look_of_its_own(study_of):
    many = study_of(["one", "two"], instances=48, runs=2, features={"kind": [f"k{n}" for n in range(24)]})

    lines = [line for line in draw_subgroups(subgroups_data(many)).lines if not line.get_label().startswith("_")]

    assert len({(line.get_color(), line.get_marker()) for line in lines}) == len(lines) == 24


def test_the_drawing_says_that_nothing_is_adjusted(analysis):
    assert "95 % intervals, unadjusted" in draw_subgroups(subgroups_data(analysis)).get_xlabel()
