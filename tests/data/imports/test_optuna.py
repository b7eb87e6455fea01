"""Optuna's studies. Each file was written by the tool itself (versions in docs/other-tools.md)."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

import ampler as am
from ampler.core.errors import InvalidData
from ampler.data.tables import Columns, read_table

FILES = Path(__file__).parent / "files"


@pytest.fixture
def optuna_file(tmp_path):
    path = tmp_path / "optuna.db"
    path.write_bytes(lzma.decompress((FILES / "optuna.db.xz").read_bytes()))
    return path


def test_studies_of_optuna_are_runs_of_what_their_attributes_name(optuna_file, values_of):
    stored, journal = read_table(optuna_file), read_table(FILES / "optuna.log")
    for table in (stored, journal):
        assert (table.runs.algorithms, table.runs.instances) == (("random", "tpe"), ("sphere", "shifted"))
        assert len(table.runs) == 8
        assert values_of(table, "tpe", "shifted") == [3.0007636247313334, 6.348094676306484]  # Optuna's best_value
        assert table.direction.better == "lower"
    assert stored.runs.value.tolist() == journal.runs.value.tolist()


def test_an_optuna_file_is_no_study_file_and_is_left_as_it_is(optuna_file):
    before = optuna_file.read_bytes()
    analysis = am.analyse(optuna_file, difference="simple")
    assert analysis.runs == 8
    assert optuna_file.read_bytes() == before
    assert [path.name for path in optuna_file.parent.iterdir()] == ["optuna.db"]


def test_studies_of_optuna_without_known_attributes_are_asked_about(tmp_path):
    path = tmp_path / "journal.log"
    path.write_text((FILES / "optuna.log").read_text().replace('"problem"', '"colour"'))
    with pytest.raises(InvalidData, match=r"need attributes for algorithm and instance.*'sampler', 'colour'"):
        read_table(path)
    assert read_table(path, columns=Columns(instance=("colour",))).runs.instances == ("sphere", "shifted")
