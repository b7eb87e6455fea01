"""The simulated annealing of Santos et al. (2016) with any subset of its six neighbourhoods, compiled by Numba."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ampler_upmsp.compiled import inlined, kernel
from ampler_upmsp.generator import GRAINS, below, grains, seeded, skip_grains
from ampler_upmsp.instance import Instance
from ampler_upmsp.moves import (
    FAMILIES,
    NOBODY,
    REJECTED,
    SWITCH,
    TASK_MOVE,
    UNBOUNDED,
    Bounds,
    applicable,
    apply,
    fill_row,
    propose,
)
from ampler_upmsp.solution import Schedule, Solution, checked

COLDEST = 1e-6  # below this the temperature goes back to its start
CHANCES = 64  # how many acceptance probabilities are kept per temperature; larger increases are computed
CAPS = 256  # numbers of 8 bits, with which the one begins that is drawn for an increase
HOPELESS = 37.0  # exp(-37) < 2⁻⁵³, the smallest number that is drawn
CHUNK = 200_000  # iterations between two looks at the clock: some 20 ms
NO_MOVE = -1
INCUMBENTS = 4096  # how many improvements one chunk can hold: the makespan of a start falls in fewer steps


@dataclass(frozen=True, slots=True)
class Parameters:
    """The settings of the annealing; the defaults are those of the published program."""

    temperature: float = 1.0
    cooling: float = 0.96
    iterations_per_temperature: int = 1_176_628

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise ValueError(f"temperature must be positive, got {self.temperature!r}")
        if not 0 < self.cooling < 1:
            raise ValueError(f"cooling must lie between 0 and 1, got {self.cooling!r}")
        if self.iterations_per_temperature < 1:
            raise ValueError(f"iterations_per_temperature must be at least 1, got {self.iterations_per_temperature!r}")


PUBLISHED = Parameters()


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A new best makespan, when it was found: after how many iterations and, to some 20 ms, after how many seconds."""

    iteration: int
    seconds: float
    makespan: int


@dataclass(frozen=True, slots=True)
class Result:
    """The best solution, checked, with the effort it took."""

    solution: Solution
    iterations: int
    seconds: float
    incumbents: tuple[Incumbent, ...]

    @property
    def makespan(self) -> int:
        """The best solution's makespan."""
        return self.solution.makespan


def anneal(
    instance: Instance,
    *,
    seed: int,
    iterations: int | None = None,
    seconds: float | None = None,
    disable: Iterable[str] = (),
    parameters: Parameters = PUBLISHED,
    start: Schedule | None = None,
) -> Result:
    """Search for a schedule with a small makespan, for so many iterations or seconds (default: 15·J·M milliseconds).

    With an iteration limit alone the result is a function of instance, seed and settings. `disable` names the
    neighbourhoods to leave out: SHF, DSW, SWP, SWT, TSK, 2SH. The search begins at a random schedule, the one that the
    published program has for the seed, or at `start`.
    """
    if iterations is not None and iterations < 0:
        raise ValueError(f"iterations must not be negative, got {iterations!r}")
    if iterations is None and seconds is None:
        seconds = 0.015 * instance.jobs * instance.machines
    state = _State.make(instance, seed, parameters, start)
    pool = _pool(disable)
    state.advance(pool, 0, parameters)  # compiles, if nothing has yet: that is no part of the search
    began = time.perf_counter()
    incumbents = []
    while pool.size:
        left = CHUNK if iterations is None else min(CHUNK, iterations - state.iteration)
        if left <= 0 or (seconds is not None and time.perf_counter() - began >= seconds):
            break
        found, stuck = state.advance(pool, left, parameters)
        now = time.perf_counter() - began
        incumbents += [Incumbent(int(at), now, int(value)) for at, value in found]
        if stuck:
            break  # no move of the pool can be made from here: one machine, or a single job
    solution = checked(instance, state.best())
    if solution.makespan != state.best_makespan:
        raise AssertionError(f"the annealing says {state.best_makespan}, the checker {solution.makespan}")
    return Result(solution, state.iteration, time.perf_counter() - began, tuple(incumbents))


