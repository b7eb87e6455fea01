"""The answer of an analysis in sentences."""

from __future__ import annotations

import pandas as pd

from ampler import analyse
from ampler.analysis.findings import headline, sentences, together


def found(far: float, near: float = 10.0, **options):
    """An analysis on eight instances: `near` hardly differs from `full`, `far` by as much as said."""
    wobble = [0.1, -0.1, 0.2, -0.2, 0.15, -0.15, 0.05, -0.05]
    table = {
        "instance": [f"i{k}" for k in range(8)],
        "full": [10.0 + k for k in range(8)],
        "near": [near + k + w for k, w in enumerate(wobble)],
        "far": [far + k + w / 2 for k, w in enumerate(wobble)],
    }
    return analyse(pd.DataFrame(table), difference="simple", **options)


def test_the_headline_counts_for_the_reference():
    assert headline(found(20.0, reference="full")).startswith("full is better than 1 of 2 others on 8 instances")
    assert headline(found(1.0, reference="full")).startswith("full is worse than 1 of 2 others")


def test_a_single_comparison_is_named_instead_of_counted():
    table = pd.DataFrame({"instance": list("abcd"), "full": [1.0, 2, 3, 4], "other": [3.0, 4.1, 5, 6]})
    said = headline(analyse(table, difference="simple", reference="full"))
    assert said.startswith("full is better than other on 4 instances")


def test_the_headline_counts_pairs_without_a_reference():
    assert headline(found(20.0)).startswith("2 of 3 pairs differ on 8 instances (24 runs of 3 algorithms)")


def test_the_headline_says_when_nothing_is_found():
    assert headline(found(10.0, reference="full")).startswith("No difference is found in any of 2 comparisons")


def test_claims_come_one_by_one_and_the_rest_together():
    said = list(sentences(found(20.0, reference="full")))

    assert [sentence.partition(":")[0] for sentence in said] == ["far", "near"]
    assert "no difference found" in said[1]


def test_an_established_equivalence_is_a_claim():
    said = list(sentences(found(20.0, reference="full", margin=1.0)))

    assert "equivalent within ±1" in said[1]


def test_of_many_claims_the_first_are_told_and_the_others_counted():
    said = list(sentences(found(20.0, near=15.0), most=1))

    assert said[1] == "… and 2 more, which the table shows."


def test_friedmans_test_stands_beside_the_comparisons():
    assert "Friedman's test" in together(found(20.0))
