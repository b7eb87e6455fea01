"""BenchExec's results. Each file was written by the tool itself (versions in docs/other-tools.md)."""

from __future__ import annotations

import bz2
from pathlib import Path

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
