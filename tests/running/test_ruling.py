"""What a rule says is followed where it can be, and is one sentence where it cannot; nothing that was made is lost."""

import math

import numpy as np
import pytest

import ampler as am
from ampler.core.errors import InvalidData, InvalidRule
from ampler.core.plan import Sample, Stop
from ampler.running.instance import MAX_REQUEST, call_rule, validated_decision
from ampler.study.store import read_store

ASKED = {"a": 3, "b": 3}


@pytest.mark.parametrize(
    "counts", [{"a": 1}, {"a": np.int64(1)}, {"a": 1, "b": 0}, {"a": MAX_REQUEST}], ids=["int", "numpy", "zero", "most"]
)
def test_whole_numbers_of_any_library_are_counts(counts):
    assert validated_decision(Sample(counts), ASKED) == Sample({"a": int(counts["a"])})


class Raising(dict):
    def keys(self):
        raise RuntimeError("no keys")


NONSENSE = {
    "None": None,
    "a number": 5,
    "nan": math.nan,
    "a text": "stop",
    "a dictionary": {"a": 3},
    "the class of a decision": Stop,
    "nothing asked for": Sample({}),
    "zeros": Sample({"a": 0, "b": 0}),
    "a negative count": Sample({"a": -1, "b": 5}),
    "a count of nan": Sample({"a": math.nan}),
    "a count of infinity": Sample({"a": math.inf}),
    "half a run": Sample({"a": 0.5}),
    "a whole float": Sample({"a": 3.0}),
    "a count in words": Sample({"a": "3"}),
    "a count of nothing": Sample({"a": None}),
    "a true count": Sample({"a": True}),
    "an array of counts": Sample({"a": np.array([1, 2])}),
    "a huge count": Sample({"a": 10**12}),
    "a count beyond all": Sample({"a": 10**400}),
    "an unknown algorithm": Sample({"c": 1}),
    "an algorithm that is no name": Sample({5: 1}),
    "a list of counts": Sample([3, 4]),
    "no counts": Sample(None),
    "counts that raise": Sample(Raising()),
    "a stop without a reason": Stop(None),
    "a stop for a number": Stop(5),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_a_decision_that_cannot_be_followed_is_one_sentence(kind):
    with pytest.raises(InvalidRule) as refused:
        validated_decision(NONSENSE[kind], ASKED)

    assert str(refused.value).startswith(("a rule must request runs of a, b, or stop, got ", "a rule must return a"))
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_what_a_rule_raises_is_one_sentence_and_what_we_raise_goes_on():
    def ask(problem):
        raise problem

    with pytest.raises(InvalidRule, match="a rule must return a decision, but it raised ZeroDivisionError: oh"):
        call_rule(lambda: ask(ZeroDivisionError("oh\nno")))
    with pytest.raises(InvalidRule, match="it raised SystemExit"):
        call_rule(lambda: ask(SystemExit(0)))
    with pytest.raises(InvalidData, match="as it is"):
        call_rule(lambda: ask(InvalidData("as it is")))


class LateRule:
    """Asks for two rounds as it should, then answers with nonsense."""

    def __init__(self, last):
        self._last = last

    def __call__(self, samples):
        if samples.spent.sum() < 8:
            return Sample({"a": 2, "b": 2})
        return self._last()


@pytest.mark.parametrize("last", [lambda: None, lambda: 1 / 0, lambda: Sample({"a": -3}), lambda: Sample({"x": 1})])
def test_runs_that_were_made_before_a_rule_fails_are_kept_and_its_mending_goes_on(tmp_path, last):
    def study(rule):
        functions = {"a": lambda instance, seed: seed % 7, "b": lambda instance, seed: seed % 5}
        design = am.FixedSize(runs=rule)
        return am.Study(functions, {"x": 1, "y": 2}, difference="simple", design=design, seed=1, better="lower")

    with pytest.raises(InvalidRule, match=r"on instance '[xy]': a rule must"):
        study(LateRule(last)).run(tmp_path / "study.db", workers=1)
    with read_store(tmp_path / "study.db") as store:
        before = {each.key: each.value for each in store.observations()}
    study(LateRule(lambda: Stop("done"))).run(tmp_path / "study.db", workers=1)
    with read_store(tmp_path / "study.db") as store:
        after = {each.key: each.value for each in store.observations()}

    assert len(before) >= 8
    assert before.items() <= after.items()
    assert len(after) == 16
