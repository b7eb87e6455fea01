"""What is said of estimates that stopping biased, and when."""

import numpy as np
import pytest

from ampler.analysis import analyse_runs
from ampler.analysis.display import plain_text
from ampler.analysis.text import CLAIM_NOTHING, about_stopping, headline
from ampler.core.arrays import Runs
from ampler.core.failures import Drop, Par, Penalty
from ampler.core.settings import Settings
from ampler.sampling.rules import Accuracy, sample

NAMES = ("steady", "wild", "other")


def sampled_runs(rule, draw, instances=25, seed=4):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(instances):
        samples = sample(rule, lambda algorithm, index: draw(rng, algorithm), NAMES).samples
        rows += [(f"i{i}", name, value) for name in NAMES for value in samples.values(name)]
    return Runs.from_columns(*zip(*rows, strict=True))


def analysis_of(runs, rule, **settings):
    settings = {
        "difference": rule.difference,
        "reference": rule.reference,
        "se": rule.se,
        "start": rule.start,
    } | settings
    return analyse_runs(runs, Settings(**settings), rule=rule)


def kinds(analysis):
    return [caution.kind for caution in analysis.warnings]


def said(analysis, kind):
    return next(caution.sentence for caution in analysis.warnings if caution.kind == kind)


RULE = Accuracy(se=0.1, difference="simple", reference="steady")


@pytest.fixture(scope="module")
def skewed():
    """Exponential runs of equal mean; the reference is steadier."""
    return sampled_runs(RULE, lambda rng, name: 1 + (0.3 if name != "steady" else 0.05) * (rng.exponential() - 1))


@pytest.fixture(scope="module")
def penalised():
    """One algorithm with rare values of 33 times the mean; all means are equal."""
    return sampled_runs(
        RULE, lambda rng, name: (33.4 if rng.random() < 0.02 else 0.34) if name == "wild" else 1 + 0.01 * rng.normal()
    )


def test_estimates_are_corrected_and_this_is_said(skewed):
    analysis = analysis_of(skewed, RULE)
    means = {(each.first, each.second): each for each in analysis.diagnoses}

    assert "the estimates are corrected." in said(analysis, "bias")
    for comparison in analysis.comparisons:
        diagnosis = means[comparison.first, comparison.second]
        assert comparison.estimate < diagnosis.all_runs  # skewed rivals ended too low, the difference too high
        assert np.isfinite(diagnosis.first_runs)


def test_all_runs_as_they_are_can_be_had_with_a_word(skewed):
    analysis = analysis_of(skewed, RULE, estimate="all-runs")

    assert "the estimates are not corrected" in said(analysis, "bias")
    assert [each.all_runs for each in analysis.diagnoses] == pytest.approx(
        [each.estimate for each in sorted(analysis.comparisons, key=lambda c: NAMES.index(c.second))]
    )


def test_the_first_runs_need_no_word(skewed):
    assert not {"bias", "biased"} & set(kinds(analysis_of(skewed, RULE, estimate="first-runs")))


def test_runs_of_normal_values_need_none_either():
    runs = sampled_runs(RULE, lambda rng, name: 1 + 0.3 * rng.normal())

    assert not {"bias", "biased"} & set(kinds(analysis_of(runs, RULE)))


def test_fixed_runs_have_no_bias_and_no_other_estimates():
    rng = np.random.default_rng(1)
    runs = Runs.from_columns(
        *zip(*[(f"i{i}", n, rng.exponential()) for i in range(9) for n in NAMES for _ in range(5)], strict=True)
    )
    analysis = analyse_runs(runs, Settings(difference="simple"))

    assert not {"bias", "biased"} & set(kinds(analysis))
    assert all(np.isnan([each.all_runs, each.first_runs]).all() for each in analysis.diagnoses)


def test_what_no_correction_mends_is_said_before_the_claim(penalised):
    analysis = analysis_of(penalised, RULE)

    assert kinds(analysis)[0] == "biased"
    assert "too skewed for a correction" in said(analysis, "biased")
    assert 'estimate="first-runs"' in said(analysis, "biased")
    assert headline(analysis).startswith(CLAIM_NOTHING)
    assert plain_text(analysis).startswith(CLAIM_NOTHING.strip())


def with_failures(runs, share=0.02):
    rng = np.random.default_rng(2)
    status = np.where(rng.random(len(runs)) < share, "failed", "ok")
    names = [runs.instances[i] for i in runs.instance], [runs.algorithms[k] for k in runs.algorithm]
    return Runs.from_columns(*names, runs.value, status=status.tolist())


@pytest.mark.parametrize(("policy", "warned"), [(Penalty(50.0), True), (Par(10.0, 5.0), True), (Drop(), False)])
def test_penalties_and_stopping_by_the_values_do_not_go_together(skewed, policy, warned):
    analysis = analysis_of(with_failures(skewed), RULE, failures=policy)

    penalties = [caution for caution in analysis.warnings if "failed runs count as a penalty" in caution.sentence]
    assert bool(penalties) == warned
    assert all(caution.kind == "biased" for caution in penalties)


def test_a_penalty_hardly_moves_a_median(skewed):
    rule = Accuracy(se=0.1, difference="simple", reference="steady", statistic="median")
    analysis = analysis_of(with_failures(skewed), rule, failures=Penalty(50.0), statistic="median")

    assert not any("Failed runs count as a penalty" in caution.sentence for caution in analysis.warnings)


def test_a_table_of_uneven_runs_is_asked_about(skewed):
    analysis = analyse_runs(skewed, Settings(difference="simple", reference="steady"))

    assert "if results decided when runs stopped (10 to 53 runs per instance)" in said(analysis, "bias")


def test_the_words_of_the_rule_are_as_good_as_the_rule(skewed):
    words = Settings(difference="simple", reference="steady", se=RULE.se, start=RULE.start)

    assert analyse_runs(skewed, words).comparisons == analysis_of(skewed, RULE).comparisons


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        ("corrected", "the estimates are bias-corrected."),
        ("all-runs", "the estimates use all runs, uncorrected."),
        ("first-runs", "the estimates use the initial runs alone."),
    ],
)
def test_every_analysis_says_what_all_runs_and_the_first_runs_give(skewed, estimate, words):
    analysis = analysis_of(skewed, RULE, estimate=estimate)
    sentence = about_stopping(analysis)
    gaps = [abs(each.all_runs - each.first_runs) for each in analysis.diagnoses]
    worst = analysis.diagnoses[int(np.argmax(gaps))]

    used = {"all-runs": worst.all_runs, "first-runs": worst.first_runs}
    if estimate in used:
        [shown] = (each.estimate for each in analysis.comparisons if each.second == worst.second)
        assert shown == pytest.approx(used[estimate])
    assert "which can bias the means" in sentence
    assert sentence.endswith(words)
    assert sentence in " ".join(plain_text(analysis).split())


def test_without_a_rule_that_looks_at_values_nothing_is_said_of_it(skewed):
    assert about_stopping(analyse_runs(skewed, Settings(difference="simple"))) is None
