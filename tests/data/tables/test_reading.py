"""Readers of results: every shape people have, and every way in which a table can be wrong."""

import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidData
from ampler.data.tables import Columns, read_table

LONG = """Algorithm,Instance,Observation
a,i1,1.5
b,i1,2.5
a,i2,3
b,i2,4
"""
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
def test_every_shape_of_the_same_results_gives_the_same_runs(write, text, cells):
    assert cells(read_table(write(text))) == EXPECTED


def test_names_stay_as_they_are_written(write):
    text = 'algorithm,instance,value\nNA,007,1\nNone,"1,5",2\n"(1+(λ,λ)) GA",1e3,3\n'
    runs = read_table(write(text)).runs
    assert runs.algorithms == ("NA", "None", "(1+(λ,λ)) GA")
    assert runs.instances == ("007", "1,5", "1e3")


def test_where_keeps_one_group(write, cells):
    text = "algorithm,problem,dimension,value\na,1,10,1\na,1,30,2\na,2,10,3\na,2,30,4\n"
    table = read_table(write(text), where={"Dimension": "30"})
    assert cells(table) == {("1", "a"): [2], ("2", "a"): [4]}
    with pytest.raises(InvalidData, match=r"has dimension=50; its values are '10', '30'"):
        read_table(write(text), where={"dimension": "50"})


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
    lambda name: name.strip() == name == unicodedata.normalize("NFC", name)
)


@given(
    algorithms=st.lists(NAMES, min_size=2, max_size=4, unique=True),
    instances=st.lists(NAMES, min_size=1, max_size=4, unique=True),
    data=st.data(),
)
def test_what_is_written_as_csv_is_read_back_exactly(tmp_path_factory, algorithms, instances, data, cells):
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
    assert read_table(public_data / "ioh_dsl_large_final.csv").direction.better == "higher"
    assert set(read_table(public_data / "cec17_extended_final.csv.gz").features) == {"Dimension"}
    status = read_table(public_data / "aslib_CPMP-2015.csv").runs.status
    assert np.bincount(status, minlength=4).tolist() == [1526, 371, 211, 0]
    with pytest.raises(InvalidData, match=r"'accuracy', 'loss'"):
        read_table(public_data / "saes_ml_data.csv")


def test_a_frame_with_a_plain_index_has_its_rows_as_instances():
    import pandas as pd

    table = read_table(pd.DataFrame({"old": [1.0, 2.0, 3.0], "new": [1.5, 2.5, 2.0]}))
    assert (table.runs.instances, table.runs.algorithms) == (("0", "1", "2"), ("old", "new"))
    assert "'row' as the instance" in table.summary


def test_rows_of_measures_are_not_taken_for_algorithms():
    import pandas as pd

    with pytest.raises(InvalidData, match="no column names the instance"):
        read_table(pd.DataFrame({"time": [1.0, 2.0], "accuracy": [0.5, 0.6]}))


def test_a_file_in_which_nothing_names_the_instances_is_asked_about(write):
    with pytest.raises(InvalidData, match="no column names the instance"):
        read_table(write("old,new\n1,2\n3,4\n"))


@pytest.mark.parametrize(
    ("name", "algorithms"),
    [
        ("benavoli2017_accuracies_mean.csv", ("nbc", "aode", "hnb", "j48", "j48gr")),
        ("demsar2006_table6.csv", ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")),
    ],
)
def test_wide_public_data_have_their_algorithms_and_say_so(public_data, name, algorithms):
    table = read_table(public_data / name)
    assert table.runs.algorithms == algorithms
    assert "are taken as algorithms, 'dataset' as the instance" in table.summary
