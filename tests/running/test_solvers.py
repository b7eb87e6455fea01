"""Real SAT solvers, as a user has them: exit codes 10 and 20, limits of processor time, PAR10, and what follows."""

import random
import shutil
import subprocess
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

import ampler as am
from ampler.core.errors import RunFailed
from ampler.core.failures import Par
from ampler.core.plan import Limits
from ampler.running import run_plan
from ampler.study.store import open_store, read_store
from ampler.study.toml import read_study_file

SOLVERS = ("minisat", "picosat", "cadical")
CUTOFF = 0.1  # seconds
SIZES = {"sat": (60, 3.0, 4), "unsat": (60, 8.0, 3), "hard": (500, 4.8, 2)}  # variables, clauses for each, how many

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, SOLVERS)), reason="needs minisat, picosat and cadical: apt install them"
)

STUDY = f"""better = "lower"
difference = "simple"
reference = "minisat"
seed = 3

[rule]
allocation = "fixed"
runs = 2

[run]
workers = 2
timeout = "60s"
on-failure = {{ par = 10 }}

[defaults]
value = "cpu-seconds"
cpu-timeout = {CUTOFF}
success = [10, 20]

[[algorithm]]
name = "minisat"
command = "minisat -verb=0 -rnd-init -rnd-seed={{seed}} {{instance}}"

[[algorithm]]
name = "picosat"
command = "picosat -n -s {{seed}} {{instance}}"

[[algorithm]]
name = "cadical"
command = "cadical -q -n {{instance}}"

[instances]
files = "*.cnf"
use = "all"
"""


def formula(variables, ratio, seed):
    """A random formula of clauses with three different variables; far from a ratio of 4.27 its answer is known."""
    rng = random.Random(seed)
    clauses = [
        [rng.choice((-1, 1)) * variable for variable in rng.sample(range(1, variables + 1), 3)]
        for _ in range(round(ratio * variables))
    ]
    lines = [f"p cnf {variables} {len(clauses)}", *(f"{a} {b} {c} 0" for a, b, c in clauses)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("solvers")
    for kind, (variables, ratio, number) in SIZES.items():
        for each in range(number):
            (place / f"{kind}{each}.cnf").write_text(formula(variables, ratio, f"{kind}{each}"))
    (place / "study.toml").write_text(STUDY)
    return place


@pytest.fixture(scope="module")
def study(folder):
    """The study file, carried out."""
    with open_store(folder / "study.db") as store:
        run_plan(read_study_file(folder / "study.toml").plan, store, workers=2)
    return folder / "study.db"


@pytest.fixture(scope="module")
def seen(study):
    with read_store(study) as store:
        return list(store.observations())


def test_the_plan_has_the_limit_of_what_is_measured(folder):
    plan = read_study_file(folder / "study.toml").plan

    assert plan.policy == Par(10.0, CUTOFF)
    assert plan.limits == Limits(timeout=60.0, cpu_timeout=CUTOFF)


def test_easy_formulas_are_solved_with_the_right_answer_and_hard_ones_reach_the_limit(folder, seen):
    assert len(seen) == 9 * 3 * 2
    for run in seen:
        hard = run.key.instance.startswith("hard")
        assert run.status == ("timeout" if hard else "ok"), run
    for kind, code in (("sat", 10), ("unsat", 20)):
        for solver in SOLVERS:
            answer = subprocess.run([solver, str(folder / f"{kind}0.cnf")], capture_output=True, check=False)
            assert answer.returncode == code


def test_processor_time_is_the_value_and_is_known_of_runs_that_were_ended(seen):
    for run in seen:
        if run.status == "ok":
            assert run.value == run.cpu <= CUTOFF
        else:
            assert run.message == f"it used more than {CUTOFF:g} s of processor time and was ended"
            assert CUTOFF <= run.cpu < 3 * CUTOFF
        assert run.started is not None


def test_solved_counts_par10_and_verdicts_are_those_of_an_independent_computation(study, seen):
    analysis = am.analyse(study)

    solved, times = dict.fromkeys(SOLVERS, 0), defaultdict(list)
    for run in seen:
        solved[run.key.algorithm] += run.status == "ok"
        times[run.key.algorithm, run.key.instance].append(10 * CUTOFF if run.value is None else run.value)
    par10 = {solver: np.array([np.mean(times[solver, name]) for name in instances_of(seen)]) for solver in SOLVERS}

    for row in analysis.algorithms:
        assert solved[row.algorithm] == 14
        assert sum(row.failures.values()) == 4
    for comparison in analysis.comparisons:
        first, second = par10[comparison.first], par10[comparison.second]
        expected = stats.ttest_rel(first, second).pvalue
        assert comparison.p_value == pytest.approx(expected, rel=1e-9)
        assert comparison.estimate == pytest.approx(np.mean(first - second), rel=1e-9)
    ordered = sorted(comparison.p_value for comparison in analysis.comparisons)
    holm = [p <= 0.05 / (2 - rank) for rank, p in enumerate(ordered)]
    assert [comparison.rejected for comparison in analysis.comparisons] == [holm[0], all(holm)]


def instances_of(seen):
    return list(dict.fromkeys(run.key.instance for run in seen))


def test_what_neither_solved_is_named_and_the_methods_paragraph_says_what_was_measured(study, tmp_path):
    analysis = am.analyse(study)
    (censored,) = [
        f"{caution.sentence} {caution.details}" for caution in analysis.warnings if caution.kind == "censored"
    ]
    report = am.write_report(study, tmp_path / "report.md").read_text()

    assert "On 2 instances " in censored
    assert "minisat × picosat 2" in censored
    assert "instances neither solved" in report
    assert "The values are seconds of processor time" in report
    assert f"a run was ended after {CUTOFF:g} s of processor time or 60 s by the clock" in report
    assert f"PAR10: runs without a value counted as {10 * CUTOFF:g} s" in report


def test_without_the_exit_codes_the_study_stops_in_the_beginning_and_says_which_setting_to_change(folder):
    text = STUDY.replace("success = [10, 20]\n", "").replace("*.cnf", "*sat*.cnf")  # none that reach their limit
    (folder / "forgotten.toml").write_text(text)

    with (
        open_store(folder / "forgotten.db") as store,
        pytest.raises(RunFailed, match=r"exit code [12]0 \(success = \[0\]\).*fix it"),
    ):
        run_plan(read_study_file(folder / "forgotten.toml").plan, store, workers=1)
