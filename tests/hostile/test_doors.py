"""Every public function checks what it is given at the door: one sentence, never another error."""

import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse, flat_study

import ampler as am

FRAME = pd.DataFrame({"instance": list("abcdef"), "old": [9, 8, 7, 9, 8, 7.5], "new": [5, 4, 4, 6, 5, 5]})
TABLE = FRAME.melt("instance", var_name="algorithm", value_name="value")
NONSENSE = ["foo", 5, -1, 0, float("nan"), 1j, [], {}, object(), True, b"x", ""]


def named(value):
    """The same on every worker: the address of an object is not."""
    return f"{type(value).__name__}-{str(value)[:8]}"


def runs_of(instance, seed):
    return 1.0 + seed % 7


def study(**changed):
    asked = {
        "algorithms": {"a": runs_of, "b": lambda instance, seed: 2.0 + seed % 5},
        "instances": {"x": 1, "y": 2, "z": 3},
        "difference": "simple",
        "se": 0.5,
        "use": "all",
        "seed": 1,
        **changed,
    }
    return flat_study(**asked)


SENSE = {  # what of the nonsense above means something after all
    "analyse": {
        **{name: [5] for name in ("se", "budget", "margin", "effect")},
        **{name: [[], {}] for name in ("algorithm", "instance")},
        "where": [{}],
    },
    "study": {
        **{name: [5] for name in ("effect", "se", "use", "start", "margin", "timeout", "memory", "target", "rule")},
        "seed": [5, -1, 0],
        "retries": [5, 0],
        "name": ["foo"],
    },
    "run": {"workers": [5], "retry_failed": [True], "despite_failures": [True], "on_code_change": [{}]},
}
WORDS_OF_COLUMNS = ("algorithm", "instance", "value", "metric", "where", "encoding")
WORDS_OF_ANALYSE = (
    *("difference", "reference", "better", "test", "alternative", "alpha", "statistic", "formula", "guard", "se"),
    *("budget", "margin", "effect", "power", "on_failure", *WORDS_OF_COLUMNS),
)
WORDS_OF_STUDY = (
    *("algorithms", "instances", "difference", "reference", "effect", "power", "se", "seed", "use", "rule", "start"),
    *("budget", "statistic", "alpha", "target", "test", "alternative", "better", "margin", "timeout", "memory"),
    *("on_failure", "retries", "name"),
)
WORDS_OF_RUN = ("workers", "executor", "on_code_change", "retry_failed")


def means_something(kind, word, value):
    return any(type(value) is type(sense) and value == sense for sense in SENSE[kind].get(word, []))


def wrong(kind, word):
    return [value for value in NONSENSE if not means_something(kind, word, value)]


def one_sentence(problem):
    text = str(problem.value)
    assert text
    assert "\n" not in text
    assert "Traceback" not in text


def refused(what, value):
    """Have something refused in one sentence; `value` is what it was given, to be seen when it is not."""
    with pytest.raises(am.AmplerError) as problem:
        pytest.fail(f"{value!r} was taken: {what()}")
    one_sentence(problem)


@pytest.mark.parametrize("word", WORDS_OF_ANALYSE)
def test_analyse_refuses_what_means_nothing_in_one_sentence(word):
    source = FRAME if word in WORDS_OF_COLUMNS else TABLE
    for value in wrong("analyse", word):
        asked = {"difference": "simple", "better": "lower", word: value}
        refused(lambda asked=asked: flat_analyse(source, **asked), value)


@pytest.mark.parametrize("word", WORDS_OF_STUDY)
def test_a_study_refuses_what_means_nothing_in_one_sentence(word):
    for value in wrong("study", word):
        refused(lambda value=value: study(**{word: value}).plan, value)  # it is made, and checked, when it is asked for


@pytest.mark.parametrize("word", WORDS_OF_RUN)
def test_running_refuses_what_means_nothing_before_a_run_is_made(tmp_path, word):
    for place, value in enumerate(wrong("run", word)):
        path = tmp_path / f"{place}.db"
        refused(lambda path=path, value=value: study().run(path, **{word: value}), value)


