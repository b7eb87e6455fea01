"""The 24 move objects: six neighbourhoods, each plain or smart, aimed at the makespan machine or at a random one.

A move is first *proposed*, which draws its positions and computes how the times of the machines it touches would
change, and *applied* only when it is accepted; most are not.

A machine's jobs stand in a row of `rows` between two dummy jobs, `rows[k, 0]` and `rows[k, n + 1]`, whose number is
J; `arcs[k, i]` is the cost of going from slot i-1 to slot i, and `table` is `Instance.costs`. It holds the costs
(j → x, x → j) on machine k side by side in `table[k, x, j]`, so that trying a job x in a whole row reads one line of
it. The last row of `rows` is scratch space. Positions a, b count from 0, slots from 1.
"""

from __future__ import annotations

import numpy as np

from ampler_upmsp.compiled import inlined
from ampler_upmsp.generator import below, two_below

FAMILIES = ("SHF", "DSW", "SWP", "SWT", "TSK", "2SH")
SHIFT, DIRECT_SWAP, SWAP, SWITCH, TASK_MOVE, TWO_SHIFT = range(6)
KINDS = ("plain-mk", "plain", "smart-mk", "smart")  # object = 4 · family + kind
NOBODY = -1  # no second machine
FAR = (1 << 63) - 1
PLACE_BITS = 20  # a candidate is the number change·2²⁰ + place: the least is the best, and of equals the first


@inlined
def fill_row(table, k, rows, arcs, length):
    """Close a machine's row with the dummy job and recompute its arcs."""
    nobody = table.shape[1] - 1
    rows[k, 0] = nobody
    rows[k, length + 1] = nobody
    for slot in range(1, length + 2):
        arcs[k, slot] = table[k, rows[k, slot - 1], rows[k, slot], 1]


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
    """Put the job at position b of the row without the job at the slot."""
    a = slot - 1
    if b < a:
        return _insertion(table, k, rows, arcs, row, b + 1, job)
    if b > a:
        return _insertion(table, k, rows, arcs, row, b + 2, job)
    before, after = rows[row, slot - 1], rows[row, slot + 1]
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
def _best_gap(table, k, rows, arcs, row, begin, end, offset, job, least):
    """Try the job in the gaps begin..end-1, whose places are gap - offset; return the best candidate so far."""
    into = np.int64(table[k, job, rows[row, begin - 1], 0])
    for gap in range(begin, end):
        other = rows[row, gap]
        change = into + table[k, job, other, 1] - arcs[row, gap]
        into = np.int64(table[k, job, other, 0])
        least = min(least, _candidate(change, gap - offset))
    return least


@inlined
def _best_insertion(table, k, rows, arcs, row, length, job):
    """Return the cheapest position 0..length for the job, the first of equals, and its change."""
    return _chosen(_best_gap(table, k, rows, arcs, row, 1, length + 2, 1, job, FAR))


@inlined
def _best_insertion_beside(table, k, rows, arcs, row, length, slot, job, back):
    """Return the cheapest position for the job in the row without the slot; `back` allows the slot's own place."""
    least = _best_gap(table, k, rows, arcs, row, 1, slot, 1, job, FAR)
    if back:
        change = _insertion_beside(table, k, rows, arcs, row, slot, slot - 1, job)
        least = min(least, _candidate(change, slot - 1))
    return _chosen(_best_gap(table, k, rows, arcs, row, slot + 2, length + 2, 2, job, least))


# --- proposals: (first machine, second machine, a1, b1, a2, b2, change of the first, change of the second) ---------


@inlined
def _propose_shift(table, rows, arcs, k, length, smart, rng):
    a, b = two_below(rng, length, length)  # a smart shift draws its b and does not use it
    if smart:
        b, change = _best_insertion_beside(table, k, rows, arcs, k, length, a + 1, rows[k, a + 1], False)
    else:
        while a == b:
            a, b = two_below(rng, length, length)
        change = _insertion_beside(table, k, rows, arcs, k, a + 1, b, rows[k, a + 1])
    return k, NOBODY, a, b, 0, 0, change + _removal(table, k, rows, arcs, k, a + 1), np.int64(0)


@inlined
def _propose_two_shift(table, rows, arcs, k, length, time, smart, rng):
    """Build the changed row in the scratch space, from which it is copied if the move is accepted."""
    if smart:
        return _propose_smart_two_shift(table, rows, arcs, k, length, rng)
    a1, a2 = two_below(rng, length, length - 1)
    b1, b2 = two_below(rng, length - 1, length)
    return k, NOBODY, a1, b1, a2, b2, _shift_two(table, k, rows, length, a1, b1, a2, b2) - time, np.int64(0)


@inlined
def _shift_two(table, k, rows, length, a1, b1, a2, b2):
    """Fill the scratch row as if the jobs at a1 and then a2 were taken out and put back at b1 and b2; return its time.

    In one pass without a branch: the second job ends at b2, the first at b1 or one further, and the r-th of the others
    comes from r, or further when that is at or behind a place from which a job was taken.
    """
    scratch, nobody = rows.shape[0] - 1, table.shape[1] - 1
    second_from = a2 + (a2 >= a1)
    low, high = min(a1, second_from), max(a1, second_from)
    first, second = rows[k, a1 + 1], rows[k, second_from + 1]
    first_to = b1 + (b1 >= b2)
    before, time = np.int32(nobody), np.int64(0)
    for place in range(length):
        source = place - (place > first_to) - (place > b2)
        source += source >= low
        source += source >= high
        job = rows[k, min(source, length - 1) + 1]
        job = first if place == first_to else job
        job = second if place == b2 else job
        rows[scratch, place + 1] = job
        time += table[k, before, job, 1]
        before = job
    return time


