from __future__ import annotations

import json
from dataclasses import dataclass

from ampler.app.cli.output import note, say, say_points, say_table, write_json
from ampler.core.text import table_of

LONG = "The strictest of the tests has power 0.7 and needs more instances than the others do. " * 4


@dataclass(frozen=True)
class Part:
    name: str
    power: float


def test_a_document_is_printed_alone(capsys):
    write_json({"instances": 57, "seconds": float("inf")})

    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"schema_version": 1, "instances": 57, "seconds": None}
    assert captured.err == ""


def test_a_note_leaves_stdout_alone(capsys):
    note("figure written to power.svg")

    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "figure written to power.svg\n")


def test_in_a_pipe_lines_are_plain_and_at_most_80_wide(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)

    say(LONG, style="bold")
    say_points([LONG, "short"])
    say_table(table_of(["test", "N"], [["wilcoxon", "67"]]))

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80
    assert " ".join(out.split()).startswith(LONG.strip())


def test_names_with_square_brackets_are_printed_as_they_are(capsys):
    say("[bold]swap[/bold] :smile:")
    say_points(["[red]x"])
    say_table(table_of(["[a]"], [["[b]"]]))

    out = capsys.readouterr().out
    for name in ("[bold]swap[/bold] :smile:", "[red]x", "[a]", "[b]"):
        assert name in out


def test_numbers_end_at_the_right_and_words_start_at_the_left(capsys):
    say_table(table_of(["test", "N"], [["t", "5"], ["wilcoxon", "1067"]]))

    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[2].startswith("t ")
    assert lines[2].endswith("   5")
    assert lines[3].endswith("1067")


def test_no_points_print_nothing(capsys):
    say_points([])

    assert capsys.readouterr().out == ""


def test_a_path_longer_than_a_line_is_left_whole(capsys):
    path = "/" + "/".join(["a-long-folder"] * 12) + "/report.html"

    say(f"The report is written: {path}")

    assert path in capsys.readouterr().out.splitlines()
