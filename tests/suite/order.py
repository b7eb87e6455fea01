"""The order in which tests are dealt out to workers."""

from __future__ import annotations

import pytest

LEAVING_THREADS = ("dask", "kinds_of_executors")  # Dask and loky keep theirs to the end of the process
LONG = (  # begun first, or the others would be done and wait for them; each hand by one worker
    ("case_studies/",),  # which compile, and would do so again in each worker that is started afresh
    ("in_chromium", "html_browser"),
    ("portable_half", "test_interruptions.py", "test_solvers.py", "killed", "disturbed"),
)
SHORT = tuple(f"tests/{room}/" for room in ("core", "stats", "design", "sampling", "analysis", "data"))  # start nothing
LAST = 8  # of the short ones a worker ends with one in so many, which others may take


def dealt_out(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests in an order in which each worker begins with long ones and ends with short ones that others may take.

    A worker gets a run of neighbours in this order, as many as the others. The first one has most of those that only
    compute: the others start processes, wait for them, and leave the cores to it meanwhile. The last one has those that
    leave threads: beside threads no process is forked, workers start afresh, and tests marked `alone` get a process of
    their own. So they come after all that start processes.
    """
    threads, others = _parted(items, LEAVING_THREADS)
    begins: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for number, words in enumerate(LONG):
        hand, others = _parted(others, words)
        begins[number % workers] += hand
    short, others = _parted(others, SHORT)
    ends = [short[number * len(short) // LAST : (number + 1) * len(short) // LAST] for number in range(workers - 1)]
    begins[0] += short[(workers - 1) * len(short) // LAST :]
    order: list[pytest.Item] = []
    for number, begin in enumerate(begins):
        end = [*(threads if number == workers - 1 else []), *(ends[number - 1] if number else [])]
        share = max(0, (number + 1) * len(items) // workers - len(order) - len(begin) - len(end))
        order += [*begin, *others[:share], *end]
        others = others[share:]
    return [*order, *others]


def _parted(items: list[pytest.Item], words: tuple[str, ...]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests that have some of the words in their names, and the others."""
    chosen, others = [], []
    for item in items:
        (chosen if any(word in item.nodeid for word in words) else others).append(item)
    return chosen, others
