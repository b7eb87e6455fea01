"""What to run next on an instance, and when to stop."""

import csv
import json
import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ampler.core.arrays import Samples
from ampler.core.errors import InvalidRule, InvalidSamples
from ampler.core.plan import Sample, Stop
from ampler.sampling.rules import Accuracy, Fixed, sample
from ampler.stats.contrasts import contrasts_among
from ampler.stats.estimate import estimate
from ampler.stats.summaries import summary_of
from ampler.stats.variance_bounds import guarded_variances

HERE = Path(__file__).parents[1]
TRACES = {case["name"]: case for case in json.loads((HERE / "gold" / "trace.json").read_text(encoding="utf-8"))}
EXPERIMENT = HERE.parents[1] / "shared" / "public-data" / "paper_experiment1_runs.csv"
DIFFERENCES = {"simple": "simple", "perc": "percent"}


def stream(seed, algorithms, sd=2.0, mean=50.0):
    """draw(algorithm, index) for normal values that differ in mean and sd."""
    values = {
        name: np.random.default_rng([seed, place]).normal(mean + place, sd * (1 + place), 5000)
        for place, name in enumerate(algorithms)
    }
    return lambda algorithm, index: float(values[algorithm][index])


# --- the paper's rule, to the run -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRACES)
def test_the_paper_preset_replays_algorithm_1_run_by_run(name):
    case = TRACES[name]
    order = []

    def draw(algorithm, index):
        order.append(int(algorithm))
        return float(case["streams"][int(algorithm) - 1][index])

    names = [str(k) for k in range(1, len(case["streams"]) + 1)]
    reference = "1" if case["comparisons"] == "all.vs.first" else None
    how = {"difference": DIFFERENCES[case["dif"]], "reference": reference}
    rule = Accuracy.as_in_paper(se=case["se_max"], start=case["nstart"], budget=case["nmax"], **how)
    outcome = sample(rule, draw, names)
    assert outcome.samples.counts.tolist() == case["caiser"]["Nk"]
    assert order[case["nstart"] * len(names) :] == case["caiser"]["allocation"]
    found = estimate(outcome.samples, formula="paper", **how)
    np.testing.assert_allclose([e.error for e in found], case["caiser"]["SE"], rtol=1e-10)
    np.testing.assert_allclose([e.difference for e in found], case["caiser"]["Phi"], rtol=1e-10)


@pytest.mark.skipif(not EXPERIMENT.exists(), reason="the paper's runs are not in the project")
def test_the_paper_preset_replays_the_paper_s_first_experiment():
    runs = defaultdict(lambda: defaultdict(list))
    with EXPERIMENT.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            runs[row["Instance"]][row["Algorithm"]].append(float(row["Observation"]))
    rule = Accuracy.as_in_paper(se=0.05, difference="percent", reference="Full", start=10, budget=1100)
    spent_out = []
    for instance, recorded in runs.items():
        outcome = sample(rule, lambda algorithm, index, r=recorded: r[algorithm][index], list(recorded))
        assert outcome.samples.counts.tolist() == [len(values) for values in recorded.values()], instance
        if outcome.stop == Stop("budget spent"):
            spent_out.append(instance)
    assert len(runs) == 57
    assert sorted(spent_out) == ["I_50_15_S_1-9_2", "I_50_25_S_1-124_1", "I_50_25_S_1-9_2"]


# --- rounds, reasons, failures ----------------------------------------------------------------------------------------


def test_the_first_round_is_start_runs_of_each_algorithm():
    rule = Accuracy(se=1.0, difference="simple", start=7)
    assert rule(Samples(["a", "b", "c"])) == Sample({"a": 7, "b": 7, "c": 7})


def test_later_rounds_hold_at_most_a_batch_and_no_more_than_is_predicted():
    names = ["a", "b", "c"]
    rule = Accuracy(se=0.6, difference="simple", budget=5000, batch=16)
    samples, draw, sizes = Samples(names), stream(1, names), []
    while isinstance(decision := rule(samples), Sample):
        predicted = rule.predict(samples)
        sizes.append(decision.total)
        assert decision.total <= sum(predicted.values())
        for name, count in decision.counts.items():
            for _ in range(count):
                samples.add(name, draw(name, int(samples.counts[names.index(name)])))
    assert decision == Stop("accuracy reached")
    assert sizes[0] == 30
    assert max(sizes[1:]) == 16
    assert rule.predict(samples) == {"a": 0, "b": 0, "c": 0}


