"""A table of known shape as runs: order, attempts, features, what tells runs apart."""

from __future__ import annotations

import pandas as pd
import pytest

import ampler as am
from ampler.core.arrays import STATUSES
from ampler.core.errors import InvalidData
from ampler.data.tables import Columns, read_table
from ampler.data.tables.shapes import Direction

LONG = """Algorithm,Instance,Observation
a,i1,1.5
b,i1,2.5
a,i2,3
b,i2,4
"""


def test_runs_side_by_side_are_runs_and_an_empty_cell_is_none(write, cells):
    text = "algorithm,problem,run.1,run.2,run.3\na,i1,1,2,3\nb,i1,4,5,\n"
    assert cells(read_table(write(text))) == {("i1", "a"): [1, 2, 3], ("i1", "b"): [4, 5]}


def test_rows_of_the_same_instance_in_a_wide_table_are_runs(write, cells):
    text = "dataset,a,b\ni1,1,2\ni1,3,4\n"
    assert cells(read_table(write(text))) == {("i1", "a"): [1, 3], ("i1", "b"): [2, 4]}


def test_runs_stand_in_the_order_of_their_numbers_and_names_in_that_of_the_file(write, cells):
    text = "algorithm,instance,run,value\nb,i2,10,1\nb,i2,9,2\na,i1,2,3\na,i1,1,4\n"
    table = read_table(write(text))
    assert cells(table) == {("i2", "b"): [2, 1], ("i1", "a"): [4, 3]}
    assert (table.runs.algorithms, table.runs.instances) == (("b", "a"), ("i2", "i1"))


def test_the_last_attempt_of_an_exported_study_counts(write):
    text = (
        "instance,algorithm,index,attempt,round,seed,value,seconds,status,message\n"
        "i1,a,0,0,0,5,,0.1,lost,worker died\ni1,a,0,1,0,5,7.5,0.1,ok,\ni1,b,0,0,0,6,,0.1,timeout,\n"
    )
    runs = read_table(write(text)).runs
    assert runs.value[0] == 7.5
    assert [STATUSES[code] for code in runs.status] == ["ok", "timeout"]


def test_function_instance_and_dimension_name_a_problem_together(write):
    rows = [f"a,{f},{i},{d},suite{f},{f + i + d}" for f in (1, 2) for i in (1, 2) for d in (5, 20)]
    table = read_table(write("algorithm,function,instance,dim,suite,value\n" + "\n".join(rows)))
    assert table.runs.instances[:2] == ("1, instance=1, dim=5", "1, instance=1, dim=20")
    assert len(table.runs.instances) == 8
    assert set(table.features) == {"function", "instance", "dim", "suite"}
    assert table.features["dim"]["2, instance=1, dim=20"] == 20
    assert "not an independent instance" in table.notes[0]


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
    ("text", "said"),
    [
        ("classifier,dataset,Accuracy\na,i1,1\n", ("higher", "the name 'Accuracy'")),
        ("classifier,dataset,error\na,i1,1\n", ("lower", "the name 'error'")),
        ("algorithm,instance,metric,value\na,i1,AUC,1\n", ("higher", "the name 'AUC'")),
        ("algorithm,instance,metric,value\na,i1,blue,1\n", None),
        ("algorithm,instance,fitness\na,i1,1\n", None),
        ("dataset,one,two\ni1,1,2\n", None),
        (LONG, None),
    ],
)
def test_the_name_of_the_values_says_what_is_better_or_nothing_does(write, text, said):
    found = read_table(write(text)).direction
    assert (None if found is None else (found.better, found.source)) == said


def test_maximize_says_that_higher_is_better(write):
    text = "algorithm,func,finalFV,maximize\na,1,3,TRUE\nb,1,4,TRUE\n"
    assert read_table(write(text)).direction == Direction("higher", "column 'maximize'")
    assert read_table(write(text.replace("TRUE", "FALSE"))).direction == Direction("lower", "column 'maximize'")


def test_several_metrics_are_asked_for(write, cells):
    text = (
        "Algorithm,Instance,MetricName,ExecutionId,MetricValue\n"
        "a,i1,accuracy,1,0.5\na,i1,loss,1,2\nb,i1,accuracy,1,0.6\nb,i1,loss,1,3\n"
    )
    with pytest.raises(InvalidData, match=r"'accuracy', 'loss'.*metric="):
        read_table(write(text))
    assert cells(read_table(write(text), columns=Columns(metric="Loss"))) == {("i1", "a"): [2], ("i1", "b"): [3]}
    with pytest.raises(InvalidData, match=r"must be one of 'accuracy', 'loss', got 'time'"):
        read_table(write(text), columns=Columns(metric="time"))


