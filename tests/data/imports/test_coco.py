"""Folders of COCO. Each file was written by the tool itself (versions in docs/other-tools.md)."""

from __future__ import annotations

import shutil
from pathlib import Path

import ampler as am
from ampler.data.tables import Columns, read_table

FILES = Path(__file__).parent / "files"


def test_coco_has_functions_and_dimensions_as_instances_with_all_digits(values_of):
    table = read_table(FILES / "coco")
    assert table.runs.algorithms == ("local", "rs")
    assert table.runs.instances[:2] == ("f1, dimension=2", "f1, dimension=3")
    assert len(table.runs) == 2 * 3 * 2 * 3
    values = values_of(table, "rs", "f1, dimension=2")
    assert values[0] == 1.179524840  # the last line of the first trial; the .info file says 1.2e+00
    assert [f"{value:.1e}" for value in values] == ["1.2e+00", "6.0e-03", "4.2e-01"]
    assert table.direction.better == "lower"
    assert "COCO's instances of a function are runs" in table.summary
    assert set(table.features) == {"function", "dimension"}


def test_coco_without_its_data_files_has_the_digits_of_the_info_files(copied, values_of):
    folder = copied("coco")
    shutil.rmtree(folder / "rs" / "data_f1")
    assert values_of(read_table(folder), "rs", "f1, dimension=2") == [1.2, 0.006, 0.42]


def test_instances_of_coco_can_be_paired_and_evaluations_compared():
    analysis = am.analyse(
        am.read_results(FILES / "coco", paired="coco instance", where={"dimension": 2}), difference="simple"
    )
    assert analysis.instances == 3
    assert analysis.settings.paired == "coco instance"
    assert set(read_table(FILES / "coco", columns=Columns(value="evaluations")).runs.value.tolist()) == {60.0}


def test_algorithms_of_coco_that_call_themselves_the_same_have_the_names_of_their_folders(copied):
    folder = copied("coco")
    for path in folder.rglob("*.info"):
        path.write_text(path.read_text().replace("'rs'", "'ALG'").replace("'local'", "'ALG'"))
    assert read_table(folder).runs.algorithms == ("local", "rs")


def test_a_data_file_outside_the_folder_is_not_read(copied, values_of):
    folder = copied("coco")
    secret = folder.parent / "secret.dat"
    secret.write_text("% x\n1 0 +1.19e+00 0 0\n% x\n1 0 6.0e-03 0 0\n% x\n1 0 4.2e-01 0 0\n")
    info = folder / "rs" / "bbobexp_f1.info"
    info.write_text(info.read_text().replace("data_f1/bbobexp_f1_DIM2.dat", "../../secret.dat"))
    assert values_of(read_table(folder), "rs", "f1, dimension=2") == [1.2, 0.006, 0.42]
