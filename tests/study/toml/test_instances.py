"""Where instances come from: names, files and Python objects."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ampler.study.record import fingerprint
from ampler.study.toml import read_study_file

STUDY = """better = "lower"
difference = "simple"
se = 0.5
algorithm = [{ name = "a", command = "a {seed} {instance}" }, { name = "b", command = "b {seed} {instance}" }]

[instances]
use = "all"
"""


def instances(text):
    return STUDY + text


def test_files_are_named_by_their_relative_path_and_known_by_their_content(read, folder):
    (folder / "instances" / "deep").mkdir()
    (folder / "instances" / "deep" / "x y.dat").write_text("x")
    plan = read(instances('files = ["instances/1*.txt", "instances/**/*.dat", "instances/1.txt"]')).plan
    by_name = {instance.name: instance for instance in plan.instances}
    assert sorted(by_name) == ["instances/1.txt", "instances/10.txt", "instances/deep/x y.dat"]
    one = by_name["instances/1.txt"]
    assert one.path == one.text == str(folder / "instances" / "1.txt")
    assert one.sha256 == hashlib.sha256(b"1\n").hexdigest()


def test_a_study_that_is_moved_is_the_same_study_and_one_with_another_file_is_not(read, folder, tmp_path_factory):
    text = instances('files = "instances/*.txt"')
    here = fingerprint(read(text).plan)
    there = tmp_path_factory.mktemp("moved")
    for path in [folder / "study.toml", *(folder / "instances").iterdir()]:
        target = there / path.relative_to(folder)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    assert fingerprint(read_study_file(there / "study.toml").plan) == here
    (there / "instances" / "1.txt").write_text("other")
    assert fingerprint(read_study_file(there / "study.toml").plan) != here


def test_files_outside_the_folder_have_a_name_too(read, folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "study.toml").write_text(instances('files = "../instances/*.txt"'))
    plan = read_study_file(folder / "inner" / "study.toml").plan
    assert min(instance.name for instance in plan.instances) == "../instances/1.txt"
    assert Path(plan.instances[0].path).parent == folder / "instances"


@pytest.mark.parametrize("attribute", ["small", "large"])
def test_objects_come_from_a_python_mapping_or_from_what_a_function_returns(read, attribute):
    plan = read(instances(f'python = "problems:{attribute}"')).plan
    data = {instance.name: instance.data for instance in plan.instances}
    assert data == {"x": 1, "y": [2]} | ({"z": 3} if attribute == "large" else {})