def test_the_guarded_errors_reach_se_and_the_plain_ones_are_smaller():
    names = ["a", "b", "c"]
    rule = Accuracy(se=0.6, difference="simple", reference="b", budget=5000)
    outcome = sample(rule, stream(2, names), names)
    errors = rule.errors(outcome.samples)
    assert errors.pairs == (("b", "a"), ("b", "c"))
    assert errors.guarded.max() <= 0.6
    assert (errors.plain < errors.guarded).all()
    plain = [e.error for e in estimate(outcome.samples, difference="simple", reference="b")]
    np.testing.assert_allclose(errors.plain, plain, rtol=1e-14)


def test_errors_are_not_known_as_long_as_values_are_missing():
    errors = Accuracy(se=1.0, difference="simple").errors({"a": [1.0], "b": [1.0, 2.0], "c": [4.0, 2.0]})
    assert len(errors.pairs) == 3
    assert np.isnan(errors.plain).all()
    assert np.isnan(errors.guarded).all()


def test_constant_algorithms_stop_the_instance_with_their_reason():
    rule = Accuracy(se=0.1, difference="percent", start=3)
    assert rule({"a": [2.0] * 3, "b": [3.0] * 3}) == Stop("all constant")


def test_one_constant_algorithm_is_not_taken_for_certain_under_a_guard():
    values = {"a": [5.0] * 10, "b": np.random.default_rng(1).normal(9, 3, 10).tolist()}
    unguarded = Accuracy(se=1.3, difference="simple", guard="none").errors(values)
    guarded = Accuracy(se=1.3, difference="simple", guard="pairs").errors(values)
    assert guarded.guarded[0] > 1.4 * unguarded.guarded[0]


def test_accuracy_reached_with_the_last_run_of_the_budget_is_no_budget_stop():
    values = {"a": [1.0, 1.1, 1.2], "b": [2.0, 2.1, 2.2]}
    assert Accuracy(se=5.0, difference="simple", start=3, budget=6)(values) == Stop("accuracy reached")
    assert Accuracy(se=1e-4, difference="simple", start=3, budget=6)(values) == Stop("budget spent")


def test_the_default_budget_is_fifty_runs_per_algorithm():
    names = ["a", "b", "c"]
    outcome = sample(Accuracy(se=1e-6, difference="simple"), stream(3, names), names)
    assert outcome.stop == Stop("budget spent")
    assert outcome.samples.counts.sum() == 150


def test_failed_runs_count_towards_the_budget_and_are_asked_for_again():
    names = ["a", "b"]
    draw = stream(4, names)
    rule = Accuracy(se=1e-6, difference="simple", start=5, budget=40)
    outcome = sample(rule, lambda name, index: None if index % 2 else draw(name, index), names)
    assert outcome.samples.spent.sum() == 40
    assert (outcome.samples.counts >= 5).all()
    assert outcome.samples.counts.sum() < 40


def test_an_algorithm_that_always_fails_ends_at_the_budget():
    names = ["a", "b"]
    rule = Accuracy(se=1.0, difference="simple", start=5, budget=23)
    outcome = sample(rule, lambda name, index: None if name == "b" else float(index), names)
    assert outcome.stop == Stop("budget spent")
    assert outcome.samples.spent.tolist() == [5, 18]


@pytest.mark.parametrize("allocation", ["optimal", "greedy", "balanced"])
@pytest.mark.parametrize("guard", ["none", "pairs", "all"])
def test_a_deterministic_algorithm_is_run_once(allocation, guard):
    names = ["a", "b", "c"]
    draw = stream(5, names)
    rule = Accuracy(se=0.9, difference="simple", allocation=allocation, guard=guard, budget=3000)
    outcome = sample(rule, lambda n, i: 4.0 if n == "a" else draw(n, i), names, deterministic=["a"])
    assert outcome.stop == Stop("accuracy reached")
    assert outcome.samples.counts[0] == 1
    assert rule.errors(outcome.samples).guarded.max() <= 0.9 * (1 + 1e-12)


