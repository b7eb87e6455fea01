"""More instances or more runs: the split of the variance, the curve, and that the advice keeps its promise."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from flat_study import flat_advise
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ampler import Settings, advise, read_results
from ampler.analysis.advice import Advice, suggest_se
from ampler.analysis.blocks import gather, summarise
from ampler.analysis.cost_curve import pilot_of
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData, InvalidDesign
from ampler.core.failures import Drop
from ampler.design import required_instances
from ampler.sampling.rules import Accuracy, sample
from ampler.stats.contrasts import contrasts_among
from ampler.stats.holm import step_down
from ampler.stats.shape import tail_factors


@dataclass(frozen=True)
class World:
    """A class of problems as it truly is: each algorithm's spread over instances and the noise of its runs."""

    between: tuple[float, ...]  # sd over instances of each algorithm's own part
    noise: tuple[float, ...]  # sd of one run
    level: float = 100.0
    shift: float = 0.0  # of the first algorithm against all others

    def means(self, instances: int, rng: np.random.Generator) -> np.ndarray:
        """Each algorithm's true mean on each of so many instances."""
        means = self.level + rng.normal(size=(instances, len(self.noise))) * self.between
        means[:, 0] += self.shift
        return means

    def pilot(self, instances: int, runs: int, seed: int = 0) -> Runs:
        rng = np.random.default_rng(seed)
        means = self.means(instances, rng)
        values = means[:, :, None] + rng.normal(size=(*means.shape, runs)) * np.array(self.noise)[:, None]
        instance, algorithm, _ = (codes.ravel() for codes in np.indices(values.shape))
        names = tuple(f"i{i}" for i in range(instances)), tuple(f"a{a}" for a in range(len(self.noise)))
        return Runs(*names, instance, algorithm, values.ravel(), np.zeros(values.size, np.uint8))


def simulated_power(world: World, advice: Advice, replications: int, alpha: float = 0.05) -> float:
    """The mean power of Holm's t-tests against a0, with `allocation` runs, by simulation from the true world."""
    rng = np.random.default_rng(1)
    error = np.array(world.noise) / np.sqrt(np.round(list(advice.allocation.values())))
    means = np.stack([world.means(advice.best.instances, rng) for _ in range(replications)])
    means += rng.normal(size=means.shape) * error
    p = stats.ttest_1samp(means[..., :1] - means[..., 1:], 0.0, axis=1).pvalue
    return float(np.mean([step_down(row, alpha).rejected for row in p]))


# The split


