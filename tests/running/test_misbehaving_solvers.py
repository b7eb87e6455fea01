"""Real SAT and MIP solvers beside a liar, a quitter, a memory hog and a crasher, on the same problems: none wins."""

import importlib.util
import random
import shutil
import sys

import pytest

import ampler as am
from ampler.analysis.solvers import solver_table
from ampler.running import run_plan
from ampler.study.store import open_store
from ampler.study.toml import read_study_file

SOLVERS = ("minisat", "cadical", "cbc", "glpsol")

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, SOLVERS)), reason="needs minisat, cadical, cbc and glpsol: apt install them"
)

HIGHS = """import sys, highspy
highs = highspy.Highs(); highs.readModel(sys.argv[1]); highs.run()
print("Model status:", highs.modelStatusToString(highs.getModelStatus()))"""
HOG = "import sys, time; x = bytearray(400_000_000); time.sleep(60)"

STUDY = """difference = "simple"
better = "lower"
seed = 7
rule = { allocation = "fixed", runs = 2 }
run = { workers = 2, timeout = "30s", memory = "300MB", on-failure = { par = 10, cutoff = "10s" } }
[defaults]
value = "cpu-seconds"
cpu-timeout = "10s"
[instances]
files = "*.cnf"
features = "expected.csv"
use = "all"
"""
SAT_LINE = "solved = [10, 20]\nanswer = '^s? ?((?:UN)?SATISFIABLE)'"
ALGORITHMS = {
    "minisat": ("minisat {instance}", SAT_LINE, {"measures": "{ conflicts = '^conflicts +: (\\d+)' }"}),
    "cadical": ("cadical -n {instance}", SAT_LINE, {}),
    "cbc": (
        "cbc {instance}.lp solve",
        "solved = '^Result - (Optimal|Problem proven)|^Problem (proven|is) infeasible'\n"
        "answer = '^(?:Result - )?(Optimal|Problem (?:proven |is )?infeasible)'",
        {},
    ),
    "glpsol": (
        "glpsol --lp {instance}.lp",
        "solved = 'INTEGER OPTIMAL SOLUTION FOUND|NO (PRIMAL |INTEGER )?FEASIBLE SOLUTION'\n"
        "answer = 'INTEGER OPTIMAL|NO (?:PRIMAL |INTEGER )?FEASIBLE'",
        {},
    ),
    "liar": ("sh -c 'echo s SATISFIABLE; exit 10' {instance}", SAT_LINE, {}),
    "quitter": ("true {instance}", "solved = '^s '\nanswer = '^s (.*)'", {}),
    "hog": (f"{sys.executable} -c '{HOG}' {{instance}}", SAT_LINE, {}),
    "crasher": ("sh -c 'kill -SEGV $$' {instance}", SAT_LINE, {}),
}


def write_instance(folder, number):
    """A random 3-SAT problem for SAT solvers, and the same as an integer program."""
    rng = random.Random(number)
    names = range(1, 26)
    clauses = [
        [name if rng.random() < 0.5 else -name for name in rng.sample(names, 3)]
        for _ in range(90 if number % 2 else 190)
    ]
    path = folder / f"p{number:02}.cnf"
    lines = [f"p cnf 25 {len(clauses)}", *(" ".join(map(str, [*clause, 0])) for clause in clauses)]
    path.write_text("\n".join(lines) + "\n")
    rows = [
        " ".join(f"{'+' if x > 0 else '-'} x{abs(x)}" for x in clause) + f" >= {1 - sum(x < 0 for x in clause)}"
        for clause in clauses
    ]
    constraints = "\n".join(f" c{k}: {row}" for k, row in enumerate(rows))
    binaries = " ".join(f"x{name}" for name in names)
    lp = f"Minimize\n obj: x1\nSubject To\n{constraints}\nBinary\n {binaries}\nEnd\n"
    (folder / f"{path.name}.lp").write_text(lp)
    return path.name


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solvers")
    names = [write_instance(folder, number) for number in range(20)]
    expected = {name: "unsat" if number % 2 == 0 else "sat" for number, name in enumerate(names)}
    rows = "".join(f"{name},{word}\n" for name, word in expected.items())
    (folder / "expected.csv").write_text(f"instance,expected\n{rows}")
    algorithms = dict(ALGORITHMS)
    if importlib.util.find_spec("highspy"):
        (folder / "highs.py").write_text(HIGHS)
        patterns = "solved = 'Model status: (Optimal|Infeasible)'\nanswer = 'Model status: (.*)'"
        algorithms["highs"] = (f"{sys.executable} {folder}/highs.py {{instance}}.lp", patterns, {})
    tables = [
        f'[[algorithm]]\nname = "{name}"\ncommand = """{command}"""\n{settings}\n'
        + "".join(f"{key} = {value}\n" for key, value in more.items())
        for name, (command, settings, more) in algorithms.items()
    ]
    (folder / "study.toml").write_text(STUDY + "".join(tables))
    with open_store(folder / "study.db") as store:
        run_plan(read_study_file(folder / "study.toml").plan, store, workers=2, despite_failures=True)
        measures = [run.measures for run in store.observations() if run.key.algorithm == "minisat"]
    assert all(found and found["conflicts"] >= 0 for found in measures)
    return am.analyse(folder / "study.db")


@pytest.mark.parametrize(
    ("solver", "solved", "failures"),
    [
        *((solver, 40, {}) for solver in SOLVERS),
        ("liar", 20, {"wrong": 20}),
        ("quitter", 0, {"unknown": 40}),
        ("hog", 0, {"memout": 40}),
        ("crasher", 0, {"crash": 40}),
    ],
)
def test_each_lands_in_its_column(analysis, solver, solved, failures):
    row = next(row for row in solver_table(analysis).rows if row.solver == solver)

    assert (row.solved, row.failures) == (solved, failures)
    assert row.runs == 40


def test_none_of_the_four_wins(analysis):
    bad = {"liar", "quitter", "hog", "crasher"}
    for comparison in analysis.comparisons:
        favoured, other = comparison.pair if comparison.estimate < 0 else comparison.pair[::-1]
        assert not comparison.claimed or favoured not in bad or other in bad
    ranked = [row.solver for row in solver_table(analysis).rows[:-2]]
    assert set(ranked[-4:]) == bad
    assert ranked[-4] == "liar"