def test_a_deterministic_algorithm_is_certain_however_often_it_was_run():
    values = stream(9, ["b", "c"])
    drawn = {name: [values(name, index) for index in range(10)] for name in "bc"}
    once, often = (Samples.of({"a": [4.0] * runs, **drawn}, deterministic=["a"]) for runs in (1, 3))
    rule = Accuracy(se=0.9, difference="simple")
    np.testing.assert_array_equal(rule.errors(once).guarded, rule.errors(often).guarded)


def test_a_reference_which_is_in_every_pair_is_guarded_more_safely():
    values = stream(10, ["a", "b"])
    drawn = {name: [values(name, index) for index in range(10)] for name in "ab"}
    alike, special = (Accuracy(se=0.9, difference="simple", reference=name).errors(drawn) for name in (None, "a"))
    assert special.plain[0] == alike.plain[0]
    assert special.guarded[0] > 1.01 * alike.guarded[0]


@pytest.mark.parametrize("statistic", ["median", "quantile:0.9", "trimmed-mean", np.ptp])
@pytest.mark.parametrize("edition", [1, 2])
def test_the_tails_of_the_runs_are_held_against_the_mean_alone(statistic, edition):
    """Other statistics know what their variances are worth from the number of runs; the first edition did not."""
    heavy = np.random.default_rng(11).standard_t(2, (3, 20))
    rule = Accuracy(se=0.9, difference="simple", statistic=statistic, guard_edition=edition)
    errors = rule.errors(dict(zip("abc", heavy, strict=True)))
    summary = summary_of(statistic)
    spread = np.array([summary.spread(row) for row in heavy])
    worth = summary.degrees(np.full(3, 20.0)) if edition > 1 else None
    bounds = guarded_variances(np.full(3, 20.0), spread, degrees=worth, edition=edition)
    np.testing.assert_allclose(errors.guarded[0], np.sqrt((bounds[0] + bounds[1]) / 20))


def test_costs_move_runs_to_the_cheap_algorithm():
    names = ["a", "b"]
    values = {name: np.random.default_rng(6).normal(10, 3, 10).tolist() for name in names}
    rule = {"se": 0.4, "difference": "simple", "budget": 5000}
    equal = Accuracy(**rule).predict(values)
    dear = Accuracy(**rule, costs={"a": 9.0}).predict(values)
    assert dear["a"] < equal["a"]
    assert dear["b"] > equal["b"]


def test_the_prediction_never_passes_the_budget():
    values = {name: np.random.default_rng(7).normal(10, 3, 10).tolist() for name in "abc"}
    for allocation in ("optimal", "greedy", "balanced"):
        rule = Accuracy(se=0.01, difference="simple", budget=100, allocation=allocation)
        assert sum(rule.predict(values).values()) == 70
    assert Accuracy(se=0.1, difference="simple", budget=100).predict({"a": [], "b": [1.0]}) == {"a": 10, "b": 9}


@pytest.mark.parametrize("statistic", ["median", "trimmed-mean", "quantile:0.75", np.median])
def test_other_statistics_reach_their_accuracy_too(statistic):
    names = ["a", "b"]
    rule = Accuracy(se=0.8, difference="simple", statistic=statistic, budget=4000)
    outcome = sample(rule, stream(8, names), names)
    assert outcome.stop == Stop("accuracy reached")
    (found,) = estimate(outcome.samples, difference="simple", statistic=statistic)
    assert found.error <= 0.8


def test_fixed_asks_for_everything_at_once_and_then_stops():
    samples = Samples(["a", "b"], deterministic=["b"])
    rule = Fixed(runs=4)
    assert rule(samples) == Sample({"a": 4, "b": 1})
    assert rule.predict(samples) == {"a": 4, "b": 1}
    samples.extend("a", [1.0, 2.0, 3.0])
    samples.drop("a")
    samples.add("b", 1.0)
    assert rule(samples) == Stop("runs done")


