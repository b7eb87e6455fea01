"""The 24 move objects: six neighbourhoods, each plain or smart, aimed at the makespan machine or at a random one.

A move is first *proposed*, which draws its positions and computes how the times of the machines it touches would
change, and *applied* only when it is accepted; most are not.

A machine's jobs stand in a row of `rows` between two dummy jobs, `rows[k, 0]` and `rows[k, n + 1]`, whose number is
J; `arcs[k, i]` is the cost of going from slot i-1 to slot i, and `table` is `Instance.costs`. It holds the costs
(j → x, x → j) on machine k side by side in `table[k, x, j]`, so that trying a job x in a whole row reads one line of
it. The last row of `rows` is scratch space. Positions a, b count from 0, slots from 1.

Most moves are rejected, and most of those long before their changes are known: the number that decides about a move
follows its positions, so it can be looked at before; it says which makespan is too large (`caps`), and two small arrays
say which times a machine cannot fall short of (`Bounds`). Such a proposal is given up, as `REJECTED`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ampler_upmsp.compiled import inlined
from ampler_upmsp.generator import below, first_bits, two_below

FAMILIES = ("SHF", "DSW", "SWP", "SWT", "TSK", "2SH")
SHIFT, DIRECT_SWAP, SWAP, SWITCH, TASK_MOVE, TWO_SHIFT = range(6)
KINDS = ("plain-mk", "plain", "smart-mk", "smart")  # object = 4 · family + kind
NOBODY = -1  # no second machine
FAR = (1 << 63) - 1
PLACE_BITS = 20  # a candidate is the number change·2²⁰ + place: the least is the best, and of equals the first


REJECTED = 1 << 60  # the change of a machine's time in a proposal that was given up
UNBOUNDED = 1 << 58  # of `caps`, where any increase may be accepted


class Bounds(NamedTuple):
    """What tells early that a move will be rejected. A job's cost is that of the arc which leads to it.

    `least[k, j]` is what job j costs on machine k at least; `loose[k]` by how much a job of machine k exceeds that at
    most, at the moment, and so what a job put before another one can save. `caps[i]` is the largest increase of the
    makespan that can be accepted when the number to be drawn begins with the 8 bits i.
    """

    least: Any
    loose: Any
    caps: Any


@inlined
def fill_row(table, k, rows, arcs, bounds, length):
    """Close a machine's row with the dummy job and recompute its arcs and by how much they exceed the least ones."""
    nobody = table.shape[1] - 1
    rows[k, 0] = nobody
    rows[k, length + 1] = nobody
    loose = np.int64(0)
    for slot in range(1, length + 2):
        job = rows[k, slot]
        arc = table[k, rows[k, slot - 1], job, 1]
        arcs[k, slot] = arc
        loose = max(loose, np.int64(arc) - bounds.least[k, job])
    bounds.loose[k] = loose


# --- changes of one machine's time -------------------------------------------------------------------------------


@inlined
def _removal(table, k, rows, arcs, row, slot):
    bridge = table[k, rows[row, slot - 1], rows[row, slot + 1], 1]
    return np.int64(bridge) - arcs[row, slot] - arcs[row, slot + 1]


@inlined
def _insertion(table, k, rows, arcs, row, gap, job):
    """Put the job between slots gap-1 and gap."""
    into = table[k, job, rows[row, gap - 1], 0]
    return np.int64(into) + table[k, job, rows[row, gap], 1] - arcs[row, gap]


@inlined
def _insertion_beside(table, k, rows, arcs, row, slot, b, job):
    """Put the job at position b of the row without the job at the slot; where that is nobody could guess: no branch."""
    a = slot - 1
    before, after = rows[row, b + (b > a)], rows[row, b + 1 + (b >= a)]
    return np.int64(table[k, job, before, 0]) + table[k, job, after, 1] - table[k, before, after, 1]


@inlined
def _replacement(table, k, rows, arcs, row, slot, job):
    """Put the job in the place of the one at the slot, the rest as it is (a job beside itself has no setup)."""
    into = table[k, job, rows[row, slot - 1], 0]
    return np.int64(into) + table[k, job, rows[row, slot + 1], 1] - arcs[row, slot] - arcs[row, slot + 1]


@inlined
def _candidate(change, place):
    return (change << PLACE_BITS) + place


@inlined
def _chosen(candidate):
    """Return the place and the change of a candidate."""
    change = candidate >> PLACE_BITS
    return candidate - (change << PLACE_BITS), change


