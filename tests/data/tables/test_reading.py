"""Readers of results: every shape people have, and every way in which a table can be wrong."""

import gzip
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ampler.core.errors import InvalidData, MissingDependency
from ampler.core.runs import STATUSES
from ampler.data.tables import Columns, Table, read_table

LONG = """Algorithm,Instance,Observation
a,i1,1.5
b,i1,2.5
a,i2,3
b,i2,4
"""


@pytest.fixture
def write(tmp_path):
    """Write a text (or bytes) to a file and return its path."""

    def written(content, name="runs.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return written


def cells(table: Table) -> dict[tuple[str, str], list[float]]:
    """The values of each (instance, algorithm)."""
    runs = table.runs
    found: dict[tuple[str, str], list[float]] = {}
    for i, a, value in zip(runs.instance, runs.algorithm, runs.value, strict=True):
        found.setdefault((runs.instances[i], runs.algorithms[a]), []).append(float(value))
    return found


EXPECTED = {("i1", "a"): [1.5], ("i1", "b"): [2.5], ("i2", "a"): [3.0], ("i2", "b"): [4.0]}


# Shapes


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        LONG.replace(",", ";"),
        LONG.replace(",", "\t"),
        LONG.replace(",", " , "),
        LONG.replace("\n", "\r\n"),
        "\ufeff" + LONG,
        LONG + "\n\n",
        "classifier_name,dataset_name,accuracy\na,i1,1.5\nb,i1,2.5\na,i2,3\nb,i2,4\n",
        "dataset,a,b\ni1,1.5,2.5\ni2,3,4\n",
        "algorithm,i1,i2\na,1.5,3\nb,2.5,4\n",
        ",a,b\ni1,1.5,2.5\ni2,3,4\n",
        "who,where,observation\na,i1,1.5\nb,i1,2.5\na,i2,3\nb,i2,4\n".replace("who", "Solver").replace("where", "TASK"),
        "algId,funcId,target,run,RT\na,i1,9,1,1.5\nb,i1,9,1,2.5\na,i2,9,1,3\nb,i2,9,1,4\n",
        "DIM,funcId,ID,runtime,run,f(x)\n5,i1,a,9,1,1.5\n5,i1,b,9,1,2.5\n5,i2,a,9,1,3\n5,i2,b,9,1,4\n",
        "algorithm;instance;value\na;i1;1,5\nb;i1;2,5\na;i2;3\nb;i2;4\n",
        "algorithm,instance,seed,makespans\na,i1,1,1.5\nb,i1,2,2.5\na,i2,3,3\nb,i2,4,4\n",
        "algorithm instance value\n1 a i1 1.5\n2 b i1 2.5\n3 a i2 3\n4 b i2 4\n".replace(" ", ","),
        "a,b\ni1,1.5,2.5\ni2,3,4\n",
        "@RELATION r\n@ATTRIBUTE instance_id STRING\n@ATTRIBUTE algorithm STRING\n@ATTRIBUTE runtime NUMERIC\n"
        "@DATA\ni1,a,1.5\n% comment\ni1,b,2.5\ni2,a,3\n'i2',b,4\n",
    ],
    ids=[
        "long", "semicolon", "tab", "blanks", "windows", "bom", "blank-lines", "cd-diagram", "wide", "transposed",
        "wide-without-a-name", "synonyms", "ioh-fixed-target", "ioh-fixed-budget", "decimal-comma", "the-only-number",
        "row-names", "row-names-wide",
        "arff",
    ],
)  # fmt: skip
def test_every_shape_of_the_same_results_gives_the_same_runs(write, text):
    assert cells(read_table(write(text))) == EXPECTED


def test_a_data_frame_a_parquet_file_and_a_compressed_file_give_the_same_runs(write, tmp_path):
    frame = pd.DataFrame({"algorithm": ["a", "b"] * 2, "instance": ["i1", "i1", "i2", "i2"], "value": [1.5, 2.5, 3, 4]})
    frame.to_parquet(tmp_path / "runs.parquet")
    wide = frame.pivot(index="instance", columns="algorithm", values="value")
    assert cells(read_table(frame)) == EXPECTED
    assert cells(read_table(wide)) == EXPECTED
    assert cells(read_table(wide.rename_axis(index=None))) == EXPECTED
    assert cells(read_table(tmp_path / "runs.parquet")) == EXPECTED
    assert cells(read_table(write(gzip.compress(LONG.encode()), "runs.csv.gz"))) == EXPECTED
    assert cells(read_table(str(write(gzip.compress(LONG.encode()), "runs")))) == EXPECTED