def test_a_rule_that_asks_for_nothing_is_refused():
    with pytest.raises(InvalidRule, match="must request runs or stop"):
        sample(lambda samples: Sample({}), lambda name, index: 1.0, ["a", "b"])


# --- the promise ------------------------------------------------------------------------------------------------------


def truly_within(rule, replications, algorithms=5, sd=4.0):
    """Share of pairs whose true standard error is within se, and the mean number of runs."""
    names = [f"a{k}" for k in range(algorithms)]
    within, runs = [], []
    for seed in range(replications):
        values = np.random.default_rng([9, seed]).normal(50.0, sd, (algorithms, 2000))
        outcome = sample(rule, lambda name, index, v=values: v[int(name[1:]), index], names)
        errors = np.sqrt(contrasts_among(algorithms, difference="simple").squared_errors(
            np.full(algorithms, 50.0), sd**2 / outcome.samples.counts
        ))  # fmt: skip
        within.append((errors <= rule.se).mean())
        runs.append(outcome.samples.counts.sum())
    return float(np.mean(within)), float(np.mean(runs))


def test_the_guard_keeps_the_promise_that_estimated_errors_break():
    # Equal sds of 4: every pair is within 0.8 with 50 runs each, so 250 runs are the optimum.
    settings = {"se": 0.8, "difference": "simple", "budget": 3000}
    share, runs = truly_within(Accuracy(**settings), 60)
    unguarded, _ = truly_within(Accuracy.as_in_paper(**settings), 20)
    assert share > 0.93
    assert runs < 1.3 * 250
    assert unguarded < 0.85


# --- laws -------------------------------------------------------------------------------------------------------------

rules = st.builds(
    Accuracy,
    se=st.floats(0.02, 2.0),
    difference=st.sampled_from(["simple", "percent", "ratio"]),
    reference=st.sampled_from([None, "a1"]),
    statistic=st.sampled_from(["mean", "median"]),
    start=st.integers(2, 6),
    budget=st.integers(30, 90),
    allocation=st.sampled_from(["optimal", "greedy", "balanced"]),
    guard=st.sampled_from(["none", "pairs", "all"]),
    formula=st.sampled_from(["corrected", "delta", "paper"]),
    batch=st.integers(1, 20),
)
seeds = st.integers(0, 10_000)


@given(rule=rules, seed=seeds, size=st.integers(2, 5), failing=st.booleans())
def test_a_rule_never_asks_beyond_its_budget_and_always_ends(rule, seed, size, failing):
    names = [f"a{k}" for k in range(size)]
    draw = stream(seed, names)
    outcome = sample(rule, lambda n, i: None if failing and i % 3 == 1 else draw(n, i), names)
    assert outcome.samples.spent.sum() <= rule.budget
    assert (outcome.stop.reason == "budget spent") <= (outcome.samples.spent.sum() == rule.budget)


@given(rule=rules, seed=seeds, size=st.integers(2, 5))
def test_a_rule_is_pure(rule, seed, size):
    names = [f"a{k}" for k in range(size)]
    draw = stream(seed, names)
    samples = Samples.of({name: [draw(name, i) for i in range(rule.start)] for name in names})
    first = rule(samples)
    assert rule(samples) == first
    assert rule({name: samples.values(name).tolist() for name in names}) == first
    assert samples.counts.tolist() == [rule.start] * size


