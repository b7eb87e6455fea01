"""Studies with looks for tests: a replay of the worked examples, and an analysis of a small one."""

import json
from pathlib import Path

import numpy as np

from ampler.analysis import analyse_runs
from ampler.analysis.interim import InterimPlan, Replay
from ampler.core.arrays import Runs
from ampler.core.settings import Settings

GOLD = Path(__file__).parents[1] / "gold" / "sequential.json"
EXAMPLES = {example["name"]: example for example in json.loads(GOLD.read_text())["examples"]}


def course_of(looks, *, done=None, effect=0.5, names=("a",), test="t", alternative="two-sided", alpha=0.05):
    starts = (0, *looks[:-1])
    groups = [tuple(f"i{n}" for n in range(*ends)) for ends in zip(starts, looks, strict=True)]
    return InterimPlan(
        looks=tuple(looks),
        alpha=alpha,
        spending="OF",
        equivalence=0.05,
        effect=effect,
        test=test,
        alternative=alternative,
        instances=tuple(groups[:done]),
        algorithms=((*names,),) * len(groups[:done]),
    )


def replay_of(example, look):
    """The example up to a look, each comparison without what came after it was decided."""
    x = np.array(example["differences"])
    tables = []
    for at in range(1, look + 1):
        table = x[: example["instances"][at - 1]].copy()
        before = example["steps"][at - 2]["decided_at"] if at > 1 else [None] * x.shape[1]
        for k, ended in enumerate(before):
            if ended is not None:
                table[example["instances"][ended - 1] :, k] = np.nan
        tables.append(table)
    pairs = tuple((str(first), str(second)) for first, second in example["pairs"])
    return Replay(course_of(example["instances"], done=look), pairs, tuple(tables))


def small_analysis(*, done=None, effect=0.5, shifts=(0.0, 0.02, 3.0, 0.6), seed=1, skewed=False, test="t"):
    """Four algorithms, a reference; values of one run each, in the order of the looks."""
    rng = np.random.default_rng(seed)
    looks, names = (12, 20, 28), "abcd"[: len(shifts)]
    own = rng.exponential(1, (28, len(names))) - 1 if skewed else rng.normal(0, 1, (28, len(names)))
    own[:, 0] = rng.normal(0, 0.01, 28) if skewed else own[:, 0]
    values = 100 + rng.normal(0, 3, (28, 1)) + own / np.sqrt(2) + np.array(shifts)
    course = course_of(looks, done=done, effect=effect, names=names, test=test)
    kept = len(course.names)
    rows = [(f"i{i}", name, values[i, k]) for i in range(kept) for k, name in enumerate(names)]
    runs = Runs.from_columns(*zip(*rows, strict=True))
    settings = Settings(difference="simple", reference="a", effect=effect, test=test)
    return analyse_runs(runs, settings, looks=course)
