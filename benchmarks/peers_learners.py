"""Learners on one task, where adastop stops early: the same learners with all their runs, compared by ampler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
import pandas as pd

import ampler as am
from peers_rows import Row
from peers_tables import SCENARIOS, Pair, Scenario, scored
from peers_tools import quiet

STUDIES = {"adastop": 100, "ampler": 200}  # fewer, where a tool is slow
BATCH, BATCHES = 5, 5  # runs of a learner before each decision, decisions: adastop's own defaults, as the permutations
PERMUTATIONS = 10_000
LEVEL = 0.05
Claims = tuple[set[Pair], int]


def learners() -> Iterator[tuple[Callable[[], list[Row]], tuple[str, str, str]]]:
    """Each part with its key."""
    for name in ("five equal", "three equal, two worse"):
        data = f"5 learners, one task, {name}"
        if find_spec("adastop"):
            yield lambda d=data, n=name: judged(d, "adastop", SCENARIOS[n], by_adastop), ("race", data, "adastop")
        yield lambda d=data, n=name: judged(d, "ampler", SCENARIOS[n], by_ampler), ("race", data, "ampler")


def judged(data: str, tool: str, scenario: Scenario, decide: Callable[[Scenario, int], Claims]) -> list[Row]:
    """What a tool claims and how many runs it takes, over studies whose truth is known."""
    answers = [decide(scenario, number) for number in range(STUDIES[tool])]
    scores = [scored(claims, scenario.truth) for claims, _ in answers]
    true = sum(1 for difference in scenario.truth.values() if difference)
    rows = [
        Row.share("race", data, tool, "error", [score["wrong"] > 0 for score in scores]),
        Row.share("race", data, tool, "runs", [runs for _, runs in answers]),
    ]
    return (
        [*rows, Row.share("race", data, tool, "power", [score["found"] / true for score in scores])] if true else rows
    )


def runs_of(scenario: Scenario, number: int) -> dict[str, np.ndarray]:
    """All runs that a study could make: lower is better."""
    rng = np.random.default_rng([2024, number])
    noise = rng.normal(size=(len(scenario.names), BATCH * BATCHES))
    return {
        name: offset + noise[place]
        for place, (name, offset) in enumerate(zip(scenario.names, scenario.offsets, strict=True))
    }


def by_adastop(scenario: Scenario, number: int) -> Claims:
    """Runs are made in batches by the learners that are still compared."""
    from adastop import MultipleAgentsComparator

    there = runs_of(scenario, number)
    comparator = MultipleAgentsComparator(n=BATCH, K=BATCHES, B=PERMUTATIONS, alpha=LEVEL, seed=number)
    made = {name: there[name][:BATCH] for name in there}
    for batch in range(BATCHES):
        if batch:
            going = {scenario.names[place] for place in comparator.current_comparisons.ravel()}
            made |= {name: there[name][: BATCH * (batch + 1)] for name in going}
        with quiet():
            comparator.partial_compare(made, verbose=False)
        if comparator.is_finished:
            break
    claims = set()
    for first, second in comparator.comparisons:
        pair = (scenario.names[first], scenario.names[second])
        decision = comparator.decisions[str(np.array([first, second]))]
        claims |= {"smaller": {pair}, "larger": {pair[::-1]}}.get(decision, set())
    return claims, sum(map(len, made.values()))


def by_ampler(scenario: Scenario, number: int) -> Claims:
    """All runs are made; pairs are tested by the runs of the one instance."""
    there = runs_of(scenario, number)
    frame = pd.DataFrame(
        [(name, "task", value) for name, values in there.items() for value in values],
        columns=["algorithm", "instance", "value"],
    )
    found = am.analyse(frame, difference="simple", better="lower").comparisons
    claims = {(one.first, one.second)[:: 1 if one.estimate < 0 else -1] for one in found if one.rejected}
    return claims, len(frame)