HOSTILE = [lambda *words: 1 / 0, type, "\ud800", 10**400, [None], {"a": None}, *NONSENSE]


@pytest.mark.parametrize("statistic", [lambda x: 1 / 0, lambda x: None, lambda x: "a", lambda x: sys.exit(0), object])
def test_a_statistic_that_gives_no_number_is_refused_in_one_sentence(statistic):
    refused(lambda: am.analyse(TABLE, difference="simple", better="lower", statistic=statistic), statistic)


@pytest.mark.parametrize("words", [("x", "i", "a", 0), (1, "i", "a", "x"), (1, "\ud800", "a", 0), (1.5, "i", "a", 0)])
def test_a_seed_of_what_is_no_run_is_refused_in_one_sentence(words):
    refused(lambda: am.run_seed(*words), words)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        *((am.Command, word) for word in ("argv", "parameters", "reading", "protocol", "outputs", "around", "limits")),
        *((am.Function, word) for word in ("parameters", "reading", "origin", "outputs", "around", "limits")),
        *((am.Instance, word) for word in ("name", "path", "features")),
        *((am.Study, word) for word in ("limits", "cluster", "settings", "measures")),
    ],
)
def test_what_describes_a_study_is_of_its_type_or_refused(kind, word):
    given = {
        am.Command: {"name": "c", "argv": ("true",)},
        am.Function: {"name": "c", "call": runs_of, "origin": "x:y"},
        am.Instance: {"name": "i"},
        am.Study: {},
    }[kind]
    for value in HOSTILE:
        with suppress(am.AmplerError):  # anything else is a defect
            made = None if kind is am.Study else kind(**{**given, word: value})
            algorithms = {"a": runs_of, "b": made if isinstance(made, am.Command | am.Function) else runs_of}
            instances = [made, "z"] if isinstance(made, am.Instance) else ["y", "z"]
            others = {word: value} if kind is am.Study else {}
            am.Study(algorithms, instances, difference="simple", better="lower", design=am.FixedSize(runs=2), **others)


@pytest.mark.parametrize("word", ["start", "costs", "instance_cost", "available", "settings"])
def test_advice_refuses_what_means_nothing_in_one_sentence(word):
    twice = pd.concat([TABLE, TABLE.assign(value=TABLE.value + 0.5)])
    for value in HOSTILE:
        with suppress(am.AmplerError):
            am.advise(twice, detect=1.0, difference="simple", better="lower", **{word: value})


@pytest.mark.parametrize("source", [*NONSENSE, None, "no such file.csv", np.zeros(3)], ids=named)
def test_what_is_no_source_of_results_is_refused_in_one_sentence(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # no name at all is that of this folder, which has no results
    with pytest.raises(am.AmplerError) as problem:
        am.analyse(source, difference="simple", better="lower")

    one_sentence(problem)


@pytest.mark.parametrize("decision", [None, 5, "stop", {"a": 3}, object()], ids=named)
def test_a_rule_that_gives_no_decision_is_refused_in_one_sentence(tmp_path, decision):
    with pytest.raises(am.AmplerError, match="a rule must request runs of a, b, or stop") as problem:
        study(se=None, rule=lambda samples: decision).run(tmp_path / "study.db", workers=1)

    one_sentence(problem)


@pytest.mark.parametrize(
    "value", [1 + 2j, np.complex64(1 + 2j), np.complex128(1 + 2j), np.array([1, 2]), "5", None, [3]], ids=str
)
def test_what_is_no_real_number_fails_the_run_with_its_reason(tmp_path, value):
    with pytest.raises(am.AmplerError, match="must be returned, got") as problem:
        study(algorithms={"a": lambda instance, seed: value, "b": runs_of}).run(tmp_path / "study.db", workers=1)

    one_sentence(problem)
