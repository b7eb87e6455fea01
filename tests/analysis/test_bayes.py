"""What is probable of every comparison of an analysis, and its verdict."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ampler.analysis import analyse_runs
from ampler.analysis.bayes import Chances, bayes_of, chances_of
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidInput
from ampler.core.settings import Settings
from ampler.stats.bayes.posterior import Areas, agreed_verdict, posterior
from ampler.stats.bayes.shared import shared_posteriors


@pytest.fixture(scope="module")
def study(study_of):
    """Five algorithms, four of them compared with the first."""
    return study_of(["one", "two", "three", "four", "five"], reference="one", margin=0.5, instances=20)


def wide(values, **options):
    """The analysis of values: instances in rows, algorithms in columns, NaN where one was not run."""
    rows = [(f"d{i}", chr(ord("a") + k), value) for (i, k), value in np.ndenumerate(values) if not np.isnan(value)]
    asked = {"difference": "simple", "better": "lower", "margin": 0.5} | options
    return analyse_runs(Runs.from_columns(*map(list, zip(*rows, strict=True))), Settings(**asked))


def test_every_comparison_has_the_posteriors_of_its_own_differences(study):
    shared = shared_posteriors(study.differences, margin=0.5)

    for each in study.bayes.comparisons:
        k = study.pairs.index((each.first, each.second))
        assert each.posterior == posterior(study.differences[:, k], study.errors[:, k], margin=0.5)
        assert each.shared == shared.comparisons[k]
    assert [each.second for each in study.bayes.comparisons] == [each.second for each in study.comparisons]


def test_verdicts_are_those_that_both_posteriors_allow(study):
    found = study.bayes.comparisons
    judged = [agreed_verdict([each.posterior.areas, each.shared.areas]) for each in found]

    words = {"less": "worse", "more": "better", "equivalent": "equivalent", "inconclusive": "inconclusive"}
    assert [each.verdict for each in found] == [words[one] for one in judged]
    assert {"worse", "inconclusive"} <= {each.verdict for each in found}


def test_a_claim_of_the_plain_posterior_alone_is_undecided():
    rng = np.random.default_rng(9)
    values = rng.normal(0.0, 1.0, (20, 12)) + rng.normal(0.0, 1.0, (20, 1))
    values[:, 11] += 1.0

    bayes = wide(values, reference="a", margin=0.2).bayes

    plain = [each for each in bayes.comparisons if max(each.chances.worse, each.chances.better) >= 0.975]
    assert plain
    assert any(each.verdict == "inconclusive" for each in plain)
    assert all(each.shared_chances.of(each.verdict) >= 0.975 for each in bayes.comparisons if each.claims)


def test_the_interval_is_the_t_interval_of_the_table_at_any_level(study):
    for each, row in zip(study.bayes.comparisons, study.comparisons, strict=True):
        k = study.pairs.index((each.first, each.second))
        same = posterior(study.differences[:, k], study.errors[:, k], margin=0.5, level=row.level)
        assert same.interval == pytest.approx(row.interval, rel=1e-12, abs=1e-12)
        y = study.differences[:, k]
        usual = stats.t.interval(0.95, len(y) - 1, y.mean(), stats.sem(y))
        assert each.posterior.interval == pytest.approx(usual, rel=1e-12, abs=1e-12)


@given(
    st.lists(st.integers(-40, 40), min_size=5, max_size=9, unique=True),
    st.sampled_from([2.0**-40, 0.5, 3.0, 2.0**60]),
)
def test_scaling_values_and_margin_changes_no_probability_and_turning_them_swaps_worse_and_better(numbers, unit):
    values = np.column_stack([np.zeros(len(numbers)), np.array(numbers, dtype=float)])

    one = wide(values, margin=5.0).bayes.comparisons[0]
    scaled = wide(unit * values, margin=unit * 5.0).bayes.comparisons[0]
    turned = wide(-values, margin=5.0).bayes.comparisons[0]
    other = wide(values, margin=5.0, better="higher").bayes.comparisons[0]

    for chances in ("chances", "new_chances"):
        found = getattr(one, chances)
        numbers_of = (found.worse, found.equivalent, found.better)
        again, back = getattr(scaled, chances), getattr(turned, chances)
        assert (again.worse, again.equivalent, again.better) == pytest.approx(numbers_of, abs=1e-9)
        assert (back.better, back.equivalent, back.worse) == pytest.approx(numbers_of, abs=1e-9)
        upside_down = getattr(other, chances)
        assert (upside_down.better, upside_down.equivalent, upside_down.worse) == pytest.approx(numbers_of, abs=1e-12)
    assert scaled.verdict == one.verdict


def test_words_speak_of_the_second_algorithm():
    assert chances_of(Areas(0.7, 0.2, 0.1), "lower") == Chances(0.7, 0.2, 0.1)
    assert chances_of(Areas(0.7, 0.2, 0.1), "higher") == Chances(0.1, 0.2, 0.7)


def test_without_a_margin_there_is_no_verdict_but_everything_else():
    bayes = wide(np.random.default_rng(0).normal([0.0, 5.0, 0.1], 1.0, (12, 3)), margin=None).bayes

    assert bayes.margin is None
    assert all(each.verdict is None for each in bayes.comparisons)
    assert all(each.posterior is not None and each.chances.equivalent < 1e-12 for each in bayes.comparisons)
    assert np.isnan(bayes.expected_false_claims)
    assert bayes.ranking is not None


@pytest.mark.parametrize("margin", [0.0, -0.1, float("nan"), float("inf")])
def test_a_margin_that_is_none_is_refused_in_a_sentence(margin):
    with pytest.raises(InvalidInput, match="margin must be a positive number"):
        wide(np.eye(5)[:, :2], margin=margin)


def test_two_instances_have_no_posterior_and_say_so():
    bayes = wide(np.array([[1.0, 2.0], [3.0, 5.0]])).bayes

    assert bayes.comparisons[0].posterior is None
    assert bayes.comparisons[0].verdict is None
    assert bayes.comparisons[0].problem == "a posterior needs 3 or more instances, got 2"


def test_two_comparisons_are_judged_by_the_plain_posterior_alone():
    bayes = wide(np.random.default_rng(4).normal([0.0, 3.0, 0.0], 0.3, (10, 3)), reference="a").bayes

    assert [each.shared for each in bayes.comparisons] == [None, None]
    assert bayes.comparisons[0].verdict == "worse"
    assert bayes.comparisons[0].problem == ""


def test_comparisons_that_lack_instances_keep_their_own_and_lose_the_verdict_where_nothing_is_shared():
    values = np.random.default_rng(6).normal([0.0, 3.0, 3.0, 3.0], 0.2, (12, 4))
    values[3:, 3] = np.nan

    found = {each.second: each for each in wide(values, reference="a").bayes.comparisons}

    assert (found["b"].verdict, found["c"].verdict) == ("worse", "worse")
    assert found["d"].instances == 3
    assert found["d"].posterior is not None
    assert found["d"].shared is None
    assert found["d"].verdict is None
    assert "no shared posterior" in found["d"].problem


def test_differences_whose_accuracy_is_not_known_count_as_exact():
    values = np.random.default_rng(8).normal([0.0, 1.0], 1.0, (9, 2))

    bayes = wide(values).bayes

    assert not bayes.errors_known
    assert bayes.comparisons[0].posterior == posterior(values[:, 0] - values[:, 1], margin=0.5)


def runs_of(noise):
    """Runs of two algorithms on ten instances, with so much noise on each."""
    rng = np.random.default_rng(9)
    rows = [
        (f"i{i}", name, level + i + sd * rng.normal())
        for i, sd in enumerate(noise)
        for name, level in (("a", 0.0), ("b", 1.0 + 0.3 * (i % 3)))
        for _ in range(4)
    ]
    return Runs.from_columns(*map(list, zip(*rows, strict=True)))


def test_precision_weights_are_an_option_and_refuse_an_exact_difference_that_stands_alone():
    asked = Settings(difference="simple", margin=0.2, weights="precision")

    weighted = analyse_runs(runs_of(np.linspace(0.1, 2.0, 10)), asked).bayes
    exact = analyse_runs(runs_of(np.append(0.0, np.full(9, 0.5))), asked).bayes

    assert weighted.weights == "precision"
    assert weighted.comparisons[0].posterior.weights == "precision"
    assert -1 <= weighted.comparisons[0].error_correlation <= 1
    assert exact.comparisons[0].posterior is None
    assert "precision weights cannot be used when exact differences" in exact.comparisons[0].problem


def test_a_ranking_that_rests_on_too_few_draws_is_a_sentence(study, monkeypatch):
    import ampler.stats.bayes.rankings as rankings

    monkeypatch.setattr(rankings, "FEWEST_EFFECTIVE", 10**6)
    bayes = bayes_of(study)

    assert bayes.ranking is None
    assert "rankings need an effective sample" in bayes.ranking_problem or "draws or more" in bayes.ranking_problem
    assert any("No ranking: " in note for note in bayes.as_dict()["notes"])


def test_everything_is_json_and_computed_once(study):
    document = json.loads(json.dumps(study.bayes.as_dict(), allow_nan=False))

    assert study.bayes is study.bayes
    assert document["margin"] == 0.5
    assert document["certain"] == 0.975
    assert [row["verdict"] for row in document["comparisons"]] == [each.verdict for each in study.bayes.comparisons]
    assert document["comparisons"][0]["chances"].keys() == {"worse", "equivalent", "better"}
    assert len(document["sensitivity"]) == 4
    assert document["ranking"]["algorithms"] == list(study.bayes.ranking.algorithms)
    assert "bayes" not in study.as_dict()


def test_expected_false_claims_add_what_is_left_of_certainty(study):
    claims = [each for each in study.bayes.comparisons if each.claims]

    assert study.bayes.expected_false_claims == pytest.approx(sum(1 - each.claimed for each in claims))
    assert all(each.claimed >= 0.975 for each in claims)
