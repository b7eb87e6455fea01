"""Designs, their terms and solutions: the reference values, the laws, and what a wrong question is answered."""

import json
import re
import time
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidDesign
from ampler.design import (
    Design,
    achieved_power,
    detectable_effect,
    effect_from,
    n_comparisons,
    power_curve,
    required_instances,
)
from ampler.stats.power import paired_power

GOLD = Path(__file__).parents[1] / "gold"
DESIGNS = json.loads((GOLD / "design.json").read_text(encoding="utf-8"))
FIGURES = json.loads((GOLD / "figures.json").read_text(encoding="utf-8"))
SIDES = {1: "greater", 2: "two-sided"}
POWERS = ("mean", "median", "worst", "best")


def question(row):
    return {"comparisons": row["K"], "alpha": row["alpha"], "alternative": SIDES[row["sides"]]}


def by_id(row):
    return f"row{row['id']}"


# ── the reference values ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("row", [row for row in DESIGNS["n_rows"] if row["target"] != "atleast"], ids=by_id)
def test_required_instances_and_their_powers_are_those_of_the_reference(row):
    asked = question(row) | {"effect": row["d"], "power": row["power"], "target": row["target"]}

    design = required_instances(**asked)

    assert design.instances == row["N"]
    for name in POWERS:
        assert getattr(design, f"{name}_power") == pytest.approx(row[f"{name}_power"], abs=1e-9)
    assert design.reached == pytest.approx(row["achieved"], abs=1e-9)
    assert required_instances(**asked, test="wilcoxon").instances == row["N_wilcoxon"]
    assert required_instances(**asked, test="sign").instances == row["N_sign"]


@pytest.mark.parametrize("row", [row for row in DESIGNS["n_rows"] if row["target"] == "atleast"], ids=by_id)
def test_an_integer_target_gives_so_many_tests_the_power(row):
    design = required_instances(**question(row), effect=row["d"], power=row["power"], target=row["kprime"])

    assert design.instances == row["N_semantic"]
    assert (design.powers >= row["power"]).sum() >= row["kprime"]


@pytest.mark.parametrize("row", DESIGNS["power_rows"], ids=by_id)
def test_achieved_powers_are_those_of_the_reference(row):
    design = achieved_power(**question(row), instances=row["N"], effect=row["d"])

    assert design.levels.tolist() == pytest.approx(row["alphas"], rel=1e-15)
    assert design.powers.tolist() == pytest.approx(row["powers"], abs=1e-9)
    for name in POWERS:
        assert getattr(design, f"{name}_power") == pytest.approx(row[name], abs=1e-9)
    assert design.power == design.mean_power


@pytest.mark.parametrize("row", DESIGNS["d_rows"], ids=by_id)
def test_detectable_effects_are_those_of_the_reference(row):
    design = detectable_effect(**question(row), instances=row["N"], power=row["power"], target=row["target"])

    assert design.effect == pytest.approx(row["d"], abs=1e-8)


@pytest.mark.parametrize("row", FIGURES["fig1"]["rows"], ids=lambda row: f"K{row['K']}")
def test_figure_1_of_the_paper(row):
    asked = {"comparisons": row["K"], "effect": FIGURES["fig1"]["d"], "power": FIGURES["fig1"]["power"]}

    assert required_instances(**asked).instances == row["N_holm_mean"]
    assert required_instances(**asked, correction="bonferroni").instances == row["N_bonferroni"]
    assert required_instances(**asked, target="worst").instances == row["N_bonferroni"]


@pytest.mark.parametrize(
    "row", FIGURES["fig2"]["rows"] + FIGURES["fig2"]["extra_large_K"], ids=lambda row: f"K{row['K']}"
)
def test_figure_2_of_the_paper(row):
    design = required_instances(comparisons=row["K"], effect=FIGURES["fig2"]["d"], power=FIGURES["fig2"]["power"])

    assert design.instances == row["N"]
    for name in ("mean", "worst", "best"):
        assert getattr(design, f"{name}_power") == pytest.approx(row[name], abs=1e-9)
    if "powers_rank1_to_K" in row:
        assert design.powers.tolist() == pytest.approx(row["powers_rank1_to_K"], abs=1e-9)


