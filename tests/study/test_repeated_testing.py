"""Studies that were enlarged after results were there are warned about, with what the level may have become."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flat_study import flat_study

import ampler as am
from ampler.analysis.text import headline
from ampler.core.errors import RunFailed
from ampler.report import subject_of
from ampler.report.methods import methods, plain_paragraph
from ampler.sampling.rules import Fixed
from ampler.study.status import status_of
from ampler.study.store import read_store
from ampler.study.warnings import repeated_level
from ampler.testing import SerialExecutor


def one(instance, seed):
    return 10 + random.Random(f"one {instance}").random() + random.Random(seed).random()


def two(instance, seed):
    return 10 + random.Random(f"two {instance}").random() + random.Random(seed).random()


def three(instance, seed):
    return 11 + random.Random(seed).random()


def fails(instance, seed):
    raise ValueError("not yet")


def run(path, use, algorithms=(one, two), **given):
    study = flat_study(
        algorithms={each.__name__: each for each in algorithms},
        instances=[f"i{number}" for number in range(60)],
        difference="simple",
        use=use,
        better="lower",
        **{"rule": Fixed(runs=2), **given},
    )
    return study.run(path, executor=SerialExecutor(), progress=False)


def growth(analysis):
    return [warning.sentence for warning in analysis.warnings if warning.kind == "growth"]


def test_growing_is_told_by_analysis_status_and_methods_with_the_plans_and_the_level(tmp_path):
    path = tmp_path / "study.db"
    analyses = [run(path, use) for use in (8, 12, 20, 40)]

    assert [len(growth(each)) for each in analyses] == [0, 1, 1, 1]
    (sentence,) = growth(analyses[-1])
    level = 100 * repeated_level((8, 12, 20, 40), 0.05, 1)
    assert "enlarged 3 times after first results (from 8 to 40 instances)" in sentence
    assert f"up to {level:.1f} %" in sentence
    assert "instead of 5 %" in sentence
    assert "interim analyses" in sentence
    assert "the study was enlarged after first results" in headline(analyses[-1])
    with read_store(path) as store:
        assert sentence in status_of(store).notes
    paragraph = plain_paragraph(methods(subject_of(path)))
    assert "The study was enlarged 3 times after first results (from 8 to 40 instances)" in paragraph


def test_growing_by_runs_or_by_precision_is_growing(tmp_path):
    for runs in (2, 4, 8):
        analysis = run(tmp_path / "runs.db", 10, rule=Fixed(runs=runs))
    (sentence,) = growth(analysis)
    assert "enlarged 2 times after first results (with more runs on each of 10 instances)" in sentence
    assert f"up to {100 * repeated_level((10, 20, 40), 0.05, 1):.1f} %" in sentence

    for se in (0.2, 0.1):
        analysis = run(tmp_path / "se.db", 10, rule=None, se=se)
    assert len(growth(analysis)) == 1
    (sentence,) = growth(run(tmp_path / "se.db", 10, (one, two, three), rule=None, se=0.1))
    assert "enlarged 1 time after" in sentence


def test_nothing_is_said_of_a_plan_that_grew_before_any_run_or_of_further_algorithms(tmp_path):
    with pytest.raises(RunFailed):
        run(tmp_path / "early.db", 8, (one, fails))
    assert growth(run(tmp_path / "early.db", 20, (one, two))) == []

    run(tmp_path / "more.db", 10)
    assert growth(run(tmp_path / "more.db", 10, (one, two, three))) == []


def test_nothing_is_said_of_planned_interim_analyses_and_of_a_size_that_a_pilot_chose(tmp_path):
    assert growth(run(tmp_path / "looks.db", 24, looks=3, effect=0.8)) == []
    detect = am.Study(
        algorithms={"one": one, "two": two},
        instances=[f"i{number}" for number in range(60)],
        difference="simple",
        design=am.Detect(0.3, pilot=12, runs=2),
        better="lower",
    )
    assert growth(detect.run(tmp_path / "detect.db", executor=SerialExecutor(), progress=False)) == []


@pytest.mark.parametrize(("sizes", "comparisons"), [((10, 20, 30), 1), ((8, 12, 16, 20, 25, 30, 40), 1), ((10, 20), 3)])
def test_the_level_is_that_of_whole_studies_tested_each_time(sizes, comparisons):
    from scipy.stats import ttest_1samp

    rng, studies = np.random.default_rng(20260118), 4000
    draws = rng.normal(size=(studies, comparisons, sizes[-1]))
    p = np.array([ttest_1samp(draws[:, :, :size], 0, axis=2).pvalue.min(axis=1) for size in sizes])
    rate = (p < 0.05 / comparisons).any(axis=0).mean()

    assert repeated_level(sizes, 0.05, comparisons) == pytest.approx(rate, abs=3.5 * (0.15 * 0.85 / studies) ** 0.5)
