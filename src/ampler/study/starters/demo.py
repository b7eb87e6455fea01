"""A small study that ships with the package: annealers with different moves on random travelling-salesman instances."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import dist
from pathlib import Path

from ampler.core.errors import InvalidInput
from ampler.core.serialization import write_new_files
from ampler.core.text import parameter
from ampler.study.starters import text_of

City = tuple[float, float]
Move = tuple[float, Callable[[], None]]  # change of the length, and the function that applies the move

INSTANCES = 24
STEPS = 4000  # moves that a run tries: some milliseconds
HEAT = 0.2  # of the mean distance between neighbours, at the beginning


def instances() -> dict[str, list[City]]:
    """Return the instances by name: cities spread evenly, in clusters, and along a ring; always the same ones.

    >>> [(name, len(cities)) for name, cities in instances().items()][:3]
    [('even-1', 30), ('clusters-1', 35), ('ring-1', 25)]
    """
    cities = {}
    for number in range(INSTANCES // len(LAYOUTS)):
        for layout, draw in LAYOUTS.items():
            rng = random.Random(f"{layout} {number}")
            cities[f"{layout}-{number + 1}"] = [draw(rng) for _ in range(rng.randint(25, 50))]
    return cities


def anneal(cities: Sequence[City], seed: int, *, moves: Sequence[str], steps: int = STEPS) -> dict[str, float]:
    """Look for a short tour by simulated annealing; return the length of the best one and the share of moves taken.

    >>> square = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)]
    >>> round(anneal(square, 1, moves=["reverse"])["length"], 6)
    4.0
    """
    rng = random.Random(seed)
    tour = list(cities)
    rng.shuffle(tour)
    now = best = length(tour)
    accepted = 0
    for step in range(steps):
        heat = HEAT * (1 - step / steps) ** 2 * now / len(tour)
        worse, go = MOVES[rng.choice(moves)](tour, rng)
        if worse <= 0 or rng.random() < math.exp(-worse / heat):
            go()
            now += worse
            best = min(best, now)
            accepted += 1
    return {"length": best, "taken": accepted / steps}


def length(tour: Sequence[City]) -> float:
    """Return the length of a round trip."""
    return sum(dist(here, there) for here, there in pairwise(tour)) + dist(tour[-1], tour[0])


def write_study(folder: Path) -> Path:
    """Write the study definition of the demonstration unless it exists, and return its path."""
    study = folder / "study.toml"
    if not study.exists():
        if folder.exists() and not folder.is_dir():
            way_out = f"choose another with {parameter('output')}"
            raise InvalidInput(f"the demonstration needs a folder, {folder} is a file; {way_out}")
        write_new_files({study: text_of("demo.toml")})
    return study


def _even(rng: random.Random) -> City:
    return rng.random(), rng.random()


def _clusters(rng: random.Random) -> City:
    centre = rng.randrange(5)
    x, y = 0.5 + 0.4 * math.cos(centre * 1.3), 0.5 + 0.4 * math.sin(centre * 1.3)
    return rng.gauss(x, 0.05), rng.gauss(y, 0.05)


def _ring(rng: random.Random) -> City:
    angle, radius = rng.uniform(0, 2 * math.pi), rng.uniform(0.35, 0.5)
    return 0.5 + radius * math.cos(angle), 0.5 + radius * math.sin(angle)


def _reverse(tour: list[City], rng: random.Random) -> Move:
    """Reverse a part of the tour (2-opt)."""
    cities = len(tour)
    first, last = sorted((rng.randrange(cities), rng.randrange(cities)))
    before, here, there, after = tour[first - 1], tour[first], tour[last], tour[(last + 1) % cities]
    worse = 0.0
    if last - first < cities - 2:  # otherwise the tour stays the same
        worse = dist(before, there) + dist(here, after) - dist(before, here) - dist(there, after)

    def go() -> None:
        tour[first : last + 1] = tour[first : last + 1][::-1]

    return worse, go


def _insert(tour: list[City], rng: random.Random) -> Move:
    """Move a city to another position."""
    cities = len(tour)
    old, new = rng.randrange(cities), rng.randrange(cities - 1)
    city, left, right = tour[old], tour[old - 1], tour[(old + 1) % cities]
    rest = tour[:old] + tour[old + 1 :]
    before, after = rest[new - 1], rest[new]
    worse = dist(before, city) + dist(city, after) - dist(before, after)
    worse -= dist(left, city) + dist(city, right) - dist(left, right)

    def go() -> None:
        rest.insert(new, city)
        tour[:] = rest

    return worse, go


LAYOUTS = {"even": _even, "clusters": _clusters, "ring": _ring}
MOVES = {"reverse": _reverse, "insert": _insert}
