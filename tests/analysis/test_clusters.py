"""Instances that belong together: the cluster is the unit of the tests, and undeclared clusters are noticed."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler.analysis.units import measure_text
from ampler.core.errors import InvalidData, InvalidDesign, InvalidInput
from ampler.report import subject_of
from ampler.report.figures.ranks import ranks_data
from ampler.report.methods import methods, plain_paragraph

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "dependence.json").read_text())
CLUSTERS = [entry for entry in GOLD["clusters"] if len(set(entry["cluster"])) >= 5]


def two_algorithms(x, clusters):
    """A table in which algorithm "a" exceeds "b" by x on each instance."""
    names = [f"q{number:03d}" for number in range(len(x))]
    table = {"passage": clusters, "question": names, "a": np.asarray(x, dtype=float), "b": np.zeros(len(x))}
    return pd.DataFrame(table)


READING = ("instance", "cluster", "algorithms", "describing")


def analysis_of(frame, **options):
    options = {"instance": "question", "difference": "simple", "better": "higher", "cluster": "passage"} | options
    reading = {name: options.pop(name) for name in READING if name in options}
    return am.analyse(am.read_results(frame, **reading), settings=am.Settings(**options))


def passages(rng, *, clusters=30, size=10, icc=0.5, shift=0.0, algorithms=2):
    """Differences to the first algorithm that the questions of a passage have in common as far as the ICC says."""
    rows = []
    for passage in range(clusters):
        common = rng.normal(size=algorithms) * math.sqrt(icc / 2)
        for question in range(size):
            values = common + rng.normal(size=algorithms) * math.sqrt((1 - icc) / 2)
            values[0] += shift
            rows.append((f"p{passage}", f"q{passage}_{question}", *values))
    return pd.DataFrame(rows, columns=["passage", "question", *"abcdefgh"[:algorithms]])


def test_headers_and_ranks_name_the_clusters():
    analysis = analysis_of(passages(np.random.default_rng(1), clusters=6, size=4, algorithms=3))
    ranks = ranks_data(analysis, groups="decisions")

    assert "24 instances in 6 clusters" in measure_text(analysis)
    assert (ranks.instances, ranks.unit) == (6, "cluster")


@pytest.mark.parametrize("mean_over", ["clusters", "instances"])
@pytest.mark.parametrize("gold", CLUSTERS, ids=lambda entry: entry["name"])
def test_an_analysis_by_clusters_equals_the_reference(gold, mean_over):
    expected = gold[mean_over]
    rtol = 1e-6 if gold["name"] == "large offset" else 1e-8

    analysis = analysis_of(two_algorithms(gold["x"], gold["cluster"]), mean_over=mean_over, margin=gold["margin"])

    comparison = analysis.comparisons[0]
    assert comparison.estimate == pytest.approx(expected["estimate"], rel=rtol)
    assert comparison.p_value == pytest.approx(expected["p"], rel=1e-5)
    assert comparison.cluster.df == pytest.approx(expected["df"], rel=1e-9)
    assert analysis.diagnoses[0].equivalence.p_value == pytest.approx(expected["equivalence_p"], rel=1e-5, abs=1e-12)
    assert comparison.cluster.icc == pytest.approx(gold["components"]["icc"], rel=rtol, abs=1e-10)
    assert comparison.cluster.icc_interval == pytest.approx(gold["components"]["icc_interval"], abs=1e-6)
    assert comparison.cluster.design_effect == pytest.approx(gold["components"]["design_effect"], rel=1e-6)
    if "d" in expected:
        assert comparison.effect_size == pytest.approx(expected["d"], rel=1e-6)
        assert comparison.effect_interval == pytest.approx(expected["d_interval95"], abs=1e-6)


@pytest.mark.parametrize("gold", CLUSTERS, ids=lambda entry: entry["name"])
def test_the_interval_of_one_comparison_is_that_of_the_reference(gold):
    comparison = analysis_of(two_algorithms(gold["x"], gold["cluster"])).comparisons[0]

    scale = abs(comparison.estimate) if gold["name"] == "large offset" else 1.0
    assert comparison.joint_interval == pytest.approx(gold["clusters"]["interval95"], abs=1e-8 * scale)


def family(values, clusters):
    """A table with an algorithm in each column."""
    frame = pd.DataFrame(values, columns=[f"a{k}" for k in range(np.shape(values)[1])])
    return frame.assign(question=[f"q{number}" for number in range(len(frame))], passage=clusters)


@pytest.mark.parametrize("gold", GOLD["families"], ids=lambda entry: entry.get("name", "family"))
def test_families_by_clusters_equal_the_reference(gold):
    phi = np.array(gold["phi"])
    frame = family(np.column_stack([np.zeros(len(phi)), -phi]), gold["cluster"])

    analysis = analysis_of(frame, reference="a0")

    by_pair = sorted(analysis.comparisons, key=lambda comparison: comparison.second)
    assert [comparison.p_value for comparison in by_pair] == pytest.approx(gold["p"], rel=1e-7)
    assert [comparison.p_holm for comparison in by_pair] == pytest.approx(gold["p_holm"], rel=1e-7)


@pytest.mark.parametrize("gold", GOLD["families"], ids=lambda entry: entry.get("name", "family"))
def test_ranks_by_clusters_equal_the_reference(gold):
    friedman = analysis_of(family(gold["values"], gold["cluster"])).omnibus.friedman.corrected

    expected = gold["friedman_cluster_mean_ranks"]
    assert (friedman.statistic, friedman.p_value) == pytest.approx((expected["statistic"], expected["p"]), rel=1e-7)


def test_flips_of_whole_clusters_and_their_interval_agree():
    gold = next(entry for entry in CLUSTERS if "sign_flip_p" in entry["instances"])

    comparison = analysis_of(
        two_algorithms(gold["x"], gold["cluster"]), mean_over="instances", test="sign-flip"
    ).comparisons[0]

    assert comparison.p_value == gold["instances"]["sign_flip_p"]
    low, high = comparison.joint_interval
    assert (low <= 0 <= high) == (comparison.p_value > 0.05)


def test_clusters_of_one_instance_change_nothing():
    x = np.random.default_rng(3).normal(0.4, 1.0, 25)
    frame = two_algorithms(x, [f"p{k}" for k in range(25)])

    single, plain = analysis_of(frame).comparisons[0], analysis_of(frame, cluster=None).comparisons[0]

    assert (single.estimate, single.p_value) == pytest.approx((plain.estimate, plain.p_value), rel=1e-9)
    assert single.effect_size == pytest.approx(plain.effect_size, rel=1e-9)
    assert single.effect_interval == pytest.approx(plain.effect_interval, abs=1e-9)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "bootstrap-t", "sign-flip"])
def test_every_paired_test_is_that_of_the_cluster_means(test):
    frame = passages(np.random.default_rng(8), clusters=14, size=4, shift=0.3)
    means = (
        frame.groupby("passage", sort=False)[["a", "b"]].mean().reset_index().rename(columns={"passage": "question"})
    )

    clustered = analysis_of(frame, test=test).comparisons[0]
    averaged = analysis_of(means, test=test, cluster=None).comparisons[0]

    assert clustered.p_value == pytest.approx(averaged.p_value, rel=1e-9)
    assert clustered.joint_interval == pytest.approx(averaged.joint_interval, rel=1e-7)
    assert (clustered.instances, clustered.cluster.clusters) == (56, 14)


@pytest.mark.parametrize(
    "of", [lambda name: name[:2], {f"q{n:03d}": f"g{n % 6}" for n in range(30)}], ids=["call", "map"]
)
def test_clusters_may_be_given_as_a_callable_or_a_mapping(of):
    frame = two_algorithms(np.random.default_rng(1).normal(size=30), ["x"] * 30)
    groups = [of(name) if callable(of) else of[name] for name in frame["question"]]
    if callable(of):
        frame["question"] = [f"{n % 7}-{n}" for n in range(30)]
        groups = [of(name) for name in frame["question"]]

    given, column = analysis_of(frame, cluster=of), analysis_of(frame.assign(passage=groups))

    assert given.comparisons[0].p_value == column.comparisons[0].p_value
    assert given.as_dict()["clusters"] == len(set(groups))


def test_a_pair_has_its_own_clusters_and_degrees_of_freedom():
    frame = passages(np.random.default_rng(2), clusters=12, size=3, algorithms=3)
    frame.loc[frame["passage"].isin(["p0", "p1"]), "c"] = np.nan

    clusters = {comparison.pair: comparison.cluster for comparison in analysis_of(frame).comparisons}

    assert (clusters["a", "b"].clusters, clusters["a", "c"].clusters) == (12, 10)
    assert (clusters["a", "b"].df, clusters["a", "c"].df) == (11, 9)


def test_four_clusters_claim_nothing_and_offer_a_conclusion_about_themselves():
    frame = passages(np.random.default_rng(4), clusters=4, size=12, shift=2.0)

    random, fixed = analysis_of(frame), analysis_of(frame, cluster_effects="fixed")

    assert not random.comparisons[0].rejected
    assert random.comparisons[0].joint_interval == (-math.inf, math.inf)
    warning = next(warning for warning in random.warnings if warning.kind == "clusters")
    assert warning.severity == "could reverse a verdict"
    assert "cluster_effects" in warning.sentence
    assert fixed.comparisons[0].rejected
    assert not [warning for warning in fixed.warnings if warning.kind == "clusters"]


def test_fewer_than_ten_clusters_are_tested_with_a_warning():
    analysis = analysis_of(passages(np.random.default_rng(5), clusters=8, size=6, shift=3.0))

    assert analysis.comparisons[0].rejected
    assert "clusters" in [warning.kind for warning in analysis.warnings]


def test_one_large_cluster_is_a_warning_of_the_mean_over_instances():
    rng = np.random.default_rng(6)
    frame = two_algorithms(rng.normal(size=60), ["big"] * 30 + [f"p{k % 11}" for k in range(30)])

    kinds = [
        [warning.kind for warning in analysis_of(frame, mean_over=over).warnings].count("clusters")
        for over in ("clusters", "instances")
    ]

    assert kinds[0] < kinds[1]


def test_the_other_mean_is_shown_where_its_verdict_differs():
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.normal(1.5, 0.5, 300), rng.normal(0.0, 0.5, 24)])
    clusters = [f"big{k % 6}" for k in range(300)] + [f"small{k}" for k in range(24)]

    analysis = analysis_of(two_algorithms(x, clusters))

    facts = analysis.comparisons[0].cluster
    assert facts.estimate_over_instances > 2 * facts.estimate_over_clusters


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"cluster": "nothing"}, InvalidData),
        ({"mean_over": "instances", "test": "wilcoxon"}, InvalidDesign),
        ({"cluster": None, "mean_over": "instances"}, InvalidDesign),
        ({"cluster_effects": "fixed", "test": "sign"}, InvalidDesign),
        ({"cluster": {"q000": "g"}}, InvalidData),
    ],
    ids=str,
)
def test_what_has_no_clusters_is_refused(settings, error):
    frame = two_algorithms(np.arange(12.0), [f"p{k % 6}" for k in range(12)])

    with pytest.raises(error):
        analysis_of(frame, **settings)


def test_an_instance_without_a_cluster_or_with_two_is_named():
    frame = two_algorithms(np.arange(12.0), [f"p{k % 6}" for k in range(12)])
    long = frame.melt(["passage", "question"], ["a", "b"], "model", "score")

    with pytest.raises(InvalidData, match="q003"):
        analysis_of(frame.assign(passage=frame["passage"].where(frame["question"] != "q003")))
    long.loc[3, "passage"] = "p5"
    with pytest.raises(InvalidData, match="q003"):
        analysis_of(long)


def test_posteriors_are_refused_for_clusters():
    with pytest.raises(InvalidInput, match="cluster"):
        _ = analysis_of(passages(np.random.default_rng(1)), margin=0.1).bayes


def test_passages_that_nobody_declared_are_found_with_the_error_they_would_cause():
    rng = np.random.default_rng(11)
    frame = next(
        frame
        for frame in (passages(rng, icc=0.5) for _ in range(50))
        if analysis_of(frame, cluster=None).comparisons[0].rejected and not analysis_of(frame).comparisons[0].rejected
    )

    analysis = analysis_of(frame, cluster=None)

    warning = next(warning for warning in analysis.warnings if warning.kind == "clusters")
    assert warning.severity == "could reverse a verdict"
    assert "passage" in warning.sentence
    declared = [analysis_of(frame), analysis_of(frame, cluster=None, describing="passage")]
    assert not [w for a in declared for w in a.warnings if w.kind in ("clusters", "grouping")]


@pytest.mark.parametrize("name", ["passage", "where it is from"])
def test_random_groups_seldom_raise_a_warning_and_real_ones_do(name):
    rng, found = np.random.default_rng(12), np.zeros(2)
    for icc, studies in ((0.0, 40), (0.6, 3)):
        for _ in range(studies):
            frame = passages(rng, clusters=20, size=5, icc=icc).rename(columns={"passage": name})
            kinds = {warning.kind for warning in analysis_of(frame, cluster=None).warnings}
            found[int(icc > 0)] += bool(kinds & {"clusters", "grouping"})

    assert found[0] <= 40 * 0.01 + 3 * math.sqrt(40 * 0.01 * 0.99)
    assert found[1] == 3


@pytest.mark.parametrize("asked", [{"margin": 0.25}, {"non_inferior": 0.25, "reference": "a"}])
def test_undeclared_passages_speak_against_equivalence_and_non_inferiority_too(asked):
    rng = np.random.default_rng(31)

    def shown(analysis):
        [row] = analysis.diagnoses
        return any(item is not None and item.established for item in (row.equivalence, row.non_inferiority))

    frames = (passages(rng, clusters=12, size=8, icc=0.6) for _ in range(50))
    analysis = next(
        found
        for frame in frames
        if shown(found := analysis_of(frame, cluster=None, **asked)) and not shown(analysis_of(frame, **asked))
    )
    (warning,) = [warning for warning in analysis.warnings if warning.kind == "clusters"]
    assert "(0 of 1 claims stay)" in warning.sentence


def test_four_clusters_are_told_as_clusters_and_have_no_power():
    analysis = analysis_of(passages(np.random.default_rng(3), clusters=4, size=9))
    [verdict] = [comparison.verdict for comparison in analysis.comparisons]
    assert verdict.endswith("out of reach with so few clusters)")
    assert len([warning for warning in analysis.warnings if warning.kind == "clusters"]) == 1


def test_sizes_of_instances_are_no_clusters():
    frame = passages(np.random.default_rng(12), clusters=20, size=5, icc=0.6)
    sized = frame.assign(passage=frame["passage"].str.extract(r"(\d+)").astype(int)).rename(columns={"passage": "size"})
    assert not {w.kind for w in analysis_of(sized, cluster=None).warnings} & {"clusters", "grouping"}


def test_advice_names_the_design_of_clusters_as_alike_as_these():
    results = am.read_results(passages(np.random.default_rng(2)), instance="question", cluster="passage")
    with pytest.raises(InvalidDesign, match=r"--per-cluster \d+ --icc 0\.\d+"):
        am.advise(results, detect=0.5, difference="simple", better="lower")


def test_one_group_and_groups_that_differ_by_case_are_no_clusters():
    frame = two_algorithms(np.arange(12.0), [f"p{k % 6}" for k in range(12)])
    with pytest.raises(InvalidData, match="all instances belong to one"):
        analysis_of(frame.assign(passage="p"))
    with pytest.raises(InvalidData, match="differ only by case"):
        analysis_of(frame.assign(passage=["P0", *frame["passage"][1:]]))


def test_the_error_rate_of_cluster_means_is_kept_where_instances_alone_break_it():
    rng, studies = np.random.default_rng(13), 300
    wrong = np.zeros(3)
    for _ in range(studies):
        frame = passages(rng, clusters=12, size=8, icc=0.5)
        choices = ({"cluster": None}, {}, {"mean_over": "instances"})
        wrong += [analysis_of(frame, **choice).comparisons[0].rejected for choice in choices]

    bound = 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)
    assert wrong[0] / studies > 0.25
    assert max(wrong[1:]) / studies <= bound


def test_the_methods_paragraph_names_the_unit_of_analysis():
    frame = passages(np.random.default_rng(14))

    by_cluster, by_instance = (
        plain_paragraph(methods(subject_of(analysis_of(frame, mean_over=over)))) for over in ("clusters", "instances")
    )

    assert "over the mean differences of 30 clusters of instances (by passage)" in by_cluster
    assert "CR2" in by_instance
