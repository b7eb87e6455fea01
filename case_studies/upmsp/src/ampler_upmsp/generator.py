"""The random numbers of the annealing: those of the Java platform, so that a seed gives the published program's search.

The generator is s := s·M + C modulo 2⁴⁸, of which the upper bits are used. The state is kept in an array of one
number, so that compiled code keeps it inline, and in the upper 48 of its 64 bits, so that nothing has to be masked.
Every draw waits for the state of the one before; where two are needed, both are computed from the same state.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from ampler_upmsp.compiled import inlined

_M, _C = 0x5DEECE66D, 0xB << 16
MULTIPLIER, INCREMENT = np.uint64(_M), np.uint64(_C)
TWICE_MULTIPLIER, TWICE_INCREMENT = np.uint64(_M * _M % 2**64), np.uint64((_M + 1) * _C)  # two steps at once
GRAINS = 9007199254740992.0  # 2⁵³


def seeded(seed: int) -> np.ndarray:
    """Return the state for a seed, as `new java.util.Random(seed)`."""
    return np.array([(int(seed) ^ _M) % 2**48 << 16], dtype=np.uint64)


@inlined
def below(state, bound):
    """Return a whole number uniform on 0..bound-1, as nextInt(bound)."""
    while True:
        state[0] = state[0] * MULTIPLIER + INCREMENT
        number, fair = _reduced(state[0], bound)
        if fair:
            return number


@inlined
def two_below(state, first, second):
    """Return two whole numbers, uniform on 0..first-1 and 0..second-1, as nextInt(first) and nextInt(second)."""
    now = state[0]
    after = now * TWICE_MULTIPLIER + TWICE_INCREMENT
    x, x_fair = _reduced(now * MULTIPLIER + INCREMENT, first)
    y, y_fair = _reduced(after, second)
    if x_fair and y_fair:
        state[0] = after
        return x, y
    return below(state, first), below(state, second)


@inlined
def perhaps_below(state, bound, wanted):
    """Return nextInt(bound), drawn only when wanted. No branch: the caller's wish cannot be guessed."""
    now = state[0]
    once = now * MULTIPLIER + INCREMENT
    x, fair = _reduced(once, bound)
    if fair:
        state[0] = once if wanted else now
        return x
    return below(state, bound) if wanted else x


@inlined
def one_or_two_below(state, bound, two):
    """Return the first and the last number of nextInt(bound), drawn twice or once; neither makes a branch here."""
    now = state[0]
    once, twice = now * MULTIPLIER + INCREMENT, now * TWICE_MULTIPLIER + TWICE_INCREMENT
    x, x_fair = _reduced(once, bound)
    y, y_fair = _reduced(twice, bound)
    if x_fair & y_fair:
        state[0] = twice if two else once
        return x, y if two else x
    x = below(state, bound)
    return x, below(state, bound) if two else x


@inlined
def grains(state):
    """Return a whole number uniform on 0..2⁵³-1: nextDouble() in units of 2⁻⁵³."""
    high = (state[0] * MULTIPLIER + INCREMENT) >> uint64(38)
    skip_grains(state)
    return np.int64((high << uint64(27)) + (state[0] >> uint64(37)))


@inlined
def first_bits(state):
    """Return the upper 8 of the 53 bits that `grains` would draw, without drawing them."""
    return np.int64((state[0] * MULTIPLIER + INCREMENT) >> uint64(56))


@inlined
def skip_grains(state):
    """Go on as after `grains`."""
    state[0] = state[0] * TWICE_MULTIPLIER + TWICE_INCREMENT


@inlined
def _reduced(state, bound):
    """Return the upper 31 bits reduced to 0..bound-1, and whether they are not of the last, incomplete round."""
    draw = np.int64(state >> uint64(33))
    rest = np.int64(np.uint32(draw) % np.uint32(bound))
    scaled = (bound * draw) >> 31
    return scaled if bound & (bound - 1) == 0 else rest, draw - rest + bound <= 1 << 31
