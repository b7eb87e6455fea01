"""When a study with looks may be analysed."""

import random
from contextlib import suppress

import pytest
from cutting import Cut
from flat_study import flat_analyse, flat_study

from ampler import Settings, analyse, read_results
from ampler.core.errors import InvalidData
from ampler.testing import SerialExecutor


def solver(shift):
    return lambda instance, seed: 100 + instance + shift + random.Random(f"{seed}").gauss(0, 1)


def study(**given):
    common = {
        "algorithms": {"a": solver(0), "b": solver(3), "c": solver(0.1)},
        "instances": {f"i{n}": n for n in range(20)},
        "difference": "simple",
        "reference": "a",
        "effect": 0.9,
        "se": 0.8,
        "start": 3,
        "use": "all",
        "looks": 4,
        "seed": 6,
    }
    return flat_study(**common | given)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("looks") / "study.db"
    study().run(file, executor=SerialExecutor())
    return file


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"alpha": 0.01}, "alpha"),
        ({"test": "wilcoxon"}, "test"),
        ({"margin": 1.0}, "margin"),
        ({"effect": 0.5}, "effect"),
        ({"estimate": "first-runs"}, "estimate"),
        ({"alternative": "less"}, "alternative"),
        ({"statistic": "median", "difference": "ratio"}, "difference, statistic"),
    ],
)
def test_another_question_is_refused_unless_it_is_asked_for(path, asked, named):
    with pytest.raises(InvalidData, match=f"{named} must stay as planned"):
        flat_analyse(path, **asked)
    analysis = flat_analyse(path, ignore_looks=True, **asked)
    assert analysis.looks is None
    assert analysis.warnings[0].kind == "looked"


def test_what_is_only_told_otherwise_may_be_asked_otherwise(path):
    assert analyse(path, better="higher", settings=Settings(power=0.9, weights="equal")).looks is not None


def test_an_analysis_that_forgets_the_looks_says_so_on_top(path):
    from ampler.analysis.text import headline
    from ampler.report import render, subject_of

    analysis = analyse(read_results(path, ignore_looks=True))
    assert headline(analysis).startswith(
        "Do not report these results: interim analyses were made and are ignored here. "
    )
    assert "Do not report these results" in analysis.warnings[0].sentence
    page = render(subject_of(path, reading={"ignore_looks": True}), "md")
    assert "Do not report these results: interim analyses were made and are ignored here." in page.splitlines()[2]


def test_before_the_first_look_nothing_is_analysed(tmp_path):
    with suppress(KeyboardInterrupt):
        study().run(tmp_path / "s.db", executor=Cut(20))
    with pytest.raises(InvalidData, match="is after 8 instances, which are not finished yet"):
        analyse(tmp_path / "s.db")
    assert analyse(read_results(tmp_path / "s.db", ignore_looks=True)).warnings[0].kind == "looked"
