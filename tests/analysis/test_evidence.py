"""What a source says about its runs, and that an analysis can be told all of it."""

from dataclasses import fields
from inspect import signature

from ampler.analysis import analyse_runs
from ampler.analysis.results import Results
from ampler.api import read_results

# Settings, what is shown next to the analysis, the cutoff of PAR, several measures, later families
ELSEWHERE = {"measure", "settings", "notes", "roles", "time_limit", "unfinished", "measures", "families"}


def test_an_analysis_takes_whatever_a_source_says():
    assert {field.name for field in fields(Results)} - ELSEWHERE <= set(signature(analyse_runs).parameters)


def test_a_plain_table_knows_nothing_of_how_its_runs_were_decided_on(tmp_path):
    rows = [f"{name},i{n},{n}.5" for n in range(3) for name in "ab"]
    (tmp_path / "runs.csv").write_text("\n".join(["algorithm,instance,value", *rows]), encoding="utf-8")
    evidence = read_results(tmp_path / "runs.csv")
    assert evidence.runs.instances == ("i0", "i1", "i2")
    assert (evidence.deterministic, evidence.rule, evidence.course, evidence.looks) == (None, None, None, None)
