"""Blocks of code that stand in the pages without their output: settings are read, commands parsed, Python is run.

What has output, or is a file of a tutorial, is carried out by `test_docs.py`; the worker programs by `tests/running`.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import typer.main

import ampler as am
from ampler.app.cli.app import app
from ampler.core.plan import Limits
from ampler.running.one_run.execution import run_once
from ampler.study.toml import read_study_file
from ampler.testing import STORE_CONTRACT, MemoryStore, SerialExecutor, dummy_algorithms, dummy_instances

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
KINDS = {"python", "pycon", "console", "sh", "bash", "text", "toml", "c", "r"}  # R is what people of CAISEr come from
PROGRAMS = {"docs/worker-protocol.md"}  # tests/running starts its programs
COMMAND = re.compile(r"^(?:\$ )?(ampler [^\n#]*)", re.MULTILINE)

TWO = "".join(f'\n[[algorithm]]\nname = "{name}"\ncommand = "echo {{instance}}"\n' for name in ("full", "half"))
MANY = f"\n[instances]\nnames = {[f'i{number}' for number in range(60)]}\n"


def blocks(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page, each with its language; what Sphinx carries out is none."""
    fenced = re.findall(r"^```([^\n]*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [(language, text) for language, text in fenced if not language.startswith("{")]


def shown(*languages: str) -> list:
    """Every block in one of the languages that no other test carries out, with the name of its page."""
    found = []
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        if not page.stem.startswith("tutorial-") and name not in PROGRAMS:
            texts = [text for language, text in blocks(page) if language in languages and ">>>" not in text]
            found += [pytest.param(text, id=f"{name}-{place}") for place, text in enumerate(texts)]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_is_of_a_kind_that_some_test_carries_out(page):
    assert {language for language, _ in blocks(page)} <= KINDS


@pytest.mark.parametrize("text", shown("sh", "bash", "text", "console"))
def test_commands_that_are_only_shown_have_the_options_they_name(text):
    for words in map(shlex.split, COMMAND.findall(text)):
        if "…" not in words and len(words) > 1 and not words[1].startswith("-"):
            command = typer.main.get_command(app).commands[words[1]]
            context = typer.Context(command, info_name=words[1], resilient_parsing=False)
            rest = command.make_parser(context).parse_args(words[2:])[1]

            assert rest == [] or all(not word.startswith("-") for word in rest)


@pytest.mark.parametrize("text", shown("toml"))
def test_settings_that_are_shown_make_a_study(text, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    write_what_it_names(tmp_path)

    study = read_study_file(completed(text, tmp_path))

    assert len(study.plan.algorithms) >= 2
    assert study.plan.question.difference in ("simple", "percent", "ratio")


def completed(text: str, folder: Path) -> Path:
    """The fragment as a whole study: what it leaves out is added, and nothing that it says is changed."""
    top = "" if re.search(r"^difference", text, re.MULTILINE) else 'difference = "simple"\n'
    top += "" if re.search(r"^better", text, re.MULTILINE) else 'better = "lower"\n'
    if not re.search(r"^(detect|allocation) ", text, re.MULTILINE):
        top += "".join(f"{key} = 0.5\n" for key in ("effect", "se") if not re.search(rf"^{key} ", text, re.MULTILINE))
    text = top + text + ("" if "[[algorithm]]" in text else TWO) + ("" if "[instances]" in text else MANY)
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def write_what_it_names(folder: Path) -> None:
    (folder / "instances").mkdir()
    for name in ("a.cnf", "b.cnf", "a.txt", "b.txt"):
        (folder / "instances" / name).write_text(name)
    (folder / "solvers.py").write_text("def anneal(instance, seed, cooling):\n    return seed % 7\n")
    (folder / "target-runner").write_text("#!/bin/sh\necho 1\n")
    (folder / "target-runner").chmod(0o755)
    sys.modules.pop("solvers", None)


@pytest.mark.parametrize("text", shown("python"))
def test_python_that_is_only_shown_runs(text, tmp_path, monkeypatch, capsys):
    if "iterations=1_000_000" in text:
        pytest.skip("the paper's experiment takes hours; `make paper` carries it out")
    if "def recognises(" in text:
        pytest.skip("tests/data/imports/test_plugin.py installs this reader")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "dask.distributed", cluster_of_one())
    monkeypatch.setitem(sys.modules, "highspy", solver_of_one_model())
    monkeypatch.setattr(sys, "argv", ["highs.py", "model.lp"])
    names = around(text)

    exec(compile(text, "page", "exec"), names)

    if "test_my_store_fills_the_contract" in names:
        names["test_my_store_fills_the_contract"](STORE_CONTRACT[0], tmp_path)
    elif "import sys, highspy" in text:
        assert capsys.readouterr().out == "Model status: Optimal\nObjective: 3089.0\n"
    elif "def solve(" in text:
        assert run_of_the_function(text, tmp_path, monkeypatch) == (311.0, "17.5")
    else:
        assert len(names["analysis"].comparisons) == 2


def around(text: str) -> dict[str, object]:
    """What the sentences before a block speak of."""
    algorithms = dict(zip(("full", "half", "none"), dummy_algorithms(3, sd=0.05).values(), strict=True))
    instances = dummy_instances(60, spread=0.1)
    names: dict[str, object] = {"am": am, "algorithms": algorithms, "instances": instances}
    names["MyStore"] = lambda path: MemoryStore()
    if "study = " not in text:
        few = dummy_instances(3)
        names["study"] = am.Study(
            algorithms=algorithms,
            instances=few,
            difference="simple",
            reference="full",
            design=am.Precision(se=0.5, instances="all"),
            better="lower",
        )
    return names


def cluster_of_one() -> ModuleType:
    """A cluster as the pages address it, whose only worker is this process."""

    class Client:
        def __init__(self, address: str) -> None:
            assert address.startswith("tcp://")

        def get_executor(self, *, pure: bool) -> SerialExecutor:
            assert not pure, "runs that look alike would be merged"
            return SerialExecutor()

    module = ModuleType("dask.distributed")
    module.Client = Client  # type: ignore[attr-defined]
    return module


def solver_of_one_model() -> ModuleType:
    """HiGHS as the page calls it, with the optimum of p0033 for every model."""

    module = ModuleType("highspy")
    module.Highs = lambda: SimpleNamespace(  # type: ignore[attr-defined]
        readModel={"model.lp": None}.__getitem__,
        run=lambda: None,
        getModelStatus=lambda: 7,
        modelStatusToString={7: "Optimal"}.__getitem__,
        getObjectiveValue=lambda: 3089.0,
    )
    return module


def run_of_the_function(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[float | None, str | None]:
    """Value and answer of a run of a function that is shown with its settings in a comment."""
    monkeypatch.syspath_prepend(folder)
    (folder / "shown.py").write_text(text, encoding="utf-8")
    settings = "\n".join(re.findall(r'(?:solved|answer) = "\w+"', text))
    two = "".join(f'\n[[algorithm]]\nname = "{name}"\npython = "shown:solve"\n' for name in ("full", "half"))
    study = read_study_file(completed(f"[defaults]\n{settings}\n{two}", folder))
    outcome = run_once(study.plan.algorithms[0], study.plan.instances[0], 1, Limits())
    return outcome.value, outcome.answer
