"""The code of several study files put together: which of it counts in the whole. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ampler.core.errors import PlanMismatch
from ampler.core.spoken import parameter
from ampler.core.values import Code
from ampler.study.code.changes import differing, same_code, shown


def joined_codes(files: Mapping[str, Sequence[Code]], *, same: bool = False) -> tuple[Code, ...]:
    """Return the code of all files, given by their names; code that one of them holds as superseded is so in the whole.

    PlanMismatch when runs of an algorithm that count were made with different code, unless it is said to be the `same`.
    """
    everything = [code for codes in files.values() for code in codes]
    void = {_place(code) for code in everything if not code.counts}
    for name in dict.fromkeys(code.algorithm for code in everything):
        _check_agreement(name, {file: _counting(codes, name) for file, codes in files.items()}, void, same=same)
    kept = {_place(code): Code(code.algorithm, code.files, _place(code) not in void) for code in everything}
    return tuple(kept.values())


def counting(codes: Iterable[Code], made_with: Mapping[tuple[int, str], str]) -> Callable[[int, str], bool]:
    """Return what says whether the runs of a session and an algorithm count.

    >>> counts = counting([Code("a", None, counts=False)], {(2, "a"): "e3b0"})
    >>> counts(1, "a"), counts(2, "a"), counts(1, "b")
    (False, True, True)
    """
    void = {_place(code) for code in codes if not code.counts}
    return lambda session, algorithm: (algorithm, made_with.get((session, algorithm), "")) not in void


def _place(code: Code) -> tuple[str, str]:
    return code.algorithm, code.digest


def _counting(codes: Sequence[Code], algorithm: str) -> list[Code]:
    return [code for code in codes if code.algorithm == algorithm and code.counts]


def _check_agreement(
    algorithm: str, counting: Mapping[str, list[Code]], void: set[tuple[str, str]], *, same: bool
) -> None:
    left = {file: [code for code in codes if _place(code) not in void] for file, codes in counting.items()}
    given = {file: codes for file, codes in left.items() if codes}
    if not given and any(counting.values()):
        raise PlanMismatch(
            f"the files contradict each other: each holds the runs of algorithm {algorithm!r} as superseded that count"
            f" in another one; run the parts with the same code and {parameter('again', True)}, then merge them"
        )
    linked: list[Code] = []
    for file, codes in given.items():
        if not same and linked and not any(_alike(one, two) for one in codes for two in linked):
            raise PlanMismatch(_difference(algorithm, next(iter(given)), linked[0], file, codes[0]))
        linked += codes


def _alike(one: Code, two: Code) -> bool:
    return same_code(one.files or {}, two.files or {})


def _difference(algorithm: str, first: str, one: Code, other: str, two: Code) -> str:
    which = shown(differing(one.files or {}, two.files or {}))
    return (
        f"the runs of algorithm {algorithm!r} in {first} and {other} were made with different code ({which}); merge"
        f" them with {parameter('same', True)} if that does not matter, or run the part with the old code again with"
        f" {parameter('again', True)}"
    )
