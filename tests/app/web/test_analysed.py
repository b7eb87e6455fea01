from __future__ import annotations

import pytest

from ampler.app.web.analysed import KEPT, Analyses, ResultsSource, choices_made
from ampler.app.web.asked_analysis import AskedAnalysis


@pytest.fixture
def source(study):
    return ResultsSource(study, "/study/small/results", study.name, "small", ("small", "/study/small"), is_study=True)


def test_an_analysis_is_made_once(source):
    analyses = Analyses()

    first = analyses.of(source, AskedAnalysis())
    assert analyses.of(source, AskedAnalysis()) is first
    assert analyses.of(source, AskedAnalysis(test="sign")) is not first


def test_few_are_kept_and_all_can_be_forgotten(source):
    analyses = Analyses()
    for number in range(KEPT + 2):
        analyses.of(source, AskedAnalysis(alpha=0.01 * (number + 1)))
    assert len(analyses._kept) == KEPT
    analyses.forget(source.path)
    assert not analyses._kept


def test_choosing_what_was_planned_is_no_choice(source):
    subject = Analyses().of(source, AskedAnalysis())

    assert choices_made(subject, AskedAnalysis(test="t", difference="simple")) == []
    assert choices_made(subject, AskedAnalysis(test="sign", margin=0.1)) == ["test", "margin"]