@inlined
def _propose_smart_two_shift(table, rows, arcs, k, length, rng):
    scratch = rows.shape[0] - 1
    for slot in range(length + 2):
        rows[scratch, slot] = rows[k, slot]
        arcs[scratch, slot] = arcs[k, slot]
    a1 = below(rng, length)
    b1, first = _shift_in_scratch(table, k, rows, arcs, length, a1)
    for slot in range(min(a1, b1) + 1, max(a1, b1) + 3):
        arcs[scratch, slot] = table[k, rows[scratch, slot - 1], rows[scratch, slot], 1]
    a2 = below(rng, length)
    while a2 == b1:  # another job than the one just shifted
        a2 = below(rng, length)
    b2, second = _shift_in_scratch(table, k, rows, arcs, length, a2)
    return k, NOBODY, a1, b1, a2, b2, first + second, np.int64(0)


@inlined
def _shift_in_scratch(table, k, rows, arcs, length, a):
    """Shift the job at a of the scratch row to its best place, but for the arcs; return the place and the change."""
    scratch = rows.shape[0] - 1
    removal = _removal(table, k, rows, arcs, scratch, a + 1)
    job = rows[scratch, a + 1]
    b, insertion = _best_insertion_beside(table, k, rows, arcs, scratch, length, a + 1, job, False)
    _move(rows, scratch, a, b)
    return b, removal + insertion


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
        if other_slot != slot:
            least = min(least, _candidate(score, other_slot - 1))
    return _chosen(least)[0]


@inlined
def _exchange(table, k, rows, arcs, a, b):
    """Return the true change when the jobs at a and b of one machine change places."""
    if a == b:
        return np.int64(0)
    left, right = min(a, b) + 1, max(a, b) + 1
    x, y = rows[k, left], rows[k, right]
    if right == left + 1:
        new = np.int64(table[k, y, rows[k, left - 1], 0]) + table[k, y, x, 1] + table[k, x, rows[k, right + 1], 1]
        return new - arcs[k, left] - arcs[k, right] - arcs[k, right + 1]
    return _replacement(table, k, rows, arcs, k, left, y) + _replacement(table, k, rows, arcs, k, right, x)


@inlined
def _propose_direct_swap(table, rows, arcs, k1, n1, k2, n2, smart, rng):
    if smart:
        a = below(rng, n1)
        b = _best_counterpart(table, rows, arcs, k1, k2, n2, a)
    else:
        a, b = two_below(rng, n1, n2)
    first = _replacement(table, k1, rows, arcs, k1, a + 1, rows[k2, b + 1])
    second = _replacement(table, k2, rows, arcs, k2, b + 1, rows[k1, a + 1])
    return k1, k2, a, b, 0, 0, first, second


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
def _propose_swap(table, rows, arcs, k1, n1, k2, n2, smart, rng):
    a1, a2 = two_below(rng, n1, n2)
    x, y = rows[k1, a1 + 1], rows[k2, a2 + 1]
    if smart:
        b1, first = _best_insertion_beside(table, k1, rows, arcs, k1, n1, a1 + 1, y, True)
        b2, second = _best_insertion_beside(table, k2, rows, arcs, k2, n2, a2 + 1, x, True)
    else:
        b1, b2 = two_below(rng, n1, n2)
        first = _insertion_beside(table, k1, rows, arcs, k1, a1 + 1, b1, y)
        second = _insertion_beside(table, k2, rows, arcs, k2, a2 + 1, b2, x)
    first += _removal(table, k1, rows, arcs, k1, a1 + 1)
    second += _removal(table, k2, rows, arcs, k2, a2 + 1)
    return k1, k2, a1, b1, a2, b2, first, second


@inlined
def _propose_task_move(table, rows, arcs, k1, n1, k2, n2, smart, rng):
    a, b = two_below(rng, n1, n2 + 1)  # a smart task move draws its b and does not use it
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
def propose(move, table, rows, arcs, lengths, times, makespan_machine, rng):
    """Draw an applicable move object's machines and positions, and compute the changes of their times."""
    machines = lengths.shape[0]
    family, aimed, smart = move >> 2, move & 1 == 0, move & 2 == 2
    if family == SHIFT or family == SWITCH or family == TWO_SHIFT:
        k = _draw_row(lengths, machines, makespan_machine, aimed, rng)
        if family == SHIFT:
            return _propose_shift(table, rows, arcs, k, lengths[k], smart, rng)
        if family == SWITCH:
            return _propose_switch(table, rows, arcs, k, lengths[k], smart, rng)
        return _propose_two_shift(table, rows, arcs, k, lengths[k], times[k], smart, rng)
    k1, k2 = _draw_two_rows(lengths, machines, makespan_machine, aimed, family == TASK_MOVE, rng)
    n1, n2 = lengths[k1], lengths[k2]
    if family == TASK_MOVE:
        return _propose_task_move(table, rows, arcs, k1, n1, k2, n2, smart, rng)
    if family == SWAP:
        return _propose_swap(table, rows, arcs, k1, n1, k2, n2, smart, rng)
    return _propose_direct_swap(table, rows, arcs, k1, n1, k2, n2, smart, rng)


# --- carrying a proposal out ---------------------------------------------------------------------------------------


@inlined
def apply(move, proposal, table, rows, arcs, lengths):
    """Change the rows as proposed (a two-shift has built its row in the scratch space already)."""
    family = move >> 2
    k1, k2, a1, b1, a2, b2 = proposal[:6]
    if family == SHIFT:
        _move(rows, k1, a1, b1)
    elif family == TWO_SHIFT:
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
    fill_row(table, k1, rows, arcs, lengths[k1])
    if k2 != NOBODY:
        fill_row(table, k2, rows, arcs, lengths[k2])


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
