"""Options that several commands share: made once, from the settings of an analysis."""

from __future__ import annotations

import inspect

import pytest

from ampler.app.shell.advise import advise
from ampler.app.shell.analyse import analyse
from ampler.app.shell.options import as_arguments, assignment, settings_options, table_options, takes, word_or_number
from ampler.app.shell.output import WrongUsage
from ampler.app.shell.report import report
from ampler.core.settings import declared

SHOWN = [name for name, setting in declared().items() if setting.help]
TABLE = [option.name for option in table_options()]


@pytest.mark.parametrize("command", [analyse, report])
def test_every_setting_that_has_words_of_help_is_an_option(command):
    names = list(inspect.signature(command).parameters)
    start = names.index(SHOWN[0])
    assert names[start : start + len(SHOWN) + len(TABLE)] == SHOWN + TABLE


def test_advice_shares_the_settings_it_needs_with_words_of_its_own_where_they_differ(shell):
    assert {"difference", "reference", "power", "alpha", "test", "alternative", "statistic", *TABLE} <= set(
        inspect.signature(advise).parameters
    )
    page = shell("advise", "--help").words
    assert "Family-wise error rate: 0.05 if not said." in page
    assert "Wanted power: 0.8 if not said." in page
    assert "planned for" not in page


def test_options_reach_a_command_grouped_under_the_parameter_they_stand_for():
    told = {}

    @takes(asked=settings_options("alpha", "test"), table=table_options())
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


def test_columns_and_rows_are_taken_apart_and_the_difference_must_be_said(tmp_path):
    said = dict.fromkeys([*SHOWN, *TABLE]) | {"instance": "function, dimension", "where": ["dimension=30"]}
    with pytest.raises(WrongUsage, match="say which difference is compared: --difference simple"):
        as_arguments(tmp_path / "runs.csv", said)
    taken = as_arguments(tmp_path / "runs.csv", said | {"difference": "simple"})
    assert (taken["algorithm"], taken["instance"]) == (None, ["function", "dimension"])
    assert taken["where"] == {"dimension": "30"}


@pytest.mark.parametrize(("word", "meant"), [("3", 3), ("-3", -3), ("mean", "mean"), ("3.5", "3.5"), (None, None)])
def test_a_whole_number_is_one_and_every_other_word_stays(word, meant):
    assert word_or_number(word) == meant


def test_names_may_hold_an_equals_sign_where_a_cost_is_given():
    assert assignment("tabu=2=20", "--cost", "slow-solver=20") == ("tabu=2", "20")
    with pytest.raises(WrongUsage, match="--where must look like dimension=30, got 'dimension'"):
        assignment("dimension", "--where", "dimension=30")
