"""Compare optimisers on test functions, each run to a target precision."""

import random

import ampler as am


def search(dimension, seed, *, steps):
    return min(sum(random.Random(f"{seed}{s}{d}").random() ** 2 for d in range(dimension)) for s in range(steps))


optimisers = {f"{n} steps": am.Function(f"{n} steps", search, "objective:search", {"steps": n}) for n in (20, 40)}
design = am.Precision(se=0.2, start=5, budget=60)
study = am.Study(optimisers, {f"d{d}": d for d in (2, 3, 5)}, difference="ratio", better="lower", design=design)
print(study.run("objective.db", progress=False).table()[["first", "second", "estimate"]])
