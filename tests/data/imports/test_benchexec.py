"""BenchExec's results. Each file was written by the tool itself (versions in docs/other-tools.md)."""

from __future__ import annotations

import bz2
from collections import Counter
from pathlib import Path

import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.core.failures import KINDS
from ampler.data.tables import Columns, read_table

FILES = Path(__file__).parent / "files"


def test_benchexec_has_run_definitions_as_algorithms_and_failures_as_failures(values_of):
    table = read_table(FILES / "benchexec")
    assert table.runs.algorithms == ("quick", "slow")
    assert table.runs.instances == ("../in/t1.txt", "../in/t2.txt", "../in/t3.txt")
    assert values_of(table, "quick", "../in/t1.txt") == [0.003635215]
    assert table.runs.failures() == {("quick", "failed"): 1, ("slow", "failed"): 1}
    walltime = read_table(FILES / "benchexec", columns=Columns(value="walltime"))
    assert values_of(walltime, "quick", "../in/t1.txt") == [0.08282859999962966]
    assert walltime.direction.better == "lower"


def test_one_file_of_benchexec_is_read_packed_and_unpacked(tmp_path):
    packed = next((FILES / "benchexec").glob("*quick*"))
    plain = tmp_path / "results.xml"
    plain.write_bytes(bz2.decompress(packed.read_bytes()))
    assert read_table(packed).runs.value.tolist() == read_table(plain).runs.value.tolist()


def test_a_timeout_of_benchexec_is_a_timeout(tmp_path):
    text = bz2.decompress(next((FILES / "benchexec").glob("*quick*")).read_bytes()).decode()
    path = tmp_path / "results.xml"
    path.write_text(text.replace("ERROR (1)", "TIMEOUT"))
    assert read_table(path).runs.failures() == {("Adder quick", "timeout"): 1}


# Made by BenchExec 3.35: "quick" answers wrongly at once on four of eight tasks, "slow" reaches its limit of 1 s, at
# 1.4 s, on two. The description of the machine is taken out.
LIMITED = FILES / "benchexec-limit"


def test_a_wrong_answer_of_benchexec_counts_as_its_time_limit_and_is_not_rewarded():
    table = read_table(LIMITED)
    assert table.runs.failures() == {("quick", "failed"): 4, ("slow", "timeout"): 2}
    assert table.time_limit == 1.0
    analysis = ampler.analyse(ampler.read_results(LIMITED, on_failure="par=10"), difference="simple")
    assert analysis.settings.failures == ampler.Par(10, 1.0)
    means = dict(zip(("quick", "slow"), analysis.statistics.mean(axis=0), strict=True))
    assert means["quick"] == pytest.approx((4 * 10.0 + 0.0118) / 8, abs=1e-3)
    assert means["slow"] == pytest.approx((2 * 10.0 + 0.1321) / 8, abs=1e-3)
    assert "quick is better" not in str(analysis)
    for source in (LIMITED, sorted(LIMITED.iterdir())):
        ends = Counter(ampler.read_results(source, on_failure="par=10").runs.kinds.tolist())
        assert ends == {0: 10, KINDS.index("wrong"): 4, KINDS.index("timeout"): 2}


def test_limits_that_differ_are_asked_about(tmp_path):
    for number, packed in enumerate(sorted(LIMITED.iterdir())):
        text = bz2.decompress(packed.read_bytes()).decode()
        name = packed.name.removesuffix(".bz2")
        (tmp_path / name).write_text(text.replace('timelimit="1s"', f'timelimit="{number + 1}s"'))
    with pytest.raises(InvalidInput, match="specify it"):
        ampler.analyse(
            ampler.read_results(tmp_path, on_failure="par=10", value="walltime"), difference="simple", better="lower"
        )
