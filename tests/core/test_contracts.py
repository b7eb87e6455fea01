"""What a rule may know besides: each optional half is asked for by a function, and a rule without it says nothing."""

import pytest

from ampler.core.arrays import Samples
from ampler.core.contracts import check_rule, current_error, narrowed, predicted_runs, target_error
from ampler.core.errors import InvalidRule
from ampler.core.plan import Stop
from ampler.sampling.rules import Accuracy, Fixed

ACCURACY = Accuracy(se=0.5, difference="simple", start=3, budget=40, costs={"a": 1.0, "b": 2.0, "c": 3.0})


def plain(samples):
    return Stop("runs done")


def sampled(**values):
    samples = Samples(list(values))
    for name, given in values.items():
        for value in given:
            samples.add(name, value)
    return samples


SOME = sampled(a=[5.0, 6.0, 9.0], b=[1.0, 1.5, 2.0], c=[3.0, 3.5, 4.0])


def test_a_plain_function_is_a_rule_that_says_nothing_besides():
    assert predicted_runs(plain, SOME) is None
    assert current_error(plain, SOME) is None
    assert target_error(plain) is None
    assert narrowed(plain, ["a"]) is plain
    check_rule(plain, ["a"], deterministic=[])


def test_accuracy_says_all_of_it():
    assert predicted_runs(ACCURACY, SOME) == ACCURACY.predict(SOME)
    assert current_error(ACCURACY, SOME) == ACCURACY.errors(SOME).guarded.max()
    assert target_error(ACCURACY) == 0.5
    with pytest.raises(InvalidRule, match="first runs of every algorithm"):
        check_rule(ACCURACY, [f"a{number}" for number in range(20)], deterministic=[])


def test_fixed_foresees_its_runs_and_measures_nothing():
    assert predicted_runs(Fixed(runs=5), SOME) == {"a": 2, "b": 2, "c": 2}
    assert current_error(Fixed(runs=5), SOME) is None
    assert target_error(Fixed(runs=5)) is None


def test_an_error_that_is_not_known_yet_is_none():
    assert current_error(ACCURACY, Samples(["a", "b"])) is None
    assert current_error(ACCURACY, sampled(a=[1.0], b=[2.0], c=[3.0])) is None


def test_a_rule_that_names_algorithms_can_do_with_some_of_them():
    names = ["c", "a"]

    narrow = narrowed(ACCURACY, names)

    check_rule(narrow, names, deterministic=[])
    assert narrow.costs == {"a": 1.0, "c": 3.0}
    assert narrowed(Fixed(), names) == Fixed()
