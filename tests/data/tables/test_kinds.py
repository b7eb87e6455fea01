"""How runs ended, by kind, from status columns, BenchExec's results and our own export."""

import pandas as pd
import pytest

import ampler as am
from ampler.core.failures import KINDS
from ampler.core.runs import Observation, RunKey
from ampler.data.export import write_runs


def kinds_of(runs):
    return [KINDS[code] for code in runs.kinds]


def test_words_of_status_columns_are_kinds():
    words = ["ok", "Wrong", "time-out", "memout", "crash", "not_applicable", "failed", "lost", ""]
    words += ["SATISFIABLE", "UNSATISFIABLE", "MLE", "SIGSEGV", "TO", "gave up"]
    frame = pd.DataFrame({"instance": range(15), "algorithm": "a", "runtime": 1.0, "runstatus": words})
    expected = ["ok", "wrong", "timeout", "memout", "crash", "unknown", "error", "lost", "ok"]
    expected += ["ok", "ok", "memout", "crash", "timeout", "unknown"]

    assert kinds_of(am.read_results(frame).runs) == expected


def test_an_exported_study_keeps_its_kinds(tmp_path):
    causes = ["", "wrong", "memory", "signal:SIGSEGV", "exit:0", "exit:3"]
    runs = [
        Observation(RunKey(f"i{n}", "a", 0), None if cause else 1.0, 1.0, "failed" if cause else "ok", cause=cause)
        for n, cause in enumerate(causes)
    ]
    write_runs(runs, tmp_path / "runs.csv")

    assert kinds_of(am.read_results(tmp_path / "runs.csv").runs) == [
        *("ok", "wrong", "memout", "crash", "unknown", "error")
    ]


@pytest.mark.parametrize(
    ("category", "status", "kind"),
    [
        ("correct", "false(unreach-call)", "ok"),
        ("wrong", "true", "wrong"),
        ("unknown", "unknown", "unknown"),
        ("error", "TIMEOUT", "timeout"),
        ("error", "OUT OF MEMORY", "memout"),
        ("error", "SEGMENTATION FAULT", "crash"),
        ("error", "KILLED BY SIGNAL 9", "crash"),
        ("error", "ERROR (1)", "error"),
    ],
)
def test_categories_of_benchexec_are_kinds(tmp_path, category, status, kind):
    runs = [("correct", "true"), (category, status)]
    columns = "".join(
        f'<run name="t{n}"><column title="category" value="{c}"/><column title="status" value="{s}"/>'
        '<column title="cputime" value="1.5s"/></run>'
        for n, (c, s) in enumerate(runs)
    )
    (tmp_path / "r.xml").write_text(f'<result tool="x" name="d" timelimit="60s">{columns}</result>')

    assert kinds_of(am.read_results(tmp_path / "r.xml").runs) == ["ok", kind]
