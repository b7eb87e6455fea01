"""Verdicts: both posteriors must agree, a margin must be there, and claims are rarely wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.bayes.posterior import CERTAIN, Areas, agreed_verdict, posterior
from ampler.stats.bayes.shared import shared_posteriors

LESS, EQUAL, MORE = Areas(0.98, 0.02, 0.0), Areas(0.01, 0.98, 0.01), Areas(0.0, 0.01, 0.99)
OPEN = Areas(0.3, 0.4, 0.3)


def verdicts(plain, shared, certain=CERTAIN):
    return tuple(agreed_verdict(both, certain) for both in zip(plain, shared, strict=True))


def test_a_claim_needs_both_posteriors():
    plain, shared = [LESS, EQUAL, MORE, MORE, LESS], [LESS, EQUAL, MORE, OPEN, MORE]
    assert verdicts(plain, shared) == ("less", "equivalent", "more", "inconclusive", "inconclusive")


def test_one_posterior_decides_alone():
    assert [agreed_verdict([own]) for own in (LESS, EQUAL, MORE, OPEN)] == [
        "less",
        "equivalent",
        "more",
        "inconclusive",
    ]


areas = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda p: Areas(p[0] * p[1], (1 - p[0]) * p[1], 1 - p[1]))
families = st.integers(3, 8).flatmap(
    lambda k: st.tuples(st.lists(areas, min_size=k, max_size=k), st.lists(areas, min_size=k, max_size=k))
)


@given(families)
def test_turning_all_differences_round_turns_the_verdicts(families):
    plain, shared = families
    turned = verdicts([a.turned() for a in plain], [a.turned() for a in shared])
    words = {"less": "more", "more": "less"}
    assert tuple(words.get(word, word) for word in turned) == verdicts(plain, shared)


@given(families)
def test_asking_for_more_certainty_takes_claims_away_and_changes_none(families):
    plain, shared = families
    for lenient, strict in zip(verdicts(plain, shared, certain=0.8), verdicts(plain, shared), strict=True):
        assert strict in (lenient, "inconclusive")


# --- how often claims are wrong ---------------------------------------------------------------------------------------


def claimed(effects, n, margin, studies, seed):
    """Verdicts by the plain posterior alone and by both, for differences to one reference (correlation ½)."""
    rng = np.random.default_rng(seed)
    alone, both = [], []
    for _ in range(studies):
        table = (rng.normal(size=(n, len(effects))) + rng.normal(size=(n, 1))) / np.sqrt(2) + effects
        plain = [posterior(y, margin=margin).areas for y in table.T]
        shared = [one.areas for one in shared_posteriors(table, margin=margin).comparisons]
        alone.append(verdicts(plain, plain))
        both.append(verdicts(plain, shared))
    return np.array(alone), np.array(both)


def wrong(claims, effects, margin):
    """Whether a study claims anything false."""
    truth = np.where(effects < -margin, "less", np.where(effects > margin, "more", "equivalent"))
    return ((claims != "inconclusive") & (claims != truth)).any(axis=1)


def test_asking_both_posteriors_leaves_few_false_claims_in_a_small_simulation():
    alone, both = claimed(np.zeros(21), 57, 0.1, 40, seed=41)
    assert wrong(both, np.zeros(21), 0.1).mean() <= 0.05
    assert (both == "inconclusive").sum() >= (alone == "inconclusive").sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n", "margin", "plain", "agreed"),
    [
        ("null", 57, 0.1, 0.103, 0.003),
        ("null", 20, 0.1, 0.193, 0.020),
        ("some far away", 57, 0.1, 0.077, 0.040),
        ("just outside", 57, 0.2, 0.0, 0.007),
    ],
)
def test_claims_are_wrong_as_seldom_as_was_measured(kind, n, margin, plain, agreed):
    effects = np.zeros(21)
    if kind == "some far away":
        effects[:3] = [0.6, -0.6, 0.6]
    if kind == "just outside":
        effects[:] = 1.1 * margin
    alone, both = claimed(effects, n, margin, 400, seed=42)
    for found, measured in ((wrong(alone, effects, margin), plain), (wrong(both, effects, margin), agreed)):
        error = np.sqrt(max(measured, 0.01) * (1 - measured) * (1 / 400 + 1 / 300))
        assert abs(found.mean() - measured) <= 3 * error
