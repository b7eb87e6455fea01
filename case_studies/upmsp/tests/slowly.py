"""The annealing once more, slowly and obviously right: sequences are copied, changed as the words say, timed anew.

It draws its random numbers in the order of the published Java program; a seed gives the same search as there.
"""

import math

from ampler_upmsp.solution import machine_time

FAMILIES = ("SHF", "DSW", "SWP", "SWT", "TSK", "2SH")
ONE_MACHINE = ("SHF", "SWT", "2SH")


class Move:
    """One of the 24 move objects by its place in the pool: four of each family."""

    def __init__(self, number):
        self.number = number
        self.family = FAMILIES[number // 4]
        self.smart = number % 4 >= 2
        self.aimed = number % 2 == 0

    def __repr__(self):
        return f"{self.family}-{'smart' if self.smart else 'plain'}{'-mk' if self.aimed else ''}"


MOVES = [Move(number) for number in range(24)]


def anneal_slowly(instance, rng, *, iterations, per_temperature, disabled=()):
    """Return the best solution."""
    pool = [move for move in MOVES if move.family not in disabled]
    sequences = scatter(instance, rng)
    times = [machine_time(instance, k, sequence) for k, sequence in enumerate(sequences)]
    now = least = max(times)
    best = sequences
    temperature, level = 1.0, 0
    for _ in range(iterations):
        longest = times.index(now)
        move = pool[rng.below(len(pool))]
        while not can(move, sequences, longest):
            move = pool[rng.below(len(pool))]
        machines, positions = draw(move, instance, sequences, longest, rng)
        changed = neighbour(move, instance, sequences, machines, positions)
        after = [
            machine_time(instance, k, sequence) if k in machines else times[k] for k, sequence in enumerate(changed)
        ]
        delta = max(after) - now
        if delta <= 0 or rng.unit() < 1 / math.exp(min(delta / temperature, 700)):
            sequences, times, now = changed, after, max(after)
            if now < least:
                least, best = now, sequences
        level += 1
        if level == per_temperature:
            level = 0
            temperature *= 0.96
            if temperature < 1e-6:
                temperature = 1.0
    return best


def scatter(instance, rng):
    """Shuffle the jobs; each goes to the end of a machine drawn at random."""
    order = list(range(instance.jobs))
    for size in range(instance.jobs, 1, -1):
        other = rng.below(size)
        order[size - 1], order[other] = order[other], order[size - 1]
    sequences = [[] for _ in range(instance.machines)]
    for job in order:
        sequences[rng.below(instance.machines)].append(job)
    return sequences


def can(move, sequences, longest):
    """Whether the move object is applicable."""
    if move.family in ONE_MACHINE:
        return len(sequences[longest]) >= 2 if move.aimed else any(len(sequence) >= 2 for sequence in sequences)
    return move.family == "TSK" or sum(bool(sequence) for sequence in sequences) >= 2


def draw(move, instance, sequences, longest, rng):
    """Draw the machines (k1, k2), -1 where there is no second, and the positions (a1, b1, a2, b2) of a move."""
    k1, k2 = _draw_machines(move, sequences, longest, rng)
    n, other = len(sequences[k1]), len(sequences[k2]) if k2 >= 0 else 0
    return (k1, k2), _draw_positions(move, instance, k1, sequences[k1], n, other, rng)


def _draw_machines(move, sequences, longest, rng):
    machines = len(sequences)
    if move.family in ONE_MACHINE:
        k = longest if move.aimed else rng.below(machines)
        while len(sequences[k]) < 2:
            k = rng.below(machines)
        return k, -1
    least = 0 if move.family == "TSK" else 1  # jobs that the second machine must have
    while True:
        k1 = longest if move.aimed else rng.below(machines)
        k2 = rng.below(machines)
        if k1 != k2 and sequences[k1] and len(sequences[k2]) >= least:
            return k1, k2


def _draw_positions(move, instance, k, sequence, n, other, rng):
    below, family, smart = rng.below, move.family, move.smart
    a = below(n)
    if family == "SHF" and smart:
        below(n)  # drawn and not used
        return a, None, None, None
    if family == "SHF":
        b = below(n)
        while a == b:
            a, b = below(n), below(n)
        return a, b, None, None
    if family == "2SH" and smart:
        b = _shift(instance, k, sequence, a, None).index(sequence[a])
        a2 = below(n)
        while a2 == b:
            a2 = below(n)
        return a, None, a2, None
    if family == "2SH":
        a2, b1, b2 = below(n - 1), below(n - 1), below(n)
        return a, b1, a2, b2
    if family == "SWT":
        return a, None if smart else below(n), None, None
    if family == "DSW":
        return a, None if smart else below(other), None, None
    if family == "SWP":
        a2 = below(other)
        return (a, None, a2, None) if smart else (a, below(n), a2, below(other))
    b = below(other + 1)  # the task move; drawn and not used when it is smart
    return a, None if smart else b, None, None


def neighbour(move, instance, sequences, machines, positions):
    """Return the neighbour that the family, the drawn machines and positions give, by the definition in words."""
    family, smart = move.family, move.smart
    k1, k2 = machines
    a1, b1, a2, b2 = positions
    changed = [list(sequence) for sequence in sequences]
    if family == "SHF":
        changed[k1] = _shift(instance, k1, changed[k1], a1, None if smart else b1)
    elif family == "2SH" and smart:
        once = _shift(instance, k1, changed[k1], a1, None)
        changed[k1] = _shift(instance, k1, once, a2, None)
    elif family == "2SH":
        first, second = changed[k1].pop(a1), changed[k1].pop(a2)
        changed[k1].insert(b1, first)
        changed[k1].insert(b2, second)
    elif family == "SWT":
        b = _switch_partner(instance, k1, changed[k1], a1) if smart else b1
        changed[k1][a1], changed[k1][b] = changed[k1][b], changed[k1][a1]
    elif family == "DSW":
        b = _counterpart(instance, changed, k1, k2, a1) if smart else b1
        changed[k1][a1], changed[k2][b] = changed[k2][b], changed[k1][a1]
    elif family == "SWP":
        x, y = changed[k1].pop(a1), changed[k2].pop(a2)
        changed[k1].insert(_best(instance, k1, changed[k1], y) if smart else b1, y)
        changed[k2].insert(_best(instance, k2, changed[k2], x) if smart else b2, x)
    else:
        job = changed[k1].pop(a1)
        changed[k2].insert(_best(instance, k2, changed[k2], job) if smart else b1, job)
    return changed


def _shift(instance, k, sequence, a, b):
    rest = [job for place, job in enumerate(sequence) if place != a]
    if b is None:
        b = _best(instance, k, rest, sequence[a], forbidden=a)
    return [*rest[:b], sequence[a], *rest[b:]]


def _best(instance, k, sequence, job, forbidden=None):
    places = [b for b in range(len(sequence) + 1) if b != forbidden]
    return min(places, key=lambda b: machine_time(instance, k, [*sequence[:b], job, *sequence[b:]]))


def _with(sequence, place, job):
    return [*sequence[:place], job, *sequence[place + 1 :]]


def _switch_partner(instance, k, sequence, a):
    def score(b):
        at_a = machine_time(instance, k, _with(sequence, a, sequence[b]))
        at_b = machine_time(instance, k, _with(sequence, b, sequence[a]))
        return at_a + at_b

    return min((b for b in range(len(sequence)) if b != a), key=score)


def _counterpart(instance, sequences, k1, k2, a):
    def total(b):
        first = _with(sequences[k1], a, sequences[k2][b])
        second = _with(sequences[k2], b, sequences[k1][a])
        return machine_time(instance, k1, first) + machine_time(instance, k2, second)

    return min(range(len(sequences[k2])), key=total)


class JavaRandom:
    """The 48-bit linear congruential generator that the Java platform specifies."""

    def __init__(self, seed):
        self.state = (seed ^ 0x5DEECE66D) % 2**48

    def below(self, bound):
        while True:
            bits = self._next(31)
            if bound & (bound - 1) == 0:
                return (bound * bits) >> 31
            if bits - bits % bound + bound - 1 < 2**31:
                return bits % bound

    def unit(self):
        return ((self._next(26) << 27) + self._next(27)) * 2.0**-53

    def _next(self, bits):
        self.state = (self.state * 0x5DEECE66D + 0xB) % 2**48
        return self.state >> (48 - bits)
