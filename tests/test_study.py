"""Study: what study.toml says, said in Python; from scripts, notebooks and with lambdas."""

import random
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace

import pytest

from ampler import Accuracy, AmplerError, Detect, FixedSize, Precision, Settings, Study
from ampler.analysis import Analysis
from ampler.core.errors import InvalidPlan, RunFailed
from ampler.core.failures import Drop, Penalty
from ampler.core.plan import Command, Limits
from ampler.running import Progress
from ampler.study.store import read_store
from ampler.testing import SerialExecutor

STUDY = Study(
    algorithms={
        "near": lambda instance, seed: instance + random.Random(seed).gauss(0, 1),
        "far": lambda instance, seed: instance + 3 + random.Random(seed).gauss(0, 2),
    },
    instances={f"i{number}": 10.0 * number for number in range(1, 7)},
    reference="near",
    difference="simple",
    design=Precision(se=0.5, start=4, instances="all"),
    seed=2019,
    better="lower",
)


def recorded(path):
    with read_store(path) as store:
        return {(seen.key, seen.seed, seen.value) for seen in store.observations()}


def test_running_a_study_gives_its_analysis(tmp_path):
    analysis = STUDY.run(tmp_path / "study.db", workers=2)

    assert isinstance(analysis, Analysis)
    (comparison,) = analysis.comparisons
    assert (comparison.first, comparison.second) == ("near", "far")
    assert comparison.estimate == pytest.approx(-3, abs=0.7)


def test_running_again_makes_no_run_twice_and_says_the_same(tmp_path):
    first = STUDY.run(tmp_path / "study.db", executor=SerialExecutor())
    before = recorded(tmp_path / "study.db")
    progress = []
    second = STUDY.run(tmp_path / "study.db", workers=1, progress=progress.append)

    assert recorded(tmp_path / "study.db") == before
    assert str(first) == str(second)
    assert all(each.new == 0 for each in progress if isinstance(each, Progress))


def test_any_executor_gives_the_same_runs(tmp_path):
    STUDY.run(tmp_path / "one.db", workers=2)
    with ThreadPoolExecutor(2) as threads:
        STUDY.run(tmp_path / "two.db", executor=threads)

    assert recorded(tmp_path / "one.db") == recorded(tmp_path / "two.db")


def test_the_plan_has_everything_that_was_said():
    design = Precision(se=0.5, start=4, budget=77, effect=0.9, instances=3)
    limits = Limits(time=5.0, memory="1GB")
    study = replace(STUDY, limits=limits, on_failure="penalty=9", retries=2, design=design, name="mine")

    plan = study.plan

    assert plan.name == "mine"
    assert plan.limits == Limits(5.0, 10**9)
    assert (plan.policy, plan.retries, plan.seed) == (Penalty(9.0), 2, 2019)
    assert plan.rule == Accuracy(se=0.5, difference="simple", reference="near", start=4, budget=77)
    assert (len(plan.instances), len(plan.untouched)) == (3, 3)
    assert plan.question.effect == 0.9


def test_costs_of_algorithms_reach_the_rule():
    commands = {
        "cheap": Command("cheap", ("true", "{instance}", "{seed}")),
        "dear": Command("dear", ("true", "{instance}", "{seed}"), cost=10.0),
    }
    study = replace(STUDY, algorithms=commands, instances=["i1", "i2"], reference=None)

    assert study.plan.rule.costs == {"cheap": 1.0, "dear": 10.0}


@pytest.mark.parametrize(("changes", "came"), [({"design": None}, "neither"), ({"detect": 0.5}, "both")])
def test_a_study_has_one_size(changes, came):
    with pytest.raises(InvalidPlan, match=f"needs a size: detect .*, or a design .*, got {came}"):
        replace(STUDY, **changes)


def test_failed_runs_are_told_and_can_be_dropped(tmp_path):
    def broken(instance, seed):
        if instance == 20.0:
            raise ZeroDivisionError
        return instance

    study = replace(STUDY, algorithms={**STUDY.algorithms, "broken": broken}, design=FixedSize(runs=3))

    with pytest.raises(RunFailed, match=r"of 'broken' on 'i2' .* failed: it raised ZeroDivisionError"):
        study.run(tmp_path / "stop.db", workers=2)
    analysis = replace(study, on_failure=Drop()).run(tmp_path / "drop.db", workers=2)

    assert list(analysis.incomplete) == ["i2"]
    assert {each.instances for each in analysis.comparisons if "broken" in (each.first, each.second)} == {5}
    assert {each.instances for each in analysis.comparisons if "broken" not in (each.first, each.second)} <= {6}


