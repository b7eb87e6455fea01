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
from numba import uint64

from ampler_upmsp.compiled import inlined
from ampler_upmsp.generator import below, first_bits, one_or_two_below, perhaps_below, two_below

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
    before, loose = _job(rows, k, 0), np.int64(0)
    for slot in range(1, length + 2):
        job = _job(rows, k, slot)
        arc = _out(table, k, before, job)
        arcs[uint64(k), uint64(slot)] = arc
        loose = max(loose, arc - _least(bounds, k, job))
        before = job
    bounds.loose[k] = loose


# --- reading the arrays: with unsigned indices, as signed ones are each asked whether they count from the end ------


@inlined
def _at(array, i):
    return array[uint64(i)]


@inlined
def _job(rows, k, slot):
    return rows[uint64(k), uint64(slot)]


@inlined
def _arc(arcs, k, slot):
    return np.int64(arcs[uint64(k), uint64(slot)])


@inlined
def _into(table, k, job, before):
    """Return the cost of the arc that leads from another job to this one."""
    return np.int64(table[uint64(k), uint64(job), uint64(before), 0])


@inlined
def _out(table, k, job, after):
    """Return the cost of the arc that leads from this job to another one."""
    return np.int64(table[uint64(k), uint64(job), uint64(after), 1])


@inlined
def _least(bounds, k, job):
    return np.int64(bounds.least[uint64(k), uint64(job)])


# --- changes of one machine's time -------------------------------------------------------------------------------


@inlined
def _between(table, k, job, before, after):
    """Return what it costs to put the job between two others."""
    return _into(table, k, job, before) + _out(table, k, job, after)


@inlined
def _removal(table, k, rows, arcs, slot):
    bridge = _out(table, k, _job(rows, k, slot - 1), _job(rows, k, slot + 1))
    return bridge - _arc(arcs, k, slot) - _arc(arcs, k, slot + 1)


@inlined
def _insertion(table, k, rows, arcs, gap, job):
    """Put the job between slots gap-1 and gap."""
    return _between(table, k, job, _job(rows, k, gap - 1), _job(rows, k, gap)) - _arc(arcs, k, gap)


@inlined
def _insertion_beside(table, k, rows, slot, b, job):
    """Put the job at position b of the row without the job at the slot; where that is nobody could guess: no branch."""
    a = slot - 1
    before, after = _job(rows, k, b + (b > a)), _job(rows, k, b + 1 + (b >= a))
    return _between(table, k, job, before, after) - _out(table, k, before, after)


@inlined
def _replacement(table, k, rows, arcs, slot, job):
    """Put the job in the place of the one at the slot, the rest as it is (a job beside itself has no setup)."""
    new = _between(table, k, job, _job(rows, k, slot - 1), _job(rows, k, slot + 1))
    return new - _arc(arcs, k, slot) - _arc(arcs, k, slot + 1)


@inlined
def _candidate(change, place):
    return (change << PLACE_BITS) + place


@inlined
def _chosen(candidate):
    """Return the place and the change of a candidate."""
    change = candidate >> PLACE_BITS
    return candidate - (change << PLACE_BITS), change


@inlined
def _best_insertion(table, k, rows, arcs, length, job):
    """Return the cheapest position 0..length for the job, the first of equals, and its change."""
    least, into = FAR, _into(table, k, job, _job(rows, k, 0))
    for gap in range(1, length + 2):
        other = _job(rows, k, gap)
        least = min(least, _candidate(into + _out(table, k, job, other) - _arc(arcs, k, gap), gap - 1))
        into = _into(table, k, job, other)
    return _chosen(least)


@inlined
def _best_gap(table, k, rows, arcs, length, job, slot1, slot2, gap1):
    """Return the candidate of the cheapest gap that is not beside one of the slots, nor gap1.

    One loop over all gaps: where a slot is cannot be guessed, and two loops would be left at the wrong moment.
    """
    least, into = FAR, _into(table, k, job, _job(rows, k, 0))
    for gap in range(1, length + 2):
        other = _job(rows, k, gap)
        candidate = _candidate(into + _out(table, k, job, other) - _arc(arcs, k, gap), gap)
        into = _into(table, k, job, other)
        taken = (gap == slot1) | (gap == slot1 + 1) | (gap == slot2) | (gap == slot2 + 1) | (gap == gap1)
        least = least if taken else min(least, candidate)
    return least


