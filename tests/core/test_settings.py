"""The settings of an analysis: declared once, checked when made."""

import numpy as np
import pytest

from ampler.core.errors import InvalidInput
from ampler.core.failures import Penalty
from ampler.core.settings import AnalysisSettings, declared, types


def test_claiming_equivalence_as_well_leaves_half_of_alpha_to_the_differences():
    assert AnalysisSettings(difference="simple", alpha=0.1).family_alpha == 0.1
    assert AnalysisSettings(difference="simple", alpha=0.1, margin=1.0).family_alpha == 0.05


def test_every_setting_is_declared_with_its_type():
    said = {name for name in AnalysisSettings.__dataclass_fields__ if name != "family_alpha"}
    assert set(declared()) == set(types()) == said
    assert types()["budget"] == int | None


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"test": "z"}, "test must be one of 't', 'wilcoxon', 'sign', 'bootstrap-t', 'sign-flip', got 'z'"),
        ({"alternative": "up"}, "alternative must be"),
        ({"better": "best"}, "better must be one of 'lower', 'higher'"),
        ({"guard": "some"}, "guard must be"),
        ({"weights": "some"}, "weights must be one of 'equal', 'precision', got 'some': equal is the default"),
        ({"margin": 0.0}, "margin must be a positive number, got 0.0"),
        ({"alpha": 1.0}, "alpha must lie strictly between 0 and 1"),
        ({"alpha": "much"}, "alpha must lie strictly between 0 and 1, got 'much'"),
        ({"power": 0.0}, "power must lie strictly between 0 and 1"),
        ({"se": 0.0}, "se must be a positive number, got 0.0: leave it out if it is not known"),
        ({"margin": -1.0}, "margin must be a positive number"),
        ({"effect": float("nan")}, "effect must be a positive number"),
        ({"budget": 0}, "budget must be a whole number"),
        ({"alternative": "less"}, "alternative 'less' needs a reference"),
    ],
)
def test_a_setting_that_does_not_fit_is_named_with_what_came(asked, sentence):
    with pytest.raises(InvalidInput) as told:
        AnalysisSettings(**({"difference": "simple"} | asked))
    assert str(told.value).startswith(sentence)


def test_a_statistic_has_a_name_even_if_it_is_a_function():
    assert AnalysisSettings(difference="simple", statistic="median").statistic_name == "median"
    assert AnalysisSettings(difference="simple", statistic=np.ptp).statistic_name == "ptp"


def test_a_penalty_below_the_floor_counts_as_the_floor():
    assert AnalysisSettings(difference="percent", floor=1e-8, failures=Penalty(1e-12)).failures == Penalty(1e-8)
    assert AnalysisSettings(difference="percent", floor=1e-8, failures=Penalty(5.0)).failures == Penalty(5.0)
    assert AnalysisSettings(difference="percent", failures=Penalty(1e-12)).failures == Penalty(1e-12)


def test_a_function_that_is_called_as_one_of_ours_is_marked_as_a_function():
    assert AnalysisSettings(difference="simple", statistic=np.median).statistic_name == "median()"