def test_runs_side_by_side_are_runs_and_an_empty_cell_is_none(write):
    text = "algorithm,problem,run.1,run.2,run.3\na,i1,1,2,3\nb,i1,4,5,\n"
    assert cells(read_table(write(text))) == {("i1", "a"): [1, 2, 3], ("i1", "b"): [4, 5]}


def test_rows_of_the_same_instance_in_a_wide_table_are_runs(write):
    text = "dataset,a,b\ni1,1,2\ni1,3,4\n"
    assert cells(read_table(write(text))) == {("i1", "a"): [1, 3], ("i1", "b"): [2, 4]}


def test_runs_stand_in_the_order_of_their_numbers_and_names_in_that_of_the_file(write):
    text = "algorithm,instance,run,value\nb,i2,10,1\nb,i2,9,2\na,i1,2,3\na,i1,1,4\n"
    table = read_table(write(text))
    assert cells(table) == {("i2", "b"): [2, 1], ("i1", "a"): [4, 3]}
    assert (table.runs.algorithms, table.runs.instances) == (("b", "a"), ("i2", "i1"))


def test_names_stay_as_they_are_written(write):
    text = 'algorithm,instance,value\nNA,007,1\nNone,"1,5",2\n"(1+(λ,λ)) GA",1e3,3\n'
    runs = read_table(write(text)).runs
    assert runs.algorithms == ("NA", "None", "(1+(λ,λ)) GA")
    assert runs.instances == ("007", "1,5", "1e3")


def test_the_last_attempt_of_an_exported_study_counts(write):
    text = (
        "instance,algorithm,index,attempt,round,seed,value,seconds,status,message\n"
        "i1,a,0,0,0,5,,0.1,lost,worker died\ni1,a,0,1,0,5,7.5,0.1,ok,\ni1,b,0,0,0,6,,0.1,timeout,\n"
    )
    runs = read_table(write(text)).runs
    assert runs.value[0] == 7.5
    assert [STATUSES[code] for code in runs.status] == ["ok", "timeout"]


def test_columns_can_be_said_and_are_found_without_regard_to_case(write):
    text = "Who,Where,What,Else\na,i1,1,9\nb,i1,2,9\n"
    columns = Columns(algorithm=("who",), instance=("WHERE",), value="what")
    assert cells(read_table(write(text), columns=columns)) == {("i1", "a"): [1], ("i1", "b"): [2]}


def test_several_columns_can_name_an_algorithm_together(write):
    text = "solver,config,instance,time\na,x,i1,1\na,y,i1,2\n"
    table = read_table(write(text), columns=Columns(algorithm=("solver", "config")))
    assert table.runs.algorithms == ("a, config=x", "a, config=y")


def test_the_algorithms_of_a_wide_table_can_be_chosen(write):
    text = "dataset,examples,a,b\ni1,100,1,2\ni2,200,3,4\n"
    table = read_table(write(text), columns=Columns(algorithm=("a", "b")))
    assert table.runs.algorithms == ("a", "b")


def test_function_instance_and_dimension_name_a_problem_together(write):
    rows = [f"a,{f},{i},{d},suite{f},{f + i + d}" for f in (1, 2) for i in (1, 2) for d in (5, 20)]
    table = read_table(write("algorithm,function,instance,dim,suite,value\n" + "\n".join(rows)))
    assert table.runs.instances[:2] == ("1, instance=1, dim=5", "1, instance=1, dim=20")
    assert len(table.runs.instances) == 8
    assert set(table.features) == {"function", "instance", "dim", "suite"}
    assert table.features["dim"]["2, instance=1, dim=20"] == 20
    assert "not an independent instance" in table.notes[0]


def test_where_keeps_one_group(write):
    text = "algorithm,problem,dimension,value\na,1,10,1\na,1,30,2\na,2,10,3\na,2,30,4\n"
    table = read_table(write(text), where={"Dimension": "30"})
    assert cells(table) == {("1", "a"): [2], ("2", "a"): [4]}
    with pytest.raises(InvalidData, match=r"has dimension=50; its values are '10', '30'"):
        read_table(write(text), where={"dimension": "50"})


