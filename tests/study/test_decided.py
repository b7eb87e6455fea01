"""What must stay as it is once the values of a study have decided."""

import random

import pytest
from flat_study import flat_study

from ampler.core.errors import PlanMismatch, RunFailed
from ampler.testing import SerialExecutor


def solver(shift):
    return lambda instance, seed: 100 + instance + shift + random.Random(seed).gauss(0, 1)


def study(**given):
    common = {
        "algorithms": {"a": solver(0), "b": solver(0.3)},
        "instances": {f"i{n}": n for n in range(40)},
        "difference": "simple",
        "reference": "a",
        "detect": 0.8,
        "pilot": 6,
        "start": 3,
        "seed": 5,
    }
    return flat_study(**common | given)


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    path = tmp_path_factory.mktemp("decided") / "study.db"
    study().run(path, executor=SerialExecutor())
    return path


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"detect": 0.5}, "detect"),
        ({"power": 0.9}, "power"),
        ({"alpha": 0.01}, "alpha"),
        ({"pilot": 8}, "pilot"),
        ({"start": 4}, "start"),
        ({"instance_cost": 10.0}, "instance-cost"),
        ({"reference": None}, "reference"),
        ({"alternative": "less"}, "alternative"),
        ({"algorithms": {"a": solver(0), "c": solver(1)}}, "the algorithms"),
        ({"instances": {f"i{n}": n for n in range(41)}}, "the instances"),
        ({"available": 39}, "the instances"),
        ({"on_failure": "drop"}, "on-failure"),
        ({"detect": None, "pilot": None, "se": 0.5, "use": "all"}, "how the number of instances is decided"),
    ],
)
def test_what_the_tests_rest_on_cannot_be_changed_after_the_decision(decided, changed, named):
    with pytest.raises(PlanMismatch, match=f"{named} cannot be changed now: decisions were made on"):
        study(**changed).run(decided, executor=SerialExecutor())


def test_runs_are_not_made_again_after_the_decision(decided):
    for how in ({"retry_failed": True}, {"on_code_change": "rerun"}):
        with pytest.raises(PlanMismatch, match="recorded runs cannot be repeated now"):
            study().run(decided, executor=SerialExecutor(), **how)


def test_how_an_answer_is_told_and_how_runs_are_made_may_change(decided):
    study(better="higher", timeout=60.0).run(decided, executor=SerialExecutor())


LEFT = {"runs": 9}  # of the module: what a function remembers by itself is copied before each run


def tiring(instance, seed):
    LEFT["runs"] -= 1
    if LEFT["runs"] < 0:
        raise RuntimeError("tired")
    return 100 + instance + random.Random(seed).random()


def test_before_the_decision_everything_may_change(tmp_path):
    algorithms = {"a": tiring, "b": tiring}
    with pytest.raises(RunFailed):
        study(algorithms=algorithms).run(tmp_path / "s.db", executor=SerialExecutor())
    LEFT["runs"] = 10**6
    analysis = study(algorithms=algorithms, detect=0.5, pilot=8).run(tmp_path / "s.db", executor=SerialExecutor())
    assert analysis.course.pilot == 8
    assert analysis.course.detect == 0.5
