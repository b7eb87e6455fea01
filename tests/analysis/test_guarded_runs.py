"""How many runs a rule takes that makes sure of an accuracy: held against the rule itself."""

import random
from dataclasses import replace

import numpy as np
import pytest

from ampler.analysis.advice import advise_runs
from ampler.core.arrays import Runs
from ampler.core.settings import Settings
from ampler.sampling.rules import Accuracy, sample


def earlier(algorithms, instances=20, runs=12, spread=3.0):
    """Results of normal runs of standard deviation 1; differences vary by `spread` from instance to instance."""
    rng = random.Random(f"{algorithms}/{runs}")
    rows = []
    for i in range(instances):
        for a in range(algorithms):
            own = 50 + rng.gauss(0, spread)
            rows += [(f"i{i}", f"a{a}", own + rng.gauss(0, 1)) for _ in range(runs)]
    return Runs.from_columns(*zip(*rows, strict=True))


def advice_at(algorithms, reference, start, detect=2.0):
    settings = Settings(difference="simple", reference="a0" if reference else None)
    return advise_runs(earlier(algorithms), settings, detect=detect, start=start, instance_cost=100.0)


def taken(advice, algorithms, reference, start, samples):
    """The mean number of runs that the rule really takes to make sure of the accuracy that was advised."""
    names = tuple(f"a{a}" for a in range(algorithms))
    rule = Accuracy(
        se=advice.best.se, difference="simple", reference="a0" if reference else None, start=start, budget=100_000
    )
    rng = random.Random("runs")
    done = (sample(rule, lambda name, index: rng.gauss(0, 1), names).samples for _ in range(samples))
    return np.mean([sum(len(each.values(name)) for name in names) for each in done])


@pytest.mark.parametrize(
    ("algorithms", "reference", "start", "samples"),
    [
        (2, False, 5, 25),
        (4, True, 5, 15),
        pytest.param(2, False, 10, 200, marks=pytest.mark.slow),
        pytest.param(5, False, 5, 150, marks=pytest.mark.slow),
        pytest.param(5, True, 10, 150, marks=pytest.mark.slow),
        pytest.param(10, True, 5, 100, marks=pytest.mark.slow),
    ],
)
def test_the_runs_of_a_rule_with_the_guard_are_foretold(algorithms, reference, start, samples):
    advice = advice_at(algorithms, reference, start)
    real = taken(advice, algorithms, reference, start, samples)

    assert advice.guarded_runs > 1.1 * advice.best.runs
    assert 0.85 * real <= advice.guarded_runs <= 1.15 * real
    assert real <= advice.budget


def test_without_a_guard_the_runs_are_those_of_the_optimum():
    settings = Settings(difference="simple", guard="none")
    advice = advise_runs(earlier(3), settings, detect=2.0, start=5)
    assert advice.guarded_runs == pytest.approx(advice.best.runs)


def test_a_safer_guard_takes_more_runs():
    settings = Settings(difference="simple")
    pairs, everything = (
        advise_runs(earlier(4), replace(settings, guard=guard), detect=2.0, start=5, instance_cost=100.0)
        for guard in ("pairs", "all")
    )
    assert everything.guarded_runs > pairs.guarded_runs


def test_it_is_said_what_the_rule_takes():
    from ampler.analysis.advice_text import how_sure

    advice = advice_at(2, reference=False, start=5)
    assert f"expect about {advice.guarded_runs:.0f} runs per instance" in how_sure(advice)[0]