def test_a_column_that_says_something_of_each_instance_is_a_feature(write):
    rows = [f"{a},i{k},{'small' if k < 2 else 'large'},{a}{k},{k}" for k in range(4) for a in (1, 2)]
    table = read_table(write("algorithm,instance,size,seconds,value\n" + "\n".join(rows)))
    assert table.features == {"size": {"i0": "small", "i1": "small", "i2": "large", "i3": "large"}}


def test_a_number_that_says_something_of_each_instance_may_have_many_values(write):
    rows = [f"a,i{k},{10 * k},x{k},{k}" for k in range(20)]
    table = read_table(write("algorithm,instance,jobs,label,value\n" + "\n".join(rows)))
    assert set(table.features) == {"jobs"}
    assert table.features["jobs"]["i19"] == 190


@pytest.mark.parametrize(
    ("text", "sounds"),
    [
        ("classifier,dataset,Accuracy\na,i1,1\n", True),
        ("classifier,dataset,error\na,i1,1\n", False),
        ("algorithm,instance,metric,value\na,i1,AUC,1\n", True),
        (LONG, False),
    ],
)
def test_a_value_called_accuracy_sounds_as_if_higher_were_better(write, text, sounds):
    assert read_table(write(text)).sounds_higher == sounds


def test_maximize_says_that_higher_is_better(write):
    text = "algorithm,func,finalFV,maximize\na,1,3,TRUE\nb,1,4,TRUE\n"
    assert read_table(write(text)).better == "higher"
    assert read_table(write(text.replace("TRUE", "FALSE"))).better == "lower"
    assert read_table(write(LONG)).better is None


def test_failures_keep_their_status_and_their_cutoff(write):
    text = (
        "instance_id,repetition,algorithm,runtime,runstatus\n"
        "i1,1,a,0.5,ok\ni1,1,b,3600,timeout\ni2,1,a,12,memout\ni2,1,b,?,crash\n"
    )
    runs = read_table(write(text)).runs
    assert [STATUSES[code] for code in runs.status] == ["ok", "timeout", "failed", "failed"]
    assert runs.value[:3].tolist() == [0.5, 3600, 12]
    assert math.isnan(runs.value[3])


@pytest.mark.parametrize("cell", ["", "NA", "nan", "?", "inf", "N/A"])
def test_a_run_without_a_finite_value_has_failed(write, cell):
    runs = read_table(write(f"algorithm,instance,value\na,i1,1\nb,i1,{cell}\n")).runs
    assert [STATUSES[code] for code in runs.status] == ["ok", "failed"]


def test_a_status_nobody_knows_is_not_used_and_that_is_said(write):
    table = read_table(write("algorithm,instance,value,state\na,i1,1,blue\nb,i1,2,red\n"))
    assert table.runs.ok.all()
    assert "'blue', 'red'" in table.notes[0]


def test_names_that_differ_by_case_alone_are_noted(write):
    table = read_table(write("algorithm,instance,value\nFull,i1,1\nfull,i1,2\n"))
    assert "'Full' and 'full'" in table.notes[0]


# Hyperfine


HYPERFINE = {
    "results": [
        {"command": f"{s} {f}", "times": [1.0, 2.0], "exit_codes": [0, 0], "parameters": {"file": f}}
        for s in ("./old", "./new")
        for f in ("x.txt", "y.txt")
    ]
}


def test_hyperfine_commands_are_algorithms_and_their_parameters_instances(write):
    table = read_table(write(json.dumps(HYPERFINE), "times.json"))
    assert table.runs.algorithms == ("./old {file}", "./new {file}")
    assert table.runs.instances == ("x.txt", "y.txt")
    assert len(table.runs) == 8


def test_a_hyperfine_parameter_called_solver_names_the_algorithm(write):
    results = [
        {"command": "c", "times": [1.0], "parameters": {"solver": s, "n": n}}
        for s in ("old", "new")
        for n in ("1", "2")
    ]
    table = read_table(write(json.dumps({"results": results}), "times.json"))
    assert (table.runs.algorithms, table.runs.instances) == (("old", "new"), ("1", "2"))