@inlined
def _best_insertion(table, k, rows, arcs, row, length, job):
    """Return the cheapest position 0..length for the job, the first of equals, and its change."""
    least, into = FAR, np.int64(table[k, job, rows[row, 0], 0])
    for gap in range(1, length + 2):
        other = rows[row, gap]
        change = into + table[k, job, other, 1] - arcs[row, gap]
        into = np.int64(table[k, job, other, 0])
        least = min(least, _candidate(change, gap - 1))
    return _chosen(least)


@inlined
def _best_insertion_beside(table, k, rows, arcs, row, length, slot, job, back):
    """Return the cheapest position for the job in the row without the slot; `back` allows the slot's own place.

    One loop over all gaps: where the slot is cannot be guessed, and two loops would be left at the wrong moment.
    """
    least, into = FAR, np.int64(table[k, job, rows[row, 0], 0])
    for gap in range(1, length + 2):
        other = rows[row, gap]
        candidate = _candidate(into + table[k, job, other, 1] - arcs[row, gap], gap - 1 - (gap > slot))
        into = np.int64(table[k, job, other, 0])
        least = least if (gap == slot) | (gap == slot + 1) else min(least, candidate)
    if back:
        change = _insertion_beside(table, k, rows, arcs, row, slot, slot - 1, job)
        least = min(least, _candidate(change, slot - 1))
    return _chosen(least)


# --- what a machine's time cannot fall short of ------------------------------------------------------------------


@inlined
def _most(bounds, top, rng):
    """Return the largest makespan that can be accepted, by what will be drawn next."""
    return top + bounds.caps[first_bits(rng)]


@inlined
def _least_with(bounds, times, k, job):
    """Return what a machine takes at least with one more job, wherever it is put."""
    return times[k] + bounds.least[k, job] - bounds.loose[k]


@inlined
def _least_replaced(rows, arcs, bounds, times, k, slot, job):
    """Return what a machine takes at least with the job in the place of the one at the slot."""
    kept = times[k] - arcs[k, slot] - arcs[k, slot + 1]
    return kept + bounds.least[k, job] + bounds.least[k, rows[k, slot + 1]]


@inlined
def _given_up():
    return 0, NOBODY, 0, 0, 0, 0, np.int64(REJECTED), np.int64(0)


# --- proposals: (first machine, second machine, a1, b1, a2, b2, change of the first, change of the second) ---------


@inlined
def _propose_shift(table, rows, arcs, bounds, k, length, times, top, smart, rng):
    a, b = two_below(rng, length, length)  # a smart shift draws its b and does not use it
    removal = _removal(table, k, rows, arcs, k, a + 1)
    if smart:
        if _least_with(bounds, times, k, rows[k, a + 1]) + removal > _most(bounds, top, rng):
            return _given_up()
        b, change = _best_insertion_beside(table, k, rows, arcs, k, length, a + 1, rows[k, a + 1], False)
    else:
        while a == b:
            a, b = two_below(rng, length, length)
        removal = _removal(table, k, rows, arcs, k, a + 1)
        change = _insertion_beside(table, k, rows, arcs, k, a + 1, b, rows[k, a + 1])
    return k, NOBODY, a, b, 0, 0, change + removal, np.int64(0)


@inlined
def _propose_two_shift(table, rows, arcs, bounds, k, length, times, top, smart, rng):
    if smart:
        return _propose_smart_two_shift(table, rows, arcs, bounds, k, length, times, top, rng)
    a1, a2 = two_below(rng, length, length - 1)
    b1, b2 = two_below(rng, length - 1, length)
    return k, NOBODY, a1, b1, a2, b2, _two_shifts(table, k, rows, arcs, a1, b1, a2, b2), np.int64(0)


@inlined
def _two_shifts(table, k, rows, arcs, a1, b1, a2, b2):
    """Return the change when the jobs at a1 and then a2 are taken out and put back at b1 and b2."""
    slot1, slot2 = a1 + 1, a2 + 1 + (a2 >= a1)
    low, high = min(slot1, slot2), max(slot1, slot2)
    first, second = rows[k, slot1], rows[k, slot2]
    beside = high == low + 1
    left, right = rows[k, low - 1], rows[k, high + 1]
    bridge = table[k, left, right, 1] if beside else table[k, left, rows[k, low + 1], 1]
    other = np.int64(arcs[k, high]) if beside else np.int64(table[k, rows[k, high - 1], right, 1])
    change = np.int64(bridge) + other
    change -= np.int64(arcs[k, low]) + arcs[k, low + 1] + arcs[k, high] + arcs[k, high + 1]
    before, after = rows[k, _remaining(b1 - 1, low, high)], rows[k, _remaining(b1, low, high)]
    change += np.int64(table[k, first, before, 0]) + table[k, first, after, 1] - table[k, before, after, 1]
    place = b2 - 1
    before = first if place == b1 else rows[k, _remaining(place - (place > b1), low, high)]
    after = first if b2 == b1 else rows[k, _remaining(b2 - (b2 > b1), low, high)]
    return change + table[k, second, before, 0] + table[k, second, after, 1] - table[k, before, after, 1]


