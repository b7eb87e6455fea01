"""A small solver for scheduling jobs on machines. Replace it by yours: any program will do."""

import argparse
import random


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

parser = argparse.ArgumentParser()
parser.add_argument("instance")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--restarts", type=int, default=1)
given = parser.parse_args()
print("makespan", solve(given.instance, given.seed, given.restarts))
