"""Each of the 24 move objects against its slow, obviously right version, and the draws against their distributions."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_compiles import one_compiles
from scipy import stats
from slowly import MOVES, neighbour

from ampler_upmsp import moves
from ampler_upmsp.annealing import Parameters, anneal
from ampler_upmsp.compiled import kernel
from ampler_upmsp.generator import seeded
from ampler_upmsp.instance import generate_instance
from ampler_upmsp.moves import (
    FAMILIES,
    KINDS,
    NOBODY,
    REJECTED,
    UNBOUNDED,
    Bounds,
)
from ampler_upmsp.solution import machine_time, makespan

# The moves are parts of the search and compiled with it; here each is called by itself, and kept for the next process.


@kernel
def fill_row(table, k, rows, arcs, bounds, length):
    return moves.fill_row(table, k, rows, arcs, bounds, length)


@kernel
def applicable(move, lengths, longest, busy, movable, machines):
    return moves.applicable(move, lengths, longest, busy, movable, machines)


@kernel
def propose(move, table, rows, arcs, bounds, lengths, times, longest, rng):
    return moves.propose(move, table, rows, arcs, bounds, lengths, times, longest, rng)


@kernel
def apply(move, proposal, table, rows, arcs, bounds, lengths):
    return moves.apply(move, proposal, table, rows, arcs, bounds, lengths)


@pytest.fixture(scope="module", autouse=True)
def _the_moves_are_compiled_once():
    with one_compiles("moves"):
        state = Rows(generate_instance(4, 2, 9, seed=1), [[0, 1], [2, 3]])
        assert state.can(MOVES[0])
        state.apply(MOVES[0], state.propose(MOVES[0], seeded(1)))


class Rows:
    """The arrays of the compiled moves, filled from plain lists and read back."""

    def __init__(self, instance, sequences, cap=UNBOUNDED):
        self.instance = instance
        self.table = instance.costs
        self.rows = np.zeros((instance.machines + 1, instance.jobs + 2), dtype=np.int32)
        self.arcs = np.zeros(self.rows.shape, dtype=np.int32)
        self.lengths = np.array([len(sequence) for sequence in sequences])
        loose = np.zeros(instance.machines, dtype=np.int64)
        self.bounds = Bounds(instance.least_costs, loose, np.full(256, cap, dtype=np.int64))
        for k, sequence in enumerate(sequences):
            self.rows[k, 1 : len(sequence) + 1] = sequence
            fill_row(self.table, k, self.rows, self.arcs, self.bounds, len(sequence))
        self.times = np.array([machine_time(instance, k, sequence) for k, sequence in enumerate(sequences)])

    @property
    def first(self):
        return int(np.argmax(self.times))

    def can(self, move):
        busy, movable = int((self.lengths >= 1).sum()), int((self.lengths >= 2).sum())
        return applicable(move.number, self.lengths, self.first, busy, movable, self.instance.machines)

    def propose(self, move, rng):
        arrays = self.table, self.rows, self.arcs, self.bounds, self.lengths, self.times
        return propose(move.number, *arrays, self.first, rng)

    def apply(self, move, proposal):
        apply(move.number, proposal, self.table, self.rows, self.arcs, self.bounds, self.lengths)

    def sequences(self):
        return [self.rows[k, 1 : length + 1].tolist() for k, length in enumerate(self.lengths)]


def scattered(instance, rng):
    sequences = [[] for _ in range(instance.machines)]
    for job in rng.permutation(instance.jobs):
        sequences[rng.integers(instance.machines)].append(int(job))
    return sequences


@pytest.mark.parametrize("move", MOVES, ids=repr)
@given(
    seed=st.integers(0, 2**32), jobs=st.integers(2, 14), machines=st.integers(2, 5), setup=st.sampled_from([2, 9, 99])
)
def test_a_move_gives_the_neighbour_and_the_change_of_its_slow_version(move, seed, jobs, machines, setup):
    instance = generate_instance(jobs, machines, setup, seed=seed)
    sequences = scattered(instance, np.random.default_rng(seed))
    state = Rows(instance, sequences)
    if not state.can(move):
        return
    proposal = state.propose(move, seeded(seed))
    k1, k2, *positions, change1, change2 = proposal
    expected = neighbour(move, instance, sequences, (k1, k2), positions)
    assert change1 == machine_time(instance, k1, expected[k1]) - state.times[k1]
    if k2 != NOBODY:
        assert change2 == machine_time(instance, k2, expected[k2]) - state.times[k2]
    assert state.sequences() == sequences  # proposing changes nothing
    state.apply(move, proposal)
    assert state.sequences() == expected
    assert sorted(chain(*state.sequences())) == list(range(jobs))
    for k, sequence in enumerate(state.sequences()):
        assert state.arcs[k, 1 : len(sequence) + 1].sum() == machine_time(instance, k, sequence)


@pytest.mark.parametrize("move", MOVES, ids=repr)
@given(
    seed=st.integers(0, 2**32),
    jobs=st.integers(2, 14),
    machines=st.integers(2, 5),
    setup=st.sampled_from([2, 9, 99]),
    cap=st.integers(0, 40),
)
def test_only_what_would_be_rejected_is_given_up_early(move, seed, jobs, machines, setup, cap):
    """A cap says the largest increase of the makespan that is accepted; below it nothing changes."""
    instance = generate_instance(jobs, machines, setup, seed=seed)
    sequences = scattered(instance, np.random.default_rng(seed))
    state, capped = Rows(instance, sequences), Rows(instance, sequences, cap)
    if not state.can(move):
        return
    rng, again = seeded(seed), seeded(seed)
    proposal, hurried = state.propose(move, rng), capped.propose(move, again)
    assert rng[0] == again[0]  # both have drawn as many numbers
    if hurried[6] == REJECTED:
        k1, k2, *_ = proposal
        after = neighbour(move, instance, sequences, (k1, k2), proposal[2:6])
        assert makespan(instance, after) > makespan(instance, sequences) + cap
    else:
        assert hurried == proposal


def test_most_moves_of_a_good_schedule_are_given_up_early():
    """Which is why it is done: after some annealing more than half of the moves between machines."""
    instance = generate_instance(50, 10, 49, seed=3)
    good = anneal(instance, seed=1, iterations=200_000, parameters=Parameters(iterations_per_temperature=2000))
    state, rng = Rows(instance, good.solution.sequences, cap=1), seeded(1)
    between = [move for move in MOVES if move.family in ("DSW", "SWP", "TSK")]
    given_up = [state.propose(move, rng)[6] == REJECTED for move in between for _ in range(100)]
    assert np.mean(given_up) > 0.5


@pytest.mark.parametrize("move", [move for move in MOVES if move.aimed], ids=repr)
def test_aimed_moves_start_at_the_makespan_machine(move):
    instance = generate_instance(12, 4, 9, seed=5)
    state = Rows(instance, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])
    rng = seeded(1)
    longest = max(range(4), key=lambda k: machine_time(instance, k, state.sequences()[k]))
    assert makespan(instance, state.sequences()) == state.times[longest]
    assert {state.propose(move, rng)[0] for _ in range(200)} == {longest}


def uniform(counts, cells):
    assert len(counts) == cells
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


def draws(move, sequences, pick, count=6000):
    instance = generate_instance(sum(map(len, sequences)), len(sequences), 9, seed=3)
    state, rng = Rows(instance, sequences), seeded(7)
    return Counter(pick(state.propose(move, rng)) for _ in range(count))


def move_of(family, kind):
    return MOVES[4 * FAMILIES.index(family) + KINDS.index(kind)]


FOUR_ONE_THREE_NONE = [[0, 1, 2, 3], [4], [5, 6, 7], []]


def test_plain_shift_is_uniform_over_ordered_pairs_of_different_positions():
    uniform(draws(move_of("SHF", "plain"), [[0, 1, 2, 3], [4, 5, 6, 7]], lambda p: (p[0], p[2], p[3])), 2 * 12)


def test_plain_switch_is_uniform_over_all_pairs_null_moves_included():
    uniform(draws(move_of("SWT", "plain"), [[0, 1, 2], [3, 4, 5]], lambda p: (p[0], p[2], p[3])), 2 * 9)


def test_plain_two_shift_is_uniform_over_what_can_be_drawn():
    uniform(draws(move_of("2SH", "plain"), [[0, 1, 2], [3]], lambda p: p[2:6]), 3 * 2 * 2 * 3)


def test_the_second_job_of_a_smart_two_shift_is_another_one():
    counts = draws(move_of("2SH", "smart"), [[0, 1, 2, 3], [4]], lambda p: (p[2], p[3], p[4]))
    assert all(a2 != b1 for _, b1, a2 in counts)
    assert {a2 for _, _, a2 in counts} == {0, 1, 2, 3}


def test_one_machine_moves_draw_among_the_machines_with_two_jobs():
    for family in ("SHF", "SWT", "2SH"):
        uniform(draws(move_of(family, "plain"), FOUR_ONE_THREE_NONE, lambda p: p[0]), 2)


def test_swaps_draw_ordered_pairs_of_busy_machines():
    for family in ("DSW", "SWP"):
        uniform(draws(move_of(family, "plain"), FOUR_ONE_THREE_NONE, lambda p: p[:2]), 6)


def test_a_task_move_may_go_to_an_empty_machine():
    uniform(draws(move_of("TSK", "plain"), FOUR_ONE_THREE_NONE, lambda p: p[:2]), 9)


def test_plain_task_moves_reach_every_place_of_the_other_machine():
    counts = draws(move_of("TSK", "plain"), [[0, 1, 2], [3, 4, 5]], lambda p: (p[0], p[2], p[3]))
    uniform(counts, 2 * 3 * 4)


def test_plain_swap_draws_four_independent_positions():
    counts = draws(move_of("SWP", "plain"), [[0, 1], [2, 3, 4]], lambda p: p[2:6] if p[0] == 0 else None, 9000)
    del counts[None]  # the draws that start at the other machine
    uniform(counts, 2 * 2 * 3 * 3)


def test_what_cannot_be_drawn_is_not_applicable():
    instance = generate_instance(2, 3, 9, seed=1)
    apart, together = Rows(instance, [[0], [1], []]), Rows(instance, [[0, 1], [], []])
    allowed = {move.family for move in MOVES if apart.can(move)}
    assert allowed == {"DSW", "SWP", "TSK"}
    assert {move.family for move in MOVES if together.can(move)} == {"SHF", "SWT", "2SH", "TSK"}
