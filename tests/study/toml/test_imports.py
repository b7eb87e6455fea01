"""Python objects that a study file names."""

from __future__ import annotations

from ampler.study.toml import read_study_file

STUDY = """better = "lower"
difference = "simple"
se = 0.5
algorithm = [{ name = "a", python = "solvers:anneal" }, { name = "b", command = "solve {seed} {instance}" }]
instances = { names = ["i1", "i2", "i3"], use = "all" }
"""


def test_the_folder_of_the_study_comes_first_on_the_import_path(read, folder, tmp_path_factory):
    """Also when another study's module of that name has been imported before."""
    other = tmp_path_factory.mktemp("other")
    (other / "solvers.py").write_text("def anneal(instance, seed):\n    return 2.0\n")
    (other / "study.toml").write_text(STUDY)
    assert read(STUDY).plan.algorithms[0].call(None, 1) == 1.0
    assert read_study_file(other / "study.toml").plan.algorithms[0].call(None, 1) == 2.0
    assert read(STUDY).plan.algorithms[0].call(None, 1) == 1.0