@inlined
def _remaining(place, low, high):
    """Return the slot of the job at the place, when those at two slots are taken out; -1 is the dummy job's."""
    slot = place + 1
    slot += slot >= low
    return slot + (slot >= high)


@inlined
def _shift_two(rows, k, length, a1, b1, a2, b2):
    """Fill the scratch row as if the jobs at a1 and then a2 were taken out and put back at b1 and b2.

    The second job ends at b2, the first at b1 or one further, and the others keep their order.
    """
    scratch, slot1, slot2 = rows.shape[0] - 1, a1 + 1, a2 + 1 + (a2 >= a1)
    low, high = min(slot1, slot2), max(slot1, slot2)
    first_to = b1 + (b1 >= b2)
    for place in range(length):
        job = rows[k, _remaining(place - (place > first_to) - (place > b2), low, high)]
        job = rows[k, slot1] if place == first_to else job
        rows[scratch, place + 1] = rows[k, slot2] if place == b2 else job


@inlined
def _propose_smart_two_shift(table, rows, arcs, bounds, k, length, times, top, rng):
    """Put the row after the first shift into the scratch space; the second is made when the move is accepted."""
    scratch = rows.shape[0] - 1
    a1 = below(rng, length)
    first = _removal(table, k, rows, arcs, k, a1 + 1)
    b1, insertion = _best_insertion_beside(table, k, rows, arcs, k, length, a1 + 1, rows[k, a1 + 1], False)
    loose = _shift_to_scratch(table, k, rows, arcs, bounds, length, a1, b1)
    a2 = below(rng, length)
    while a2 == b1:  # another job than the one just shifted
        a2 = below(rng, length)
    job = rows[scratch, a2 + 1]
    change = first + insertion + _removal(table, k, rows, arcs, scratch, a2 + 1)
    if times[k] + change + bounds.least[k, job] - loose > _most(bounds, top, rng):
        return _given_up()
    b2, insertion = _best_insertion_beside(table, k, rows, arcs, scratch, length, a2 + 1, job, False)
    return k, NOBODY, a1, b1, a2, b2, change + insertion, np.int64(0)


@inlined
def _shift_to_scratch(table, k, rows, arcs, bounds, length, a, b):
    """Fill the scratch row with the machine's after a shift, arcs too; return its `loose`."""
    scratch, nobody = rows.shape[0] - 1, table.shape[1] - 1
    shifted, before, loose = rows[k, a + 1], np.int32(nobody), np.int64(0)
    rows[scratch, 0] = nobody
    for place in range(length + 1):
        source = place - (place > b)
        source += source >= a
        job = shifted if place == b else rows[k, source + 1]
        arc = table[k, before, job, 1]
        rows[scratch, place + 1], arcs[scratch, place + 1] = job, arc
        loose = max(loose, np.int64(arc) - bounds.least[k, job])
        before = job
    return loose


@inlined
def _propose_switch(table, rows, arcs, k, length, smart, rng):
    if smart:
        a = below(rng, length)
        b = _best_partner(table, k, rows, arcs, length, a)
    else:
        a, b = two_below(rng, length, length)
    return k, NOBODY, a, b, 0, 0, _exchange(table, k, rows, arcs, a, b), np.int64(0)


@inlined
def _best_partner(table, k, rows, arcs, length, a):
    """Return the b != a with the least sum of both replacements on the unmodified row, the first of equals."""
    slot = a + 1
    job, before, after = rows[k, slot], rows[k, slot - 1], rows[k, slot + 1]
    least = FAR
    for other_slot in range(1, length + 1):
        other = rows[k, other_slot]
        score = (
            np.int64(table[k, before, other, 1])
            + table[k, after, other, 0]
            + table[k, job, rows[k, other_slot - 1], 0]
            + table[k, job, rows[k, other_slot + 1], 1]
            - arcs[k, other_slot]
            - arcs[k, other_slot + 1]
        )
        least = least if other_slot == slot else min(least, _candidate(score, other_slot - 1))
    return _chosen(least)[0]