def test_version_2_of_hyperfine_is_read_with_its_primary_metric_and_exit_codes(write):
    def result(solver, file):
        runs = [{"time_wall_clock": {"value": 9.0}, "time_user": {"value": 2.0}, "exit_code": code} for code in (0, 1)]
        return {"command": f"{solver} {file}", "measurements": runs, "parameters": {"file": {"value": file}}}

    document = {"schema_version": 2, "primary_metric": "time_user"}
    document["results"] = [result(solver, file) for solver in ("old", "new") for file in ("x", "y")]
    runs = read_table(write(json.dumps(document), "times.json")).runs
    assert set(runs.value.tolist()) == {2.0}
    assert runs.status.tolist() == [0, 1] * 4 or sorted(runs.status.tolist()) == [0] * 4 + [1] * 4
    assert runs.algorithms == ("old {file}", "new {file}")


def test_hyperfine_without_parameters_has_one_instance_only_and_says_what_to_do(write):
    document = {"results": [{"command": "a", "times": [1.0]}, {"command": "b", "times": [2.0]}]}
    with pytest.raises(InvalidData, match="-L instance"):
        read_table(write(json.dumps(document), "times.json"))


@pytest.mark.parametrize("text", ["{}", "[1, 2]", "no json", '{"results": [{"command": "a"}]}'])
def test_other_json_is_refused(write, text):
    with pytest.raises(InvalidData, match="hyperfine --export-json"):
        read_table(write(text, "x.json"))


# What is asked back


def test_several_metrics_are_asked_for(write):
    text = (
        "Algorithm,Instance,MetricName,ExecutionId,MetricValue\n"
        "a,i1,accuracy,1,0.5\na,i1,loss,1,2\nb,i1,accuracy,1,0.6\nb,i1,loss,1,3\n"
    )
    with pytest.raises(InvalidData, match=r"'accuracy', 'loss'.*--metric"):
        read_table(write(text))
    assert cells(read_table(write(text), columns=Columns(metric="Loss"))) == {("i1", "a"): [2], ("i1", "b"): [3]}
    with pytest.raises(InvalidData, match=r"must be one of 'accuracy', 'loss', got 'time'"):
        read_table(write(text), columns=Columns(metric="time"))


def test_several_columns_of_values_are_asked_for_and_metric_or_value_chooses(write):
    text = "algorithm,instance,accuracy,time\na,i1,1,9\nb,i1,2,8\n"
    with pytest.raises(InvalidData, match=r"'accuracy', 'time'.*--value"):
        read_table(write(text))
    chosen = {("i1", "a"): [9], ("i1", "b"): [8]}
    assert cells(read_table(write(text), columns=Columns(value="time"))) == chosen
    assert cells(read_table(write(text), columns=Columns(metric="time"))) == chosen


def test_a_metric_that_is_not_there_is_refused(write):
    with pytest.raises(InvalidData, match="no column of metrics"):
        read_table(write(LONG), columns=Columns(metric="loss"))


def test_two_columns_that_could_name_the_algorithm_are_asked_for(write):
    with pytest.raises(InvalidData, match=r"--algorithm solver.*--algorithm solver,config"):
        read_table(write("solver,config,instance,time\na,x,i1,1\n"))


# Bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n  \n", "is empty"),
        ("algorithm,instance,value\n", "holds no run"),
        ("algorithm,instance,comment\na,i1,good\n", "no column holds numbers"),
        ("dataset,note\ni1,good\n", "none does: the columns are 'dataset', 'note'"),
        ("just one column\n1\n2\n", "no column names the algorithm"),
        ("instance,value\ni1,1\n", "no column names the algorithm"),
        ("algorithm,value\na,1\n", "no column names the instance"),
        ("1,2\n3,4\n", "no column names the instance"),
        ("algorithm,instance,value\na,i1,1\nb,i1,oops\n", "line 3 of runs.csv must hold a number in column 'value'"),
        ("algorithm,instance,value\n\n\na,i1,1\nb,i1,x\nb,i1,y\n", r"line 5 .* got 'x' \(and 1 more rows\)"),
        ("dataset,a,b\ni1,1,2\ni2,3,four\n", "line 3 of runs.csv must hold a number in column 'b', got 'four'"),
        ("algorithm,instance,value\na,i1,1\n,i1,2\n", "line 3 of runs.csv must hold a name in column 'algorithm'"),
        ("algorithm,instance,value\na,i1,TRUE\n", "must hold a number"),
        ("algorithm,instance,value\na,i1,1,2\nb,i1,2,3,4\n", "cannot be read as CSV"),
        ("algorithm,instance,value\na,i1,1,2,3\nb,i1,2,3,4\n", "cannot be read as CSV"),
        ("algorithm,instance,value\na,i1\nb,i1,2\n,,\n,i1,3\n", "line 5 of runs.csv must hold a name"),
        ("algorithm,instance,value,value\na,i1,1,2\n", "more than one column called 'value'"),
        ("algorithm,instance,run,value\na,i1,1,5\nb,i1,1,5\na,i1,1,6\n", r"line 2 of runs.csv and line 4 both hold"),
        ("@relation r\n@attribute algorithm string\n@data\na,b\n", "line 4 of runs.csv must hold 1 cells"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_used_is_refused_in_one_sentence(write, text, message):
    with pytest.raises(InvalidData, match=message) as caught:
        read_table(write(text))
    assert "\n" not in str(caught.value)


def test_duplicates_that_another_column_explains_name_it(write):
    text = "algorithm,instance,run,budget,value\na,i1,1,100,5\na,i1,1,200,6\n"
    with pytest.raises(InvalidData, match=r"--where budget=100.*--instance instance,budget"):
        read_table(write(text))


def test_steps_within_runs_are_not_taken_for_runs(write):
    rows = [f"a,i1,{run},{step},{100 - step}" for run in (1, 2) for step in range(0, 500, 10)]
    path = write("algorithm,instance,run,iteration,value\n" + "\n".join(rows))
    with pytest.raises(InvalidData, match=r"take the last ones: --where iteration=490"):
        read_table(path)
    assert cells(read_table(path, where={"iteration": "490"})) == {("i1", "a"): [-390, -390]}


def test_an_iteration_numbers_the_runs_when_nothing_else_does(write):
    assert cells(read_table(write("algorithm,instance,iteration,value\na,i1,1,5\na,i1,2,6\n"))) == {("i1", "a"): [5, 6]}


def test_an_option_that_names_no_column_lists_the_columns(write):
    with pytest.raises(InvalidData, match=r"--value must name a column, got 'v'.*'Observation'"):
        read_table(write(LONG), columns=Columns(value="v"))


def test_a_wrong_encoding_names_the_line_and_the_option(write):
    text = "algorithm,instance,value\na,i1,1\nGrün,i1,2\n"
    path = write(text, encoding="cp1252")
    with pytest.raises(InvalidData, match=r"line 3 of runs.csv is not UTF-8.*--encoding cp1252"):
        read_table(path)
    assert read_table(path, encoding="cp1252").runs.algorithms == ("a", "Grün")
    assert read_table(write(text, encoding="utf-16")).runs.algorithms == ("a", "Grün")
    with pytest.raises(InvalidData, match="not a text encoding"):
        read_table(path, encoding="klingon")


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\x80\x04\x95", b"\x89HDF", b"\x7fELF\0\0"])
def test_files_that_are_no_tables_are_refused(write, start):
    with pytest.raises(InvalidData, match=r"save|unpack"):
        read_table(write(start + bytes(range(1, 200)) + b"\n"))


def test_a_broken_archive_and_a_missing_file_are_refused(write, tmp_path):
    whole = gzip.compress(LONG.encode() * 100)
    with pytest.raises(InvalidData, match="cannot be read"):
        read_table(write(whole[:-12], "x.csv.gz"))
    with pytest.raises(InvalidData, match="cannot be read"):
        read_table(write(whole[:30] + bytes(20) + whole[50:], "y.csv.gz"))
    with pytest.raises(InvalidData, match="does not exist"):
        read_table(tmp_path / "nothing.csv")
    with pytest.raises(InvalidData, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(InvalidData, match="as Parquet"):
        read_table(write(b"PAR1 not really", "x.parquet"))


def test_a_small_file_that_unpacks_to_two_gigabytes_is_refused_without_filling_the_memory(tmp_path):
    import tracemalloc

    path = tmp_path / "bomb.csv.gz"
    header, block = b"algorithm,instance,value\n", gzip.compress(b"a,i1,0.000000\n" * 2**22)
    path.write_bytes(gzip.compress(header) + block * (2**31 // (14 * 2**22) + 1))
    tracemalloc.start()
    with pytest.raises(InvalidData, match="unpacks to more than 512 MB"):
        read_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size < 5e6
    assert peak < 32 * 2**20


def test_a_line_without_end_is_refused(write):
    with pytest.raises(InvalidData, match="line of over a megabyte"):
        read_table(write(gzip.compress(b"x" * 2**22), "x.csv.gz"))


def test_a_parquet_file_too_large_for_the_memory_is_refused_by_its_footer(tmp_path):
    pd.DataFrame({"algorithm": "a", "instance": "i", "value": np.zeros(10_000)}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(InvalidData, match="unpacks to more than"):
        read_table(tmp_path / "x.parquet", limit=50_000)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"algorithm": ["a"], "instance": ["i"], "value": [1.0]}).to_parquet(path)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"ampler\[parquet\]"):
        read_table(path)


def test_a_data_frame_with_text_names_the_row():
    frame = pd.DataFrame({"algorithm": ["a", "b"], "instance": ["i", "i"], "value": ["1", "x"]})
    with pytest.raises(InvalidData, match="row 1 of the data frame must hold a number"):
        read_table(frame)
    with pytest.raises(InvalidData, match="path or a data frame, got int"):
        read_table(3)
    with pytest.raises(InvalidData, match="several levels"):
        read_table(pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "y")])))


