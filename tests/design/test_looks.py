"""Looks in a design: as many instances at most as measured, powers as simulated, decisions as the procedure takes."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.sequential import student_schedule, t_evidence

from ampler import required_instances
from ampler.core.errors import InvalidDesign
from ampler.design.interim import (
    all_pairs,
    cells_used,
    checked_shares,
    ended_at,
    equivalence_limits,
    family_paths,
    instances_at,
    interim_power,
    t_paths,
)
from ampler.design.powers import PlannedFamily, Terms
from ampler.design.text import Ask, answer_sentence, answer_to, look_rows, looks_sentences, with_available
from ampler.stats.sequential.boundaries import critical_values, equivalence_levels, named_spending
from ampler.stats.sequential.decisions import Declared, EquivalenceStop, LookEvidence, decide, equivalence_p_values

DEFAULT = (0.4, 0.6, 0.8, 1.0)


@pytest.mark.parametrize(
    ("comparisons", "without", "looks"),
    [(1, 34, (14, 21, 28, 35)), (7, 47, (20, 29, 39, 48)), (21, 57, (24, 35, 47, 58))],
)
def test_the_default_looks_take_the_measured_number_of_instances(comparisons, without, looks):
    design = required_instances(comparisons=comparisons, effect=0.5, looks=4)

    assert (design.instances, design.looks.instances, design.looks.without) == (looks[-1], looks, without)
    assert 0.8 <= design.reached < 0.81


@pytest.mark.parametrize(("comparisons", "power"), [(1, 0.793), (7, 0.796), (21, 0.796)])
def test_with_the_instances_of_the_plain_design_little_power_is_lost(comparisons, power):
    terms = Terms(PlannedFamily(comparisons, 0.05, "two-sided", "holm"), "mean", "t")
    plain = required_instances(comparisons=comparisons, effect=0.5).instances

    assert interim_power(terms, instances_at(DEFAULT, plain), 0.5)[0] == pytest.approx(power, abs=0.0025)


def test_what_looks_save_is_what_was_measured_for_many_comparisons():
    nothing, half, everything = required_instances(comparisons=21, effect=0.5, looks=4).looks.expected

    assert (nothing.there, half.there, everything.there) == ("nothing", "half", "all")
    assert (nothing.runs, everything.runs) == (pytest.approx(0.74, abs=0.02), pytest.approx(0.88, abs=0.02))
    assert nothing.instances / 57 == pytest.approx(0.98, abs=0.02)
    assert everything.instances / 57 == pytest.approx(0.96, abs=0.02)
    assert nothing.runs < half.runs < everything.runs


def test_all_with_all_saves_less_since_an_algorithm_leaves_with_its_last_pair():
    ask = Ask(comparisons=21, algorithms=7, reference=False, effect=0.5, power=0.8, looks=4)
    nothing = answer_to(ask).looks.expected[0]

    assert nothing.runs == pytest.approx(0.91, abs=0.025)


def test_a_single_comparison_has_no_half():
    assert [each.there for each in required_instances(comparisons=1, effect=0.5, looks=3).looks.expected] == [
        "nothing",
        "all",
    ]


@pytest.mark.parametrize("seed", range(6))
def test_many_families_at_once_end_where_the_procedure_ends_them(seed):
    counts, effect, alpha, pairs = (8, 14, 20), 0.8, 0.1, ((0, 1), (0, 2), (0, 3), (0, 4))
    rng = np.random.default_rng(seed)
    shifts = np.array([0.0, 0.0, 0.8, 1.6, 0.4])
    t = family_paths(counts, shifts, pairs, 60, rng)
    schedule = student_schedule(named_spending("OF"), counts)
    limits = np.array([critical_values(schedule.nominal_levels(alpha / m), counts) for m in range(1, 5)])
    ends = ended_at(np.abs(t), np.abs(t), limits, equivalence_limits(counts, effect, EquivalenceStop()))
    declared = Declared(counts, alpha=alpha)

    for family, ended in zip(t, ends, strict=True):
        from scipy.special import stdtr

        freedom = np.array(counts)[:, None] - 1
        evidence = LookEvidence(
            np.repeat(np.array(counts)[:, None], 4, axis=1),
            2 * stdtr(freedom, -np.abs(family)),
            equivalence_p_values(family, np.array(counts)[:, None] * np.ones(4, dtype=int), effect),
        )
        assert [look - 1 for _, look in decide(evidence, declared)] == ended.tolist()


def test_paths_are_those_of_t_tests_on_growing_samples():
    t = t_paths((5, 12), 0.7, 100_000, np.random.default_rng(3))
    values = np.random.default_rng(4).normal(0.7, 1, (100_000, 12))
    slow = np.array([values[:, :n].mean(axis=1) / (values[:, :n].std(axis=1, ddof=1) / n**0.5) for n in (5, 12)]).T

    for look in range(2):
        for quantile in (0.1, 0.5, 0.9):
            assert np.quantile(t[:, look], quantile) == pytest.approx(np.quantile(slow[:, look], quantile), abs=0.04)
    assert np.corrcoef(t.T)[0, 1] == pytest.approx(np.corrcoef(slow.T)[0, 1], abs=0.02)


def test_an_equivalence_limit_is_where_the_p_value_meets_the_level_of_the_look():
    counts = (24, 35, 47, 58)
    limits = equivalence_limits(counts, 0.5, EquivalenceStop())
    levels = equivalence_levels(named_spending("KD2"), 0.05, [n / 58 for n in counts])

    for count, limit, level in zip(counts, limits, levels, strict=True):
        if limit < 0:  # nothing is small enough: even t = 0 does not do
            assert equivalence_p_values(np.zeros(1), np.array([count]), 0.5)[0] > level
        else:
            assert equivalence_p_values(np.array([limit]), np.array([count]), 0.5)[0] == pytest.approx(level, rel=1e-6)


def test_an_algorithm_is_run_until_its_last_comparison_has_ended():
    ends = np.array([[0, 1, 2]])  # of a-b, a-c, b-c

    assert cells_used(ends, all_pairs(3), (10, 20, 30)).tolist() == [20 + 30 + 30]


@given(st.integers(1, 9), st.integers(60, 400))
def test_looks_rise_to_all_instances(looks, instances):
    counts = instances_at(checked_shares(looks), instances)

    assert counts[-1] == instances
    assert len(counts) == looks
    assert min(np.diff(counts, prepend=0)) >= 3


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"looks": 0}, "looks must be a whole number from 1 to 20, got 0"),
        ({"looks": "4"}, "looks must be a whole number from 1 to 20, got '4'"),
        ({"looks": [0.4, 0.9]}, "must rise from above 0 to 1, got (0.4, 0.9)"),
        ({"looks": [0.4, "x"]}, "must be numbers, got 'x'"),
        ({"looks": 4, "test": "bootstrap-t"}, "got 'bootstrap-t'"),
        ({"looks": 4, "correction": "bonferroni"}, "got 'bonferroni'"),
        ({"looks": 4, "target": "simulated"}, "no target 'simulated'"),
    ],
)
def test_what_has_no_looks_is_refused_in_a_sentence(asked, sentence):
    with pytest.raises(InvalidDesign) as told:
        required_instances(comparisons=7, effect=0.5, **asked)

    assert sentence in str(told.value)


def test_looks_with_too_few_new_instances_are_refused():
    with pytest.raises(InvalidDesign, match="at least 3 new instances, got them after 4, 6, 8, 10"):
        instances_at(DEFAULT, 10)


def test_wilcoxon_and_the_sign_test_need_more_instances_with_looks_as_without():
    asked = {"comparisons": 7, "effect": 0.5, "looks": 3}
    t, wilcoxon, sign = (required_instances(**asked, test=test) for test in ("t", "wilcoxon", "sign"))

    assert t.instances < wilcoxon.instances < sign.instances
    assert wilcoxon.looks.without == required_instances(comparisons=7, effect=0.5, test="wilcoxon").instances


def test_one_sided_looks_need_fewer_instances():
    asked = {"comparisons": 7, "effect": 0.5, "looks": 4}
    one, two = (required_instances(**asked, alternative=side) for side in ("greater", "two-sided"))

    assert one.instances < two.instances


def test_the_answer_names_the_most_instances_the_price_and_the_looks():
    ask = Ask(comparisons=21, effect=0.5, power=0.8, looks=4)
    design = answer_to(ask)

    assert answer_sentence(ask, design).startswith(
        "At most 58 instances, 57 without interim analyses (after 24, 35, 47, 58): mean power 0.80"
    )
    assert [row[:2] for row in look_rows(design.looks)] == [(1, 24), (2, 35), (3, 47), (4, 58)]
    assert looks_sentences(design)[0].startswith("Interim analyses cost at most 1 instance. Expected runs")
    assert looks_sentences(required_instances(comparisons=3, effect=0.5)) == []
    assert with_available(ask, 40) == with_available(Ask(comparisons=21, effect=0.5, power=0.8), 40)
    assert json.loads(json.dumps(design.as_dict()))["looks"]["instances"] == [24, 35, 47, 58]


def test_the_question_for_power_has_no_looks():
    with pytest.raises(InvalidDesign, match="got the question for"):
        answer_to(Ask(comparisons=7, instances=40, effect=0.5, looks=4))


@pytest.mark.slow
@pytest.mark.parametrize("comparisons", [1, 7])
def test_the_power_promised_is_that_of_whole_studies_decided_look_by_look(comparisons):
    """Seed fixed before the first look: 4000 families of normal differences, every rank at its own level."""
    design = required_instances(comparisons=comparisons, effect=0.5, looks=4)
    declared = Declared(design.looks.instances)
    rng, found, families = np.random.default_rng(20260), 0.0, 2000
    for _ in range(families):
        differences = rng.normal(0.5, 1, (design.instances, comparisons))
        evidence = t_evidence(differences, declared.looks, effect=0.5)
        found += np.mean([verdict == "different" for verdict, _ in decide(evidence, declared)])
    power = found / families

    assert power >= 0.8 - 3 * (0.8 * 0.2 / families) ** 0.5
