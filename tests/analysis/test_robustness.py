"""What claims of the t-test rest on: doubts where skewness may have made them, and what other tests find."""

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse

import ampler as am
from ampler.analysis.claim_checks import robustness, skewed_beyond_chance
from ampler.stats.resampling import joint_coverage

SEED = 36


def analysed(differences, **options):
    """One value per cell: a0 at 100, and the others below it by these differences."""
    values = np.column_stack([np.full(len(differences), 100.0), 100.0 - differences])
    rows = [(f"i{i}", f"a{k}", values[i, k]) for i, k in np.ndindex(values.shape)]
    table = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
    return flat_analyse(table, **({"better": "lower", "difference": "simple", "reference": "a0"} | options))


def made_by_skewness():
    """Lognormal differences with mean 0, in a sample that the t-test takes for a difference."""
    rng = np.random.default_rng(SEED)
    while True:
        sample = rng.lognormal(0, 1, (30, 1)) - np.exp(0.5)
        found = robustness(sample, np.array([True]), alternative="two-sided", alpha=0.05)
        if found.doubtful[0] and analysed(sample).comparisons[0].rejected:
            return sample


def test_a_claim_that_skewness_may_have_made_is_inconclusive_and_the_headline_says_why():
    analysis = analysed(made_by_skewness())
    [comparison] = analysis.comparisons
    assert (comparison.rejected, comparison.claimed) == (True, False)
    assert [doubt.kind for doubt in comparison.doubts] == ["shape"]
    assert comparison.verdict.startswith("Inconclusive: ")
    assert "the differences are skewed: bootstrap-t" in comparison.verdict
    assert "bootstrap-t" in analysis.diagnoses[0].disagree
    sentence = next(each.sentence for each in analysis.warnings if each.kind == "skewness")
    assert sentence.startswith("Results may be too optimistic: the differences are skewed")
    assert sentence.endswith('With test="bootstrap-t", the claim does not stay.')


def test_a_claim_surely_against_the_skewness_must_pass_at_half_the_level():
    """Bootstrap-t finds it, but takes the skewness from the sample, and so errs on this side, too."""
    rng = np.random.default_rng(SEED)
    while True:
        sample = rng.exponential(1, (40, 1)) - 1
        found = robustness(sample, np.array([True]), alternative="two-sided", alpha=0.05)
        if found.doubtful[0] and "bootstrap-t" in found.agree[0] and analysed(sample).comparisons[0].rejected:
            break
    analysis = analysed(sample)
    assert not analysis.comparisons[0].claimed
    assert 0.025 < found.resampled[0] <= 0.05
    assert "the differences are skewed: bootstrap-t hardly finds it (p = 0.0" in analysis.comparisons[0].verdict


def test_a_claim_that_depends_on_the_test_is_warned_of_where_differences_are_not_normal():
    rng = np.random.default_rng(SEED)
    while True:
        heavy = rng.standard_t(2, (40, 1)) + 0.4
        analysis = analysed(heavy)
        if analysis.comparisons[0].claimed and "sign" in analysis.diagnoses[0].disagree:
            break
    found = {each.kind: each for each in analysis.warnings}
    assert found["disputed"].severity == "could reverse a verdict"
    assert "the sign test do not find it" in found["disputed"].sentence
    assert "disputed" not in {each.kind for each in analysed(rng.normal(1, 1, (40, 3))).warnings}


def test_the_same_claim_with_the_skewness_behind_it_stands():
    """A long tail towards the claim makes the t-test find less, not more."""
    sample = np.random.default_rng(SEED).lognormal(0, 1, (30, 1))
    [comparison] = analysed(sample).comparisons
    assert comparison.claimed


def test_other_tests_are_asked_about_claims_only_and_said_where_the_shape_is_not_ordinary():
    rng = np.random.default_rng(SEED)
    differences = np.column_stack([rng.normal(2, 1, 30), rng.normal(0, 1, 30)])
    analysis = analysed(differences)
    assert analysis.diagnoses[0].agree == ("wilcoxon", "sign")
    assert analysis.diagnoses[1].agree == analysis.diagnoses[1].disagree == ()
    assert "Wilcoxon" not in analysis.comparisons[0].verdict

    few = rng.normal(0.1, 1.0, 40)
    few[:10] += 6.0  # a quarter of the instances makes the mean, and half of the signs are negative
    analysis = analysed(few[:, None])
    assert analysis.comparisons[0].claimed
    assert "sign" in analysis.diagnoses[0].disagree
    assert "the sign test does not find it; bootstrap-t" in analysis.comparisons[0].verdict


@pytest.mark.parametrize("scale", [-3.0, 1e-200, 1e200])
def test_neither_units_nor_the_order_matter(scale):
    sample = np.random.default_rng(SEED).lognormal(0, 1, (30, 3)) - np.exp(0.5)
    claimed = np.ones(3, dtype=bool)
    plain = robustness(sample, claimed, alternative="two-sided", alpha=0.05)
    other = robustness(scale * sample[::-1, ::-1], claimed, alternative="two-sided", alpha=0.05)
    assert other.doubtful.tolist() == plain.doubtful[::-1].tolist()
    assert other.skewed.tolist() == plain.skewed[::-1].tolist()
    assert other.agree == plain.agree[::-1]


