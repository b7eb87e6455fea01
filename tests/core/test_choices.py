from ampler.core.choices import difference_of
from ampler.core.settings import AnalysisSettings
from ampler.core.values import Question
from ampler.sampling.rules import Accuracy


def test_a_kind_of_difference_may_be_called_by_its_other_name():
    assert [difference_of(word) for word in ("log-ratio", "absolute", "percent", "other")] == [
        "ratio", "simple", "percent", "other"
    ]  # fmt: skip


def test_every_place_that_keeps_a_difference_keeps_its_first_name():
    kept = (
        AnalysisSettings(difference="log-ratio"),
        Accuracy(se=0.1, difference="log-ratio"),
        Question("log-ratio", better="lower"),
    )

    assert [each.difference for each in kept] == ["ratio", "ratio", "ratio"]