class _State:
    """The arrays of one search: current and best rows, machine times, generator, temperature."""

    def __init__(self, instance: Instance, rows: np.ndarray, lengths: np.ndarray, rng: np.ndarray, start: float):
        machines = len(lengths)
        self.table, self.rows, self.lengths, self.rng = instance.costs, rows, lengths, rng
        self.arcs = np.zeros(rows.shape, dtype=instance.least_costs.dtype)
        self.times = np.zeros(machines, dtype=np.int64)
        loose, caps = np.zeros(machines, dtype=np.int64), np.zeros(CAPS, dtype=np.int64)
        self.bounds = Bounds(instance.least_costs, loose, caps)
        _fill(self.table, rows, self.arcs, self.bounds, lengths, self.times)
        self.best_rows, self.best_lengths = rows.copy(), lengths.copy()
        self.heat = np.array([start])
        self.progress = np.array([0, 0, self.times.max()], dtype=np.int64)  # iteration, at this temperature, best

    @classmethod
    def make(cls, instance: Instance, seed: int, parameters: Parameters, start: Schedule | None) -> _State:
        """Begin at a given schedule, or shuffle the jobs and append each to a machine drawn at random."""
        rng = seeded(seed)
        rows = np.zeros((instance.machines + 1, instance.jobs + 2), dtype=np.int32)
        lengths = np.zeros(instance.machines, dtype=np.int64)
        if start is None:
            _scatter(rows, lengths, np.arange(instance.jobs), rng)
        else:
            for k, sequence in enumerate(checked(instance, start).sequences):
                rows[k, 1 : len(sequence) + 1] = sequence
                lengths[k] = len(sequence)
        return cls(instance, rows, lengths, rng, parameters.temperature)

    @property
    def iteration(self) -> int:
        return int(self.progress[0])

    @property
    def best_makespan(self) -> int:
        return int(self.progress[2])

    def advance(self, pool: np.ndarray, steps: int, parameters: Parameters) -> tuple[np.ndarray, bool]:
        """Do so many iterations; return the incumbents found and whether nothing can move."""
        found = np.zeros((INCUMBENTS, 2), dtype=np.int64)
        count, stuck = _iterate(
            pool,
            steps,
            self.table,
            self.rows,
            self.arcs,
            self.bounds,
            self.lengths,
            self.times,
            self.best_rows,
            self.best_lengths,
            self.rng,
            self.heat,
            self.progress,
            np.array([parameters.temperature, parameters.cooling, parameters.iterations_per_temperature]),
            np.empty(CHANCES, dtype=np.int64),
            found,
        )
        return found[:count], stuck

    def best(self) -> list[list[int]]:
        return [[int(job) for job in self.best_rows[k, 1 : length + 1]] for k, length in enumerate(self.best_lengths)]


def _pool(disable: Iterable[str]) -> np.ndarray:
    """Return the move objects of the enabled families, four of each."""
    disabled = set(disable)
    unknown = disabled.difference(FAMILIES)
    if unknown:
        raise ValueError(f"disable takes {', '.join(FAMILIES)}; got {sorted(unknown)}")
    objects = [4 * i + kind for i, family in enumerate(FAMILIES) if family not in disabled for kind in range(4)]
    return np.array(objects, dtype=np.int64)


@kernel
def _scatter(rows, lengths, order, rng):
    for last in range(order.shape[0] - 1, 0, -1):
        other = below(rng, last + 1)
        order[last], order[other] = order[other], order[last]
    for job in order:
        k = below(rng, lengths.shape[0])
        lengths[k] += 1
        rows[k, lengths[k]] = job


@kernel
def _fill(table, rows, arcs, bounds, lengths, times):
    for k in range(lengths.shape[0]):
        fill_row(table, k, rows, arcs, bounds, lengths[k])
        times[k] = 0
        for slot in range(1, lengths[k] + 1):
            times[k] += arcs[k, slot]


