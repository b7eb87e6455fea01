"""What people read in terminals of any width: no number is broken, nothing is wider, the next command comes last."""

from __future__ import annotations

import io
import re
import shlex
import sys

import numpy as np
import pandas as pd
import pytest
from flat_study import flat_analyse

from ampler.analysis.display import MAX_PAIRS
from ampler.analysis.rows import difference_head, difference_unit, p_text, rows_of
from ampler.analysis.units import quantity_texts
from ampler.app.cli.analyse import tell
from ampler.app.cli.files import status
from ampler.app.cli.output import terminal_width
from ampler.core.plan import Question
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.study.store import open_store
from ampler.testing import SerialExecutor

WIDTHS = (*range(40, 100, 5), 120, 160, 200)
LONG = "a-solver-with-a-name-that-goes-on-and-on, version {}"

STUDIES = {
    "percent": ({"difference": "percent", "reference": "plain"}, ["plain", "fast", "slow"]),
    "factors of all pairs": ({"difference": "ratio"}, ["plain", "fast", "slow", "odd"]),
    "shares": ({"difference": "simple", "test": "sign", "reference": "plain"}, ["plain", "fast"]),
    "equivalence": ({"difference": "percent", "margin": 0.3}, ["plain", "fast", "slow"]),
    "long names": ({"difference": "simple"}, [LONG.format(k) for k in range(4)]),
    "hostile names": ({"difference": "ratio"}, ["▲ \x1b[31m", "a\nb", "算法" * 12]),
    "many": ({"difference": "percent", "reference": "s0"}, [f"s{k}" for k in range(30)]),
}


@pytest.fixture(scope="module")
def analyses():
    def made(asked, names):
        rng = np.random.default_rng(1)
        values = 100 * np.exp(rng.normal(np.linspace(0, 0.3, len(names)), 0.08, (9, len(names))))
        frame = pd.DataFrame(values, columns=names)
        return flat_analyse(frame.assign(dataset=[f"d{k}" for k in range(9)]), better="lower", **asked)

    return {name: made(*study) for name, study in STUDIES.items()}


def shown(document, analysis) -> dict[str, list[str]]:
    """The numbers of the JSON document as the table writes them, by the heads of its columns.

    With a reference a row is about the other algorithm: its numbers have the other sign, and a share is the rest.
    """
    rows = document["comparisons"][:MAX_PAIRS]  # the others are counted
    unit, turned = difference_unit(analysis), analysis.settings.reference is not None
    total = 1.0 if unit == "share" else 0.0

    def ends(interval):
        low, high = (end if bound is None else bound for bound, end in zip(interval, (-np.inf, np.inf), strict=True))
        return (total - high, total - low) if turned else (low, high)

    def texts(row):
        estimate = total - row["estimate"] if turned else row["estimate"]
        return quantity_texts(unit, estimate, *ends(row["interval"]), *ends(row["joint_interval"]))

    def bare(text):
        return text.removesuffix(" %").removesuffix(" points").removeprefix("+")

    return {
        difference_head(analysis): [bare(texts(row)[0]) for row in rows],
        "simultaneous 95 % CI": [f"[{', '.join(map(bare, texts(row)[3:]))}]" for row in rows],
        "adj. p": [p_text(row["p_holm"]) for row in rows],
        "better on": [f"{row.wins.first}/{row.wins.instances}" for row in rows_of(analysis)[:MAX_PAIRS]],
    }


@pytest.mark.parametrize("name", STUDIES)
def test_every_number_of_the_table_is_whole_or_its_column_is_said_to_be_left_out(name, analyses, capsys, monkeypatch):
    analysis = analyses[name]
    numbers = shown(analysis.as_dict(), analysis)
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        tell(analysis)
        out = capsys.readouterr().out

        said = (
            " ".join(out.split())
            .partition(f"Hidden columns at {width} characters: ")[2]
            .partition(" (see --json")[0]
            .split(", ")
        )
        table = next(part for part in out.split("\n\n") if "adj. p" in part or "95 % CI: " in part)
        for head, cells in numbers.items():
            gone = head in said
            assert gone or all(re.search(rf"(?<![\w.]){re.escape(cell)}(?![\w.])", table) for cell in cells), head
        assert gone or width >= 40
        assert max(len(line) for line in table.splitlines()) <= width


