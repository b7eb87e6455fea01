"""A study that finds its own size, in a process of its own that is killed at a moment of its choosing.

python killed_detect_study.py STUDY.DB MOMENT WORKERS|ADDRESS
"""

import os
import random
import signal
import sys
import time

from ampler import Study
from ampler.running import run_plan
from ampler.study.store import open_store

PILOT, START = 6, 3
IN_PILOT = 3 * PILOT * START  # runs
MOMENTS = ("in the pilot", "before the decision is kept", "after the decision is kept", "in the rest", "before the end")


def solver(shift, spread):
    def solve(instance, seed):
        time.sleep(0.004)
        own = random.Random(f"{instance}/{shift}").gauss(0, 1)
        return 100 + instance % 5 + shift + own + random.Random(seed).gauss(0, spread)

    return solve


def study():
    algorithms = {"a": solver(0.0, 1.0), "b": solver(0.5, 2.0), "c": solver(30.0, 1.0)}
    instances = {f"i{n}": n for n in range(40)}
    asked = {"difference": "simple", "reference": "a", "detect": 1.5, "pilot": PILOT, "start": START, "seed": 4}
    return Study(algorithms=algorithms, instances=instances, **{"better": "lower"} | asked)


class Deadly:
    """A store whose process is killed when it writes at the moment, before or after the write."""

    def __init__(self, store, moment):
        self._store, self._moment, self._runs = store, moment, sum(1 for _ in store.observations())

    def __getattr__(self, name):
        return getattr(self._store, name)

    def add(self, observations, finished=()):
        observations = list(observations)
        if self._moment == ("in the pilot" if self._runs < IN_PILOT else "in the rest"):
            self._store.add(observations[:10])  # as if a group of runs had been written a little earlier
            self._die(self._moment, observations)
        self._store.add(observations, finished)
        self._runs += len(observations)

    def decide(self, number, decision):
        self._die("before the decision is kept", number == 1)
        self._die("before the end", number == 2)
        self._store.decide(number, decision)
        self._die("after the decision is kept", number == 1)

    def _die(self, moment, now):
        if moment == self._moment and now:
            os.kill(os.getpid(), signal.SIGKILL)


def main():
    path, moment, where = sys.argv[1:]
    with open_store(path) as store:
        deadly = Deadly(store, moment)
        if where.isdigit():
            run_plan(study().plan, deadly, workers=int(where))
        else:
            from distributed import Client

            with Client(where) as client:
                run_plan(study().plan, deadly, executor=client)


if __name__ == "__main__":
    main()