@kernel
def _iterate(
    pool,
    steps,
    table,
    rows,
    arcs,
    bounds,
    lengths,
    times,
    best_rows,
    best_lengths,
    rng,
    heat,
    progress,
    settings,
    chances,
    found,
):
    """Do so many iterations on the arrays; return how many incumbents were found and whether nothing can move."""
    start, cooling, per_temperature = settings[0], settings[1], np.int64(settings[2])
    temperature, iteration, level, best = heat[0], progress[0], progress[1], progress[2]
    _set_chances(chances, bounds.caps, temperature)
    first, second, top, next_top, third_top = _tops(times)
    busy, movable = _occupied(lengths)
    count, stuck = 0, False
    for _ in range(steps):
        move = _draw_move(pool, lengths, first, busy, movable, rng)
        if move == NO_MOVE:
            stuck = True
            break
        proposal = propose(move, table, rows, arcs, bounds, lengths, times, first, rng)
        k1, k2 = proposal[0], proposal[1]
        time1 = times[k1] + proposal[6]
        time2 = times[k2] + proposal[7] if k2 != NOBODY else np.int64(0)
        delta = max(_untouched_top(k1, k2, first, second, top, next_top, third_top), time1, time2) - top
        if proposal[6] == REJECTED:
            skip_grains(rng)
        elif k2 == NOBODY and proposal[6] == 0 and proposal[2] == proposal[3] and move >> 2 == SWITCH:
            pass  # a job that changes places with itself
        elif delta <= 0 or _accepted(chances, delta, temperature, rng):
            apply(move, proposal, table, rows, arcs, bounds, lengths)
            old2 = times[k2] if k2 != NOBODY else np.int64(0)
            low = max(times[k1], time1, old2, time2) < third_top and k1 != first and k2 != first
            times[k1] = time1
            if k2 != NOBODY:
                times[k2] = time2
            if move >> 2 == TASK_MOVE:
                busy, movable = _occupied(lengths)
            if not (low and k1 != second and k2 != second):  # else the three largest times are as they were
                first, second, top, next_top, third_top = _tops(times)
            if top < best:
                best = top
                _copy(rows, lengths, best_rows, best_lengths)
                if count < found.shape[0]:
                    found[count, 0], found[count, 1] = iteration + 1, best
                    count += 1
        iteration += 1
        level += 1
        if level == per_temperature:
            level = 0
            temperature = temperature * cooling if temperature * cooling >= COLDEST else start
            _set_chances(chances, bounds.caps, temperature)
    heat[0] = temperature
    progress[0], progress[1], progress[2] = iteration, level, best
    return count, stuck


@inlined
def _draw_move(pool, lengths, makespan_machine, busy, movable, rng):
    """Draw move objects until one is applicable; NO_MOVE when none is."""
    objects, machines = pool.shape[0], lengths.shape[0]
    move = pool[below(rng, objects)]
    if (busy >= 2) & (lengths[makespan_machine] >= 2):  # then all are, and nothing hangs on which it is
        return move
    if applicable(move, lengths, makespan_machine, busy, movable, machines):
        return move
    possible = False
    for other in pool:
        possible = possible or applicable(other, lengths, makespan_machine, busy, movable, machines)
    while possible and not applicable(move, lengths, makespan_machine, busy, movable, machines):
        move = pool[below(rng, objects)]
    return move if possible else NO_MOVE


@inlined
def _untouched_top(k1, k2, first, second, top, next_top, third_top):
    """Return the largest time of the machines that a move leaves alone."""
    rest = third_top if (second == k1) | (second == k2) else next_top
    return rest if (first == k1) | (first == k2) else top


@inlined
def _copy(rows, lengths, best_rows, best_lengths):
    for k in range(lengths.shape[0]):
        best_lengths[k] = lengths[k]
        for slot in range(1, lengths[k] + 1):
            best_rows[k, slot] = rows[k, slot]


@inlined
def _accepted(chances, delta, temperature, rng):
    """Draw whether an increase is accepted; with a probability below 2⁻⁵³ it is not, and nothing is looked at."""
    if delta >= HOPELESS * temperature:
        skip_grains(rng)
        return False
    if delta < CHANCES:
        return grains(rng) < chances[delta]
    return grains(rng) < _chance(delta, temperature)


@inlined
def _chance(delta, temperature):
    """Return the least number of grains that is not below the probability of accepting the increase."""
    return np.int64(math.ceil(GRAINS / math.exp(delta / temperature)))


@inlined
def _set_chances(chances, caps, temperature):
    """Fill the tables of a temperature: which numbers accept an increase, and the largest accepted by some number."""
    for delta in range(CHANCES):
        chances[delta] = _chance(delta, temperature) if delta < HOPELESS * temperature else np.int64(0)
    cap = 0
    for bits in range(CAPS - 1, -1, -1):
        while cap < CHANCES - 1 and bits << 45 < chances[cap + 1]:  # the least number that begins with these 8 of 53
            cap += 1
        caps[bits] = cap if cap < CHANCES - 1 else UNBOUNDED


@inlined
def _tops(times):
    """Return the makespan machine (the first of equals), the runner-up, and the three largest times."""
    first, second = 0, -1
    top, next_top, third_top = times[0], np.int64(-1), np.int64(-1)
    for k in range(1, times.shape[0]):
        time = times[k]
        leads, follows = time > top, time > next_top  # who leads follows too; without branches, as nobody can guess
        third_top = next_top if follows else max(third_top, time)
        second = first if leads else (k if follows else second)
        next_top = top if leads else max(next_top, time)
        first = k if leads else first
        top = max(top, time)
    return first, second, top, next_top, third_top


@inlined
def _occupied(lengths):
    """Return how many machines have a job and how many have two."""
    busy, movable = 0, 0
    for length in lengths:
        busy += length >= 1
        movable += length >= 2
    return busy, movable
