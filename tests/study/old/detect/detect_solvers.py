"""Algorithms of a study with detect that version 0.2 has begun; their values are pure functions of instance and seed."""

import random


def _value(shift, spread, instance, seed):
    level = random.Random(instance).gauss(100, 5)
    own = random.Random(1000 * spread + instance).gauss(0, spread)
    return round(level + shift + own + random.Random(seed).gauss(0, 1), 6)


def alpha(instance, seed):
    return _value(0.0, 1, instance, seed)


def beta(instance, seed):
    return _value(0.3, 2, instance, seed)


def gamma(instance, seed):
    return _value(9.0, 1, instance, seed)