@inlined
def _best_insertion_beside(table, k, rows, arcs, length, slot, job, back):
    """Return the cheapest position for the job in the row without the slot; `back` allows the slot's own place."""
    least = _best_gap(table, k, rows, arcs, length, job, slot, slot, slot)
    if back:
        least = min(least, _candidate(_insertion_beside(table, k, rows, slot, slot - 1, job), slot))
    gap, change = _chosen(least)
    return gap - 1 - (gap > slot), change


# --- what a machine's time cannot fall short of ------------------------------------------------------------------


@inlined
def _most(bounds, top, rng):
    """Return the largest makespan that can be accepted, by what will be drawn next."""
    return top + _at(bounds.caps, first_bits(rng))


@inlined
def _least_with(bounds, times, k, job):
    """Return what a machine takes at least with one more job, wherever it is put."""
    return _at(times, k) + _least(bounds, k, job) - _at(bounds.loose, k)


@inlined
def _least_replaced(rows, arcs, bounds, times, k, slot, job):
    """Return what a machine takes at least with the job in the place of the one at the slot."""
    kept = _at(times, k) - _arc(arcs, k, slot) - _arc(arcs, k, slot + 1)
    return kept + _least(bounds, k, job) + _least(bounds, k, _job(rows, k, slot + 1))


@inlined
def _given_up():
    return 0, NOBODY, 0, 0, 0, 0, np.int64(REJECTED), np.int64(0)


# --- proposals: (first machine, second machine, a1, b1, a2, b2, change of the first, change of the second) ---------


@inlined
def _propose_shift(table, rows, arcs, bounds, k, length, times, top, smart, rng):
    a, b = two_below(rng, length, length)  # a smart shift draws its b and does not use it
    if smart:
        job, removal = _job(rows, k, a + 1), _removal(table, k, rows, arcs, a + 1)
        if _least_with(bounds, times, k, job) + removal > _most(bounds, top, rng):
            return _given_up()
        b, change = _best_insertion_beside(table, k, rows, arcs, length, a + 1, job, False)
    else:
        while a == b:
            a, b = two_below(rng, length, length)
        removal = _removal(table, k, rows, arcs, a + 1)
        change = _insertion_beside(table, k, rows, a + 1, b, _job(rows, k, a + 1))
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
    first, second = _job(rows, k, slot1), _job(rows, k, slot2)
    beside = high == low + 1
    left, right = _job(rows, k, low - 1), _job(rows, k, high + 1)
    change = _out(table, k, left, right if beside else _job(rows, k, low + 1))
    change += _arc(arcs, k, high) if beside else _out(table, k, _job(rows, k, high - 1), right)
    change -= _arc(arcs, k, low) + _arc(arcs, k, low + 1) + _arc(arcs, k, high) + _arc(arcs, k, high + 1)
    before, after = _job(rows, k, _remaining(b1 - 1, low, high)), _job(rows, k, _remaining(b1, low, high))
    change += _between(table, k, first, before, after) - _out(table, k, before, after)
    place = b2 - 1
    before = first if place == b1 else _job(rows, k, _remaining(place - (place > b1), low, high))
    after = first if b2 == b1 else _job(rows, k, _remaining(b2 - (b2 > b1), low, high))
    return change + _between(table, k, second, before, after) - _out(table, k, before, after)


@inlined
def _remaining(place, low, high):
    """Return the slot of the job at the place, when those at two slots are taken out; -1 is the dummy job's."""
    slot = place + 1
    slot += slot >= low
    return slot + (slot >= high)


@inlined
def _shift_two(rows, k, length, a1, b1, a2, b2):
    """Take out the jobs at a1 and then a2, put them back at b1 and b2.

    The second job ends at b2, the first at b1 or one further, and the others keep their order.
    """
    scratch, slot1, slot2 = rows.shape[0] - 1, a1 + 1, a2 + 1 + (a2 >= a1)
    low, high = min(slot1, slot2), max(slot1, slot2)
    first_to = b1 + (b1 >= b2)
    for place in range(length):
        job = _job(rows, k, _remaining(place - (place > first_to) - (place > b2), low, high))
        job = _job(rows, k, slot1) if place == first_to else job
        rows[scratch, place + 1] = _job(rows, k, slot2) if place == b2 else job
    for slot in range(1, length + 1):
        rows[k, slot] = rows[scratch, slot]