def test_figure_6_of_the_paper():
    rows, figure = FIGURES["fig6"]["rows"], FIGURES["fig6"]

    curve = power_curve(instances=figure["N"], comparisons=figure["K"], effects=[row["d"] for row in rows])

    assert len(curve) == len(rows)
    for design, row in zip(curve, rows, strict=True):
        assert design.effect == row["d"]
        for name in POWERS:
            assert getattr(design, f"{name}_power") == pytest.approx(row[name], abs=1e-9)


def test_very_many_comparisons_need_what_the_full_sum_says():
    design = required_instances(comparisons=100_000, effect=0.5, power=0.8)

    assert design.powers.mean() == pytest.approx(design.mean_power, abs=1e-10)
    assert paired_power(design.instances - 1, 0.5, design.levels).mean() < 0.8 <= design.powers.mean()


# ── laws ───────────────────────────────────────────────────────────────────────────────────────────────────────────

ROUNDING = 1e-12
instances = st.integers(4, 3000)
effects = st.floats(0.01, 3.0)
alphas = st.floats(1e-4, 0.5)
comparisons = st.integers(1, 300)
targets = st.sampled_from(["mean", "median", "worst", "best", 1])
methods = st.fixed_dictionaries(
    {
        "target": targets,
        "alternative": st.sampled_from(["two-sided", "less", "greater"]),
        "test": st.sampled_from(["t", "wilcoxon", "sign"]),
        "correction": st.sampled_from(["holm", "bonferroni"]),
    }
)


@given(instances, st.integers(0, 50), effects, alphas, comparisons, methods)
def test_more_instances_never_lower_the_power(n, more, effect, alpha, k, method):
    fewer = achieved_power(instances=n, comparisons=k, effect=effect, alpha=alpha, **method)
    larger = achieved_power(instances=n + more, comparisons=k, effect=effect, alpha=alpha, **method)

    assert larger.power >= fewer.power - ROUNDING


@given(instances, effects, st.floats(0, 1), alphas, comparisons, methods)
def test_a_larger_effect_never_lowers_the_power(n, effect, more, alpha, k, method):
    small = achieved_power(instances=n, comparisons=k, effect=effect, alpha=alpha, **method)
    large = achieved_power(instances=n, comparisons=k, effect=effect + more, alpha=alpha, **method)

    assert large.power >= small.power - ROUNDING


@given(instances, effects, alphas, st.floats(0, 0.4), comparisons, methods)
def test_a_larger_alpha_never_lowers_the_power(n, effect, alpha, more, k, method):
    strict = achieved_power(instances=n, comparisons=k, effect=effect, alpha=alpha, **method)
    lenient = achieved_power(instances=n, comparisons=k, effect=effect, alpha=alpha + more, **method)

    assert lenient.power >= strict.power - ROUNDING


@given(instances, effects, alphas, comparisons, st.integers(0, 300), methods)
def test_more_comparisons_never_raise_the_power(n, effect, alpha, k, more, method):
    few = achieved_power(instances=n, comparisons=k, effect=effect, alpha=alpha, **method)
    many = achieved_power(instances=n, comparisons=k + more, effect=effect, alpha=alpha, **method)

    # beyond 128 comparisons the mean is a quadrature, good to 2e-10 here
    assert many.power <= few.power + 4e-10


@given(instances, effects, alphas, comparisons, methods)
def test_the_worst_power_is_below_median_and_mean_and_these_below_the_best(n, effect, alpha, k, method):
    design = achieved_power(instances=n, comparisons=k, effect=effect, alpha=alpha, **method)

    assert design.worst_power <= min(design.median_power, design.mean_power) + ROUNDING
    assert max(design.median_power, design.mean_power) <= design.best_power + ROUNDING


