"""Letters of tied groups and simultaneous confidence sets for ranks. Fixed seeds."""

import json
from itertools import combinations

import numpy as np
import pytest
from tests.helpers.simulated_claims import limit, wide_table

import ampler as am
from ampler.analysis.standings import ranks_sentence
from ampler.stats.groups import letters, rank_sets

ASKED = {"difference": "simple", "better": "lower"}


@pytest.mark.parametrize("seed", range(20))
def test_two_algorithms_share_a_letter_exactly_where_nothing_tells_them_apart(seed):
    rng = np.random.default_rng([44, seed])
    size = int(rng.integers(3, 9))
    apart = {frozenset(pair) for pair in combinations(range(size), 2) if rng.random() < 0.5}
    names = letters(rng.permutation(size).tolist(), apart)
    assert all(names)
    for i, j in combinations(range(size), 2):
        assert bool(set(names[i]) & set(names[j])) == (frozenset((i, j)) not in apart)


def test_ranks_are_between_the_winners_and_the_losers():
    assert rank_sets(4, [(0, 1), (0, 2), (3, 2), (0, 2)]) == ((1, 2), (2, 4), (3, 4), (1, 3))


def test_an_analysis_of_all_pairs_has_letters_and_ranks_in_every_output():
    analysis = am.analyse(wide_table([0.0, 0.1, 3.0], seed=[44, 3]), **ASKED)
    rejected = {frozenset(row.pair) for row in analysis.comparisons if row.rejected}
    assert rejected == {frozenset("ac"), frozenset("bc")}
    assert dict(analysis.groups) == {"a": "a", "b": "a", "c": "b"}
    assert dict(analysis.rank_sets) == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    document = json.loads(json.dumps(analysis.as_dict()))
    assert [(row["group"], row["ranks"]) for row in document["algorithms"]] == [("a", [1, 2])] * 2 + [("b", [3, 3])]
    assert "a 1–2 (a), b 1–2 (a), c 3 (b)" in ranks_sentence(analysis)


def test_with_a_reference_only_its_rank_is_told():
    analysis = am.analyse(wide_table([0.0, 5.0, 3.0], seed=[44, 3]), reference="c", **ASKED)
    assert not analysis.groups
    assert dict(analysis.rank_sets) == {"a": (1, 2), "b": (2, 3), "c": (2, 2)}
    assert "of 3): c 2." in ranks_sentence(analysis)


@pytest.mark.parametrize("studies", [100, pytest.param(1500, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("means", "correlation", "skewed"),
    [((0.0,) * 5, 0.0, False), ((0.0, 0.0, 0.1, 0.1, 1.0, 1.0), 0.5, True), (np.arange(10) / 20, 0.9, False)],
    ids=["equal", "tied groups, skewed", "ten, close"],
)
def test_all_rank_sets_hold_the_true_ranks_together(means, correlation, skewed, studies):
    assert missed_ranks(means, correlation, studies, skewed=skewed) <= limit(0.05, studies)


def missed_ranks(means, correlation, studies, *, skewed):
    """Return the share of studies in which some set misses a true rank; equal means may have any of their ranks."""
    means = np.asarray(means)
    best, worst = 1 + (means[:, None] > means).sum(axis=1), len(means) - (means[:, None] < means).sum(axis=1)
    missed = 0
    for study in range(studies):
        table = wide_table(means, seed=[44, 3, study, len(means)], correlation=correlation, skewed=skewed)
        sets = np.array(list(am.analyse(table, **ASKED).rank_sets.values()))
        missed += bool((sets[:, 0] > best).any() or (sets[:, 1] < worst).any())
    return missed / studies
