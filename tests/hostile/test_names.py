"""Names of strangers reach the terminal as text, never as commands to it."""

import sys

import pandas as pd
import pytest

from ampler.app.cli import main

EVIL = "evil\x1b]0;owned\x07\x1b[2J\x1b[31mred\u202egnp.exe\x9b5m"


@pytest.mark.parametrize("command", ["analyse", "advise"])
@pytest.mark.parametrize("column", ["algorithm", "instance"])
def test_no_name_moves_the_cursor(tmp_path, monkeypatch, capsys, command, column):
    rows = [(i, a, 10 + k + j + r / 10) for j, i in enumerate("uvwxyz") for k, a in enumerate("ab") for r in range(3)]
    frame = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
    frame[column] = frame[column].replace({"a": EVIL, "u": EVIL})
    frame.to_csv(tmp_path / "runs.csv", index=False)
    options = ["--detect", "0.5"] if command == "advise" else ["--explore", "--better", "lower"]
    monkeypatch.setattr(
        sys, "argv", ["ampler", command, str(tmp_path / "runs.csv"), "--difference", "simple", *options]
    )

    with pytest.raises(SystemExit):
        main()

    shown = capsys.readouterr()
    for text in (shown.out, shown.err):
        assert not [mark for mark in text if mark not in "\n\t" and not mark.isprintable()]
