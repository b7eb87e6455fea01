from __future__ import annotations

import pandas as pd
import pytest
from flat_study import flat_analyse

from ampler.analysis.text import finding_sentence, findings, inconclusive_sentence, leader, power_sentence
from ampler.core.arrays import Runs


def table(**columns):
    return pd.DataFrame({"instance": [f"i{k}" for k in range(8)], **columns})


LOW = [1.05, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.05]
SAME = [1.1, 1.9, 3.1, 3.9, 5.1, 5.9, 7.1, 7.9]
HIGH = [3.1, 3.9, 5.2, 5.8, 7.1, 8.0, 8.9, 10.1]
HIGHER = [5.1, 6.0, 7.2, 7.8, 9.1, 9.9, 11.0, 12.1]


def asked(frame, **options):
    return flat_analyse(frame, **{"difference": "simple", "better": "lower", **options})


def test_the_reference_beats_what_is_worse_and_the_open_ones_are_named():
    analysis = asked(table(ours=LOW, same=SAME, bad=HIGH), reference="ours")

    assert finding_sentence(analysis) == "ours is better than bad."
    assert inconclusive_sentence(analysis).startswith("Inconclusive: same. This study had 80 % power for d ≥ ")


def test_the_reference_loses_where_higher_is_better():
    assert (
        finding_sentence(asked(table(ours=LOW, bad=HIGH), reference="ours", better="higher"))
        == "ours is worse than bad."
    )


def test_more_than_three_names_are_counted():
    many = {f"b{k}": [value + k / 10 for value in HIGH] for k in range(4)}

    assert (
        finding_sentence(asked(table(ours=LOW, **many), reference="ours"))
        == "ours is better than all 4 other algorithms."
    )
    assert finding_sentence(asked(table(ours=LOW, same=SAME, **many), reference="ours")) == (
        "ours is better than 4 of 5 algorithms."
    )


@pytest.mark.parametrize(
    ("second", "options", "said"),
    [
        (HIGH, {}, "one is better than two."),
        (HIGH, {"better": "higher"}, "two is better than one."),
        (SAME, {}, "one against two is inconclusive."),
        (SAME, {"margin": 1.0}, "one is equivalent to two within ±1."),
    ],
)
def test_two_algorithms_are_answered_by_name(second, options, said):
    assert finding_sentence(asked(table(one=LOW, two=second), **options)) == said


def test_of_all_pairs_the_leader_is_named():
    analysis = asked(table(a=HIGHER, b=LOW, c=HIGH))

    assert (
        finding_sentence(analysis) == "b leads: better than both other algorithms; 3 of 3 pairs differ significantly."
    )
    assert power_sentence(analysis) == ""


def test_where_everyone_loses_to_someone_nobody_leads():
    found = {("a", "b"): "better", ("b", "c"): "better", ("a", "c"): "worse"}

    assert leader(found) == ("a", 1)


def test_nothing_found_is_said_plainly():
    analysis = asked(table(a=LOW, b=SAME, c=[value + 0.01 * (-1) ** k for k, value in enumerate(LOW)]))

    assert set(findings(analysis).values()) == {"inconclusive"}
    assert finding_sentence(analysis) == "None of 3 pairs differs significantly."


def test_one_instance_is_named_and_nothing_is_said_of_power():
    values = [*LOW, *HIGHER]
    runs = Runs.from_columns(["here"] * 16, ["a"] * 8 + ["b"] * 8, values)
    analysis = asked(runs)

    assert finding_sentence(analysis).endswith(", on here alone.")
    assert power_sentence(analysis) == ""


def test_an_algorithm_without_common_instances_is_not_compared(study_of):
    lacking = {(i, 1) for i in range(1, 12)}
    analysis = study_of(["one", "two", "three"], lacking=lacking)

    assert findings(analysis)["one", "two"] == "not compared"