def test_missing_constant_and_few_differences_cast_no_doubt():
    differences = np.column_stack([np.full(10, 2.0), np.r_[[1.0, 2.0], np.full(8, np.nan)], np.full(10, np.nan)])
    found = robustness(differences, np.ones(3, dtype=bool), alternative="two-sided", alpha=0.05)
    assert not (found.doubtful | found.fragile | found.skewed | found.far).any()


@pytest.mark.parametrize("comparisons", [1, 10, 45])
def test_normal_differences_are_skewed_beyond_chance_in_one_of_forty_families_at_most(comparisons):
    rng = np.random.default_rng(SEED)
    rate = np.mean([skewed_beyond_chance(rng.normal(size=(25, comparisons))).any() for _ in range(400)])
    assert rate <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 400)


def test_the_coverage_of_t_intervals_is_estimated_from_the_data():
    rng = np.random.default_rng(SEED)
    normal = [joint_coverage(rng.normal(size=(40, 5)), alternative="two-sided", alpha=0.05) for _ in range(10)]
    skewed = [joint_coverage(rng.lognormal(size=(40, 5)), alternative="two-sided", alpha=0.05) for _ in range(10)]
    assert np.mean(normal) == pytest.approx(0.94, abs=0.015)
    assert max(skewed) < 0.92


@pytest.mark.parametrize("test", ["t", "bootstrap-t", "sign-flip"])
@pytest.mark.parametrize(("instances", "difference"), [(2, 3.0), (3, 3.0), (30, 3.0), (30, 0.0)])
def test_nothing_is_claimed_of_differences_that_are_all_equal(test, instances, difference):
    analysis = analysed(np.full((instances, 1), difference), test=test, margin=5.0)
    [comparison] = analysis.comparisons
    assert (comparison.rejected, comparison.p_value) == (False, 1.0)
    assert comparison.joint_interval == (-np.inf, np.inf)
    assert np.isnan(comparison.effect_size)
    assert not analysis.diagnoses[0].equivalence.established
    what = "equal" if difference else "zero"
    assert f"all {instances} differences are {what}" in comparison.verdict


def test_the_sign_test_may_claim_many_equal_differences():
    assert analysed(np.full((30, 1), 3.0), test="sign").comparisons[0].claimed
    assert not analysed(np.full((3, 1), 3.0), test="sign").comparisons[0].claimed


def rates(draw, studies, *, effect=0.0):
    rng = np.random.default_rng(SEED)
    found = [analysed(draw(rng) + effect) for _ in range(studies)]
    claimed = np.array([any(each.claimed for each in one.comparisons) for one in found])
    warned = np.array([any(each.kind in ("skewness", "outlier") for each in one.warnings) for one in found])
    return claimed, warned


def test_lognormal_differences_are_claimed_silently_in_few_studies():
    claimed, warned = rates(lambda rng: rng.lognormal(0, 1, (30, 1)) - np.exp(0.5), 150)
    assert (claimed & ~warned).mean() <= 0.06 + 3 * np.sqrt(0.06 * 0.94 / 150)


@pytest.mark.parametrize("effect", [0.0, 0.5])
def test_warnings_are_rare_where_differences_are_normal(effect):
    _, warned = rates(lambda rng: rng.normal(0, 1, (30, 3)), 150, effect=effect)
    assert warned.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


def test_two_algorithms_whose_runs_on_one_instance_never_vary_are_not_told_apart():
    rows = [("x", name, value) for name, value in (("a", 5.0), ("b", 3.0)) for _ in range(3)]
    table = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
    [comparison] = am.analyse(table, better="lower", difference="simple").comparisons
    assert (comparison.rejected, comparison.p_value) == (False, 1.0)
    many = pd.concat([table] * 4)
    by_rank = am.analyse(many, better="lower", difference="simple", test="wilcoxon")
    assert "never vary" in next(each.message for each in by_rank.warnings if each.kind == "constant")


def test_absolute_differences_of_cec17_are_hidden_by_one_function_and_ratios_find_them(public_data):
    runs = pd.read_csv(public_data / "cec17_extended_final.csv.gz")
    means = runs[runs["Dimension"] == 10].groupby(["Benchmark", "Algorithm"])["Result"].mean().clip(lower=1e-8)
    table = means.rename("value").rename_axis(["instance", "algorithm"]).reset_index()
    found = {kind: am.analyse(table, better="lower", difference=kind) for kind in ("simple", "ratio")}

    sentence = next(each.sentence for each in found["simple"].warnings if each.kind == "outlier")
    assert "in 76 of 78 comparisons it has more than half of the variance" in sentence
    assert 'difference="ratio"' in sentence
    assert [sum(each.claimed for each in one.comparisons) for one in found.values()] == [0, 31]
