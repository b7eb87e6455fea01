"""Other models of the same comparison."""

import numpy as np
import pandas as pd
import pytest

from ampler import analyse
from ampler.analysis.bayes import sensitivity_of
from ampler.stats.bayes.posterior import posterior
from ampler.stats.bayes.signed_rank import signed_rank

RNG = np.random.default_rng(7)
DIFFERENCES, ERRORS = RNG.normal(0.3, 0.5, 15), RNG.uniform(0.05, 0.2, 15)


def test_both_models_judge_the_same_differences():
    found = sensitivity_of("a", "b", DIFFERENCES, ERRORS, margin=0.1, level=0.9)

    assert found.robust == posterior(DIFFERENCES, ERRORS, margin=0.1, model="robust", level=0.9)
    test = signed_rank(DIFFERENCES, margin=0.1)
    assert (found.signed_rank, found.mean_point) == (test.areas, test.mean_areas)
    assert found.problem == ""


def test_an_outlier_moves_the_mean_and_hardly_the_typical_instances():
    far = np.append(DIFFERENCES, 20.0)

    found = sensitivity_of("a", "b", far, np.append(ERRORS, 0.1), margin=0.1, level=0.95)

    assert found.robust is not None
    assert found.robust.interval[1] < 1.0 < posterior(far, margin=0.1).interval[1]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_too_few_instances_are_a_sentence_and_the_rest_is_told(number):
    found = sensitivity_of("a", "b", DIFFERENCES[:number], ERRORS[:number], margin=0.1, level=0.95)

    assert found.robust is None
    assert found.problem == f"a posterior needs 3 or more instances, got {number}"
    assert (found.signed_rank is None) == (number == 0)


def test_a_single_exact_difference_is_told_why_the_robust_model_refuses_it():
    found = sensitivity_of("a", "b", DIFFERENCES, np.where(np.arange(15) == 3, 0.0, ERRORS), margin=0.1, level=0.95)

    assert "the robust model cannot be used when exact differences" in found.problem
    assert found.signed_rank is not None


@pytest.mark.slow
def test_autorank_agrees_on_every_pair_of_published_classifiers(public_data):
    autorank = pytest.importorskip("autorank")
    table = pd.read_csv(public_data / "benavoli2017_accuracies_mean.csv")
    theirs = autorank.autorank(
        table.set_index("dataset"), approach="bayesian", rope=1, rope_mode="absolute", random_state=1
    ).posterior_matrix

    bayes = analyse(table, difference="simple", better="higher", margin=1).bayes

    assert len(bayes.sensitivity) == 10
    for each in bayes.sensitivity:
        ours = bayes.chances(each.signed_rank)
        pair = theirs.loc[each.first, each.second]
        turned = not isinstance(pair, tuple)
        first, same, second = theirs.loc[each.second, each.first][::-1] if turned else pair
        for found, expected in ((ours.worse, first), (ours.equivalent, same), (ours.better, second)):
            p = min(max(expected, 1e-4), 1 - 1e-4)
            assert abs(found - expected) <= 4 * np.sqrt(2 * p * (1 - p) / 50_000)
