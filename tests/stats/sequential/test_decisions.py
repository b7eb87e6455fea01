"""Holm over looks: the worked examples, the procedure told step by step, its laws, and how often it errs."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr
from tests.helpers.sequential import normal_levels, student_levels, t_evidence

from ampler.core.errors import InvalidDesign
from ampler.stats.holm import step_down
from ampler.stats.paired import paired_test
from ampler.stats.sequential.boundaries import equivalence_levels, named_spending
from ampler.stats.sequential.decisions import (
    Declared,
    EquivalenceStop,
    LookEvidence,
    decide,
    equivalence_p_values,
    needless,
    standings,
)

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "sequential.json").read_text())
STEPS = [(example, step) for example in GOLD["examples"] for step in example["steps"]]
DEFAULT = Declared((24, 35, 47, 58))
SMALL = Declared((10, 18, 26))


def declared_by(example):
    return Declared(
        tuple(example["instances"]),
        example["alpha"],
        named_spending(example["spending"]),
        EquivalenceStop(example["alpha_equivalence"], named_spending(example["spending_equivalence"])),
    )


@pytest.mark.parametrize(("example", "step"), STEPS, ids=[f"{e['name']}-{s['look']}" for e, s in STEPS])
def test_worked_examples_are_decided_as_the_reference_says(example, step):
    declared, x = declared_by(example), np.array(example["differences"])
    evidence = t_evidence(x, declared.looks[: step["look"]], effect=example["effect"])

    found = standings(evidence, declared)

    assert [standing.verdict for standing in found] == step["verdicts"]
    for k, (standing, row) in enumerate(zip(found, step["comparisons"], strict=True)):
        if step["decided_at"][k] is not None:
            assert standing.look == step["decided_at"][k]
        own = x[: standing.instances, k]
        low, high, _ = paired_test("t").interval(own, "two-sided", standing.nominal)
        assert standing.instances == row["instances"]
        assert standing.p_sequential == pytest.approx(row["p_sequential"], rel=1e-3, abs=1e-12)
        assert standing.p_adjusted == pytest.approx(row["p_adjusted"], rel=1e-3, abs=1e-12)
        assert standing.level == pytest.approx(row["level"], rel=1e-6)
        assert evidence.equivalence[standing.look - 1, k] == pytest.approx(row["p_equivalence"], rel=1e-6)
        assert own.mean() == pytest.approx(row["mean"], rel=1e-6)
        half = (row["high"] - row["low"]) / 2  # as exact as the boundary of t
        assert (low, high) == pytest.approx((row["low"], row["high"]), rel=1e-6, abs=1e-5 * half)
    assert list(needless([tuple(pair) for pair in example["pairs"]], step["verdicts"])) == step["drop"]
    assert all(standing.verdict != "continue" for standing in found) == step["stop"]


def told_step_by_step(p_values, equivalence, declared, effect_levels):
    """The procedure in words, one comparison and one level at a time."""
    looks, comparisons = p_values.shape
    verdict, when, reach = ["continue"] * comparisons, [looks] * comparisons, [0] * comparisons
    levels = [
        student_levels(declared.spending, declared.alpha / m, declared.looks, sides=declared.sides)
        for m in range(1, comparisons + 1)
    ]
    for j in range(looks):
        for k in range(comparisons):
            passed = [m for m in range(1, comparisons + 1) if p_values[j, k] <= levels[m - 1][j]]
            reach[k] = max([reach[k], *passed])
        changed = True
        while changed:
            changed = False
            for k in range(comparisons):
                if verdict[k] == "continue" and reach[k] >= comparisons - verdict.count("different"):
                    verdict[k], when[k], changed = "different", j + 1, True
                    break
        for k in range(comparisons):
            if verdict[k] == "continue" and equivalence[j, k] <= effect_levels[j]:
                verdict[k], when[k] = "no relevant difference", j + 1
    if looks == len(declared.looks):
        verdict = ["undecided" if word == "continue" else word for word in verdict]
    return tuple(zip(verdict, when, strict=True))


def drawn_evidence(seed, comparisons=6, looks=3):
    rng = np.random.default_rng(seed)
    p = 10 ** -rng.uniform(0, 5, (looks, comparisons))
    counts = np.array([[n] * comparisons for n in SMALL.looks[:looks]])
    return LookEvidence(counts, p, 10 ** -rng.uniform(0, 3, (looks, comparisons)))


@given(seed=st.integers(0, 10_000), looks=st.integers(1, 3), comparisons=st.integers(1, 8))
def test_decisions_are_those_of_the_procedure_told_step_by_step(seed, looks, comparisons):
    evidence = drawn_evidence(seed, comparisons, looks)
    effect_levels = equivalence_levels(named_spending("KD2"), 0.05, [n / 26 for n in SMALL.looks])
    expected = told_step_by_step(evidence.p_values, evidence.equivalence, SMALL, effect_levels)
    assert decide(evidence, SMALL) == expected


@given(seed=st.integers(0, 10_000), looks=st.integers(1, 3))
def test_holm_on_sequential_p_values_rejects_the_same_comparisons(seed, looks):
    plain = Declared(SMALL.looks, equivalence=None)
    found = standings(drawn_evidence(seed, looks=looks), plain)
    near = [abs(standing.p_adjusted - 0.05) < 1e-5 for standing in found]
    different = [standing.verdict == "different" for standing in found]
    rejected = [standing.p_adjusted <= 0.05 for standing in found]
    assert any(near) or different == rejected


@given(seed=st.integers(0, 10_000))
def test_a_decision_is_never_taken_back(seed):
    evidence = drawn_evidence(seed)
    before = decide(evidence, SMALL)
    for looks in (1, 2):
        cut = LookEvidence(evidence.counts[:looks], evidence.p_values[:looks], evidence.equivalence[:looks])
        for then, now in zip(decide(cut, SMALL), before, strict=True):
            assert then == now or then[0] == "continue"


@given(seed=st.integers(0, 10_000))
def test_the_order_of_the_comparisons_does_not_matter(seed):
    evidence = drawn_evidence(seed)
    order = np.random.default_rng(seed).permutation(6)
    moved = LookEvidence(evidence.counts, evidence.p_values[:, order], evidence.equivalence[:, order])
    assert decide(moved, SMALL) == tuple(decide(evidence, SMALL)[k] for k in order)


@given(seed=st.integers(0, 10_000))
def test_stopping_for_equivalence_frees_no_level_for_the_others(seed):
    evidence = drawn_evidence(seed)
    alone = decide(LookEvidence(evidence.counts, evidence.p_values), SMALL)
    both = decide(evidence, SMALL)
    assert all(plain[0] == "different" for plain, found in zip(alone, both, strict=True) if found[0] == "different")


@given(p=st.lists(st.floats(1e-8, 1), min_size=1, max_size=12), alpha=st.sampled_from([0.05, 0.1]))
def test_one_look_is_holms_procedure(p, alpha):
    found = decide(LookEvidence(np.full((1, len(p)), 30), np.array([p])), Declared((30,), alpha, equivalence=None))
    expected = ["different" if rejected else "undecided" for rejected in step_down(p, alpha).rejected]
    assert [verdict for verdict, _ in found] == expected


def test_other_tests_are_held_against_normal_theory():
    levels = normal_levels(named_spending("OF"), 0.05, [10 / 26, 18 / 26, 1.0])
    declared = Declared(SMALL.looks, theory="normal", equivalence=None)
    for factor, verdict in ((0.999, "different"), (1.001, "continue")):
        evidence = LookEvidence(np.array([[10], [18]]), np.array([[1.0], [factor * levels[1]]]))
        assert decide(evidence, declared) == ((verdict, 2),)


def test_a_comparison_with_missing_instances_spends_by_those_it_has():
    x = np.random.default_rng(4).normal(0.4, 1.0, (26, 2))
    x[[2, 12, 20], 1] = np.nan
    found = standings(t_evidence(x, SMALL.looks), SMALL)
    expected = student_levels(named_spending("OF"), found[1].level, (9, 16, 23), fractions=[9 / 26, 16 / 26, 1.0])
    assert found[1].instances == 23
    assert found[1].nominal == pytest.approx(expected[2], rel=1e-12)


def test_a_look_with_too_few_new_instances_is_skipped_for_that_comparison_alone():
    x = np.random.default_rng(5).normal(3.0, 1.0, (26, 2))
    x[10:16, 1] = np.nan  # two of eight new ones are left
    evidence = t_evidence(x, SMALL.looks[:2])
    assert decide(evidence, SMALL)[0][0] == "different"
    late = LookEvidence(evidence.counts, np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert [verdict for verdict, _ in decide(late, SMALL)] == ["different", "continue"]


def test_a_comparison_without_any_instances_stays_undecided():
    x = np.random.default_rng(6).normal(3.0, 1.0, (26, 2))
    x[:, 1] = np.nan
    found = standings(t_evidence(x, SMALL.looks, effect=0.5), SMALL)
    assert [standing.verdict for standing in found] == ["different", "undecided"]
    assert found[1].p_sequential == 1.0


@pytest.mark.parametrize("alpha", [0.0, 0.7, -1.0])
def test_a_level_that_is_none_is_refused(alpha):
    with pytest.raises(InvalidDesign, match=r"alpha must lie above 0 and at most at 0.5, got .*: 0.05 is usual"):
        Declared((10, 20), alpha)
    with pytest.raises(InvalidDesign, match="alpha must lie above 0"):
        Declared((10, 20), equivalence=EquivalenceStop(alpha))


def test_looks_too_close_together_are_refused():
    with pytest.raises(InvalidDesign, match="at least 3 new instances"):
        Declared((10, 12))


# --- how often it errs ------------------------------------------------------------------------------------------------


def simulated(declared, effects, studies, seed):
    """Verdicts of studies with normal differences to one reference (correlation ½) and these true effects."""
    rng, comparisons = np.random.default_rng(seed), len(effects)
    looks = np.array(declared.looks)
    result = []
    for _ in range(studies):
        own, shared = rng.normal(size=(looks[-1], comparisons)), rng.normal(size=(looks[-1], 1))
        x = (own + shared) / np.sqrt(2) + effects
        total, squares = x.cumsum(axis=0)[looks - 1], (x * x).cumsum(axis=0)[looks - 1]
        n = looks[:, None]
        t = total / np.sqrt(n) / np.sqrt((squares - total**2 / n) / (n - 1))
        counts = np.broadcast_to(n, t.shape)
        evidence = LookEvidence(counts, 2 * stdtr(counts - 1, -np.abs(t)), equivalence_p_values(t, counts, 0.5))
        result.append([verdict for verdict, _ in decide(evidence, declared)])
    return np.array(result)


CONFIGURATIONS = {
    "nothing": np.zeros,
    "half at d*": lambda k: np.where(np.arange(k) < (k + 1) // 2, 0.0, 0.5),
    "one null, the rest at twice d*": lambda k: np.where(np.arange(k) < 1, 0.0, 1.0),
    "thirds": lambda k: np.array([0.0, 0.5, 1.0])[np.arange(k) * 3 // k],
}


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_false_differences_are_rare_in_a_small_simulation(configuration):
    effects = CONFIGURATIONS[configuration](7)
    verdicts = simulated(Declared((20, 29, 39, 48)), effects, 600, seed=11)
    error = (verdicts[:, effects == 0] == "different").any(axis=1).mean()
    assert error <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)


@pytest.mark.slow
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize(("comparisons", "looks"), [(1, (14, 21, 28, 35)), (7, (20, 29, 39, 48)), (21, DEFAULT.looks)])
def test_the_family_wise_error_is_kept(configuration, comparisons, looks):
    effects = CONFIGURATIONS[configuration](comparisons)
    null, studies = effects == 0, 20_000
    verdicts = simulated(Declared(looks), effects, studies, seed=12)
    error = (verdicts[:, null] == "different").any(axis=1).mean()
    assert error <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


@pytest.mark.slow
@pytest.mark.parametrize(("comparisons", "looks"), [(1, (14, 21, 28, 35)), (7, (20, 29, 39, 48)), (21, DEFAULT.looks)])
def test_false_claims_of_no_relevant_difference_keep_their_own_level(comparisons, looks):
    studies = 10_000
    verdicts = simulated(Declared(looks), np.full(comparisons, 0.5), studies, seed=13)
    claimed = (verdicts == "no relevant difference").mean(axis=1)
    assert claimed.mean() <= 0.05 + 3 * claimed.std() / np.sqrt(studies)
