"""Tied groups and ranks that pairwise decisions leave open: letters, and simultaneous confidence sets for ranks. Pure.

Letters (compact letter display, Piepho 2004): two algorithms share a letter where no difference between them is
claimed. Rank sets: an algorithm ranks behind all that are claimed better, and before all that are claimed worse. If no
decision is false, every set contains the true rank; so all sets hold together with the confidence 1 − α of the
decisions. This is the simpler set that Mogstad, Romano, Shaikh and Wilhelm (2024, Review of Economic Studies 91) derive
from tests of all pairs; Holm's procedure steps down as theirs does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from string import ascii_lowercase

MOST_GROUPS = 60  # letters and bars that anyone can still distinguish


def rank_sets(size: int, better: Collection[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the best and the worst rank of each of `size` algorithms; `better` has pairs (winner, loser).

    >>> rank_sets(3, [(0, 2)])
    ((1, 2), (1, 3), (2, 3))
    """
    losses, wins = [0] * size, [0] * size
    for winner, loser in set(better):
        wins[winner] += 1
        losses[loser] += 1
    return tuple((1 + lost, size - won) for lost, won in zip(losses, wins, strict=True))


def letters(order: Sequence[int], told_apart: Collection[frozenset[int]]) -> tuple[str, ...]:
    """Return the letters of each algorithm; a comes first in `order`, best first. Empty if there are too many groups.

    >>> letters([1, 0, 2], [frozenset((1, 2))])
    ('ab', 'a', 'b')
    """
    size, place = len(order), {index: at for at, index in enumerate(order)}
    pairs = {frozenset((i, j)) for i in range(size) for j in range(i)}
    groups = list(islice(cliques(size, pairs - set(told_apart)), MOST_GROUPS + 1))
    if len(groups) > MOST_GROUPS:
        return ("",) * size
    alone = set(range(size)).difference(*groups)
    ranked = sorted(sorted(place[index] for index in group) for group in [*groups, *((index,) for index in alone)])
    names = [(n // len(ascii_lowercase), ascii_lowercase[n % len(ascii_lowercase)]) for n in range(len(ranked))]
    texts = [letter + (str(cycle + 1) if cycle else "") for cycle, letter in names]
    return tuple("".join(texts[n] for n, group in enumerate(ranked) if place[index] in group) for index in range(size))


def cliques(size: int, alike: set[frozenset[int]]) -> Iterator[tuple[int, ...]]:
    """Yield the largest groups of two or more in which every pair is alike (Bron and Kerbosch 1973, with a pivot).

    >>> sorted(cliques(4, {frozenset(pair) for pair in [(0, 1), (1, 2), (0, 2), (2, 3)]}))
    [(0, 1, 2), (2, 3)]
    """
    near = {index: {other for other in range(size) if frozenset((index, other)) in alike} for index in range(size)}

    def extend(group: set[int], open_: set[int], done: set[int]) -> Iterator[tuple[int, ...]]:
        if not open_ and not done and len(group) > 1:
            yield tuple(sorted(group))
        pivot = max(open_ | done, key=lambda index: len(near[index] & open_), default=None)
        for index in sorted(open_ - (near[pivot] if pivot is not None else set())):
            yield from extend(group | {index}, open_ & near[index], done & near[index])
            open_, done = open_ - {index}, done | {index}

    yield from extend(set(), {index for index in near if near[index]}, set())