@given(rule=rules, seed=seeds, size=st.integers(2, 5), shuffler=st.randoms(use_true_random=False))
def test_reordering_and_renaming_algorithms_changes_nothing_else(rule, seed, size, shuffler):
    assume(rule.allocation != "balanced")  # equal numbers of runs are ties
    names = [f"a{k}" for k in range(size)]
    draw = stream(seed, names)
    values = {name: [draw(name, i) for i in range(rule.start)] for name in names}
    shuffled = list(names)
    shuffler.shuffle(shuffled)
    one, other = rule(values), rule({name: values[name] for name in shuffled})
    counts = [dict(d.counts) if isinstance(d, Sample) else d for d in (one, other)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("guard", ["pairs", "all"])
@pytest.mark.parametrize("exponent", [-900, 900])
def test_the_guard_pools_variances_in_one_unit_also_where_ratios_keep_their_own(guard, exponent):
    values = {"a": [49.0, 50.0, 51.5], "b": [52.0, 53.5, 57.0], "c": [64.5, 65.0, 66.0]}  # c has one binary digit more
    scaled = {name: [2.0**exponent * x for x in row] for name, row in values.items()}
    rule = Accuracy(se=0.01, difference="ratio", start=3, guard=guard)
    np.testing.assert_allclose(rule.errors(scaled).guarded, rule.errors(values).guarded, rtol=1e-12)


def test_magnitudes_that_have_nothing_in_common_still_give_a_decision():
    rule = Accuracy(se=0.1, difference="ratio", start=3, budget=60)
    decision = rule({"tiny": [1e-300, 2e-300, 1.5e-300], "huge": [1e300, 2e300, 1.5e300]})
    assert isinstance(decision, Sample)
    assert 1 <= decision.total <= 54


@given(rule=rules, seed=seeds, size=st.integers(2, 5), exponent=st.sampled_from([-900, -40, -3, 5, 60, 900]))
def test_scaling_values_and_simple_accuracy_together_leaves_decisions_alone(rule, seed, size, exponent):
    names = [f"a{k}" for k in range(size)]
    draw = stream(seed, names)
    values = {name: [draw(name, i) for i in range(rule.start)] for name in names}
    factor = 2.0**exponent
    scaled = {name: [factor * x for x in row] for name, row in values.items()}
    adapted = replace(rule, se=rule.se * factor) if rule.difference == "simple" else rule
    assert adapted(scaled) == rule(values)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"se": 0.0}, "se must be a positive number, got 0.0"),
        ({"se": -1}, "se must be a positive number, got -1"),
        ({"se": math.nan}, "se must be a positive number, got nan"),
        ({"se": "small"}, "se must be a positive number, got 'small'"),
        ({"start": 1}, "start must be a whole number of 2 or more, got 1"),
        ({"start": 2.5}, "start must be a whole number"),
        ({"batch": 0}, "batch must be a whole number of 1 or more, got 0"),
        ({"budget": 0}, "budget must be a whole number of 1 or more, got 0"),
        ({"difference": "logs"}, "difference must be one of 'simple', 'percent', 'ratio', got 'logs'"),
        ({"allocation": "random"}, "allocation must be one of 'optimal', 'greedy', 'balanced', got 'random'"),
        ({"guard": "some"}, "guard must be one of 'none', 'pairs', 'all', got 'some'"),
        ({"formula": "exact"}, "formula must be one of 'corrected', 'delta', 'paper', got 'exact'"),
        ({"statistic": "mode"}, "the statistic must be"),
        ({"costs": {"a": 0.0}}, "the cost of algorithm 'a' must be a positive number, got 0.0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(how, message):
    with pytest.raises(InvalidRule, match=message):
        Accuracy(**{"se": 1.0, "difference": "simple"} | how)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"reference": "full"}, "the reference must be one of the algorithms 'a', 'b', got 'full'"),
        ({"budget": 19}, "first runs of every algorithm, 20 in all, got 19; raise budget or lower start"),
        ({"costs": {"c": 1.0}}, "costs must name algorithms among 'a', 'b', got 'c'"),
    ],
)
def test_settings_that_do_not_fit_the_algorithms_are_refused_at_once(how, message):
    rule = Accuracy(**{"se": 1.0, "difference": "simple"} | how)
    with pytest.raises(InvalidRule, match=message):
        rule.check(["a", "b"])
    with pytest.raises(InvalidRule, match=message):
        rule({"a": [], "b": []})


@pytest.mark.parametrize("runs", [0, -3, 2.5, True, None])
def test_a_fixed_number_of_runs_must_be_a_whole_number(runs):
    with pytest.raises(InvalidRule, match="runs must be a whole number of 1 or more"):
        Fixed(runs=runs)


def test_percent_differences_of_non_positive_means_name_the_algorithm():
    rule = Accuracy(se=0.1, difference="percent", start=2)
    with pytest.raises(InvalidSamples, match=r"positive statistics, got -1\.5 for algorithm 'b'"):
        rule({"a": [1.0, 2.0], "b": [-1.0, -2.0]})