@given(instances, effects, alphas, comparisons, methods)
def test_detectable_effect_inverts_achieved_power(n, effect, alpha, k, method):
    asked = {"instances": n, "comparisons": k, "alpha": alpha, **method}
    power = achieved_power(**asked, effect=effect).power
    if not 1e-3 < power < 1 - 1e-6:  # beyond, many effects have one power in double precision
        return

    found = detectable_effect(**asked, power=power)

    assert found.effect == pytest.approx(effect, rel=1e-6)
    assert achieved_power(**asked, effect=found.effect).power == pytest.approx(power, abs=1e-10)


@given(st.floats(0.05, 3.0), st.floats(0.02, 0.99), alphas, comparisons, methods)
def test_one_instance_less_would_not_reach_the_power(effect, power, alpha, k, method):
    asked = {"comparisons": k, "effect": effect, "alpha": alpha, **method}

    design = required_instances(**asked, power=power)

    assert design.reached >= power
    fewest = {"t": 2, "wilcoxon": 3, "sign": 4}[method["test"]]
    if design.instances > fewest:
        assert achieved_power(**asked, instances=design.instances - 1).power < power


@given(st.floats(0.05, 3.0), st.floats(0.02, 0.99), alphas, comparisons)
def test_holm_never_needs_more_instances_than_bonferroni(effect, power, alpha, k):
    asked = {"comparisons": k, "effect": effect, "power": power, "alpha": alpha}
    bonferroni = required_instances(**asked, correction="bonferroni").instances

    assert required_instances(**asked).instances <= bonferroni
    assert required_instances(**asked, target="worst").instances == bonferroni


# ── values and words ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_known_answers():
    assert required_instances(comparisons=21, effect=0.5, power=0.8).instances == 57
    assert achieved_power(instances=200, comparisons=7, effect=0.25).mean_power == pytest.approx(0.853, abs=5e-4)


def test_a_design_has_the_promised_fields_and_cannot_be_changed():
    design = required_instances(comparisons=21, effect=0.5)

    assert [field.name for field in fields(Design)] == [
        *("instances", "comparisons", "effect", "power", "alpha", "target", "alternative", "test", "correction"),
        *("mean_power", "median_power", "worst_power", "best_power"),
        *("simulated", "looks", "per_cluster", "icc"),
    ]
    assert design.simulated is None
    with pytest.raises(FrozenInstanceError):
        design.instances = 58


def test_a_design_is_one_json_document_with_the_ranks_when_asked():
    design = required_instances(comparisons=3, effect=0.5, test="sign", target=2)

    document = json.loads(json.dumps(design.as_dict()))
    profile = json.loads(json.dumps(design.as_dict(profile=True)))

    assert Design(**document) == design
    assert profile["levels"] == pytest.approx([0.05 / 3, 0.025, 0.05])
    assert profile["powers"] == design.powers.tolist()
    assert "powers" not in document


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            {},
            "57 instances: mean power 0.804 for d = 0.5. Tests: 21 two-sided paired t-tests (Holm, α = 0.05)",
        ),
        (
            {"target": "worst", "correction": "bonferroni", "test": "wilcoxon", "alternative": "less"},
            "68 instances: worst power 0.803 for d = 0.5. Tests: 21 one-sided Wilcoxon signed-rank tests "
            "(Bonferroni, α = 0.05)",
        ),
        (
            {"target": 5, "test": "sign"},
            "81 instances: power 0.809 or more in 5 of the comparisons for d = 0.5. Tests: 21 two-sided sign tests "
            "(Holm, α = 0.05)",
        ),
        (
            {"comparisons": 1, "effect": 100.0, "alpha": 0.5},
            "2 instances: power above 0.999 for d = 100. Test: two-sided paired t-test (α = 0.5)",
        ),
    ],
)
def test_a_design_reads_as_a_sentence(asked, sentence):
    assert str(required_instances(**({"comparisons": 21, "effect": 0.5} | asked))) == sentence