@inlined
def _propose_smart_two_shift(table, rows, arcs, bounds, k, length, times, top, rng):
    """Shift a job to its best place and then another one, without writing the row in between.

    The first job leaves slot1 for gap1, between u and v; so three arcs are new: over slot1, and to and from the job.
    """
    a1 = below(rng, length)
    slot1 = a1 + 1
    first, left, right = _job(rows, k, slot1), _job(rows, k, a1), _job(rows, k, slot1 + 1)
    bridge = _out(table, k, left, right)
    b1, change = _best_insertion_beside(table, k, rows, arcs, length, slot1, first, False)
    change += bridge - _arc(arcs, k, slot1) - _arc(arcs, k, slot1 + 1)
    gap1 = b1 + 1 + (b1 > a1)
    u, v = _job(rows, k, gap1 - 1), _job(rows, k, gap1)
    to_first, from_first = _into(table, k, first, u), _out(table, k, first, v)
    a2 = below(rng, length)
    while a2 == b1:  # another job than the one just shifted
        a2 = below(rng, length)
    slot2 = _slot_before_shift(a2, a1, b1)
    second = _job(rows, k, slot2)
    before = first if gap1 == slot2 else _job(rows, k, slot2 - 1 - (slot2 - 1 == slot1))
    after = first if gap1 == slot2 + 1 else _job(rows, k, slot2 + 1 + (slot2 + 1 == slot1))
    change += _out(table, k, before, after) - _between(table, k, second, before, after)
    loose = max(_at(bounds.loose, k), bridge - _least(bounds, k, right))
    loose = max(loose, to_first - _least(bounds, k, first), from_first - _least(bounds, k, v))
    if _at(times, k) + change + _least(bounds, k, second) - loose > _most(bounds, top, rng):
        return _given_up()
    least = _best_gap(table, k, rows, arcs, length, second, slot1, slot2, gap1)
    if (slot2 != slot1 - 1) & (slot2 != slot1 + 1):
        least = min(least, _candidate(_between(table, k, second, left, right) - bridge, slot1))
    if gap1 != slot2 + 1:
        least = min(least, _candidate(_between(table, k, second, u, first) - to_first, gap1))
    last = _candidate(_between(table, k, second, first, v) - from_first, gap1 + 1)
    behind = (gap1 != slot2) & (last <= least)  # the gap after the first job comes before what was gap1 + 1
    gap, insertion = _chosen(last if behind else least)
    gap -= behind
    b2 = gap - 1 - (slot1 < gap) - (slot2 < gap) + (gap1 < gap) + behind
    return k, NOBODY, a1, b1, a2, b2, change + insertion, np.int64(0)


@inlined
def _slot_before_shift(place, a, b):
    """Return the slot that the job at the place had before the job at a was shifted to b (it is another job)."""
    rest = place - (place > b)
    return rest + 1 + (rest >= a)


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
    job, before, after = _job(rows, k, a + 1), _job(rows, k, a), _job(rows, k, a + 2)
    least, into, other, arc = FAR, _into(table, k, job, _job(rows, k, 0)), _job(rows, k, 1), _arc(arcs, k, 1)
    for slot in range(1, length + 1):
        following, next_arc = _job(rows, k, slot + 1), _arc(arcs, k, slot + 1)
        score = into + _out(table, k, job, following) - arc - next_arc
        score += _out(table, k, before, other) + _into(table, k, after, other)
        least = least if slot == a + 1 else min(least, _candidate(score, slot - 1))
        into, other, arc = _into(table, k, job, other), following, next_arc
    return _chosen(least)[0]


@inlined
def _exchange(table, k, rows, arcs, a, b):
    """Return the true change when the jobs at a and b of one machine change places, be they neighbours or one job."""
    left, right = min(a, b) + 1, max(a, b) + 1
    beside = right == left + 1
    x, y = _job(rows, k, left), _job(rows, k, right)
    after_y, before_x = x if beside else _job(rows, k, left + 1), y if beside else _job(rows, k, right - 1)
    new = _between(table, k, y, _job(rows, k, left - 1), after_y)
    new += _between(table, k, x, before_x, _job(rows, k, right + 1))
    old = _arc(arcs, k, left) + _arc(arcs, k, left + 1) + _arc(arcs, k, right) + _arc(arcs, k, right + 1)
    twice = _out(table, k, y, x) - _arc(arcs, k, right)  # between neighbours there is one arc, not two
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
        first = _least_replaced(rows, arcs, bounds, times, k1, a + 1, _job(rows, k2, b + 1))
        second = _least_replaced(rows, arcs, bounds, times, k2, b + 1, _job(rows, k1, a + 1))
        if max(first, second) > _most(bounds, top, rng):
            return _given_up()
    first = _replacement(table, k1, rows, arcs, a + 1, _job(rows, k2, b + 1))
    second = _replacement(table, k2, rows, arcs, b + 1, _job(rows, k1, a + 1))
    return k1, k2, a, b, 0, 0, first, second


