"""Does a local search with restarts find better knapsacks than one long search?"""

import random

import ampler as am

STEPS = 300


def knapsack(number):
    """Return 40 items (value, weight) and the weight that fits."""
    rng = random.Random(number)
    items = [(rng.randint(10, 99), rng.randint(10, 99)) for _ in range(40)]
    return items, sum(weight for _, weight in items) // 3


def climb(problem, steps, rng):
    """Swap items in and out for a number of steps; return the best value."""
    items, capacity = problem
    chosen, value, room = set(), 0, capacity
    for _ in range(steps):
        added = rng.randrange(len(items))
        if added in chosen:
            continue
        removed = rng.choice(sorted(chosen)) if chosen and rng.random() < 0.7 else None
        gain, need = items[added]
        if removed is not None:
            gain, need = gain - items[removed][0], need - items[removed][1]
        if need <= room and gain >= 0:
            chosen = (chosen | {added}) - {removed}
            value, room = value + gain, room - need
    return value


def one_long(instance, seed):
    """Search once."""
    return climb(knapsack(instance), STEPS, random.Random(seed))


def restarts(instance, seed):
    """Search three times, each for a third of the steps."""
    rng = random.Random(seed)
    return max(climb(knapsack(instance), STEPS // 3, rng) for _ in range(3))


if __name__ == "__main__":
    study = am.Study(
        algorithms={"one long": one_long, "restarts": restarts},
        instances={f"sack {number:02}": number for number in range(100)},
        reference="one long",
        difference="ratio",
        better="higher",  # a more valuable knapsack is better
        detect=0.02,  # two percent more value would matter
        seed=1,
    )
    print(study.run("study.db", progress=False))
