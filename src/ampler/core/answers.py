"""Answers of solvers: when two answers agree, and when they contradict each other. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

TOLERANCE = 1e-6  # relative difference up to which two objectives are equal: the usual tolerance of MIP solvers
UNKNOWN = re.compile(r"(|\?|none|na|n/a|-)|.*\b(unknown|indeterminate|undefined|undecided)\b.*")  # no answer
STATUS = {  # meaning of a solver's status, by the words in it; the first match counts
    "unbounded": r"\bunbounded|dual infeasible",
    "unsat": r"\bunsat|infeasible|\b(no|not)\b.*\b(feasible|satisfiable)",
    "optimal": r"(?<!non-)(?<!not )\boptimal|\boptimum found",
    "sat": r"\bsat(isfiable)?\b|\bfeasible|\bnon-optimal",
}


def canonical_answer(text: str) -> float | str:
    """Return an answer as a number, or as the word for its meaning.

    >>> canonical_answer("s UNSATISFIABLE"), canonical_answer("INTEGER OPTIMAL"), canonical_answer("17.50")
    ('unsat', 'optimal', 17.5)
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    word = text.strip().lower()
    return next((meaning for meaning, pattern in STATUS.items() if re.search(pattern, word)), word)


def is_unknown(answer: str) -> bool:
    """Return whether an answer means infeasible.

    >>> is_unknown("s UNKNOWN"), is_unknown("?"), is_unknown("s SATISFIABLE")
    (True, True, False)
    """
    return UNKNOWN.fullmatch(answer.strip().lower()) is not None


def agree(first: str, second: str, tolerance: float = TOLERANCE) -> bool:
    """Return whether two answers can both be right: what is optimal, or has an objective, is satisfiable.

    Numbers may differ by `tolerance` times the larger of 1 and `second`.

    >>> agree("SATISFIABLE", "sat"), agree("100.00001", "100"), agree("99", "100", 0.02), agree("99", "100")
    (True, True, True, False)
    """
    one, other = canonical_answer(first), canonical_answer(second)
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= tolerance * max(1.0, abs(other))
    words = {"sat" if isinstance(word, float) or word == "optimal" else word for word in (one, other)}
    return one == other or words == {"sat"}


def expected_answer(features: Mapping[str, str]) -> tuple[str, float] | None:
    """Return the answer expected on an instance and the tolerance for it; None when nothing is known.

    >>> expected_answer({"expected": "17.5", "tolerance": "0.01"}), expected_answer({"expected": "?"})
    (('17.5', 0.01), None)
    """
    text = features.get("expected", "").strip()
    if is_unknown(text):
        return None
    tolerance = features.get("tolerance") or TOLERANCE
    try:
        if 0 <= float(tolerance) < math.inf:
            return text, float(tolerance)
    except ValueError:
        pass
    raise ValueError(f"the tolerance of an expected answer must be a number of 0 or more, got {tolerance!r}")


def contradiction(answers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Return the first two (algorithm, answer) pairs that exclude each other; None when there are none.

    Numbers exclude each other as objectives of proven optima do, words only when their meaning is known.

    >>> contradiction([("a", "SATISFIABLE"), ("b", "sat"), ("c", "UNSAT")])
    (('a', 'SATISFIABLE'), ('c', 'UNSAT'))
    """
    seen: dict[str, str] = {}  # each answer with the first algorithm that gave it
    for algorithm, answer in answers:
        value = canonical_answer(answer)
        if isinstance(value, float) or value in STATUS:
            for before, first in seen.items():
                if not agree(answer, before):
                    return (first, before), (algorithm, answer)
            seen.setdefault(answer, algorithm)
    return None
