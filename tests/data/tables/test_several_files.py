"""Several files, one for each algorithm: named in a list or a dict, in a folder, of one format or of several."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import ampler as am
from ampler.core.errors import InvalidData
from ampler.data.tables import Columns, read_table

FILES = Path(__file__).parent.parent / "imports" / "files"
BASE = "problem,time\np1,1.5\np2,2.5\np3,3.5\n"
CANDIDATE = "problem,time\np1,1.0\np2,2.0\np3,2.75\n"


@pytest.fixture
def two(write):
    return write(BASE, "base.csv"), write(CANDIDATE, "candidate.csv")


def test_each_file_is_an_algorithm_named_by_its_file_or_by_the_user(two):
    table = read_table(list(two))
    assert (table.runs.algorithms, table.runs.instances) == (("base", "candidate"), ("p1", "p2", "p3"))
    assert table.runs.value.tolist() == [1.5, 2.5, 3.5, 1.0, 2.0, 2.75]
    assert table.direction.better == "lower"
    assert table.measure == "time"
    assert read_table({"old": two[0], "new": two[1]}).runs.algorithms == ("old", "new")


def test_python_takes_a_list_with_names_and_a_dict(two):
    assert am.read_results(two, names=["old", "new"]).runs.algorithms == ("old", "new")
    assert am.analyse({"old": two[0], "new": two[1]}, difference="simple").instances == 3
    with pytest.raises(InvalidData, match="names must name each of several files, got 1 for 2"):
        am.read_results(two, names="old")


def test_a_folder_of_tables_is_several_files(two):
    assert read_table(two[0].parent).runs.algorithms == ("base", "candidate")


def test_a_folder_has_tables_in_json_too_and_names_what_is_left_out(two, write):
    write(json.dumps([{"problem": "p1", "time": 1.0}, {"problem": "p2", "time": 2.0}]), "third.json")
    write("{}", "package.json")
    table = read_table(two[0].parent)
    assert table.runs.algorithms == ("base", "candidate", "third")
    assert "left out of the folder: 'package.json'" in table.summary


@pytest.mark.parametrize(
    ("folder", "instance"),
    [
        ("pytest-benchmark", "test_base.py::test_sum"),
        ("pyperf", "sum"),
        ("google-benchmark", "BM_Sort/10/iterations:200"),
        ("go", "10"),
    ],
)
def test_benchmarks_of_two_files_are_compared(folder, instance):
    ending = "txt" if folder == "go" else "json"
    table = read_table([FILES / folder / f"{name}.{ending}" for name in ("base", "candidate")])
    assert table.runs.algorithms == ("base", "candidate")
    assert instance in table.runs.instances
    assert table.direction.better == "lower"


def test_hyperfine_has_parameters_as_instances_or_one_instance():
    table = read_table([FILES / "hyperfine" / f"param-{name}.json" for name in ("base", "candidate")])
    assert (table.runs.algorithms, table.runs.instances) == (("param-base", "param-candidate"), ("1", "2"))
    times = json.loads((FILES / "hyperfine" / "param-base.json").read_text())["results"][0]["times"]
    assert table.runs.value[(table.runs.algorithm == 0) & (table.runs.instance == 0)].tolist() == times
    one = read_table([FILES / "hyperfine" / f"one-{name}.json" for name in ("base", "candidate")])
    assert (one.runs.algorithms, len(one.runs.instances), len(one.runs)) == (("one-base", "one-candidate"), 1, 8)


def test_formats_that_describe_the_same_instances_are_joined(write):
    records = [{"problem": name, "time": value} for name, value in (("p1", 1.0), ("p2", 2.0))]
    frame = write(BASE, "base.csv")
    table = read_table([frame, write(json.dumps(records), "candidate.json")])
    assert (table.runs.algorithms, len(table.runs)) == (("base", "candidate"), 5)


def test_what_does_not_fit_together_is_asked_about(write, two):
    base = two[0]
    with pytest.raises(InvalidData, match="values of one name and unit, got 'time' in base, 'seconds' in other"):
        read_table([base, write(CANDIDATE.replace("time", "seconds"), "other.csv")])
    with pytest.raises(InvalidData, match="no instance in common: base has 'p1'"):
        read_table([base, write(CANDIDATE.replace("p", "q").replace("qroblem", "problem"), "other.csv")])
    with pytest.raises(InvalidData, match=r"column 'solver' of other\.csv names several"):
        read_table([base, write("solver,problem,time\na,p1,1\nb,p1,2\n", "other.csv")])
    with pytest.raises(InvalidData, match="at least one file"):
        read_table([])
    with pytest.raises(InvalidData, match="given once"):
        read_table([base, base])


@pytest.mark.parametrize("option", ["paired", "crossed", "resampled"])
def test_runs_that_belong_together_need_one_table(two, option):
    with pytest.raises(InvalidData, match=f"{option} needs all algorithms in one table"):
        read_table(two, columns=Columns(**{option: ("problem",)}))


def test_a_column_that_names_the_one_algorithm_of_a_file_is_of_no_account(write, two):
    table = read_table([two[0], write("solver,problem,time\na,p1,1\na,p2,2\n", "other.csv")])
    assert table.runs.algorithms == ("base", "other")


def test_names_that_differ_by_case_or_spaces_are_asked_about_across_files_and_within(write, two):
    other = write(CANDIDATE.replace("p1", "P1 "), "other.csv")
    with pytest.raises(InvalidData, match=r'\'p1\' and \'P1\' differ only by case.*spelling="same"'):
        read_table([two[0], other])
    same = read_table([two[0], other], columns=Columns(spelling="same"))
    assert same.runs.instances == ("p1", "p2", "p3")
    assert read_table([two[0], other], columns=Columns(spelling="different")).runs.instances[-1] == "P1"
    long = write("solver,problem,time\nPowell,p,1\npowell ,q,2\nother,p,1\nother,q,3\n")
    with pytest.raises(InvalidData, match=r"'Powell' and 'powell' differ only by case or spaces.*algorithm"):
        read_table(long)
    assert read_table(long, columns=Columns(spelling="same")).runs.algorithms == ("Powell", "other")
    assert len(read_table(long, columns=Columns(spelling="different")).runs.algorithms) == 3


@pytest.mark.parametrize("twin", ["\uff33\uff21\uff34", "SAT\u200b", "\ufeffSAT", "S\u00adAT"])
def test_full_width_letters_and_what_nobody_sees_in_a_name_are_asked_about(write, twin):
    long = write(f"solver,problem,time\nSAT,p,1\n{twin},q,2\nother,p,1\nother,q,3\n")
    with pytest.raises(InvalidData, match=r"'SAT' and .* differ only by case or spaces.*algorithm"):
        read_table(long)
    assert read_table(long, columns=Columns(spelling="same")).runs.algorithms == ("SAT", "other")


def test_comments_are_passed_over_and_a_header_may_begin_with_a_hash(write):
    table = read_table(write("# made today\n# by hand, twice\n" + "solver,problem,time\na,p,1.5\n# a note\nb,p,x2\n"
                             .replace("x2", "2.5")))  # fmt: skip
    assert table.runs.value.tolist() == [1.5, 2.5]
    wide = read_table(write("# note\n#problem,old,new\np,1.5,2.5\nq,2.5,3.5\n", "wide.csv"))
    assert wide.runs.algorithms == ("old", "new")
    with pytest.raises(InvalidData, match=r"line 4 of bad\.csv must hold a number"):
        read_table(write("# note\nsolver,problem,time\na,p,1.5\nb,p,two\na,q,1\n", "bad.csv"))


def test_an_excel_file_is_a_table(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"solver": ["a", "b"], "problem": ["p", "p"], "time": [1.5, 2.5]})
    frame.to_excel(tmp_path / "runs.xlsx", index=False)
    assert read_table(tmp_path / "runs.xlsx").runs.value.tolist() == [1.5, 2.5]
    with pytest.raises(InvalidData, match="unpacks to more than"):
        read_table(tmp_path / "runs.xlsx", limit=1000)
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InvalidData, match="cannot be read as an Excel file"):
        read_table(tmp_path / "bad.xlsx")


def test_an_excel_sheet_with_one_cell_in_its_last_corner_is_refused_before_it_fills_the_memory(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "algorithm", 1.0
    book.save(tmp_path / "corner.xlsx")
    with pytest.raises(InvalidData, match=r"unpacks to more than 512 MB, .*137 GB"):
        read_table(tmp_path / "corner.xlsx")
