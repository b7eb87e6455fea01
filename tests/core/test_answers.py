"""Answers of solvers: when they agree, what is expected, and when they exclude each other."""

import pytest

from ampler.core.answers import agree, canonical_answer, contradiction, expected_answer


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("s SATISFIABLE", "sat", True),
        ("UNSAT", "s UNSATISFIABLE", True),
        ("SAT", "UNSAT", False),
        ("INTEGER OPTIMAL", "Optimal", True),
        ("100.00005", "100", True),
        ("100.1", "100", False),
        ("1e30", "inf", False),  # infinity is no objective
        ("blue", "Blue ", True),
        ("PROBLEM HAS NO INTEGER FEASIBLE SOLUTION", "unsat", True),
        ("Infeasible", "s UNSATISFIABLE", True),
        ("Optimal solution found", "sat", True),
        ("Infeasible", "Optimal", False),
        ("Unbounded", "Infeasible", False),
        ("NOT SATISFIABLE", "sat", False),
        ("INTEGER NON-OPTIMAL", "sat", True),
        ("17.5", "Optimal", True),
        ("17.5", "Infeasible", False),
    ],
)
def test_answers_are_compared_by_their_meaning(first, second, same):
    assert agree(first, second) == same == agree(second, first)


def test_the_tolerance_is_relative_to_the_expected_objective_and_absolute_near_zero():
    assert agree("1.009e6", "1e6", 0.01)
    assert not agree("1.011e6", "1e6", 0.01)
    assert agree("0.005", "0", 0.01)


def test_an_expected_answer_that_nobody_knows_is_not_checked():
    assert expected_answer({}) is expected_answer({"expected": "?"}) is expected_answer({"expected": ""}) is None
    assert expected_answer({"expected": "sat", "tolerance": ""}) == ("sat", 1e-6)


def test_answers_of_one_algorithm_and_words_without_known_meaning_do_not_contradict():
    assert contradiction([("a", "feasible"), ("b", "sat"), ("c", "who knows")]) is None
    assert contradiction([("a", "10"), ("b", "10.0000001")]) is None
    assert contradiction([("a", "10"), ("b", "sat"), ("c", "11")]) == (("a", "10"), ("c", "11"))
    assert contradiction([("a", "sat"), ("b", "10"), ("c", "11")]) == (("b", "10"), ("c", "11"))
    assert contradiction([("a", "optimal"), ("b", "infeasible")]) is not None
    assert contradiction([("a", "17.5"), ("b", "infeasible")]) is not None
    assert canonical_answer("nan") == "nan"
