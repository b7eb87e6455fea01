"""Studies to start from: complete, the same every time, and nothing of yours is overwritten."""

from __future__ import annotations

import os
import tomllib

import pytest

from ampler.core.errors import InvalidInput
from ampler.core.settings import choices, help_text
from ampler.study.starters import INSTANCES, PROGRAMS, starter, write_starter
from ampler.study.toml.keys import TABLES

FLAVOURS = list(PROGRAMS)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_comments_name_only_keys_that_exist_and_all_files_are_text(flavour):
    files = starter(flavour)
    study = files["study.toml"]
    document = tomllib.loads("\n".join(_uncommented(study)))

    assert len(document["algorithm"]) == 2
    assert set(document) <= set(TABLES[""])
    assert set(document["algorithm"][1]) <= set(TABLES["[[algorithm]]"])
    for table in ("rule", "run", "instances"):
        assert set(document[table]) <= set(TABLES[f"[{table}]"])
    assert all(line == line.rstrip() and len(line) <= 300 for text in files.values() for line in text.splitlines())
    assert "@" not in study
    comments = " ".join(study.replace("\n", " # ").replace("#", " ").split())
    for name in ("difference", "better", "detect", "test", "alpha", "margin", "pilot", "timeout"):
        assert help_text(name) in comments
        assert ", ".join(choices(name)) in comments or choices(name)[-1] in help_text(name)


def _uncommented(text):
    """The lines of a study, those that are offered in comments too."""
    for line in text.splitlines():
        offered = line.removeprefix("# ")
        yield (
            offered if line.startswith("# ") and " = " in offered and not offered.startswith(("An ", "Other")) else line
        )


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_starter_is_written_whole_and_its_program_can_be_started(flavour, tmp_path):
    names = write_starter(tmp_path / "new", flavour)

    assert len(names) == INSTANCES + 2
    assert {name: (tmp_path / "new" / name).read_text(encoding="utf-8") for name in names} == starter(flavour)
    program = tmp_path / "new" / PROGRAMS[flavour]
    assert os.access(program, os.X_OK) is program.read_text(encoding="utf-8").startswith("#!")


def test_what_is_there_is_counted_and_stays(tmp_path):
    for name in ("study.toml", "solvers.py"):
        (tmp_path / name).write_text("mine")

    with pytest.raises(InvalidInput, match=r"study\.toml is there and 1 more; choose another folder"):
        write_starter(tmp_path, "python")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["solvers.py", "study.toml"]
