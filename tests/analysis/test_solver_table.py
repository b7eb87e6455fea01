"""The solver table against direct computations, and one table from a study, from BenchExec and from ASlib's columns."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest

import ampler as am
from ampler.analysis.solvers import solver_cells, solver_table
from ampler.core.runs import Observation, RunKey
from ampler.data.export import write_runs

LIMIT = 60.0
ENDS = {  # by kind: the cause in a study, BenchExec's category and status, ASlib's word
    "ok": ("", "correct", "true", "ok"),
    "wrong": ("wrong", "wrong", "false", "wrong"),
    "timeout": ("timeout", "error", "TIMEOUT", "timeout"),
    "memout": ("memory", "error", "OUT OF MEMORY", "memout"),
    "crash": ("signal:SIGSEGV", "error", "SEGMENTATION FAULT", "crash"),
    "unknown": ("exit:0", "unknown", "unknown", "not_applicable"),
}
SOLVERS = {"good": ("ok",) * 5 + ("timeout",), "liar": ("ok", "wrong"), "hog": ("memout", "ok", "crash", "unknown")}
TIMES = {"good": 20.0, "liar": 0.1, "hog": 5.0}


def runs():
    for solver, number in product(SOLVERS, range(12)):
        kind = SOLVERS[solver][number % len(SOLVERS[solver])]
        yield solver, f"t{number:02}", kind, LIMIT + 0.01 if kind == "timeout" else TIMES[solver] + number


def from_study(path):
    observations = [
        Observation(
            RunKey(instance, solver, 0),
            seconds if kind == "ok" else None,
            seconds,
            {"ok": "ok", "timeout": "timeout"}.get(kind, "failed"),
            cause=ENDS[kind][0],
        )
        for solver, instance, kind, seconds in runs()
    ]
    write_runs(observations, path / "runs.csv")
    return path / "runs.csv"


def from_benchexec(path):
    for solver in SOLVERS:
        rows = "".join(
            f'<run name="{instance}"><column title="category" value="{ENDS[kind][1]}"/>'
            f'<column title="status" value="{ENDS[kind][2]}"/><column title="cputime" value="{seconds}s"/></run>'
            for name, instance, kind, seconds in runs()
            if name == solver
        )
        (path / f"{solver}.xml").write_text(
            f'<?xml version="1.0"?>\n<result tool="{solver}" name="d" timelimit="{LIMIT}s">{rows}</result>'
        )
    return path


def from_aslib(path):
    rows = [(instance, 1, solver, seconds, ENDS[kind][3]) for solver, instance, kind, seconds in runs()]
    columns = ["instance_id", "repetition", "algorithm", "runtime", "runstatus"]
    pd.DataFrame(rows, columns=columns).to_csv(path / "aslib.csv", index=False)
    return path / "aslib.csv"


def analysed(source, policy=f"par=10,cutoff={LIMIT:g}", **settings):
    results = am.read_results(source, on_failure=policy)
    return am.analyse(results, difference="simple", better="lower", **settings)


@pytest.mark.parametrize("source", [from_study, from_benchexec, from_aslib])
def test_three_sources_of_the_same_runs_give_one_table(tmp_path, source):
    table = solver_table(analysed(source(tmp_path)))

    assert (table.factor, table.cutoff) == (10, LIMIT)
    assert [row.solver for row in table.rows] == [*("good", "liar", "hog", "single best (good)", "virtual best")]
    counts = {row.solver: (row.solved, dict(row.failures)) for row in table.rows}
    assert counts["good"] == (10, {"timeout": 2})
    assert counts["liar"] == (6, {"wrong": 6})
    assert counts["hog"] == (3, {"memout": 3, "crash": 3, "unknown": 3})
    for row in table.rows[:3]:
        par, log = np.array(
            [
                (s, math.log(s + 10)) if kind == "ok" else (10 * LIMIT, math.log(LIMIT + 10))
                for solver, _, kind, s in runs()
                if solver == row.solver
            ]
        ).T
        assert row.par == pytest.approx(par.mean())
        assert row.shifted_mean == pytest.approx(math.exp(log.mean()) - 10)


def test_the_virtual_best_solver_takes_the_best_on_each_instance(tmp_path):
    table = solver_table(analysed(from_study(tmp_path)))
    score = {(s, i): t if kind == "ok" else 10 * LIMIT for s, i, kind, t in runs()}
    instances = sorted({i for _, i in score})

    def virtual(solvers):
        return np.mean([min(score[s, i] for s in solvers) for i in instances])

    rows = {row.solver: row for row in table.rows}
    assert rows["virtual best"].par == pytest.approx(virtual(SOLVERS))
    assert rows["virtual best"].runs == 12
    for solver in SOLVERS:
        others = [other for other in SOLVERS if other != solver]
        assert rows[solver].contribution == pytest.approx(virtual(others) - virtual(SOLVERS))


def test_without_a_cutoff_the_table_counts_and_nothing_else(tmp_path):
    head, rows = solver_cells(solver_table(analysed(from_study(tmp_path), "drop")))

    assert head == ("solver", "solved", "wrong", "timeout", "memout", "crash", "unknown", "rank")[: len(head)]
    assert rows[0][:4] == ("good", "10/12", "0", "2")


def test_results_without_failures_and_limits_have_no_such_table():
    frame = pd.DataFrame({"instance": list("abcd"), "x": [1.0, 2, 3, 4], "y": [2.0, 2, 5, 4]})

    assert solver_table(am.analyse(frame, difference="simple", better="lower")) is None


def test_it_comes_first_in_terminal_report_and_json(tmp_path):
    analysis = analysed(from_study(tmp_path))
    text = str(analysis)

    assert text.index("single best") < text.index("comparison")
    assert "a failed run counts as 10 times the cutoff of 60." in " ".join(text.split())
    assert analysis.as_dict()["solvers"]["rows"][1]["failures"] == {"wrong": 6}
    for name in ("report.html", "report.md"):
        am.write_report(analysis, tmp_path / name)
        report = (tmp_path / name).read_text()
        assert report.index("virtual best") < report.index("Holm")