@inlined
def _exchange(table, k, rows, arcs, a, b):
    """Return the true change when the jobs at a and b of one machine change places, be they neighbours or one job."""
    left, right = min(a, b) + 1, max(a, b) + 1
    beside = right == left + 1
    x, y = rows[k, left], rows[k, right]
    after_y, before_x = x if beside else rows[k, left + 1], y if beside else rows[k, right - 1]
    new = np.int64(table[k, y, rows[k, left - 1], 0]) + table[k, y, after_y, 1]
    new += np.int64(table[k, x, before_x, 0]) + table[k, x, rows[k, right + 1], 1]
    old = arcs[k, left] + arcs[k, left + 1] + arcs[k, right] + arcs[k, right + 1]
    twice = np.int64(table[k, y, x, 1]) - arcs[k, right]  # between neighbours there is one arc, not two
    return new - old - (twice if beside else np.int64(0))


@inlined
def _propose_direct_swap(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng):
    if smart:
        a = below(rng, n1)
        if _least_of_counterparts(rows, arcs, bounds, k1, k2, n2, times, a) > _most(bounds, top, rng):
            return _given_up()
        b = _best_counterpart(table, rows, arcs, k1, k2, n2, a)
    else:
        a, b = two_below(rng, n1, n2)
        first = _least_replaced(rows, arcs, bounds, times, k1, a + 1, rows[k2, b + 1])
        second = _least_replaced(rows, arcs, bounds, times, k2, b + 1, rows[k1, a + 1])
        if max(first, second) > _most(bounds, top, rng):
            return _given_up()
    first = _replacement(table, k1, rows, arcs, k1, a + 1, rows[k2, b + 1])
    second = _replacement(table, k2, rows, arcs, k2, b + 1, rows[k1, a + 1])
    return k1, k2, a, b, 0, 0, first, second


@inlined
def _least_of_counterparts(rows, arcs, bounds, k1, k2, n2, times, a):
    """Return what the longer of the two machines takes at least, whichever job of the second is exchanged."""
    job = rows[k1, a + 1]
    kept = times[k1] - arcs[k1, a + 1] - arcs[k1, a + 2] + bounds.least[k1, rows[k1, a + 2]]
    gained = times[k2] + bounds.least[k2, job]
    least = FAR
    for slot in range(1, n2 + 1):
        second = gained - arcs[k2, slot] - arcs[k2, slot + 1] + bounds.least[k2, rows[k2, slot + 1]]
        least = min(least, max(kept + bounds.least[k1, rows[k2, slot]], second))
    return least


@inlined
def _best_counterpart(table, rows, arcs, k1, k2, n2, a):
    """Return the position on the second machine with the least sum of both changes, the first of equals."""
    job, before, after = rows[k1, a + 1], rows[k1, a], rows[k1, a + 2]
    least = FAR
    into = np.int64(table[k2, job, rows[k2, 0], 0])
    for slot in range(1, n2 + 1):
        other = rows[k2, slot]
        score = (
            into
            + table[k2, job, rows[k2, slot + 1], 1]
            + table[k1, before, other, 1]
            + table[k1, after, other, 0]
            - arcs[k2, slot]
            - arcs[k2, slot + 1]
        )
        into = np.int64(table[k2, job, other, 0])
        least = min(least, _candidate(score, slot - 1))
    return _chosen(least)[0]


@inlined
def _propose_swap(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng):
    a1, a2 = two_below(rng, n1, n2)
    b1, b2 = a1, a2
    if not smart:
        b1, b2 = two_below(rng, n1, n2)
    x, y = rows[k1, a1 + 1], rows[k2, a2 + 1]
    first = _least_replaced(rows, arcs, bounds, times, k1, a1 + 1, y) - bounds.loose[k1]
    second = _least_replaced(rows, arcs, bounds, times, k2, a2 + 1, x) - bounds.loose[k2]
    if max(first, second) > _most(bounds, top, rng):
        return _given_up()
    if smart:
        b1, first = _best_insertion_beside(table, k1, rows, arcs, k1, n1, a1 + 1, y, True)
        b2, second = _best_insertion_beside(table, k2, rows, arcs, k2, n2, a2 + 1, x, True)
    else:
        first = _insertion_beside(table, k1, rows, arcs, k1, a1 + 1, b1, y)
        second = _insertion_beside(table, k2, rows, arcs, k2, a2 + 1, b2, x)
    first += _removal(table, k1, rows, arcs, k1, a1 + 1)
    second += _removal(table, k2, rows, arcs, k2, a2 + 1)
    return k1, k2, a1, b1, a2, b2, first, second