@pytest.mark.parametrize("pilots", [250, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_split_is_right_on_average(pilots):
    world = World(between=(1.0, 1.5), noise=(3.0, 2.0))
    contrasts = contrasts_among(2, difference="simple")
    summaries = (summarise(gather(world.pilot(40, 5, seed))) for seed in range(pilots))
    parts = [pilot_of(blocks, contrasts, start=10, costs=np.ones(2)).parts[0] for blocks in summaries]
    between = np.array([part.total - part.within for part in parts])
    assert abs(between.mean() - 3.25) < 4 * between.std() / np.sqrt(pilots)
    assert np.mean([part.within for part in parts]) == pytest.approx(9 / 5 + 4 / 5, rel=0.01 * np.sqrt(1000 / pilots))
    covered = [low <= 3.25 <= high for low, high in (part.between_interval for part in parts)]
    assert abs(np.mean(covered) - 0.9) <= 0.03 * np.sqrt(1000 / pilots)


def test_variation_that_the_noise_explains_is_not_counted_twice_and_that_is_said():
    rows = [(f"i{i}", a, float(x)) for i in range(12) for a in "ab" for x in (-1, 1, i % 2)]
    advice = advise(Runs.from_columns(*zip(*rows, strict=True)), difference="simple", detect=0.5, better="lower")
    assert (advice.parts[0].between, advice.parts[0].total) == (0, 0)
    assert any("run noise explains all variation" in sentence for sentence in advice.warnings)


def test_a_pilot_without_variation_or_with_a_favoured_reference_says_so():
    rows = [(f"i{i}", a, 10.0 + i + (a == "b")) for i in range(12) for a in "ab" for _ in range(3)]
    table = Runs.from_columns(*zip(*rows, strict=True))
    equal = advise(table, difference="simple", detect=0.5, better="lower")
    assert any("nothing is known of how they vary" in sentence for sentence in equal.warnings)
    percent, ratio = (
        advise(table, difference=kind, reference="a", detect=0.05, better="lower") for kind in ("percent", "ratio")
    )
    assert any("percent differences favour the reference" in sentence for sentence in percent.warnings)
    assert not any("favour" in sentence for sentence in ratio.warnings)


def test_the_parts_are_those_of_the_chosen_difference():
    world = World(between=(5.0, 5.0, 5.0), noise=(1.0, 1.0, 1.0))
    runs = world.pilot(60, 10)
    simple, percent, log = (
        advise(runs, difference=kind, reference="a0", detect=0.05 if kind != "simple" else 5.0, better="lower")
        for kind in ("simple", "percent", "ratio")
    )
    assert len(simple.parts) == 2
    assert percent.parts[0].between == pytest.approx(simple.parts[0].between / 100**2, rel=0.2)
    assert log.parts[0].between == pytest.approx(percent.parts[0].between, rel=0.2)
    assert log.best.instances == pytest.approx(simple.best.instances, rel=0.25)


# The number of instances is the design's


@pytest.mark.parametrize("target", ["mean", "median", "worst", "best", 2])
@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
@pytest.mark.parametrize("algorithms", ["abcd", "abcde"])
def test_with_equal_variances_the_instances_are_those_of_the_design(target, test, algorithms):
    values = {("i0", "a"): 0.0, ("i1", "a"): 1.0, ("i2", "a"): 2.0}
    rows = [(i, a, v if a == "a" else 0.0) for (i, _), v in values.items() for a in algorithms for _ in range(2)]
    runs = Runs.from_columns(*zip(*rows, strict=True))
    advice = advise(
        runs,
        difference="simple",
        reference="a",
        detect=0.5,
        target=target,
        better="lower",
        settings=Settings(test=test),
    )
    comparisons = len(algorithms) - 1
    expected = required_instances(comparisons=comparisons, effect=0.5, power=0.8, target=target, test=test)
    assert advice.best.instances == expected.instances
    assert advice.best.se == 0


# The promise: power and cost


WORLDS = [
    pytest.param(World(between=(1.0, 1.0), noise=(3.0, 3.0)), False, {"detect": 1.0, "start": 2}, id="two"),
    pytest.param(World(between=(1.0, 1.0), noise=(3.0, 0.5)), True, {"detect": 0.8, "start": 10}, id="one-noisy"),
    pytest.param(World(between=(0.2, 0.2), noise=(4.0, 4.0)), True, {"detect": 0.5, "start": 3}, id="mostly-noise"),
    pytest.param(World(between=(2.0, 2.0), noise=(0.2, 0.2)), True, {"detect": 1.5, "start": 3}, id="no-noise"),
    pytest.param(
        World(between=(0.5, 0.5, 1.0, 2.0, 1.0), noise=(1.0, 2.0, 3.0, 4.0, 5.0)), True, {"detect": 1.5, "start": 5},
        id="reference",
    ),
    pytest.param(World(between=(1.0,) * 4, noise=(2.0, 2.0, 2.0, 6.0)), False, {"detect": 1.2, "start": 4}, id="all"),
]  # fmt: skip


@pytest.mark.parametrize(("world", "reference", "wish"), WORLDS[:-1])
def test_the_advice_reaches_the_wanted_power_in_simulation(world, reference, wish):
    advice = flat_advise(
        world.pilot(400, 12), difference="simple", reference="a0", power=0.8, **{"better": "lower"} | wish
    )
    shifted = replace(world, shift=wish["detect"])  # all differ from the reference by just that
    assert advice.best.power >= 0.8
    assert simulated_power(shifted, advice, replications=3000) > 0.8 - 0.025


@pytest.mark.parametrize(("world", "reference", "wish"), WORLDS)
def test_the_advice_costs_at_most_five_percent_more_than_the_best_of_a_grid(world, reference, wish):
    runs = world.pilot(20, 10)
    advice = flat_advise(runs, difference="simple", reference="a0" if reference else None, **{"better": "lower"} | wish)
    grid = advice.best.se * np.geomspace(0.1, 10, 41)
    best = min(cost for _, cost in by_hand(advice, runs, reference, grid, **wish))
    assert advice.best.cost <= 1.05 * best
    assert min(choice.cost for choice in advice.curve) >= 0.999 * advice.best.cost


def by_hand(
    advice: Advice, runs: Runs, reference: bool, grid: np.ndarray, *, detect: float, start: int
) -> list[tuple[int, float]]:
    """Instances and cost for each se, the slow way: many splits of se² tried everywhere, instances counted up."""
    size = len(runs.algorithms)
    spread = pilot_spread(runs)
    first, second = (np.zeros(size - 1, int), np.arange(1, size)) if reference else np.triu_indices(size, 1)
    means = np.array([[runs.value[(runs.instance == i) & (runs.algorithm == a)].mean() for a in range(size)]
                      for i in range(len(runs.instances))])  # fmt: skip
    factors = tail_factors(means[:, first] - means[:, second])
    between = np.array([f * part.total - part.within for f, part in zip(factors, advice.parts, strict=True)]).clip(0)
    choices = []
    for se in grid:
        squared = np.array([cheapest_split(row, row / start, se**2, reference) for row in spread])
        deviations = np.sqrt(between + (squared[:, first] + squared[:, second]).mean(axis=0))
        instances = smallest_sample(np.sort(detect / deviations)[::-1])
        choices.append((instances, instances * float((spread / squared).sum(axis=1).mean())))
    return choices


def pilot_spread(runs: Runs) -> np.ndarray:
    """The variance of one run on each instance, as the advice sees it."""
    contrasts = contrasts_among(len(runs.algorithms), difference="simple")
    return pilot_of(summarise(gather(runs)), contrasts, start=2, costs=np.ones(contrasts.size)).spread


def cheapest_split(variances: np.ndarray, most: np.ndarray, target: float, reference: bool) -> np.ndarray:
    """Squared errors v ≤ most with v_i + v_j ≤ target that take the fewest runs Σ s²/v: one of them decides all."""
    shares = np.linspace(0.004, 0.996, 200) if reference else np.linspace(0.5, 0.996, 60)
    tries = np.concatenate([target * shares, most[most < target]])
    best, fewest = most, np.inf
    for decider in (0,) if reference else range(len(variances)):
        splits = np.minimum(most, target - tries[:, None])
        splits[:, decider] = np.minimum(tries, most[decider])
        pairs = splits[:, 0] + splits[:, 1:].max(axis=1) if reference else np.sort(splits)[:, -2:].sum(axis=1)
        runs = np.where(pairs <= target * (1 + 1e-9), (variances / splits).sum(axis=1), np.inf)
        if runs.min() < fewest:
            best, fewest = splits[runs.argmin()], runs.min()
    return best


def smallest_sample(effects: np.ndarray) -> int:
    """Count up until the mean power reaches 0.8."""
    levels = 0.05 / np.arange(len(effects), 0, -1)
    for block in range(2, 10**6, 64):
        n = np.arange(block, block + 64)[:, None]
        powers = stats.nct.sf(stats.t.isf(levels / 2, n - 1), n - 1, effects * np.sqrt(n)).mean(axis=1)
        if (powers >= 0.8).any():
            return int(n[np.argmax(powers >= 0.8), 0])
    raise AssertionError("too many instances")


def test_no_fixed_number_of_runs_is_cheaper_for_two_algorithms():
    world = World(between=(0.8, 0.8), noise=(2.0, 4.0))
    advice = advise(world.pilot(300, 30), difference="simple", detect=1.0, start=2, better="lower")
    between = advice.parts[0].between
    noise = pilot_spread(world.pilot(300, 30)).mean(axis=0)
    grid = product(range(2, 10), range(2, 14))
    best = min(
        (m + n) * smallest_sample(np.array([1.0 / np.sqrt(between + noise[0] / m + noise[1] / n)])) for m, n in grid
    )
    assert advice.best.cost <= 1.05 * best


@pytest.mark.parametrize("available", [60, pytest.param(80, marks=pytest.mark.slow), 100])
def test_with_few_instances_the_runs_make_up_for_them_and_no_choice_on_the_grid_is_cheaper(available):
    world = World(between=(0.4, 0.4, 0.4), noise=(3.0, 2.0, 4.0))
    runs = world.pilot(40, 10)
    wish = {"detect": 0.4, "start": 2}
    free = flat_advise(runs, difference="simple", reference="a0", **{"better": "lower"} | wish)
    advice = flat_advise(runs, difference="simple", reference="a0", available=available, **{"better": "lower"} | wish)
    assert free.best.instances > available >= advice.best.instances
    assert advice.best.runs > 2 * free.best.runs
    assert advice.best.power >= 0.8
    grid = advice.best.se * np.geomspace(0.3, 3, 41)
    choices = by_hand(advice, runs, True, grid, **wish)
    assert advice.best.cost <= 1.05 * min(cost for instances, cost in choices if instances <= available)


def test_what_no_accuracy_can_find_with_the_instances_there_are_is_refused_with_what_can():
    runs = World((1.0, 1.0), (0.1, 0.1)).pilot(200, 3)
    with pytest.raises(InvalidDesign, match=r"needs \d+ instances .*: use 0\.(\d+)"):
        advise(runs, difference="simple", detect=0.3, available=20, better="lower")


def test_an_instance_that_costs_something_gets_more_runs():
    runs = World((0.5, 0.5), (3.0, 3.0)).pilot(60, 10)
    free, dear = (
        advise(runs, difference="simple", detect=0.7, start=2, instance_cost=cost, better="lower").best
        for cost in (0.0, 100.0)
    )
    assert dear.instances < free.instances
    assert dear.runs > 2 * free.runs


def test_dear_algorithms_get_fewer_runs():
    world = World(between=(0.5, 0.5), noise=(3.0, 3.0))
    runs = world.pilot(60, 10)
    equal = advise(runs, difference="simple", detect=0.7, start=2, better="lower")
    dear = advise(runs, difference="simple", detect=0.7, start=2, costs={"a1": 9.0}, better="lower")
    assert equal.allocation["a0"] == pytest.approx(equal.allocation["a1"], rel=0.1)
    assert dear.allocation["a0"] > 2 * dear.allocation["a1"]
    assert dear.best.cost < 10 / 2 * equal.best.cost


@pytest.mark.slow
@pytest.mark.parametrize("available", [None, 16])
def test_a_study_run_by_the_rule_with_the_advised_accuracy_reaches_the_power(available):
    """The whole way: the default rule (optimal, guard "pairs") samples every instance until it believes se."""
    world = World(between=(0.4, 0.4, 0.4), noise=(1.0, 2.0, 3.0), shift=0.8)
    names = ("a0", "a1", "a2")
    wish = {"difference": "simple", "reference": "a0"}
    advice = flat_advise(world.pilot(200, 20), detect=0.8, start=5, available=available, **{"better": "lower"} | wish)
    rule = Accuracy(se=advice.best.se, start=5, budget=10**5, **wish)
    rng = np.random.default_rng(5)
    noise = dict(zip(names, world.noise, strict=True))

    def sampled(row):
        true = dict(zip(names, row, strict=True))
        return sample(rule, lambda name, _: true[name] + noise[name] * rng.normal(), names).samples

    rejected, runs, within = [], [], []
    for _ in range(100):
        samples = [sampled(row) for row in world.means(advice.best.instances, rng)]
        found = np.array([each.means for each in samples])
        p = stats.ttest_1samp(found[:, :1] - found[:, 1:], 0.0).pvalue
        rejected.append(step_down(p, 0.05).rejected.mean())
        runs.append(sum(each.counts.sum() for each in samples))
        within.append(np.mean([each.counts.sum() <= advice.budget for each in samples]))
    assert np.mean(rejected) > 0.8 - 0.03
    # what the second edition of the guard costs where runs are few: 1.97 and 1.98 times; the first took under 1.8
    assert advice.best.cost < np.mean(runs) < 2.1 * advice.best.cost
    assert np.mean(within) > (0.95 if available else 0.8)


# Laws


@settings(max_examples=settings().max_examples // 5)
@given(
    between=st.floats(0.0, 3.0),
    noise=st.floats(0.1, 5.0),
    detect=st.floats(0.3, 3.0),
    factor=st.floats(1.1, 3.0),
    seed=st.integers(0, 50),
)
def test_a_larger_difference_is_never_dearer_and_more_power_never_cheaper(between, noise, detect, factor, seed):
    runs = World(between=(between, between), noise=(noise, noise)).pilot(15, 4, seed)
    plain, easier, surer = (
        advise(runs, difference="simple", detect=difference, power=power, start=2, better="lower").best.cost
        for difference, power in ((detect, 0.8), (factor * detect, 0.8), (detect, 0.95))
    )
    assert easier <= 1.01 * plain
    assert surer >= 0.99 * plain


@settings(max_examples=settings().max_examples // 5)
@given(scale=st.floats(1e-290, 1e290), seed=st.integers(0, 50))
def test_the_unit_of_the_values_does_not_matter(scale, seed):
    runs = World(between=(1.0, 1.0), noise=(2.0, 2.0)).pilot(15, 4, seed)
    scaled = Runs(runs.instances, runs.algorithms, runs.instance, runs.algorithm, runs.value * scale, runs.status)
    plain = advise(runs, difference="simple", detect=1.0, better="lower")
    other = advise(scaled, difference="simple", detect=scale, better="lower")
    assert other.best.instances == plain.best.instances
    assert other.best.se == pytest.approx(scale * plain.best.se, rel=1e-6)


def test_along_the_curve_more_accuracy_takes_more_runs_and_fewer_instances():
    curve = advise(
        World((1.0,) * 3, (4.0,) * 3).pilot(30, 6), difference="simple", detect=1.0, start=2, better="lower"
    ).curve
    assert len(curve) > 10
    se, instances, runs, _, power = np.transpose([(c.se, c.instances, c.runs, c.cost, c.power) for c in curve])
    assert (np.diff(se) > 0).all()
    assert (np.diff(instances) >= 0).all()
    assert (np.diff(runs) <= 0).all()
    assert (power >= 0.8).all()


# What is said


def test_the_answer_compares_with_the_pilot():
    def answer(instances, runs, detect, noise=1.0, **options):
        pilot = World((1.0 / noise, 1.0 / noise), (noise, noise)).pilot(instances, runs)
        return flat_advise(pilot, difference="simple", detect=detect, start=2, **{"better": "lower"} | options).answer

    assert answer(10, 40, 0.5).startswith("You need more instances")
    assert "the runs per instance suffice" in answer(10, 40, 0.5)
    assert answer(300, 10, 1.0).startswith("The pilot is large enough")
    assert "also more runs per instance" in answer(30, 2, 1.0, noise=4.0, available=60)
    assert answer(80, 2, 1.0, noise=4.0, available=80).startswith("You need more runs per instance")


def test_a_small_pilot_and_incomplete_instances_are_said():
    runs = World(between=(1.0, 1.0), noise=(1.0, 1.0)).pilot(6, 2)
    kept = np.arange(len(runs)) != len(runs) - 1  # the last instance loses one run of a1
    runs = Runs(
        runs.instances, runs.algorithms, runs.instance[kept], runs.algorithm[kept], runs.value[kept], runs.status[kept]
    )
    advice = advise(runs, difference="simple", detect=1.0, better="lower")
    assert advice.pilot_instances == 5
    assert advice.excluded == {"i5": "only one run of a1"}
    assert "1 of 6 instances could not be used" in advice.warnings[0]
    assert "the pilot has only 5 instances" in advice.warnings[1]
    low, high = advice.instances_interval
    assert low <= advice.best.instances <= high


def test_the_dictionary_holds_everything():
    advice = advise(World((1.0, 1.0), (1.0, 1.0)).pilot(12, 3), difference="simple", detect=1.0, better="lower")
    document = advice.as_dict()
    assert document["best"]["instances"] == advice.best.instances
    assert document["parts"][0]["noise_share"] == advice.parts[0].noise_share
    assert len(document["curve"]) == len(advice.curve)
    assert str(advice.best.instances) in str(advice)


def test_the_budget_leaves_room_on_every_instance_of_the_pilot():
    runs = World((1.0,) * 3, (4.0, 2.0, 1.0)).pilot(20, 8)
    advice = advise(runs, difference="simple", detect=1.0, start=2, better="lower")
    assert advice.budget > 3 * advice.best.runs


def test_without_a_pilot_a_tenth_of_the_variance_is_left_to_the_runs():
    se = suggest_se(detect=0.06, effect=0.5)
    assert se**2 == pytest.approx(0.1 * (0.06 / 0.5) ** 2)


# Mistakes


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"detect": 0.0}, InvalidDesign, "detect must be a positive number"),
        ({"detect": float("nan")}, InvalidDesign, "detect must be a positive number"),
        ({"power": 1.0}, InvalidDesign, "power must lie strictly between 0 and 1"),
        ({"power": 0.04}, InvalidDesign, "power must be larger than alpha"),
        ({"target": "most"}, InvalidDesign, "target must be one of"),
        ({"target": 2}, InvalidDesign, "target must be at most 1"),
        ({"test": "z"}, InvalidDesign, "test must be one of 't', 'wilcoxon', 'sign'"),
        ({"alternative": "less"}, InvalidDesign, "needs a reference"),
        ({"start": 1}, InvalidDesign, "start must be a whole number from 2"),
        ({"costs": {"x": 1.0}}, InvalidData, "costs must be of the algorithms"),
        ({"costs": {"a0": 0.0}}, InvalidDesign, "the cost of 'a0' must be a positive number"),
        ({"detect": 1e-9}, InvalidDesign, "no reachable number of instances"),
        ({"difference": "percent", "detect": 0.1}, InvalidData, "positive"),
    ],
)
def test_what_cannot_be_advised_is_refused_in_one_sentence(changes, error, message):
    runs = World((1.0, 1.0), (1.0, 1.0), level=0.0).pilot(12, 3)
    specified = {name: changes[name] for name in ("test", "alternative") if name in changes}
    keywords = {name: value for name, value in changes.items() if name not in specified}

    def call():
        usual = {"better": "lower", "difference": "simple", "detect": 1.0}
        return flat_advise(runs, settings=Settings(**specified), **usual | keywords)

    with pytest.raises(error, match=message):
        call()


