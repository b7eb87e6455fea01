"""The random numbers of the annealing, with their state in an array, so that compiled code keeps them inline.

The search uses SplitMix64. The start is drawn from the generator of the Java platform, as the published program does:
a seed begins at the same schedule there and here, so that the two can be compared run by run. Without the task move,
which alone changes how many jobs a machine has, most of a makespan hangs on that start.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numba import uint64

from ampler_upmsp.compiled import inlined

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # increment and multipliers: Steele, Lea & Flood (2014)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)
JAVA_MULTIPLIER, JAVA_INCREMENT = 0x5DEECE66D, 0xB  # a linear congruential generator modulo 2⁴⁸
JAVA_MASK = (1 << 48) - 1
TO_UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³


def seeded(seed: int) -> np.ndarray:
    """Return the state for a seed; seeds are hashed, so that neighbouring seeds start far apart on the cycle."""
    digest = hashlib.blake2b(str(int(seed)).encode(), digest_size=8).digest()
    return np.array([int.from_bytes(digest, "little")], dtype=np.uint64)


@inlined
def bits(state):
    """Return the next 64 random bits."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> uint64(30))) * FIRST_MIX
    z = (z ^ (z >> uint64(27))) * SECOND_MIX
    return z ^ (z >> uint64(31))


@inlined
def below(state, bound):
    """Return a whole number uniform on 0..bound-1 (multiply and shift: biased by less than bound·2⁻³²)."""
    return np.int64(((bits(state) >> uint64(32)) * uint64(bound)) >> uint64(32))


@inlined
def two_below(state, first, second):
    """Return two independent whole numbers from one draw, uniform on 0..first-1 and 0..second-1."""
    z = bits(state)
    high = ((z >> uint64(32)) * uint64(first)) >> uint64(32)
    low = ((z & uint64(0xFFFFFFFF)) * uint64(second)) >> uint64(32)
    return np.int64(high), np.int64(low)


@inlined
def unit(state):
    """Return a number uniform on [0, 1)."""
    return np.float64(bits(state) >> uint64(11)) * TO_UNIT


def java_seeded(seed: int) -> np.ndarray:
    """Return the state of the Java platform's generator for a seed."""
    return np.array([(int(seed) ^ JAVA_MULTIPLIER) & JAVA_MASK], dtype=np.int64)


@inlined
def java_below(state, bound):
    """Return a whole number uniform on 0..bound-1, as java.util.Random.nextInt does."""
    while True:
        state[0] = (state[0] * JAVA_MULTIPLIER + JAVA_INCREMENT) & JAVA_MASK
        draw = state[0] >> 17
        if bound & (bound - 1) == 0:
            return (bound * draw) >> 31
        if draw - draw % bound + bound - 1 < 1 << 31:
            return draw % bound
