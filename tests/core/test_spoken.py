"""Parameters in messages: Python's names to who calls, options to who types; and that every message keeps to it."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from functools import cache
from pathlib import Path

import pytest
import typer

import ampler as am
from ampler import front
from ampler.app.shell.app import app
from ampler.core.errors import AmplerError, InvalidData
from ampler.core.spoken import OPTIONS, in_python, in_shell, parameter
from ampler.study.store import merge_stores

SOURCE = Path(am.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
ARGUMENT = re.compile(r"\b[a-z_]+=(?:True|False|\"|\{\")")
OF_OTHERS = {"data/tables/hyperfine.py"}  # options of other programs
FOR_PYTHON = {"stats/estimate.py", "report/figures/ranks.py"}  # what a shell has no option for
FOR_THE_SHELL = {"output"}  # what Python has no door for


def modules():
    return [path for path in SOURCE.rglob("*.py") if "app" not in path.relative_to(SOURCE).parts[:1]]


def place(path):
    return path.relative_to(SOURCE).as_posix()


def texts(node):
    """All texts within an expression, those of f-strings included."""
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]


@cache
def written(path):
    """The texts of every error that a module raises itself, and every parameter that its messages name."""
    errors, parameters = [], []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc:
            errors += texts(node.exc)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "parameter":
            parameters += [each.value for each in node.args[:1] if isinstance(each, ast.Constant)]
    return errors, parameters


def raised(path):
    """The texts of every error that a module raises itself."""
    return written(path)[0]


def named_parameters():
    """Every parameter that a message names, with the module."""
    return [(place(path), name) for path in modules() for name in written(path)[1]]


def options():
    commands = typer.main.get_command(app).commands.values()
    return {
        word for command in commands for option in command.params for word in (*option.opts, *option.secondary_opts)
    }


def test_a_parameter_is_an_argument_in_python_and_an_option_in_a_shell():
    text = (
        f"{parameter('value')}, {parameter('value', 'time')}, {parameter('instance', ['a', 'b c'])},"
        f" {parameter('same', True)}, {parameter('where', {'d': '3'})}, {parameter('on_failure', 'par=10')},"
        f" {parameter('path')}, {parameter('ignore', ['one'])}"
    )

    assert in_python(text) == (
        'value, value="time", instance=["a", "b c"], same=True, where={"d": "3"}, on_failure="par=10", path,'
        ' ignore="one"'
    )
    assert in_shell(text) == (
        "--value, --value time, --instance 'a,b c', --same, --where d=3, --on-failure par=10, --store, --ignore one"
    )


@pytest.mark.parametrize("name", ["a\x0eb", "\x0f", 'q"uote', "--where", "算法", "\\"])
def test_a_name_of_any_kind_is_told_and_breaks_no_message(name):
    text = f"say {parameter('value', name)} now"

    assert in_python(text).startswith('say value="')
    assert in_python(text).endswith(" now")
    assert in_shell(text).startswith("say --value ")


def test_an_error_speaks_python_and_can_be_told_in_a_shell_even_after_it_was_sent():
    problem = pickle.loads(pickle.dumps(InvalidData(f"say {parameter('metric', 'loss')}")))

    assert str(problem) == 'say metric="loss"'
    assert problem.in_shell == "say --metric loss"
    assert str(AmplerError(f"and: {problem.message}")) == 'and: say metric="loss"'
    assert str(AmplerError()) == ""


def test_no_error_below_the_doors_names_an_option_or_an_argument_by_itself():
    told = {place(path): raised(path) for path in modules()}

    assert sum(map(len, told.values())) > 500
    assert [(name, text) for name in told.keys() - OF_OTHERS for text in told[name] if OPTION.search(text)] == []
    assert [(name, text) for name in told.keys() - FOR_PYTHON for text in told[name] if ARGUMENT.search(text)] == []


def test_every_parameter_that_a_message_names_is_one_of_both_doors():
    doors = (front.analyse, front.advise, front.Study, front.Study.run, merge_stores)
    ours = {name for door in doors for name in inspect.signature(door).parameters} | FOR_THE_SHELL
    known = options()
    named = named_parameters()

    assert len(named) > 40
    assert [each for each in named if each[1] not in ours] == []
    assert [each for each in named if f"--{OPTIONS.get(each[1], each[1]).replace('_', '-')}" not in known] == []


def test_every_option_that_the_shell_names_in_a_refusal_exists():
    known = options()
    for path in (SOURCE / "app" / "shell").glob("*.py"):
        for text in raised(path):
            assert [word for word in OPTION.findall(text) if word not in known] == [], path.name
            assert not ARGUMENT.search(text), text


def test_the_same_mistake_is_told_in_the_words_of_each_door(tmp_path, capsys, monkeypatch):
    table = tmp_path / "runs.csv"
    table.write_text("solver,problem,metric,value\na,i,x,1\na,i,y,1\n")
    with pytest.raises(InvalidData) as called:
        am.analyse(table, difference="simple", better="lower")
    monkeypatch.setattr("sys.argv", ["ampler", "analyse", str(table), "--difference", "simple", "--better", "lower"])
    with pytest.raises(SystemExit):
        app_main()

    assert str(called.value).endswith('say which to compare: metric="x"')
    assert capsys.readouterr().err.endswith("say which to compare: --metric x\n")


def app_main():
    from ampler.app.shell import main

    main()
