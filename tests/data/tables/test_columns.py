"""Which column is what: found by its name, or said."""

from __future__ import annotations

import pytest

from ampler.core.errors import InvalidData
from ampler.core.text import render_for_python
from ampler.data.tables import Columns, read_table

LONG = """Algorithm,Instance,Observation
a,i1,1.5
b,i1,2.5
a,i2,3
b,i2,4
"""


def test_columns_can_be_said_and_are_found_without_regard_to_case(write, cells):
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


def test_several_columns_of_values_are_asked_for_and_metric_or_value_chooses(write, cells):
    text = "algorithm,instance,accuracy,time\na,i1,1,9\nb,i1,2,8\n"
    with pytest.raises(InvalidData, match=r"'accuracy', 'time'.*value="):
        read_table(write(text))
    chosen = {("i1", "a"): [9], ("i1", "b"): [8]}
    assert cells(read_table(write(text), columns=Columns(value="time"))) == chosen
    assert cells(read_table(write(text), columns=Columns(metric="time"))) == chosen


def test_a_metric_that_is_not_there_is_refused(write):
    with pytest.raises(InvalidData, match="no column of metrics"):
        read_table(write(LONG), columns=Columns(metric="loss"))


def test_two_columns_that_could_name_the_algorithm_are_asked_for(write):
    with pytest.raises(InvalidData, match=r'algorithm="solver".*algorithm=\["solver", "config"\]'):
        read_table(write("solver,config,instance,time\na,x,i1,1\n"))


def test_an_iteration_numbers_the_runs_when_nothing_else_does(write, cells):
    assert cells(read_table(write("algorithm,instance,iteration,value\na,i1,1,5\na,i1,2,6\n"))) == {("i1", "a"): [5, 6]}


def test_an_option_that_names_no_column_lists_the_columns(write):
    with pytest.raises(InvalidData, match=r"value must name a column, got 'v'.*'Observation'"):
        read_table(write(LONG), columns=Columns(value="v"))


# wide tables: what describes an instance is no algorithm ------------------------------------------------------------

DESCRIBED = "dataset,Size,Radius,n,old,new\ni1,100,0.5,7,1.5,2\ni2,200,0.25,8,3,4\ni3,100,0.5,9,2,3\ni4,200,0.5,7,5,6\n"


def test_numbers_that_describe_the_instance_are_groups_and_no_algorithms(write):
    table = read_table(write(DESCRIBED))
    assert table.runs.algorithms == ("old", "new")
    assert table.features["Size"] == {"i1": 100, "i2": 200, "i3": 100, "i4": 200}
    assert "columns 'old', 'new' are taken as algorithms, 'dataset' as the instance" in table.summary
    assert "'Size', 'Radius', 'n' describe it; choose with algorithms or ignore" in render_for_python(table.summary)


def test_a_short_name_is_an_algorithm_where_it_holds_results(write):
    table = read_table(write("dataset,n,m\ni1,1.5,2\ni2,3,4.25\n"))
    assert table.runs.algorithms == ("n", "m")


def test_what_the_user_calls_an_algorithm_is_one(write):
    table = read_table(write(DESCRIBED), columns=Columns(algorithms=("Size", "old")))
    assert table.runs.algorithms == ("Size", "old")


def test_the_algorithms_of_a_long_table_can_be_chosen_too(write, cells):
    table = read_table(write(LONG + "c,i1,7\nc,i3,8\n"), columns=Columns(algorithms=("c", "a")))
    assert cells(table) == {("i1", "a"): [1.5], ("i2", "a"): [3], ("i1", "c"): [7], ("i3", "c"): [8]}
    assert table.runs.instances == ("i1", "i2", "i3")
    with pytest.raises(InvalidData, match=r"algorithms must name algorithms, got 'z': there are 'a', 'b'"):
        read_table(write(LONG), columns=Columns(algorithms=("z",)))


def test_ignored_columns_are_as_if_they_were_not_there(write):
    table = read_table(write("dataset,parameter,old,new\ni1,5,1,2\ni2,6,3,4\n"), columns=Columns(ignore=("Parameter",)))
    assert table.runs.algorithms == ("old", "new")
    assert table.features == {}
    with pytest.raises(InvalidData, match="ignore must name a column, got 'x'"):
        read_table(write(DESCRIBED), columns=Columns(ignore=("x",)))


@pytest.mark.parametrize("name", ["model", "Model name", "agent", "policy"])
def test_other_common_names_of_the_algorithm_are_known(write, name):
    assert read_table(write(f"{name},task,score\na,i1,1\nb,i1,2\n")).runs.algorithms == ("a", "b")


def test_a_common_name_beside_a_plain_one_is_not_the_algorithm(write):
    assert read_table(write("algorithm,model,task,score\na,x,i1,1\nb,x,i1,2\n")).runs.algorithms == ("a", "b")


def test_algorithms_that_are_not_compared_describe_nothing(write):
    text = "dataset,size,a,b,c\ni1,1,1,2,5\ni2,1,3,4,6\ni3,2,3,5,6\ni4,2,4,4,5\n"
    table = read_table(write(text), columns=Columns(algorithms=("a", "b")))
    assert set(table.features) == {"size"}
    assert "'size' describes it" in table.summary


def test_a_column_that_pairs_is_looked_for_among_those_of_the_file(write):
    with pytest.raises(InvalidData, match=r"paired must name a column, got 'x': the columns are 'dataset', 'fold'$"):
        read_table(write("dataset,fold,a,b\ni1,1,1,2\ni2,1,3,4\n"), columns=Columns(paired=("x",)))
