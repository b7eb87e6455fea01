"""`ampler demo`: from nothing to the report; interrupted, it goes on."""

import pytest

from ampler.study.starters.demo import write_study


def smaller(folder):
    """The same study with few instances and little accuracy."""
    study = write_study(folder)
    text = (
        study.read_text()
        .replace("se = 0.02 ", "se = 0.2 ")
        .replace("use = 20", "use = 4")
        .replace("[rule]\n", "[rule]\nstart = 4\n")
    )
    study.write_text(text)
    return folder


def test_it_runs_analyses_and_reports_and_a_second_time_only_tells(shell, tmp_path, figures_only_of):
    figures_only_of("comparisons")
    first = shell("demo", "--output", smaller(tmp_path / "demo"), "--workers", 2)
    again = shell("demo", "--output", tmp_path / "demo")

    assert (first.code, again.code) == (0, 0)
    assert "on 4 random instances (power 0.8 needs 16)" in first.words
    assert "Paired t-tests, Holm" in first.words
    assert "0 of them made now" in again.words
    assert (tmp_path / "demo" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert first.words.endswith("demo/report.html Next: ampler init")


def test_a_file_in_the_place_of_the_folder_is_a_problem_told_in_a_sentence(shell, tmp_path):
    (tmp_path / "demo").write_text("mine")
    answer = shell("demo", "--output", tmp_path / "demo")

    assert answer.code == 1
    assert "the demonstration needs a folder" in answer.err
    assert shell("demo", "--workers", 0).code == 2


@pytest.mark.slow
def test_the_whole_demonstration_finds_what_there_is_to_find(shell, tmp_path):
    answer = shell("demo", "--output", tmp_path / "demo")

    assert answer.code == 0
    assert "both is better than " in answer.words
    assert "equivalent to reversals within a factor of 1.051" in answer.words