@inlined
def _propose_task_move(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng):
    a, b = two_below(rng, n1, n2 + 1)  # a smart task move draws its b and does not use it
    if _least_with(bounds, times, k2, rows[k1, a + 1]) > _most(bounds, top, rng):
        return _given_up()
    if smart:
        b, second = _best_insertion(table, k2, rows, arcs, k2, n2, rows[k1, a + 1])
    else:
        second = _insertion(table, k2, rows, arcs, k2, b + 1, rows[k1, a + 1])
    return k1, k2, a, b, 0, 0, _removal(table, k1, rows, arcs, k1, a + 1), second


@inlined
def _draw_row(lengths, machines, makespan_machine, aimed, rng):
    """Draw the machine of a one-machine move: the makespan machine, or any with two jobs."""
    k = makespan_machine
    if not aimed:
        k = below(rng, machines)
        while lengths[k] < 2:
            k = below(rng, machines)
    return k


@inlined
def _draw_two_rows(lengths, machines, makespan_machine, aimed, may_be_empty, rng):
    """Draw the machines of a two-machine move; only a task move may go to an empty machine."""
    while True:
        if aimed:
            k1, k2 = makespan_machine, below(rng, machines)
        else:
            k1, k2 = two_below(rng, machines, machines)
        if k1 != k2 and lengths[k1] > 0 and (may_be_empty or lengths[k2] > 0):
            return k1, k2


@inlined
def applicable(move, lengths, makespan_machine, busy, movable, machines):
    """Tell whether the move object can be drawn: `busy` machines have a job, `movable` ones have two."""
    family = move >> 2
    if family == TASK_MOVE:
        return machines >= 2 and busy >= 1
    if family == DIRECT_SWAP or family == SWAP:
        return busy >= 2
    return lengths[makespan_machine] >= 2 if move & 1 == 0 else movable >= 1


@inlined
def _propose_one_row(family, aimed, smart, table, rows, arcs, bounds, lengths, times, longest, rng):
    k = _draw_row(lengths, lengths.shape[0], longest, aimed, rng)
    length, top = lengths[k], times[longest]
    if family == SHIFT:
        return _propose_shift(table, rows, arcs, bounds, k, length, times, top, smart, rng)
    if family == SWITCH:
        return _propose_switch(table, rows, arcs, k, length, smart, rng)
    return _propose_two_shift(table, rows, arcs, bounds, k, length, times, top, smart, rng)


@inlined
def _propose_two_rows(family, aimed, smart, table, rows, arcs, bounds, lengths, times, longest, rng):
    k1, k2 = _draw_two_rows(lengths, lengths.shape[0], longest, aimed, family == TASK_MOVE, rng)
    n1, n2, top = lengths[k1], lengths[k2], times[longest]
    if family == TASK_MOVE:
        return _propose_task_move(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng)
    if family == SWAP:
        return _propose_swap(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng)
    return _propose_direct_swap(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng)