@inlined
def _least_of_counterparts(rows, arcs, bounds, k1, k2, n2, times, a):
    """Return what the longer of the two machines takes at least, whichever job of the second is exchanged."""
    kept = _least_replaced(rows, arcs, bounds, times, k1, a + 1, _job(rows, k2, 0))  # the dummy job costs nothing
    gained = _at(times, k2) + _least(bounds, k2, _job(rows, k1, a + 1))
    least, other, arc = FAR, _job(rows, k2, 1), _arc(arcs, k2, 1)
    for slot in range(1, n2 + 1):
        following, next_arc = _job(rows, k2, slot + 1), _arc(arcs, k2, slot + 1)
        second = gained - arc - next_arc + _least(bounds, k2, following)
        least = min(least, max(kept + _least(bounds, k1, other), second))
        other, arc = following, next_arc
    return least


@inlined
def _best_counterpart(table, rows, arcs, k1, k2, n2, a):
    """Return the position on the second machine with the least sum of both changes, the first of equals."""
    job, before, after = _job(rows, k1, a + 1), _job(rows, k1, a), _job(rows, k1, a + 2)
    least, into, other, arc = FAR, _into(table, k2, job, _job(rows, k2, 0)), _job(rows, k2, 1), _arc(arcs, k2, 1)
    for slot in range(1, n2 + 1):
        following, next_arc = _job(rows, k2, slot + 1), _arc(arcs, k2, slot + 1)
        score = into + _out(table, k2, job, following) - arc - next_arc
        score += _out(table, k1, before, other) + _into(table, k1, after, other)
        least = min(least, _candidate(score, slot - 1))
        into, other, arc = _into(table, k2, job, other), following, next_arc
    return _chosen(least)[0]


@inlined
def _propose_swap(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng):
    a1, a2 = two_below(rng, n1, n2)
    b1, b2 = a1, a2
    if not smart:
        b1, b2 = two_below(rng, n1, n2)
    x, y = _job(rows, k1, a1 + 1), _job(rows, k2, a2 + 1)
    first = _least_replaced(rows, arcs, bounds, times, k1, a1 + 1, y) - _at(bounds.loose, k1)
    second = _least_replaced(rows, arcs, bounds, times, k2, a2 + 1, x) - _at(bounds.loose, k2)
    if max(first, second) > _most(bounds, top, rng):
        return _given_up()
    if smart:
        b1, first = _best_insertion_beside(table, k1, rows, arcs, n1, a1 + 1, y, True)
        b2, second = _best_insertion_beside(table, k2, rows, arcs, n2, a2 + 1, x, True)
    else:
        first = _insertion_beside(table, k1, rows, a1 + 1, b1, y)
        second = _insertion_beside(table, k2, rows, a2 + 1, b2, x)
    first += _removal(table, k1, rows, arcs, a1 + 1)
    second += _removal(table, k2, rows, arcs, a2 + 1)
    return k1, k2, a1, b1, a2, b2, first, second


@inlined
def _propose_task_move(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng):
    a, b = two_below(rng, n1, n2 + 1)  # a smart task move draws its b and does not use it
    job = _job(rows, k1, a + 1)
    if _least_with(bounds, times, k2, job) > _most(bounds, top, rng):
        return _given_up()
    if smart:
        b, second = _best_insertion(table, k2, rows, arcs, n2, job)
    else:
        second = _insertion(table, k2, rows, arcs, b + 1, job)
    return k1, k2, a, b, 0, 0, _removal(table, k1, rows, arcs, a + 1), second


@inlined
def _draw_row(lengths, machines, makespan_machine, aimed, rng):
    """Draw the machine of a one-machine move: the makespan machine, or any with two jobs."""
    k = perhaps_below(rng, machines, not aimed)
    k = makespan_machine if aimed else k
    while _at(lengths, k) < 2:
        k = below(rng, machines)
    return k