def test_pairs_are_counted_with_and_without_a_reference():
    assert [n_comparisons(a, reference=True) for a in (2, 3, 22)] == [1, 2, 21]
    assert [n_comparisons(a, reference=False) for a in (2, 3, 22)] == [1, 3, 231]


def test_the_noise_of_the_runs_makes_an_effect_smaller():
    assert effect_from(-1.0, 2.0) == 0.5
    assert effect_from(3.0, 3.0, se=4.0) == pytest.approx(0.6)
    assert effect_from(1.0, 3.0, se=1.0) == pytest.approx(0.95 / 3, abs=0.0005)  # a third of the spread costs 5 %
    assert effect_from(1e200, 3e200, se=4e200) == pytest.approx(0.2)


def test_numbers_of_every_kind_are_welcome():
    asked = {"comparisons": np.int64(21), "effect": Decimal("0.5"), "power": Fraction(4, 5), "alpha": np.float32(0.05)}

    assert required_instances(**asked).instances == 57
    assert achieved_power(instances=57.0, comparisons=21, effect=0.5).instances == 57


# ── the simulated target ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("dependence", "truth"), [("independent", 50), ("reference", 53)])
def test_the_simulated_target_needs_fewer_instances_than_the_convention(dependence, truth):
    design = required_instances(comparisons=21, effect=0.5, target="simulated", dependence=dependence, seed=2019)

    # 300 000 simulated families give 0.802 at 50 (0.784 at 49) and 0.808 at 53 (0.795 at 52), both ± 0.0005
    assert abs(design.instances - truth) <= 1
    assert design.reached >= 0.8 > design.mean_power
    assert design.simulated.dependence == dependence
    assert "simulated mean power" in str(design)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_the_simulated_target_is_deterministic_and_minimal(test):
    asked = {"comparisons": 3, "effect": 0.8, "target": "simulated", "test": test, "seed": 5, "replications": 2000}

    design = required_instances(**asked)

    assert design == required_instances(**asked)
    assert design.simulated.replications == 2000
    assert required_instances(**(asked | {"power": design.reached})).instances == design.instances
    assert required_instances(**(asked | {"power": design.reached + 1e-9})).instances > design.instances


@pytest.mark.parametrize(
    ("test", "most", "families"),
    [
        ("sign-flip", 20, 80),
        pytest.param("sign-flip", 20, 200, marks=pytest.mark.slow),
        pytest.param("bootstrap-t", 24, 200, marks=pytest.mark.slow),
    ],
)
def test_tests_that_judge_together_are_planned_by_running_them(test, most, families):
    asked = {"comparisons": 3, "effect": 0.8, "test": test, "seed": 5, "replications": families}
    planned = required_instances(comparisons=3, effect=0.8, test=test).instances

    design = required_instances(**asked, target="simulated", dependence="reference")

    assert design == required_instances(**asked, target="simulated", dependence="reference")
    assert abs(design.instances - planned) <= 3
    assert design.instances <= most


def test_a_correction_is_not_for_tests_that_judge_together():
    with pytest.raises(InvalidDesign, match="omit the correction"):
        required_instances(comparisons=3, effect=0.5, test="bootstrap-t", correction="bonferroni")


def test_one_simulated_comparison_needs_what_the_formula_says():
    formula = required_instances(comparisons=1, effect=0.5).instances

    simulated = required_instances(comparisons=1, effect=0.5, target="simulated").instances

    assert abs(simulated - formula) <= 1


def test_a_simulation_beyond_all_patience_is_refused_at_once():
    with pytest.raises(InvalidDesign, match="too many to simulate: use fewer replications, or target 'mean'"):
        required_instances(comparisons=21, effect=0.001, target="simulated", test="wilcoxon")


