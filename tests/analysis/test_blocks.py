"""Instances as blocks: against exact arithmetic and the estimates of single instances; what failures count as."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.analysis.blocks import complete, gather, summarise
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData
from ampler.core.failures import Drop, Par, Penalty, StopStudy, WorstObserved
from ampler.sampling.rules import Accuracy
from ampler.stats.contrasts import contrasts_among
from ampler.stats.estimate import estimate

ALGORITHMS = ("a", "b", "c")


def runs_of(cells, statuses=None):
    """Runs from {instance: {algorithm: values}}; None is a run that failed."""
    rows = [(i, k, value) for i, row in cells.items() for k, values in row.items() for value in values]
    instance, algorithm, value = zip(*rows, strict=True)
    status = ["failed" if x is None else "ok" for x in value]
    return Runs.from_columns(instance, algorithm, [np.nan if x is None else x for x in value], status)


def random_runs(seed, instances=6, algorithms=ALGORITHMS):
    rng = np.random.default_rng(seed)
    return {
        f"i{i}": {k: rng.gamma(9, size=rng.integers(3, 12)) * (1 + j) * (1 + i) for j, k in enumerate(algorithms)}
        for i in range(instances)
    }


# gathering --------------------------------------------------------------------------------------------------------


def test_cells_hold_the_values_of_their_runs_in_order():
    runs = Runs.from_columns(["i", "j", "i", "j", "i"], ["a", "b", "b", "a", "a"], [1, 2, 3, 4, 5])
    cells = gather(runs)
    assert cells.of(0, 0).tolist() == [1, 5]
    assert cells.of(0, 1).tolist() == [3]
    assert cells.of(1, 0).tolist() == [4]
    assert cells.counts.tolist() == [[2, 1], [1, 1]]


def test_leaving_instances_out_leaves_the_others_as_they_are():
    cells = random_runs(1)
    cells["i2"].pop("b")
    kept, excluded = complete(gather(runs_of(cells)))
    assert excluded == {"i2": "no run of b"}
    assert "i2" not in kept.instances
    for i, name in enumerate(kept.instances):
        for k, algorithm in enumerate(kept.algorithms):
            assert kept.of(i, k).tolist() == list(cells[name][algorithm])


# failures ---------------------------------------------------------------------------------------------------------

FAILED = {
    "i": {"a": [1.0, None, 3.0], "b": [5.0, 6.0]},
    "j": {"a": [2.0, 2.0], "b": [None, None]},
    "k": {"a": [4.0, 4.5], "b": [None, 7.0]},
}


@pytest.mark.parametrize("policy", [None, StopStudy()])
def test_failures_need_a_policy(policy):
    with pytest.raises(InvalidData, match=r"4 of 13 runs gave no value .*'b': 3"):
        gather(runs_of(FAILED), policy)


def test_dropped_runs_are_spent_and_give_no_value():
    cells = gather(runs_of(FAILED), Drop())
    assert cells.of(0, 0).tolist() == [1.0, 3.0]
    assert cells.counts.tolist() == [[2, 2], [2, 0], [2, 1]]
    assert cells.spent.tolist() == [[3, 2], [2, 2], [2, 2]]


def test_a_cell_that_lost_all_but_one_of_its_runs_takes_the_instance_out():
    kept, excluded = complete(gather(runs_of(FAILED), Drop()))
    assert kept.instances == ("i",)
    assert excluded == {"j": "no run of b gave a value", "k": "only one of 2 runs of b gave a value"}


def test_penalties_are_values():
    cells = gather(runs_of(FAILED), Penalty(100.0))
    assert cells.of(0, 0).tolist() == [1.0, 100.0, 3.0]
    assert complete(cells)[1] == {}


def test_par_multiplies_the_cutoff_given_or_reached():
    late = Runs.from_columns(["i"] * 3, ["a"] * 3, [1.0, 60.0, 60.0], ["ok", "timeout", "failed"])
    assert gather(late, Par(10)).of(0, 0).tolist() == [1.0, 600.0, 600.0]
    assert gather(late, Par(2, cutoff=30.0)).of(0, 0).tolist() == [1.0, 60.0, 60.0]
    with pytest.raises(InvalidData, match="cutoff"):
        gather(runs_of(FAILED), Par(10))


@pytest.mark.parametrize(("better", "expected"), [("lower", 6.0), ("higher", 1.0)])
def test_the_worst_value_of_the_instance_stands_in_for_a_failure(better, expected):
    assert gather(runs_of(FAILED), WorstObserved(better)).of(0, 0).tolist() == [1.0, expected, 3.0]


def test_a_penalty_must_be_finite():
    with pytest.raises(InvalidData, match="finite"):
        gather(runs_of(FAILED), Penalty(float("inf")))


def test_one_value_is_enough_unless_algorithms_are_said_to_be_deterministic():
    cells = gather(runs_of({"i": {"a": [1.0], "b": [2.0, 3.0]}, "j": {"a": [1.0], "b": [2.0]}}))
    assert complete(cells)[1] == {}
    assert complete(cells, deterministic=["a"])[1] == {"j": "only one run of b"}
    assert complete(cells, deterministic=[])[1] == {
        "i": "only one run of a",
        "j": "only one run of a, and 1 more algorithm short",
    }


def test_a_geometric_mean_of_negative_values_is_refused_with_what_to_do():
    with pytest.raises(InvalidData, match="needs positive values, got negative ones of algorithm 'a' on instance 'i0'"):
        summarise(gather(runs_of({"i0": {"a": [-1.0, 2.0], "b": [1.0, 2.0]}})), "geometric-mean")


# statistics and their errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", ["mean", "median", "trimmed-mean", "quantile:0.75", "geometric-mean"])
@pytest.mark.parametrize("reference", [None, 1])
@pytest.mark.parametrize(
    ("difference", "formula"),
    [
        *(("simple", "delta"), ("percent", "delta"), ("percent", "paper"), ("ratio", "delta")),
        *((difference, "corrected") for difference in ("simple", "percent", "ratio")),
    ],
)
def test_blocks_say_of_every_instance_what_estimate_says_of_it_alone(statistic, reference, difference, formula):
    cells = random_runs(2)
    contrasts = contrasts_among(3, difference=difference, reference=reference, formula=formula)
    blocks = summarise(gather(runs_of(cells)), statistic)
    differences, errors = blocks.differences(contrasts), blocks.errors(contrasts)
    for i, values in enumerate(cells.values()):
        single = estimate(
            values,
            difference=difference,
            reference=None if reference is None else ALGORITHMS[reference],
            formula=formula,
            statistic=statistic,
        )
        np.testing.assert_allclose(differences[i], [e.difference for e in single], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(errors[i], [e.error for e in single], rtol=1e-10)


@given(
    st.lists(st.lists(st.integers(-1000, 1000), min_size=2, max_size=8), min_size=2, max_size=3),
    st.sampled_from([0, 10**9, 10**15]),
    st.sampled_from([-1000, -700, 0, 700, 960]),
)
def test_moments_are_exact_at_any_offset_and_magnitude(samples, offset, power):
    values = {f"a{k}": [float(x + offset) for x in sample] for k, sample in enumerate(samples)}
    scaled = {k: np.ldexp(sample, power) for k, sample in values.items()}
    blocks = summarise(gather(runs_of({"i": scaled})))
    for k, sample in enumerate(values.values()):
        exact = [Fraction(x) for x in sample]
        mean = sum(exact) / len(exact)
        variance = sum((x - mean) ** 2 for x in exact) / (len(exact) - 1)
        unit = Fraction(2) ** (int(blocks.exponents[0]) - power)
        assert float(Fraction(blocks.theta[0, k]) * unit) == pytest.approx(float(mean), rel=1e-14, abs=1e-12)
        assert float(Fraction(blocks.variances[0, k]) * unit**2) == pytest.approx(float(variance), rel=1e-12)


@pytest.mark.parametrize("power", [-1020, -600, 600, 1000])
@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_extreme_magnitudes_change_nothing_but_the_unit(power, difference, statistic):
    cells = random_runs(3)
    contrasts = contrasts_among(3, difference=difference)
    large = {i: {k: np.ldexp(x, power) for k, x in row.items()} for i, row in cells.items()}
    plain, extreme = (summarise(gather(runs_of(values)), statistic) for values in (cells, large))
    unit = power if difference == "simple" else 0
    for guard in ("none", "pairs", "all"):
        expected = np.ldexp(plain.errors(contrasts, guard=guard), unit)
        np.testing.assert_allclose(extreme.errors(contrasts, guard=guard), expected, rtol=1e-9)
    np.testing.assert_allclose(extreme.differences(contrasts), np.ldexp(plain.differences(contrasts), unit), rtol=1e-11)


def test_a_huge_penalty_does_not_hide_the_noise_of_the_others():
    cells = random_runs(4, algorithms=("a", "b"))
    penalised = {i: row | {"c": [1e250, 1e250]} for i, row in cells.items()}
    plain = summarise(gather(runs_of(cells))).errors(contrasts_among(2, difference="simple"))
    errors = summarise(gather(runs_of(penalised))).errors(contrasts_among(3, difference="simple"))
    np.testing.assert_allclose(errors[:, 0], plain[:, 0], rtol=1e-12)


def test_guarded_errors_are_never_below_the_plain_ones():
    blocks = summarise(gather(runs_of(random_runs(5))))
    contrasts = contrasts_among(3, difference="percent", reference=0)
    plain, pairs, everything = (blocks.errors(contrasts, guard=guard) for guard in ("none", "pairs", "all"))
    assert (pairs > plain).all()
    assert (everything > pairs).all()


@pytest.mark.parametrize("reference", [None, "b"])
@pytest.mark.parametrize("guard", ["pairs", "all"])
def test_guarded_errors_are_those_on_which_the_rule_decided(guard, reference):
    cells = random_runs(7)
    rule = Accuracy(se=1.0, difference="simple", guard=guard, reference=reference)
    place = None if reference is None else ALGORITHMS.index(reference)
    blocks = summarise(gather(runs_of(cells)))
    found = blocks.errors(contrasts_among(3, difference="simple", reference=place), guard=guard)
    np.testing.assert_allclose(found, [rule.errors(row).guarded for row in cells.values()])


def test_a_deterministic_algorithm_is_certain_however_often_it_was_run():
    rest = {"b": [1.0, 3.0, 2.0], "c": [5.0, 5.5, 7.0]}
    once, often = (
        summarise(gather(runs_of({"i": {"a": [4.0] * runs, **rest}})), deterministic=["a"]) for runs in (1, 3)
    )
    contrasts = contrasts_among(3, difference="simple")
    assert once.variances[0, 0] == often.variances[0, 0] == 0.0
    np.testing.assert_array_equal(once.errors(contrasts, guard="pairs"), often.errors(contrasts, guard="pairs"))


def test_a_single_value_has_an_unknown_error_and_a_deterministic_one_none():
    cells = gather(runs_of({"i": {"a": [4.0], "b": [1.0, 3.0]}, "j": {"a": [5.0], "b": [2.0, 2.0]}}))
    contrasts = contrasts_among(2, difference="simple")
    assert np.isnan(summarise(cells).errors(contrasts)).all()
    assert summarise(cells, deterministic=["a"]).errors(contrasts)[:, 0].tolist() == [1.0, 0.0]
    assert summarise(cells, deterministic=["a"]).errors(contrasts, guard="pairs")[0, 0] > 1.0


@pytest.mark.parametrize("difference", ["percent", "ratio"])
def test_ratios_of_values_that_are_not_positive_are_refused_by_name(difference):
    cells = {"i": {"a": [1.0, 2.0], "b": [2.0, 3.0]}, "j": {"a": [1.0, 2.0], "b": [-1.0, 1.0]}}
    with pytest.raises(InvalidData, match=r"'b' on instance 'j' is 0; use difference 'simple'"):
        summarise(gather(runs_of(cells))).differences(contrasts_among(2, difference=difference))


def test_a_statistic_that_is_no_number_is_refused_by_name():
    with pytest.raises(InvalidData, match=r"'a' on instance 'i0'"):
        summarise(gather(runs_of(random_runs(6))), lambda values: float("nan"), accuracy=False)


def test_a_callable_sees_the_values_as_they_are():
    cells = {"i": {"a": [1e-300, 3e-300], "b": [5e-300, 7e-300]}}
    blocks = summarise(gather(runs_of(cells)), lambda values: float(np.sum(values > 4e-300)), accuracy=False)
    assert blocks.statistics.tolist() == [[0.0, 2.0]]


def test_the_curvature_of_a_pair_is_not_known_where_one_of_them_lacks_the_instance():
    names = [("i", "a"), ("i", "b"), ("j", "a")] * 3
    values = [10.0, 12.0, 9.0, 11.0, 12.5, 9.5, 10.5, 11.0, 9.2]
    blocks = summarise(gather(Runs.from_columns(*map(list, zip(*names, strict=True)), values)))
    bends = blocks.curvature(contrasts_among(2, difference="ratio"))
    assert np.isfinite(bends[0, 0])
    assert np.isnan(bends[1, 0])
