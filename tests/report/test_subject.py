from __future__ import annotations

import pandas as pd
import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.report import subject_of

FRAME = pd.DataFrame({"dataset": list("abcd"), "old": [9.0, 8, 7, 9], "new": [5.0, 4, 4, 6]})


def test_an_analysis_with_its_study_file_says_how_the_runs_were_made(study_file, tmp_path):
    analysis = ampler.analyse(study_file())

    path = ampler.write_report(analysis, tmp_path / "report.md", study=study_file())

    assert "Every algorithm first had 4 runs on each instance" in path.read_text(encoding="utf-8")


def test_the_title_is_the_studys_the_files_or_the_one_that_is_given(study_file, tmp_path):
    FRAME.to_csv(tmp_path / "my runs.csv", index=False)

    assert subject_of(study_file()).title == "small & fine"
    assert subject_of(tmp_path / "my runs.csv", difference="simple", better="lower").title == "my runs"
    assert subject_of(FRAME, difference="simple", better="lower", title="mine").title == "mine"


def test_options_besides_an_analysis_are_refused():
    with pytest.raises(InvalidInput, match="an Analysis has its settings already, got 'alpha'"):
        subject_of(ampler.analyse(FRAME, difference="simple", better="lower"), alpha=0.1)
