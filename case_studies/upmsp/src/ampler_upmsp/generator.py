"""The random numbers of the annealing: those of the Java platform, so that a seed gives the published program's search.

The state is kept in an array, so that compiled code keeps it inline.
"""

from __future__ import annotations

import numpy as np

from ampler_upmsp.compiled import inlined

MULTIPLIER, INCREMENT = np.int64(0x5DEECE66D), np.int64(0xB)  # a linear congruential generator modulo 2⁴⁸
MASK = np.int64((1 << 48) - 1)
TO_UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³


def seeded(seed: int) -> np.ndarray:
    """Return the state for a seed, as `new java.util.Random(seed)`."""
    return np.array([(int(seed) ^ int(MULTIPLIER)) & int(MASK)], dtype=np.int64)


@inlined
def below(state, bound):
    """Return a whole number uniform on 0..bound-1, as nextInt(bound)."""
    while True:
        state[0] = (state[0] * MULTIPLIER + INCREMENT) & MASK
        draw = state[0] >> 17
        if bound & (bound - 1) == 0:
            return (bound * draw) >> 31
        rest = np.int64(np.uint32(draw) % np.uint32(bound))
        if draw - rest + bound <= 1 << 31:  # else the last, incomplete round of the 2³¹ numbers
            return rest


@inlined
def unit(state):
    """Return a number uniform on [0, 1), as nextDouble()."""
    state[0] = (state[0] * MULTIPLIER + INCREMENT) & MASK
    high = state[0] >> 22
    state[0] = (state[0] * MULTIPLIER + INCREMENT) & MASK
    return np.float64((high << 27) + (state[0] >> 21)) * TO_UNIT
