from __future__ import annotations

from itertools import islice

import pytest

from ampler.report.drawings import drawings

RUNS = "algorithm,instance,value\n" + "".join(
    f"{name},i{k},{10 + k + place * 2 + k % 3 * 0.1 * place}\n"
    for k in range(8)
    for place, name in enumerate(("full", "=1+1", "<b>"))
)


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(RUNS, encoding="utf-8")
    return path


@pytest.mark.parametrize(("ending", "words"), [
    ("html", "<h1>runs</h1>"), ("md", "# runs"), ("tex", r"\title{runs}"), ("csv", "'=1+1"),
])  # fmt: skip
def test_the_ending_says_the_format(shell, runs, tmp_path, figures_only_of, ending, words):
    figures_only_of("comparisons")
    target = tmp_path / f"out.{ending}"

    answer = shell("report", runs, "--reference", "full", "--difference", "simple", "--better", "lower", "-o", target)

    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"Written: {target}\n"
    assert words in target.read_text(encoding="utf-8")


def test_the_options_are_those_of_analyse(shell, runs, tmp_path):
    target = tmp_path / "out.md"

    shell(
        "report",
        runs,
        "--difference",
        "ratio",
        "--better",
        "lower",
        "--test",
        "sign",
        "--alpha",
        0.1,
        "--title",
        "Mine",
        "-o",
        target,
    )

    text = target.read_text(encoding="utf-8")
    assert "# Mine" in text
    assert "sign tests" in text
    assert "error rate 0.1" in text


@pytest.mark.parametrize("most", [2, pytest.param(None, marks=pytest.mark.slow)])
def test_figures_are_written_besides(shell, runs, tmp_path, monkeypatch, most):
    monkeypatch.setattr("ampler.report.drawings.drawings", lambda analysis: islice(drawings(analysis), most))
    folder = tmp_path / "figures"

    answer = shell(
        "report",
        runs,
        "--difference",
        "simple",
        "--better",
        "lower",
        "-o",
        tmp_path / "out.csv",
        "--figures",
        folder,
        "--figure-format",
        "svg",
    )

    assert answer.code == 0
    assert (folder / "intervals.svg").stat().st_size > 1000


def test_without_a_difference_it_is_wrong_usage(shell, runs, tmp_path):
    answer = shell("report", runs, "-o", tmp_path / "out.html")

    assert answer.code == 2
    assert "--difference simple|percent|ratio" in answer.err


def test_another_ending_is_wrong_usage_before_any_work(shell, tmp_path):
    answer = shell("report", tmp_path / "missing.csv", "--difference", "simple", "-o", tmp_path / "out.pdf")

    assert answer.code == 2
    assert "a report must end in .html, .tex, .md or .csv" in answer.err


def test_a_file_that_is_not_there_is_a_problem_in_one_sentence(shell, tmp_path):
    answer = shell("report", tmp_path / "missing.csv", "--difference", "simple", "-o", tmp_path / "out.html")

    assert answer.code == 1
    assert "does not exist" in answer.err


def test_a_folder_that_is_not_there_is_a_problem_in_one_sentence(shell, runs, tmp_path):
    answer = shell("report", runs, "--difference", "simple", "--better", "lower", "-o", tmp_path / "no" / "out.csv")

    assert answer.code == 1
    assert answer.err.startswith("ampler: cannot use ")


@pytest.mark.parametrize("module", ["ampler.app.cli.app", "ampler.report", "ampler.api"])
def test_nothing_heavy_is_imported_before_it_is_needed(loaded, module):
    assert not loaded(code=f"import {module}").modules & {"matplotlib", "pandas", "jinja2", "scipy.stats", "rich"}


def test_analyse_draws_nothing(loaded, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("instance,old,=1+1\n" + "".join(f"i{k},{k},{k + 1 + k % 2}\n" for k in range(6)))
    after = loaded("analyse", table, "--difference", "simple", "--better", "lower", "--csv")

    assert "'=1+1" in after.out
    assert "matplotlib" not in after.modules


@pytest.mark.parametrize("command", [("report", "-o"), ("export",)])
def test_no_command_writes_over_what_it_reads(shell, tmp_path, command):
    data = tmp_path / "runs.csv"
    data.write_text("instance,old,new\na,1,2\nb,2,3\nc,3,5\n")
    name, *option = command
    options = ["--difference", "simple", "--better", "lower"] if name == "report" else []

    result = shell(name, str(data), *option, str(data), *options)

    assert result.code != 0
    assert "must not be the one that is read" in result.err
    assert data.read_text().startswith("instance,old,new")
