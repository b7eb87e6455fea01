"""Study: what study.toml says, said in Python; from scripts, notebooks and with lambdas."""

import random
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace

import pytest

from ampler import Accuracy, Fixed
from ampler.analysis import Analysis
from ampler.core.errors import InvalidPlan, RunFailed
from ampler.core.failures import Drop, Penalty
from ampler.core.values import Command, Limits
from ampler.front import Study
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
    se=0.5,
    seed=2019,
    start=4,
    use="all",
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
    second = STUDY.run(tmp_path / "study.db", workers=1, report=progress.append)

    assert recorded(tmp_path / "study.db") == before
    assert str(first) == str(second)
    assert all(each.new == 0 for each in progress)


def test_any_executor_gives_the_same_runs(tmp_path):
    STUDY.run(tmp_path / "one.db", workers=2)
    with ThreadPoolExecutor(2) as threads:
        STUDY.run(tmp_path / "two.db", executor=threads)

    assert recorded(tmp_path / "one.db") == recorded(tmp_path / "two.db")


def test_the_plan_has_everything_that_was_said():
    study = replace(
        STUDY, timeout=5.0, memory=10**9, on_failure=Penalty(9.0), retries=2, budget=77, effect=0.9, use=3, name="mine"
    )

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


@pytest.mark.parametrize(("changes", "came"), [({"se": None}, "neither"), ({"rule": Fixed(runs=3)}, "both")])
def test_accuracy_or_rule_one_of_them_must_be_given(changes, came, tmp_path):
    with pytest.raises(InvalidPlan, match=f"needs either se, .*, or a rule such as Fixed.*, got {came}"):
        replace(STUDY, **changes).run(tmp_path / "study.db")

    assert not (tmp_path / "study.db").exists()


def test_failed_runs_are_told_and_can_be_dropped(tmp_path):
    def broken(instance, seed):
        if instance == 20.0:
            raise ZeroDivisionError
        return instance

    study = replace(STUDY, algorithms={**STUDY.algorithms, "broken": broken}, se=None, rule=Fixed(runs=3))

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


def test_a_script_needs_no_main_guard_and_may_use_lambdas(tmp_path, forked):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import random
        from ampler import Study

        offset = 3

        study = Study(
            algorithms={"a": lambda instance, seed: random.Random(seed).random(),
                        "b": lambda instance, seed: offset + random.Random(seed).random()},
            instances=["i1", "i2", "i3"], difference="simple", better="lower", se=0.2, use="all",
        )
        print(len(study.run("study.db", workers=2).comparisons))
        """)
    )

    answer = forked("script.py", cwd=tmp_path, program="python")

    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "1\n"


def test_functions_typed_at_the_prompt_are_known_to_the_workers(tmp_path):
    """A notebook's functions live in no file that a worker could import."""
    typed = textwrap.dedent("""
        from ampler import Fixed, Study

        def solve(instance, seed):
            return seed % 100 + helper(instance)

        def helper(instance):
            return len(instance)

        study = Study(algorithms={"solve": solve, "other": lambda i, s: s % 7}, instances=["i1", "i2", "i3"],
                      difference="simple", better="lower", rule=Fixed(runs=4), use="all", timeout=60)
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
