"""How a run ended, in the words of many tables."""

from __future__ import annotations

import math
import re

import pytest

from ampler.core.arrays import STATUSES
from ampler.core.errors import InvalidData
from ampler.data.tables import Columns, read_table


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


def test_a_status_nobody_knows_is_asked_about_unless_it_is_the_same_everywhere(write):
    text = "algorithm,instance,value,state\na,i1,1,blue\nb,i1,2,red\n"
    with pytest.raises(InvalidData, match=r"column 'state' must hold words such as ok.*'blue', 'red'.*ignore=.state."):
        read_table(write(text))
    assert read_table(write(text), columns=Columns(ignore=("state",))).runs.ok.all()
    table = read_table(write(text.replace("red", "blue")))
    assert table.runs.ok.all()
    assert "'blue'" in table.notes[0]


@pytest.mark.parametrize(
    ("name", "fine", "failed"),
    [
        ("category", "correct", "wrong"),
        ("verified", "true", "false"),
        ("timed_out", "False", "True"),
        ("error", "", "Exception"),
        ("outcome", "finished", "out of memory"),
    ],
)
def test_a_column_of_any_name_that_calls_runs_failed_is_asked_about(write, name, fine, failed):
    rows = [(solver, f"i{k}", failed if solver == "a" and k == 1 else fine) for solver in "ab" for k in range(4)]
    text = f"solver,instance,time,{name}\n" + "".join(f"{a},{i},{n}.5,{end}\n" for n, (a, i, end) in enumerate(rows))
    with pytest.raises(InvalidData, match=f"column '{name}' holds .* and may tell how runs ended"):
        read_table(write(text))
    assert read_table(write(text), columns=Columns(ignore=(name,))).runs.ok.all()
    by_instance = "".join(f"{a},{i},{n}.5,{i in 'i1 i2'}\n" for n, (a, i, _) in enumerate(rows))
    assert read_table(write(f"solver,instance,time,expected\n{by_instance}")).runs.ok.all()


@pytest.mark.parametrize("column", ["time", "Runtime (s)", "CPU time"])
def test_a_negative_time_is_refused_unless_the_run_failed(write, column):
    with pytest.raises(InvalidData, match=f"line 3 of runs.csv holds -1 as .{re.escape(column)}., and no time"):
        read_table(write(f"algorithm,instance,{column}\na,i1,1\nb,i1,-1\n"))
    failed = read_table(write(f"algorithm,instance,{column},status\na,i1,1,ok\nb,i1,-1,timeout\n"))
    assert failed.runs.ok.tolist() == [True, False]
    assert read_table(write("algorithm,instance,cost\na,i1,1\nb,i1,-1\n")).runs.value.tolist() == [1, -1]
