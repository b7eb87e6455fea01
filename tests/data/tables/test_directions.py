"""What is better, by the name of the values: only where nobody could mean the other."""

import pytest

from ampler.data.tables.directions import HIGHER, LOWER, TURNING, better_by_name


@pytest.mark.parametrize(
    "name",
    [
        *("accuracy", "Accuracy (%)", "test_accuracy", "TestAccuracy", "top-1 accuracy", "mean AUC", "F1", "f1_macro"),
        *("precision", "Recall", "R2", "reward", "success rate", "balanced_acc", "hypervolume"),
    ],
)
def test_of_these_one_wants_more(name):
    assert better_by_name(name) == "higher"


@pytest.mark.parametrize(
    "name",
    [
        *("time", "Time [s]", "cpu_time", "runtime", "running time", "seconds", "val_loss", "error", "error rate"),
        *("RMSE", "mae", "log-loss", "total cost", "gap", "optimality_gap", "regret", "makespan", "PAR10", "par 10"),
    ],
)
def test_of_these_one_wants_less(name):
    assert better_by_name(name) == "lower"


@pytest.mark.parametrize(
    "name",
    [
        *("value", "result", "Observation", "fitness", "objective", "score", "quality", "performance", "f(x)", "y", ""),
        *("neg_mean_squared_error", "negative loss", "1 - accuracy", "error reduction", "time saved", "speedup time"),
        *("accuracy loss", "finalFV", "timestamp", "length", "-", "0.5"),
    ],
)
def test_these_could_be_either_and_are_asked_for(name):
    assert better_by_name(name) is None


def test_no_word_says_both():
    assert not HIGHER & LOWER
    assert not TURNING & (HIGHER | LOWER)