# ── wrong questions ────────────────────────────────────────────────────────────────────────────────────────────────

NO_NUMBERS = [float("nan"), float("inf"), float("-inf"), "0.5", "much", None, True, b"1", [0.5], np.array([0.5]), 1j]
NOT_WHOLE = [*NO_NUMBERS, 2.5, 10**400]
FINE = {"comparisons": 21, "effect": 0.5, "power": 0.8}
HAVE = {"comparisons": 21, "effect": 0.5, "instances": 57}


def wrong(name, values, call, asked):
    return [
        pytest.param(call, asked | {name: value}, name, value, id=f"{call.__name__}-{name}-{value!r:.20}")
        for value in values
    ]


@pytest.mark.parametrize(
    ("call", "asked", "name", "value"),
    [
        *wrong("effect", [0, -0.5, 1001, *NO_NUMBERS], required_instances, FINE),
        *wrong("power", [0, 1, -0.1, 1.5, 80, 1 - 1e-12, *NO_NUMBERS], required_instances, FINE),
        *wrong("alpha", [0, 1, 1.5, -1, 5, 1e-200, *NO_NUMBERS], required_instances, FINE),
        *wrong("comparisons", [0, -3, 10**8, *NOT_WHOLE], required_instances, FINE),
        *wrong("target", [0, -1, 22, "all", "", "5", 2.0, True, None, []], required_instances, FINE),
        *wrong("alternative", ["one-sided", "", "two.sided", None, 2], required_instances, FINE),
        *wrong("test", ["T", "anova", None, 1], required_instances, FINE),
        *wrong("correction", ["none", "bonf", None, 0.05], required_instances, FINE),
        *wrong("instances", [1, 0, -57, 10**10, *NOT_WHOLE], achieved_power, HAVE),
        *wrong("effect", [0, -1, *NO_NUMBERS], achieved_power, HAVE),
        *wrong("instances", [1, 0, *NOT_WHOLE], detectable_effect, {"comparisons": 21, "power": 0.8}),
        *wrong("power", [0, 1, *NO_NUMBERS], detectable_effect, {"comparisons": 21, "instances": 57}),
        *wrong("effects", ["0.5", 0.5, None], power_curve, {"comparisons": 21, "instances": 57}),
        *wrong("dependence", ["none", 1], required_instances, FINE | {"target": "simulated"}),
        *wrong("seed", [-1, 0.5, "a"], required_instances, FINE | {"target": "simulated"}),
        *wrong("replications", [0, 1, -1, 2.5, "many"], required_instances, FINE | {"target": "simulated"}),
        *wrong("dependence", ["independent"], required_instances, FINE),
        *wrong("seed", [0], required_instances, FINE),
        *wrong("replications", [100], required_instances, FINE),
    ],
)
def test_a_wrong_value_is_answered_by_one_sentence_that_names_it_and_the_way_out(call, asked, name, value):
    began = time.process_time()
    with pytest.raises(InvalidDesign) as refused:
        call(**asked)

    sentence = str(refused.value)
    assert sentence.startswith(f"{name} ")
    assert re.search(r"got .+: .+", sentence)
    assert "\n" not in sentence
    assert len(sentence) < 250
    assert time.process_time() - began < 5


@pytest.mark.parametrize("value", [-0.5, 0, float("nan"), "0.5"])
def test_every_effect_of_a_curve_is_checked(value):
    with pytest.raises(InvalidDesign, match=r"^effect must be"):
        power_curve(instances=57, comparisons=21, effects=[0.5, value])


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
@pytest.mark.parametrize("target", ["mean", "median", "worst", "best", 7])
def test_an_effect_too_small_to_find_is_refused_without_a_search_that_never_ends(test, target):
    began = time.process_time()

    with pytest.raises(
        InvalidDesign, match=r"effect of 1e-06 takes more than 1000000000 instances for power 0\.8: ask for"
    ):
        required_instances(comparisons=21, effect=1e-6, test=test, target=target)

    assert time.process_time() - began < 5