# Laws

NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=8).filter(
    lambda name: name.strip() == name and name
)


@settings(max_examples=40)
@given(
    algorithms=st.lists(NAMES, min_size=2, max_size=4, unique=True),
    instances=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    data=st.data(),
)
def test_what_is_written_as_csv_is_read_back_exactly(tmp_path_factory, algorithms, instances, data):
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    rows = [(a, i, data.draw(numbers)) for a in algorithms for i in instances]
    frame = pd.DataFrame(rows, columns=["algorithm", "instance", "value"])
    path = tmp_path_factory.mktemp("law") / "runs.csv"
    frame.to_csv(path, index=False)
    expected = {(i, a): [value] for a, i, value in rows}
    assert cells(read_table(path)) == expected
    assert cells(read_table(frame)) == expected


@given(st.binary(max_size=300))
def test_any_bytes_give_a_table_or_one_sentence(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("law") / "runs.csv"
    path.write_bytes(content)
    try:
        outcome = str(len(read_table(path).runs))
    except InvalidData as problem:
        outcome = str(problem)
    assert "\n" not in outcome


# Public data


@pytest.mark.parametrize(
    ("name", "options", "runs", "instances", "algorithms"),
    [
        ("paper_experiment1_runs.csv", {}, 23271, 57, 22),
        ("demsar2006_table6.csv", {}, 56, 14, 4),
        ("cd_diagram_example.csv", {}, 75, 15, 5),
        ("saes_ml_data.csv", {"columns": Columns(metric="accuracy")}, 240, 3, 4),
        ("ioh_dsl_large_final.csv", {}, 3025, 23, 12),
        ("cec17_extended_final.csv.gz", {}, 76908, 116, 13),
        ("cec17_extended_final.csv.gz", {"where": {"dimension": "30"}}, 19227, 29, 13),
        ("aslib_CPMP-2015.csv", {}, 2108, 527, 4),
        ("aslib_CSP-2010.csv", {}, 4048, 2024, 2),
        ("benavoli2017_accuracies_mean.csv", {}, 270, 54, 5),
    ],
)
def test_public_data_are_read_whole(public_data, name, options, runs, instances, algorithms):
    found = read_table(public_data / name, **options).runs
    assert (len(found), len(found.instances), len(found.algorithms)) == (runs, instances, algorithms)


def test_public_data_say_what_is_special_about_them(public_data):
    assert read_table(public_data / "ioh_dsl_large_final.csv").better == "higher"
    assert set(read_table(public_data / "cec17_extended_final.csv.gz").features) == {"Dimension"}
    status = read_table(public_data / "aslib_CPMP-2015.csv").runs.status
    assert np.bincount(status, minlength=4).tolist() == [1526, 371, 211, 0]
    with pytest.raises(InvalidData, match=r"'accuracy', 'loss'"):
        read_table(public_data / "saes_ml_data.csv")