def test_a_pilot_with_one_run_per_cell_is_refused():
    with pytest.raises(InvalidData, match=r"two values or more.*got 0 of 12"):
        advise(World((1.0, 1.0), (1.0, 1.0)).pilot(12, 1), difference="simple", detect=1.0, better="lower")


def test_one_algorithm_alone_is_refused():
    with pytest.raises(InvalidData, match="at least two algorithms"):
        advise(World((1.0,), (1.0,)).pilot(12, 3), difference="simple", detect=1.0, better="lower")


@pytest.mark.parametrize("noise", [0.0, 1e-14])
def test_results_without_noise_need_no_more_runs_than_start(noise):
    advice = advise(World((1.0, 1.0), (noise, noise)).pilot(12, 3), difference="percent", detect=0.01, better="lower")
    assert advice.best.runs == 2 * advice.start
    assert advice.best.se == pytest.approx(0.0, abs=1e-10)


def test_failures_need_a_policy():
    rows = [(f"i{i}", a, float(i), "ok") for i in range(5) for a in "ab" for _ in range(3)]
    rows[0] = ("i0", "a", float("nan"), "timeout")
    runs = Runs.from_columns(*zip(*rows, strict=True))
    with pytest.raises(InvalidData, match="gave no value"):
        advise(runs, difference="simple", detect=1.0, better="lower")
    assert (
        advise(read_results(runs, on_failure=Drop()), difference="simple", detect=1.0, better="lower").pilot_instances
        == 5
    )