@pytest.mark.parametrize("effect", [1e-9, 1e-160, 1e-300, 5e-324])
def test_even_the_smallest_number_is_refused_in_words(effect):
    with pytest.raises(InvalidDesign, match="takes more than 1000000000 instances"):
        required_instances(comparisons=21, effect=effect)


@pytest.mark.parametrize("power", [1e-300, 1e-12, 1 - 1e-9])
@pytest.mark.parametrize("alpha", [1e-100, 0.05, 1 - 1e-16])
@pytest.mark.parametrize("effect", [1e-3, 0.5, 1000.0])
def test_extreme_questions_have_an_answer(power, alpha, effect):
    for target in ("mean", "worst", 1):
        design = required_instances(comparisons=1000, effect=effect, power=power, alpha=alpha, target=target)

        assert design.reached >= power
        assert (
            design.instances == 2
            or achieved_power(
                comparisons=1000, instances=design.instances - 1, effect=effect, alpha=alpha, target=target
            ).power
            < power
        )


def test_the_limit_holds_for_the_instances_of_the_test_asked_for():
    asked = {"comparisons": 1, "effect": 9.3e-5}

    assert required_instances(**asked).instances > 860_000_000
    with pytest.raises(InvalidDesign, match="more than 1000000000 instances"):
        required_instances(**asked, test="wilcoxon")


@pytest.mark.parametrize(("test", "instances", "enough"), [("wilcoxon", 2, 3), ("sign", 3, 4)])
def test_too_few_instances_for_a_rank_or_sign_test_are_refused(test, instances, enough):
    for call, rest in ((achieved_power, {"effect": 0.5}), (detectable_effect, {"power": 0.8})):
        with pytest.raises(InvalidDesign, match=f"on {instances} instances .* use at least {enough} instances"):
            call(instances=instances, comparisons=1, test=test, **rest)
        assert call(instances=enough, comparisons=1, test=test, **rest).instances == enough


def test_a_power_below_that_of_false_alarms_has_no_smallest_effect():
    with pytest.raises(
        InvalidDesign, match=r"power must exceed the 0\.025 of false alarms alone, got 0\.02: ask for more"
    ):
        detectable_effect(instances=30, comparisons=1, power=0.02)


def test_two_instances_that_detect_nothing_say_so():
    with pytest.raises(
        InvalidDesign, match=r"no effect up to 1000 is detected with power 0\.99 on 2 instances: use more"
    ):
        detectable_effect(instances=2, comparisons=1000, power=0.99)


@pytest.mark.parametrize("call", [achieved_power, detectable_effect, power_curve])
def test_the_simulated_target_solves_for_instances_alone(call):
    rest = {achieved_power: {"effect": 0.5}, detectable_effect: {}, power_curve: {"effects": [0.5]}}[call]

    with pytest.raises(InvalidDesign, match="simulate_design"):
        call(instances=57, comparisons=21, target="simulated", **rest)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 1.0, 0.0), "difference"),
        (("2", 1.0, 0.0), "difference"),
        ((1.0, 0.0, 0.0), "sd"),
        ((1.0, -1.0, 0.0), "sd"),
        ((1.0, float("nan"), 0.0), "sd"),
        ((1.0, 1.0, -0.1), "se"),
        ((1.0, 1.0, float("inf")), "se"),
    ],
)
def test_a_raw_effect_is_checked(arguments, name):
    difference, sd, se = arguments
    with pytest.raises(InvalidDesign, match=f"^{name} must .*got .*: .*"):
        effect_from(difference, sd, se=se)


@pytest.mark.parametrize("algorithms", [1, 0, -2, 2.5, "22", None, float("nan"), True])
def test_fewer_than_two_algorithms_are_no_comparison(algorithms):
    with pytest.raises(InvalidDesign, match=r"^algorithms must be .*got"):
        n_comparisons(algorithms, reference=True)
