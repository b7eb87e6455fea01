"""The order in which instances are told."""

from __future__ import annotations

from ampler.analysis.standings import reading_order


def test_instances_are_told_by_their_features_and_numbers_count_as_numbers(study_of):
    sizes = {"jobs": ["100", "50", "75"]}
    analysis = study_of(["one", "two"], instances=6, features=sizes)

    told = [analysis.accuracy[place].instance for place in reading_order(analysis)]

    assert [analysis.features["jobs"][name] for name in told] == ["50", "50", "75", "75", "100", "100"]


def test_without_features_they_are_told_by_their_names(study_of):
    analysis = study_of(["one", "two"], instances=12)

    assert reading_order(analysis) == list(range(12))  # "10 & …" after "9 & …"
