"""A search that is simulated: values scatter around the difficulty of the instance."""

import random


def search(instance, seed, *, gain=0.0):
    """Return the cost of a solution; `gain` is the share by which it is lower."""
    draw = random.Random(seed)
    hard = random.Random(str(instance))
    base = 100 + 20 * hard.random() - 100 * gain * (0.5 + hard.random())
    return base + draw.gauss(0, 1.5)