def test_a_study_is_a_value():
    with pytest.raises(FrozenInstanceError):
        STUDY.seed = 1
    assert replace(STUDY, seed=2020).seed == 2020


def test_a_script_needs_no_main_guard_and_may_use_lambdas(tmp_path, process):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import random
        from ampler import Precision, Study

        offset = 3

        study = Study(
            algorithms={"a": lambda instance, seed: random.Random(seed).random(),
                        "b": lambda instance, seed: offset + random.Random(seed).random()},
            instances=["i1", "i2", "i3"], difference="simple", better="lower", design=Precision(se=0.2),
        )
        print(len(study.run("study.db", workers=2).comparisons))
        """)
    )

    answer = process("script.py", cwd=tmp_path, program=(sys.executable,))

    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "1\n"


def test_functions_typed_at_the_prompt_are_known_to_the_workers(tmp_path):
    """A notebook's functions live in no file that a worker could import."""
    typed = textwrap.dedent("""
        from ampler import FixedSize, Limits, Study

        def solve(instance, seed):
            return seed % 100 + helper(instance)

        def helper(instance):
            return len(instance)

        study = Study(algorithms={"solve": solve, "other": lambda i, s: s % 7}, instances=["i1", "i2", "i3"],
                      difference="simple", better="lower", design=FixedSize(runs=4), limits=Limits(time=60))
        analysis = study.run("study.db", workers=2)
        print(len(analysis.comparisons))
    """)

    answer = subprocess.run(
        [sys.executable, "-i", "-q"],
        input=typed,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert answer.stdout == "1\n", answer.stderr


def solve(instance, seed):
    return float(instance + seed % 7)


WRONG = {  # twenty studies that cannot be run as they are defined
    "difference": ({"difference": "percents"}, "difference must be one of"),
    "no direction": ({"better": None}, "better must be specified"),
    "direction": ({"better": "small"}, "better must be one of 'lower', 'higher'"),
    "reference": ({"reference": "nobody"}, "reference must be one of the algorithms"),
    "one algorithm": ({"algorithms": {"a": solve}}, "a comparison needs at least two algorithms"),
    "equal names": ({"algorithms": {"a": solve, "A": solve}}, "names must differ by more than case"),
    "no function": ({"algorithms": {"a": 5, "b": solve}}, "algorithm 'a' must be a function"),
    "no instances": ({"instances": []}, "at least two instances"),
    "instances": ({"instances": 5}, "instances must be a mapping"),
    "no size": ({"detect": None}, "a study needs a size"),
    "two sizes": ({"design": FixedSize(runs=3)}, "a study needs a size"),
    "size": ({"detect": None, "design": 30}, "design must be Detect, Precision or FixedSize"),
    "detect": ({"detect": -1.0}, "detect must be a positive number"),
    "pilot": ({"detect": None, "design": Detect(0.5, pilot=1)}, "pilot must be a whole number"),
    "se": ({"detect": None, "design": Precision(se=0.0)}, "se must be a positive number"),
    "runs": ({"detect": None, "design": FixedSize(runs=0)}, "runs must be a whole number"),
    "test": ({"test": "anova"}, "test must be one of"),
    "alpha": ({"alpha": 5}, "alpha must lie strictly between 0 and 1"),
    "policy": ({"on_failure": "ignore"}, "on-failure must be"),
    "no difference": ({"difference": None}, "difference must be one of"),
    "statistic": ({"statistic": "mode"}, "the statistic must be"),
    "arguments": ({"algorithms": {"a": lambda: 1, "b": solve}}, "must be a function of an instance and a seed"),
    "too few": ({"detect": None, "design": FixedSize(instances=50, runs=2)}, "30 instances"),
    "limits of another kind": ({"limits": 60}, "limits must be Limits"),
    "settings of another kind": ({"settings": {"floor": 1}}, "settings must be Settings"),
    "limits": ({"limits": Limits(time=-1)}, "timeout must be a positive number"),
    "seed": ({"seed": "x"}, "seed must be a whole number"),
    "settings": ({"settings": Settings(se=0.1)}, "settings of a Study are"),
    "alternative": ({"settings": Settings(alternative="less"), "reference": None}, "needs a reference"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_study_is_refused_when_it_is_made_with_one_sentence(kind):
    changes, words = WRONG[kind]
    usual = {
        "algorithms": {"a": solve, "b": solve},
        "instances": {f"i{number}": number for number in range(30)},
        "difference": "simple",
        "better": "lower",
        "reference": "a",
        "detect": 0.5,
    }
    with pytest.raises(AmplerError, match=words) as problem:
        Study(**usual | changes)

    assert "\n" not in str(problem.value)