@inlined
def _draw_two_rows(lengths, machines, makespan_machine, aimed, may_be_empty, rng):
    """Draw the machines of a two-machine move; only a task move may go to an empty machine."""
    while True:
        k1, k2 = one_or_two_below(rng, machines, not aimed)
        k1 = makespan_machine if aimed else k1
        if k1 != k2 and _at(lengths, k1) > 0 and (may_be_empty or _at(lengths, k2) > 0):
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
def _propose_one_row(family, smart, aimed, table, rows, arcs, bounds, lengths, times, longest, rng):
    k = _draw_row(lengths, lengths.shape[0], longest, aimed, rng)
    length, top = _at(lengths, k), _at(times, longest)
    if family == SHIFT:
        return _propose_shift(table, rows, arcs, bounds, k, length, times, top, smart, rng)
    if family == SWITCH:
        return _propose_switch(table, rows, arcs, k, length, smart, rng)
    return _propose_two_shift(table, rows, arcs, bounds, k, length, times, top, smart, rng)


@inlined
def _propose_two_rows(family, smart, aimed, table, rows, arcs, bounds, lengths, times, longest, rng):
    k1, k2 = _draw_two_rows(lengths, lengths.shape[0], longest, aimed, family == TASK_MOVE, rng)
    n1, n2, top = _at(lengths, k1), _at(lengths, k2), _at(times, longest)
    if family == TASK_MOVE:
        return _propose_task_move(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng)
    if family == SWAP:
        return _propose_swap(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng)
    return _propose_direct_swap(table, rows, arcs, bounds, k1, n1, k2, n2, times, top, smart, rng)


@inlined
def propose(move, table, rows, arcs, bounds, lengths, times, makespan_machine, rng):
    """Draw an applicable move object's machines and positions, and compute the changes of their times.

    Written out for each pair of objects, so that one jump leads to code that asks no more what it is: which comes next
    cannot be guessed, and every question about it would be guessed wrong half of the time. Whether it is aimed at the
    makespan machine makes no jump but a choice of values: so the code is half as large and stays in its cache.
    """
    kind, aimed = move >> 1, move & 1 == 0
    a, b, c, d, e, f, g, h = table, rows, arcs, bounds, lengths, times, makespan_machine, rng
    if kind == 0:
        return _propose_one_row(SHIFT, False, aimed, a, b, c, d, e, f, g, h)
    if kind == 1:
        return _propose_one_row(SHIFT, True, aimed, a, b, c, d, e, f, g, h)
    if kind == 2:
        return _propose_two_rows(DIRECT_SWAP, False, aimed, a, b, c, d, e, f, g, h)
    if kind == 3:
        return _propose_two_rows(DIRECT_SWAP, True, aimed, a, b, c, d, e, f, g, h)
    if kind == 4:
        return _propose_two_rows(SWAP, False, aimed, a, b, c, d, e, f, g, h)
    if kind == 5:
        return _propose_two_rows(SWAP, True, aimed, a, b, c, d, e, f, g, h)
    if kind == 6:
        return _propose_one_row(SWITCH, False, aimed, a, b, c, d, e, f, g, h)
    if kind == 7:
        return _propose_one_row(SWITCH, True, aimed, a, b, c, d, e, f, g, h)
    if kind == 8:
        return _propose_two_rows(TASK_MOVE, False, aimed, a, b, c, d, e, f, g, h)
    if kind == 9:
        return _propose_two_rows(TASK_MOVE, True, aimed, a, b, c, d, e, f, g, h)
    if kind == 10:
        return _propose_one_row(TWO_SHIFT, False, aimed, a, b, c, d, e, f, g, h)
    return _propose_one_row(TWO_SHIFT, True, aimed, a, b, c, d, e, f, g, h)


# --- carrying a proposal out ---------------------------------------------------------------------------------------


@inlined
def apply(move, proposal, table, rows, arcs, bounds, lengths):
    """Change the rows as proposed."""
    family = move >> 2
    k1, k2, a1, b1, a2, b2 = proposal[:6]
    if family == SHIFT:
        _move(rows, k1, a1, b1)
    elif family == TWO_SHIFT and move & 2 == 2:
        _move(rows, k1, a1, b1)
        _move(rows, k1, a2, b2)
    elif family == TWO_SHIFT:
        _shift_two(rows, k1, lengths[k1], a1, b1, a2, b2)
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
