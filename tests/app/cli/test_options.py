"""Options that several commands share: made once, from the settings of an analysis."""

from __future__ import annotations

import inspect

import pytest

from ampler.app.cli.advise import advise
from ampler.app.cli.analyse import analyse, report
from ampler.app.cli.options import assignment, read_options, reading_options, settings_options, takes, text_or_integer
from ampler.app.cli.output import WrongUsage
from ampler.core.settings import declared

SHOWN = [name for name, setting in declared().items() if setting.option]
TABLE = [option.name for option in reading_options()]


@pytest.mark.parametrize("command", [analyse, report])
def test_every_setting_that_has_words_of_help_is_an_option(command):
    names = list(inspect.signature(command).parameters)
    start = names.index(SHOWN[0])
    assert names[start : start + len(SHOWN) + len(TABLE)] == SHOWN + TABLE


def test_advice_shares_the_settings_it_needs_with_words_of_its_own_where_they_differ(shell):
    shared = {"difference", "reference", "power", "alpha", "test", "alternative", "statistic", *TABLE} - {"unplanned"}
    assert shared <= set(inspect.signature(advise).parameters)
    page = shell("advise", "--help").words
    assert "Family-wise error rate. [default: 0.05]" in page
    assert "Planned power. [default: 0.8]" in page
    assert "Initial runs per algorithm. [default: 10]" in page


def test_options_reach_a_command_grouped_under_the_parameter_they_stand_for():
    told = {}

    @takes(asked=settings_options("alpha", "test"), table=reading_options())
    def command(*, file: str, asked: dict, table: dict, json: bool = False) -> None:
        told.update(file=file, asked=asked, table=table, json=json)

    names = list(inspect.signature(command).parameters)
    command(json=True, file="f", **{name: name for name in ["alpha", "test", *TABLE]})

    assert names == ["file", "alpha", "test", *TABLE, "json"]
    assert told == {
        "file": "f",
        "asked": {"alpha": "alpha", "test": "test"},
        "table": {name: name for name in TABLE},
        "json": True,
    }


def test_columns_and_rows_are_taken_apart_and_all_missing_choices_are_named_at_once(tmp_path, monkeypatch):
    path = tmp_path / "runs.csv"
    rows = [f"{solver},f{d},{d},{v},ok" for d in (10, 30) for v, solver in enumerate("ab", 1)]
    path.write_text("\n".join(["solver,function,dimension,result,status", *rows, "a,g,30,,timeout"]))
    options = dict.fromkeys([*SHOWN, *TABLE]) | {"instance": "function, dimension", "where": ["dimension=30"]}
    monkeypatch.setattr("sys.argv", ["ampler", "analyse", "runs.csv"])
    with pytest.raises(WrongUsage) as problem:
        read_options(path, options)

    text = str(problem.value)
    assert "Results: 3 runs of 2 algorithms on 2 instances, 1 of them failed." in text
    assert "--difference simple|percent|ratio  Kind of difference" in text
    assert "--better lower|higher  Which values are better" in text
    assert "--on-failure drop" in text
    assert text.endswith("ampler analyse runs.csv --difference ratio --better lower --on-failure drop")

    results, keywords = read_options(path, options | {"difference": "simple", "better": "lower", "on_failure": "drop"})
    assert results.runs.instances == ("f30, dimension 30", "g, dimension 30") or len(results.runs.instances) == 2
    assert keywords["difference"] == "simple"
    assert keywords["settings"].specified == {"better": "lower"}


@pytest.mark.parametrize(("word", "meant"), [("3", 3), ("-3", -3), ("mean", "mean"), ("3.5", "3.5"), (None, None)])
def test_a_whole_number_is_one_and_every_other_word_stays(word, meant):
    assert text_or_integer(word) == meant


def test_names_may_hold_an_equals_sign_where_a_cost_is_given():
    assert assignment("tabu=2=20", "--cost", "slow-solver=20") == ("tabu=2", "20")
    with pytest.raises(WrongUsage, match="--where must look like dimension=30, got 'dimension'"):
        assignment("dimension", "--where", "dimension=30")


@pytest.mark.parametrize(("alias", "kind"), [("log-ratio", "ratio"), ("absolute", "simple")])
def test_the_common_names_of_differences_are_taken(shell, tmp_path, alias, kind):
    (tmp_path / "runs.csv").write_text("solver,task,cost\na,1,2\nb,1,3\na,2,4\nb,2,7\na,3,5\nb,3,6\n")
    named, known = (
        shell("analyse", "runs.csv", "--difference", word, "--json", cwd=tmp_path) for word in (alias, kind)
    )
    assert named.code == 0
    assert named.out == known.out
    wrong = shell("analyse", "runs.csv", "--difference", "rato", cwd=tmp_path)
    assert wrong.code == 2
    assert "did you mean 'ratio'?" in wrong.err
    assert "Value error" not in wrong.err


def test_questions_about_columns_join_the_missing_choices_and_the_command_works(shell, tmp_path):
    rows = [f"{who},i{i},{metric},{i + j / 10}" for j, who in enumerate("abab") for i in range(5) for metric in "uv"]
    path = tmp_path / "my runs.csv"
    path.write_text("\n".join(["who,what,metric,x", *rows]))

    asked = shell("analyse", path)
    assert asked.code == 2
    assert "Results: 20 runs of 2 algorithms on 5 instances, none of them failed." in asked.err
    for option in (
        "--instance what",
        "--algorithm who",
        "--metric u",
        "--difference simple|percent|ratio",
        "--better lower",
    ):
        assert option in asked.err

    options = ["--difference", "simple", "--better", "lower"]
    columns = ["--instance", "what", "--algorithm", "who", "--metric", "u"]
    assert shell("analyse", path, *options, *columns).code == 0
    assert shell("analyse", path, *options).err.startswith("ampler: 'who', 'what'")
