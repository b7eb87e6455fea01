"""When a study with looks may be analysed."""

import random
from contextlib import suppress

import pytest
from cutting import Cut

from ampler import Study, analyse
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
    return Study(**{"better": "lower"} | common | given)


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
    with pytest.raises(InvalidData, match=f"{named} must stay as planned in a study that was looked at on the way"):
        analyse(path, **asked)
    analysis = analyse(path, **asked, ignore_looks=True)
    assert analysis.looks is None
    assert analysis.warnings[0].kind == "looked"


def test_what_is_only_told_otherwise_may_be_asked_otherwise(path):
    assert analyse(path, better="higher", power=0.9, weights="equal").looks is not None


def test_an_analysis_that_forgets_the_looks_says_so_on_top(path):
    from ampler.analysis.words import headline
    from ampler.report import render, subject_of

    analysis = analyse(path, ignore_looks=True)
    assert headline(analysis).startswith("Looked at on the way, and tested here as if it had not been (see below): ")
    assert "claim nothing on it" in analysis.warnings[0].sentence
    page = render(subject_of(path, ignore_looks=True), "md")
    assert "Looked at on the way, and tested here as if it had not been" in page.splitlines()[2]


def test_before_the_first_look_nothing_is_analysed(tmp_path):
    with suppress(KeyboardInterrupt):
        study().run(tmp_path / "s.db", executor=Cut(20))
    with pytest.raises(InvalidData, match="looked at after 8 instances for the first time, which are not finished yet"):
        analyse(tmp_path / "s.db")
    assert analyse(tmp_path / "s.db", ignore_looks=True).warnings[0].kind == "looked"
