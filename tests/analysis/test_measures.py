"""Claims about several measures, and the Pareto front, in simulated studies whose truth is known. Fixed seeds."""

import json
import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.helpers.simulated_claims import limit, noise

import ampler as am
from ampler.core.errors import InvalidData, InvalidDesign, InvalidPlan
from ampler.core.measures import Measure, checked_measures
from ampler.report.drawings import drawings

MARGIN = 0.5
RATIO = {"better": "lower", "difference": "ratio"}


def measured(truth, seed, *, instances=20, correlation=0.0, skewed=False):
    """Return a long table: `truth` has algorithms in rows and measures in columns; lower is better."""
    rng = np.random.default_rng(seed)
    truth = np.array(truth)
    values = truth + noise(rng, (instances, *truth.shape), correlation, skewed=skewed)
    rows = [(f"i{i}", "abcdefghij"[k], *values[i, k]) for i in range(instances) for k in range(len(truth))]
    return pd.DataFrame(rows, columns=["instance", "algorithm", *(f"m{m}" for m in range(truth.shape[1]))])


def measures(number):
    others = (Measure(f"m{m}", "lower", "simple", role="non-inferior", margin=MARGIN) for m in range(1, number))
    return [Measure("m0", "lower", "simple", margin=MARGIN), *others]


def analysed(truth, seed, **options):
    return am.analyse_measures(measured(truth, seed, **options), measures(len(truth[0])))


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        ([{"role": "descriptive"}], "one measure must be primary .* got none primary"),
        ([{}, {"name": "cost"}], "got seconds, cost primary"),
        ([{}, {}], "a name of its own"),
        ([{"role": "non-inferior"}], "'seconds' has the role 'non-inferior' and needs a margin"),
        ([{"role": "descriptive", "margin": 0.1}], "'seconds' is descriptive "),
        ([{"roles": "primary"}], "a measure has name, better and difference"),
        ([{"role": "best"}], "role must be one of"),
    ],
)
def test_a_wrong_combination_of_roles_gets_one_sentence(roles, sentence):
    with pytest.raises(InvalidDesign, match=sentence):
        checked_measures([{"name": "seconds"} | RATIO | role for role in roles])


def test_the_p_value_of_a_claim_is_the_largest_of_its_measures():
    from scipy import stats

    table = measured([[0.0, 0.0], [1.0, 0.0]], seed=[44, 8], instances=40)
    wide = {name: table.pivot(index="instance", columns="algorithm", values=name) for name in ("m0", "m1")}
    loss = {name: values["a"] - values["b"] for name, values in wide.items()}
    expected = {
        "m0": stats.ttest_1samp(loss["m0"], 0.0, alternative="less").pvalue,
        "m1": stats.ttest_1samp(loss["m1"], MARGIN, alternative="less").pvalue,
    }
    [claim] = am.analyse_measures(table, measures(2)).claims
    assert (claim.first, claim.second) == ("a", "b")
    assert claim.p_values == pytest.approx(expected)
    assert claim.p_value == pytest.approx(2 * max(expected.values()))


def test_a_clear_case_is_told_in_text_and_json():
    found = analysed([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]], seed=[44, 9], instances=200)
    assert {(row.first, row.second) for row in found.claims if row.claimed} == {("a", "b")}
    assert {row.algorithm: (row.standing, row.dominated_by) for row in found.front} == {
        "a": ("front", ()),
        "b": ("dominated", ("a",)),
        "c": ("dominated", ("a",)),
    }
    document = json.loads(json.dumps(found.as_dict()))
    assert [row["standing"] for row in document["front"]] == ["front", "dominated", "dominated"]
    assert str(found).startswith("a is better than b.\nBetter: superior in m0")
    assert "dominated by a" in str(found)


def test_a_trade_off_puts_both_on_the_front():
    found = analysed([[0.0, 2.0], [2.0, 0.0]], seed=[44, 10], instances=40)
    assert [row.standing for row in found.front] == ["front", "front"]


def test_the_map_shows_joint_intervals_of_both_measures():
    from ampler.plots import draw_pareto, pareto_data

    found = analysed([[0.0, 2.0], [2.0, 0.0], [1.0, 1.0]], seed=[44, 12], instances=40)
    data = pareto_data(found, base="b")
    assert data.standings == tuple(row.standing for row in found.front)
    assert data.x[1].tolist() == data.y[1].tolist() == [0.0, 0.0, 0.0]
    assert data.x[0, 1] <= -2.0 <= data.x[0, 2]
    assert data.y[0, 1] <= 2.0 <= data.y[0, 2]
    assert draw_pareto(data).get_xlabel().startswith("m0, difference to b")