@pytest.mark.parametrize("name", STUDIES)
def test_there_are_at_most_five_points_before_the_table(name, analyses, capsys):
    tell(analyses[name])

    before = capsys.readouterr().out.partition("\n\n")[0]
    assert before.count("• ") <= 5


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A finished study with a folder before the names of its instances, and many algorithms."""
    path = tmp_path_factory.mktemp("wide") / "study.db"
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms={f"variant-number-{k}": lambda instance, seed, k=k: seed % 7 + k for k in range(12)},
        instances=[f"instances/of-the-competition/G_{50 * k}_10_S_1-124_1.txt" for k in range(1, 5)],
        rule=Fixed(runs=3),
        count="all",
    )
    with open_store(path) as store:
        run_plan(plan, store, executor=SerialExecutor())
    return path


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_status_names_each_instance_by_what_tells_it_apart_and_counts_whole(study, width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    status(study)

    out = capsys.readouterr().out
    left_out = " ".join(out.split()).partition(f"Hidden columns at {width} characters: ")[2]
    rows = [line for line in out.splitlines() if "_10_S" in line]
    assert [re.search(r"G_(\d+)_10", row)[1] for row in rows] == sorted(("50", "100", "150", "200"), key=out.index)
    assert all(row.split().count("3") + left_out.count("variant-number-") == 12 for row in rows)
    assert max(map(len, out.splitlines()[:-1])) <= width
    assert out.splitlines()[-1] == f"Next: ampler analyse {study}"


def commands(study, folder):
    """Every command that answers with words, as it is typed."""
    runs = folder / "runs.csv"
    rescued = folder / "rescued.db"
    return [
        ("design", "--algorithms", 22, "--vs-one", "--effect", 0.5, "--power", 0.8),
        ("design", "--algorithms", 3, "--vs-all", "--effect", 0.5, "--power", 0.8, "--looks", 2),
        ("design", "--comparisons", 3, "--effect", 0.5, "--effect-sd", 0.1, "--assurance", 0.7),
        ("status", study),
        ("analyse", study, "--explore", "--reference", "variant-number-0", "--bayes", "--margin", 1),
        ("advise", study, "--detect", 0.5, "--difference", "simple"),
        ("advise", "--detect", 0.02),
        ("export", study, runs),
        ("report", study, "-o", folder / "report.md"),
        ("rescue", study, "-o", rescued),
        ("init", folder / "new"),
    ]


def test_every_command_keeps_to_the_width_and_ends_with_the_next_one(study, tmp_path, shell, monkeypatch):
    for number, command in enumerate(commands(study, tmp_path)):
        width = (40, 60, 80)[number % 3]
        monkeypatch.setenv("COLUMNS", str(width))
        answer = shell(*command)

        assert answer.code == 0, answer.err
        *lines, last = answer.out.splitlines()
        assert shlex.split(last)[:2] == ["Next:", "ampler"], command
        assert [line for line in lines if len(line) > width and len(line.split()) > 2] == [], command


def test_the_next_command_of_an_analysis_has_its_options(shell, tmp_path):
    table = tmp_path / "my runs.csv"
    table.write_text("dataset,old,new\na,9,5\nb,8,4\nc,7,4\nd,9,6\n")
    answer = shell("analyse", table, "--difference", "percent", "--better", "lower", "--se", "0.05")

    again = shlex.split(answer.out.splitlines()[-1])[2:]
    assert again[:2] == ["report", str(table)]
    assert shell(*again[:-1], tmp_path / "report.md").code == 0
    assert again[2:-2] == ["--difference", "percent", "--better", "lower", "--se", "0.05"]


class Terminal(io.StringIO):
    """A stdout that says it is one."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("surroundings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_are_for_terminals_that_want_them(analyses, monkeypatch, surroundings, coloured):
    for name in ("NO_COLOR", "TERM", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"TERM": "xterm-256color", "COLORTERM": "truecolor"} | surroundings).items():
        monkeypatch.setenv(name, value)
    screen, pipe = Terminal(), io.StringIO()
    for stream in (screen, pipe):
        monkeypatch.setattr(sys, "stdout", stream)
        tell(analyses["percent"])

    assert ("\x1b[" in screen.getvalue()) is coloured
    assert "\x1b" not in pipe.getvalue()
    assert re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue()) == pipe.getvalue()


def test_the_width_is_what_the_surroundings_say_else_eighty(monkeypatch):
    monkeypatch.setenv("COLUMNS", "63")
    assert terminal_width() == 63
    monkeypatch.setenv("COLUMNS", "nonsense")
    for name in ("__stdin__", "__stdout__", "__stderr__"):
        monkeypatch.setattr(sys, name, None)
    assert terminal_width() == 80
