"""Tests of difference do not depend on a margin, and claims of equivalence keep their own level. Fixed seeds."""

import numpy as np
import pytest
from tests.helpers.simulated_claims import limit, wide_table

import ampler as am

PUBLIC = (
    "demsar2006_table6.csv",
    "benavoli2017_accuracies_mean.csv",
    "cd_diagram_example.csv",
    "saes_ml_data.csv",
)


def decisions(analysis):
    return [(row.pair, row.p_value, row.p_holm, row.rejected, row.interval) for row in analysis.comparisons]


@pytest.mark.parametrize("file", PUBLIC)
def test_a_margin_and_probabilities_change_no_test_of_a_public_table(public_data, file):
    reading = {"metric": "Accuracy"} if file == "saes_ml_data.csv" else {}
    results = am.read_results(public_data / file, **reading)
    asked = {"better": "higher", "difference": "simple"}
    before, after = am.analyse(results, **asked), am.analyse(results, **asked, margin=0.01)
    _ = after.bayes
    assert decisions(before) == decisions(after)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "bootstrap-t", "sign-flip", "sign"])
def test_no_test_of_a_difference_depends_on_a_margin(test):
    table = wide_table([0, 0.4, 0.9], seed=[44, 1], instances=15)
    asked = {"difference": "simple", "better": "lower", "test": test}
    before, after = am.analyse(table, **asked), am.analyse(table, **asked, margin=1.0)
    assert decisions(before) == decisions(after)


def false_claims(means, margin, studies, *, skewed=False, instances=25):
    """Count studies with a false difference, with a false equivalence, and with either."""
    mean = dict(zip("abcd", means, strict=False))
    wrong = np.zeros((studies, 2), dtype=bool)
    for study in range(studies):
        table = wide_table(means, seed=[44, 7, study, len(means)], instances=instances, skewed=skewed)
        analysis = am.analyse(table, difference="simple", better="lower", margin=margin)
        for row in analysis.comparisons:
            wrong[study, 0] |= row.rejected and row.estimate * (mean[row.first] - mean[row.second]) <= 0
        for row in analysis.diagnoses:
            wrong[study, 1] |= row.equivalence.established and abs(mean[row.first] - mean[row.second]) >= margin
    return wrong[:, 0].mean(), wrong[:, 1].mean(), wrong.any(axis=1).mean()


@pytest.mark.parametrize("studies", [200, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("means", "margin"),
    [((0.0, 0.0), 1.0), ((0.0, 1.0), 1.0), ((0.0, 0.0, 1.2, 1.2), 1.2), ((0.0, 0.9, 1.8, 2.7), 0.9)],
    ids=["one pair, equal", "one pair, at the margin", "equal and at the margin", "all at the margin"],
)
def test_each_family_keeps_its_level_and_one_pair_keeps_it_for_both(means, margin, studies):
    difference, equivalence, either = false_claims(means, margin, studies)
    assert difference <= limit(0.05, studies)
    assert equivalence <= limit(0.05, studies)
    assert either <= limit(0.05 if len(means) == 2 else 0.1, studies)