@inlined
def propose(move, table, rows, arcs, bounds, lengths, times, makespan_machine, rng):
    """Draw an applicable move object's machines and positions, and compute the changes of their times.

    Written out for each object, so that one jump leads to code that asks no more what it is: which object comes next
    cannot be guessed, and every question about it would be guessed wrong half of the time.
    """
    a, b, c, d, e, f, g, h = table, rows, arcs, bounds, lengths, times, makespan_machine, rng
    if move == 0:
        return _propose_one_row(SHIFT, True, False, a, b, c, d, e, f, g, h)
    if move == 1:
        return _propose_one_row(SHIFT, False, False, a, b, c, d, e, f, g, h)
    if move == 2:
        return _propose_one_row(SHIFT, True, True, a, b, c, d, e, f, g, h)
    if move == 3:
        return _propose_one_row(SHIFT, False, True, a, b, c, d, e, f, g, h)
    if move == 4:
        return _propose_two_rows(DIRECT_SWAP, True, False, a, b, c, d, e, f, g, h)
    if move == 5:
        return _propose_two_rows(DIRECT_SWAP, False, False, a, b, c, d, e, f, g, h)
    if move == 6:
        return _propose_two_rows(DIRECT_SWAP, True, True, a, b, c, d, e, f, g, h)
    if move == 7:
        return _propose_two_rows(DIRECT_SWAP, False, True, a, b, c, d, e, f, g, h)
    if move == 8:
        return _propose_two_rows(SWAP, True, False, a, b, c, d, e, f, g, h)
    if move == 9:
        return _propose_two_rows(SWAP, False, False, a, b, c, d, e, f, g, h)
    if move == 10:
        return _propose_two_rows(SWAP, True, True, a, b, c, d, e, f, g, h)
    if move == 11:
        return _propose_two_rows(SWAP, False, True, a, b, c, d, e, f, g, h)
    if move == 12:
        return _propose_one_row(SWITCH, True, False, a, b, c, d, e, f, g, h)
    if move == 13:
        return _propose_one_row(SWITCH, False, False, a, b, c, d, e, f, g, h)
    if move == 14:
        return _propose_one_row(SWITCH, True, True, a, b, c, d, e, f, g, h)
    if move == 15:
        return _propose_one_row(SWITCH, False, True, a, b, c, d, e, f, g, h)
    if move == 16:
        return _propose_two_rows(TASK_MOVE, True, False, a, b, c, d, e, f, g, h)
    if move == 17:
        return _propose_two_rows(TASK_MOVE, False, False, a, b, c, d, e, f, g, h)
    if move == 18:
        return _propose_two_rows(TASK_MOVE, True, True, a, b, c, d, e, f, g, h)
    if move == 19:
        return _propose_two_rows(TASK_MOVE, False, True, a, b, c, d, e, f, g, h)
    if move == 20:
        return _propose_one_row(TWO_SHIFT, True, False, a, b, c, d, e, f, g, h)
    if move == 21:
        return _propose_one_row(TWO_SHIFT, False, False, a, b, c, d, e, f, g, h)
    if move == 22:
        return _propose_one_row(TWO_SHIFT, True, True, a, b, c, d, e, f, g, h)
    return _propose_one_row(TWO_SHIFT, False, True, a, b, c, d, e, f, g, h)


# --- carrying a proposal out ---------------------------------------------------------------------------------------


@inlined
def apply(move, proposal, table, rows, arcs, bounds, lengths):
    """Change the rows as proposed (a two-shift has built its row in the scratch space already)."""
    family = move >> 2
    k1, k2, a1, b1, a2, b2 = proposal[:6]
    if family == SHIFT:
        _move(rows, k1, a1, b1)
    elif family == TWO_SHIFT:
        if move & 2 == 2:
            _move(rows, rows.shape[0] - 1, a2, b2)
        else:
            _shift_two(rows, k1, lengths[k1], a1, b1, a2, b2)
        for slot in range(1, lengths[k1] + 1):
            rows[k1, slot] = rows[rows.shape[0] - 1, slot]
    elif family == SWITCH:
        rows[k1, a1 + 1], rows[k1, b1 + 1] = rows[k1, b1 + 1], rows[k1, a1 + 1]
    elif family == DIRECT_SWAP:
        rows[k1, a1 + 1], rows[k2, b1 + 1] = rows[k2, b1 + 1], rows[k1, a1 + 1]
    elif family == SWAP:
        x, y = _take(rows, k1, lengths[k1], a1), _take(rows, k2, lengths[k2], a2)
        _put(rows, k1, lengths[k1] - 1, b1, y)
        _put(rows, k2, lengths[k2] - 1, b2, x)
    else:
        _put(rows, k2, lengths[k2], b1, _take(rows, k1, lengths[k1], a1))
        lengths[k1] -= 1
        lengths[k2] += 1
    fill_row(table, k1, rows, arcs, bounds, lengths[k1])
    if k2 != NOBODY:
        fill_row(table, k2, rows, arcs, bounds, lengths[k2])


@inlined
def _take(rows, row, length, a):
    """Remove the job at position a; the row closes up."""
    job = rows[row, a + 1]
    for slot in range(a + 1, length):
        rows[row, slot] = rows[row, slot + 1]
    return job


@inlined
def _put(rows, row, length, b, job):
    """Insert the job so that it gets position b."""
    for slot in range(length + 1, b + 1, -1):
        rows[row, slot] = rows[row, slot - 1]
    rows[row, b + 1] = job


@inlined
def _move(rows, row, a, b):
    """Take the job at position a and insert it so that it gets position b."""
    job = rows[row, a + 1]
    if b < a:
        for slot in range(a + 1, b + 1, -1):
            rows[row, slot] = rows[row, slot - 1]
    else:
        for slot in range(a + 1, b + 1):
            rows[row, slot] = rows[row, slot + 1]
    rows[row, b + 1] = job