def test_duplicates_that_another_column_explains_name_it(write):
    text = "algorithm,instance,run,budget,value\na,i1,1,100,5\na,i1,1,200,6\n"
    with pytest.raises(InvalidData, match=r'where={"budget": "100"}.*instance=\["instance", "budget"\]'):
        read_table(write(text))


def test_steps_within_runs_are_not_taken_for_runs(write, cells):
    rows = [f"a,i1,{run},{step},{100 - step}" for run in (1, 2) for step in range(0, 500, 10)]
    path = write("algorithm,instance,run,iteration,value\n" + "\n".join(rows))
    with pytest.raises(InvalidData, match=r'take the last ones: where={"iteration": "490"}'):
        read_table(path)
    assert cells(read_table(path, where={"iteration": "490"})) == {("i1", "a"): [-390, -390]}


def crossed(column, levels):
    rows = [(a, i, level, 1.0 + k) for a in "ab" for i in ("i1", "i2") for k, level in enumerate(levels)]
    return pd.DataFrame(rows, columns=["model", "dataset", column, "score"])


@pytest.mark.parametrize(
    ("column", "levels"), [("learning_rate", [0.1, 0.01]), ("task", ["cls", "reg"]), ("prompt", ["short", "long"])]
)
def test_rows_that_a_setting_tells_apart_are_no_runs_unless_the_user_says_so(column, levels):
    frame = crossed(column, levels)
    with pytest.raises(
        InvalidData, match=rf"column '{column}' distinguishes them.*where={{\"{column}\": .*ignore=\"{column}\""
    ):
        read_table(frame)
    assert len(read_table(frame, where={column: str(levels[0])}).runs) == 4
    assert len(read_table(frame, columns=Columns(ignore=(column,))).runs) == 8
    assert len(read_table(frame, columns=Columns(instance=("dataset", column))).runs.instances) == 4


@pytest.mark.parametrize("column", ["epoch", "step", "generation"])
def test_moments_of_one_run_are_no_runs(column):
    frame = crossed(column, [1, 2, 3]).drop(index=2)  # one of them ended earlier
    with pytest.raises(
        InvalidData, match=rf"column '{column}' counts steps within a run.*where={{\"{column}\": \"3\"}}"
    ):
        read_table(frame)


@pytest.mark.parametrize("column", ["attempt", "seed", "trial", "rep", "fold", "draw"])
def test_what_numbers_the_runs_is_known(column):
    assert len(read_table(crossed(column, [1, 2, 3])).runs) == 12


def test_attempts_that_succeeded_and_runs_with_numbers_are_asked_about():
    frame = crossed("attempt", [1, 2]).assign(run=1)
    with pytest.raises(InvalidData, match="several attempts"):
        read_table(frame)


def test_true_and_false_are_one_and_zero_where_they_mean_success():
    frame = crossed("trial", [1, 2]).assign(score=[True, False] * 4).rename(columns={"score": "passed"})
    table = read_table(frame)
    assert table.runs.value.tolist() == [1.0] * 4 + [0.0] * 4
    assert table.direction == Direction("higher", "the name 'passed'")


@pytest.mark.parametrize(("name", "remedy"), [("process", "nested"), ("day", "crossed")])
@pytest.mark.parametrize("numbered", [False, True])
def test_runs_of_one_process_or_day_are_no_runs_unless_the_user_says_so(name, remedy, numbered):
    rows = [
        (f"i{i}", algorithm, f"{name}{group}" + (f"{i}{algorithm}" if name == "process" else ""), 2 * group + k, i + k)
        for i in range(4)
        for algorithm in "ab"
        for group in range(3)
        for k in range(2)
    ]
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", name, "run", "value"])
    frame = frame if numbered else frame.drop(columns="run")
    with pytest.raises(InvalidData, match=f'{remedy}="{name}".*ignore="{name}"'):
        am.read_results(frame)
    assert len(am.read_results(frame, ignore=name).runs) == len(rows)
    assert len(am.read_results(frame, **{remedy: name}).runs) in (len(rows), len(rows) // 2)
