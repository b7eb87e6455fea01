"""The random numbers of the annealing: SplitMix64 with its state in an array, so that compiled code keeps it inline."""

from __future__ import annotations

import hashlib

import numpy as np
from numba import uint64

from ampler_upmsp.compiled import inlined

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # increment and multipliers: Steele, Lea & Flood (2014)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)
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
