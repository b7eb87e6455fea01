"""A small solver for scheduling jobs on machines. Replace it by yours."""

import random


def schedule(instance, seed, restarts):
    """What ampler calls: the instance is the path of a file, the seed a whole number, the value a number."""
    return solve(instance, seed, restarts)


def solve(file, seed, restarts, steps=240):
    """Spread jobs over machines so that the last one ends early: the best of some descents that share the steps."""
    with open(file) as lines:
        machines, *times = map(int, lines.read().split())
    rng = random.Random(seed)
    return min(descend(times, machines, rng, steps // restarts) for _ in range(restarts))


def descend(times, machines, rng, steps):
    """Begin anywhere and move one job at a time, as long as the last machine does not end later than before."""
    place = [rng.randrange(machines) for _ in times]
    load = [sum(time for time, machine in zip(times, place) if machine == each) for each in range(machines)]
    end = max(load)
    for _ in range(steps):
        job, machine = rng.randrange(len(times)), rng.randrange(machines)
        load[place[job]] -= times[job]
        load[machine] += times[job]
        if max(load) <= end:
            place[job], end = machine, max(load)
        else:
            load[machine] -= times[job]
            load[place[job]] += times[job]
    return end