def test_a_loss_that_is_the_same_everywhere_is_within_the_margin_by_its_sign():
    table = measured([[0.0, 0.0], [1.0, 0.0]], seed=[44, 13])
    table["m1"] = 7.0
    [claim] = am.analyse_measures(table, measures(2)).claims
    assert claim.claimed
    assert claim.p_values["m1"] == 0.5**20
    table.loc[table.algorithm == "a", "m1"] += MARGIN
    assert not am.analyse_measures(table, measures(2)).claims[0].claimed


def test_percentages_that_favour_the_reference_show_no_non_inferiority():
    rng = np.random.default_rng(8)
    logs = rng.normal(0, 0.4, 2500)
    speed = {"a": np.full(2500, 10.0), "b": 10 * np.exp(logs - logs.mean() + np.log(0.92))}  # a loss of 8 %
    frame = pd.DataFrame({"instance": np.tile(np.arange(2500), 2), "algorithm": np.repeat(["a", "b"], 2500)})
    frame["cost"] = 10 - (frame["algorithm"] == "b") + rng.normal(size=5000)
    frame["speed"] = np.concatenate(list(speed.values()))
    held = Measure("speed", "higher", "percent", role="non-inferior", margin=0.03)
    for kind, claimed in (("percent", False), ("ratio", False)):
        analysis = am.analyse_measures(
            frame, [Measure("cost", "lower", "simple"), replace(held, difference=kind)], reference="a"
        )
        assert analysis.claims[0].claimed == claimed


def test_a_failed_run_counts_as_the_penalty_of_each_measure():
    table = measured([[0.0, 0.0], [3.0, 0.0]], seed=[44, 14])
    table.loc[(table.instance == "i0") & (table.algorithm == "a"), "m1"] = np.nan
    penalised = [measures(2)[0], replace(measures(2)[1], penalty=9.0)]
    found = am.analyse_measures(table, penalised)
    assert found.analyses["m1"].statistics[0, 0] == 9.0
    assert not found.claims[0].claimed


def a_study(**options):
    def solve(shift):
        return lambda instance, seed: {
            "m1": 7.0 + random.Random(seed).gauss(0, 0.1),
            "m0": float(instance[1:]) + shift + random.Random(seed).random(),
        }

    return am.Study(
        **{
            "algorithms": {"a": solve(0.0), "b": solve(1.0), "c": solve(2.0)},
            "instances": [f"i{k}" for k in range(12)],
            "difference": "simple",
            "better": "lower",
            "design": am.FixedSize(runs=2),
            "measures": [*measures(2), Measure("seconds", "lower", "ratio", role="descriptive")],
        }
        | options
    )


def test_a_study_keeps_its_measures_and_every_output_has_them(tmp_path):
    analysis = a_study().run(tmp_path / "study.db", workers=1, progress=False)

    assert analysis.measure == "m0"
    assert {(row.first, row.second) for row in analysis.measures.claims if row.claimed} == {
        ("a", "b"), ("a", "c"), ("b", "c")
    }  # fmt: skip
    table = am.open_study(tmp_path / "study.db").observations()
    rows = [(run.key.instance, run.key.algorithm, run.measures["m0"], run.measures["m1"]) for run in table]
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", "m0", "m1"])
    same = am.analyse_measures(frame.groupby(["instance", "algorithm"]).mean().reset_index(), measures(2))
    assert [c.p_value for c in same.claims] == pytest.approx([c.p_value for c in analysis.measures.claims])
    document = analysis.as_dict()["measures"]
    assert list(document["analyses"]) == ["m1", "seconds"]
    for name in ("r.html", "r.md"):
        report = am.write_report(tmp_path / "study.db", tmp_path / name).read_text()
        assert "Intersection–union tests" in report
        assert "Berger 1982" in report
        assert "seconds (not tested)" in report
    assert "pareto" in [drawing.name for drawing in drawings(analysis)]
    assert am.analyse_measures(tmp_path / "study.db").claims == analysis.measures.claims


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"design": am.Detect(1.0)}, "detect and looks are for one measure"),
        ({"difference": "ratio"}, "primary measure 'm0' must have the study's difference"),
        ({"measures": measures(1)}, "one measure alone needs no"),
        ({"on_failure": "penalty=9"}, "'m1' needs penalty = VALUE"),
        ({"algorithms": {n: am.Command(n, ("x", "{instance}")) for n in "ab"}}, "no pattern for the measure 'm1'"),
    ],
)
def test_a_study_refuses_what_several_measures_do_not_go_with(options, sentence):
    with pytest.raises(InvalidPlan, match=sentence):
        a_study(**options)


def test_a_measure_that_no_run_gives_is_named_by_check_and_by_the_analysis(tmp_path):
    lacking = Measure("m9", "lower", "simple", role="non-inferior", margin=1.0)
    study = a_study(measures=[*measures(2), lacking])
    assert {line.split(":")[0] for line in study.check(workers=1).warnings} == {
        f"{n} gave no number 'm9'" for n in "abc"
    }
    with pytest.raises(InvalidData, match="72 runs gave no measure 'm9'"):
        study.run(tmp_path / "study.db", workers=1, progress=False)
    described = a_study(measures=[*measures(2), replace(lacking, role="descriptive", margin=None)])
    assert "m9" not in described.run(tmp_path / "other.db", workers=1, progress=False).measures.analyses


@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
def test_the_planned_instances_give_the_claim_the_promised_power(skewed):
    truth, studies = [[0.0, 0.0], [0.7, 0.0]], 100
    claimed = []
    for study in range(studies):
        pilot = analysed(truth, [44, 15, study], correlation=0.5, skewed=skewed)
        size = pilot.plan(detect=0.7).instances
        claimed.append(
            analysed(truth, [44, 16, study], instances=size, correlation=0.5, skewed=skewed).claims[0].claimed
        )
    assert np.mean(claimed) >= 0.8 - 3 * (0.8 * 0.2 / studies) ** 0.5


def test_a_plan_names_the_measure_that_needs_the_instances():
    pilot = analysed([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]], [44, 17])
    plan = pilot.plan(detect=5.0, power=0.9)
    assert plan.bottleneck in ("m1", "m2")
    assert plan.instances >= max(plan.needs.values())
    assert plan.power >= 0.9
    assert pilot.plan(detect=0.1).bottleneck == "m0"


SCENARIOS = {  # all claims and standings at the edge of what is false: (truth, correlation, skewed)
    "equal, margin not kept": ([[0.0, 0.5], [5.0, 0.0]], 0.5, False),
    "nothing in the primary": ([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 2.0, 2.0]], -0.4, True),
    "four measures": ([[0.0] * 4, [2.0, -0.5, 0.0, 0.0], [2.0, 0.0, -0.5, 0.0]], 0.9, False),
    "ten algorithms": ([[k / 5, -k / 10] for k in range(10)], 0.5, False),
}


def false_statements(truth, correlation, studies, *, skewed):
    """Return the shares of studies with a false claim, and with a false statement about the front."""
    truth = np.array(truth)
    index = {name: k for k, name in enumerate("abcdefghij")}
    wrong = np.zeros((studies, 2), dtype=bool)

    def dominates(a, b):
        return bool((truth[a] < truth[b]).any() and (truth[a] - truth[b] < MARGIN).all())

    everyone = range(len(truth))
    for study in range(studies):
        found = analysed(truth, [44, 11, study, *truth.shape], correlation=correlation, skewed=skewed)
        for claim in found.claims:
            a, b = index[claim.first], index[claim.second]
            true = truth[a, 0] < truth[b, 0] and (truth[a, 1:] - truth[b, 1:] < MARGIN).all()
            wrong[study, 0] |= claim.claimed and not true
        for row in found.front:
            k = index[row.algorithm]
            wrong[study, 1] |= any(not dominates(index[other], k) for other in row.dominated_by)
            wrong[study, 1] |= row.standing == "front" and any(dominates(other, k) for other in everyone if other != k)
    return wrong.mean(axis=0)


@pytest.mark.parametrize("studies", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SCENARIOS)
def test_false_claims_and_false_standings_keep_the_level(name, studies):
    truth, correlation, skewed = SCENARIOS[name]
    claims, front = false_statements(truth, correlation, studies, skewed=skewed)
    assert claims <= limit(0.05, studies)
    assert front <= limit(0.05, studies)


@pytest.mark.parametrize("settings", [{"cluster": "suite"}, {"inference": "these instances"}, {"alternative": "less"}])
def test_measures_are_not_tested_where_other_tests_decide(settings):
    table = measured([[0.0, 0.0], [1.0, 0.0]], seed=[44, 18])
    table = pd.concat([table, table.assign(m0=table.m0 + 0.1, m1=table.m1 + 0.1)]).assign(suite=table.instance.str[-1])
    own = {}
    for name, other in (("m0", "m1"), ("m1", "m0")):
        results = am.read_results(table.drop(columns=other), value=name, cluster=settings.get("cluster"))
        rest = {key: value for key, value in settings.items() if key != "cluster"}
        own[name] = replace(results, settings={**results.settings, **rest})
    with pytest.raises(InvalidDesign, match="several measures are compared on instances like these"):
        am.analyse_measures(own, measures(2), reference="a" if "alternative" in settings else None)
