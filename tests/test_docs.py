"""What the documents say is true: their commands run and print what is shown, and nothing is left undocumented."""

from __future__ import annotations

import doctest
import os
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import commands
import pytest

import ampler
from ampler.app.cli.app import app

ROOT = Path(__file__).parents[1]
# The Python of README.md, the first, is collected by pytest itself.
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TUTORIALS = [page for page in PAGES if page.stem.startswith("tutorial-")]
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
COMMANDS = [command.name or command.callback.__name__.replace("_", "-") for command in app.registered_commands]
SHOWN = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def sessions(page: Path) -> list[tuple[str, str]]:
    """The `$ ampler …` commands of a page's console blocks, each with the output shown below it."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command.partition("  #")[0].strip(), output))
    return found


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def files(page: Path) -> dict[str, str]:
    """The files that a tutorial has its reader save: blocks whose first line is a comment with the file's name."""
    blocks = re.findall(
        r"^```\w+\n((?:#|//) (\S+\.\w+)\n.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return {file: text for text, file in blocks}


@pytest.fixture(scope="module")
def typed():
    """`typed(command, folder)`: the answer that a reader gets who types a command; `python` is this one."""
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}

    def run(command: str, folder: Path) -> commands.Answer:
        program, *words = shlex.split(command)
        if program == "ampler":
            return commands.ampler(*words, cwd=folder, env=env)
        ran = commands.process(
            *words, cwd=folder, env=env, program=(sys.executable if program == "python" else program,)
        )
        return commands.Answer(ran.returncode, ran.stdout, ran.stderr)

    return run


def check_session(session: list[tuple[str, str]], folder: Path, typed) -> None:
    checker = doctest.OutputChecker()
    for command, expected in session:
        answer = typed(command, folder)
        assert answer.code == 0, f"{command}\n{answer.err}"
        assert not expected or checker.check_output(expected, answer.out, SHOWN), f"{command}\n{answer.out}"


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in TUTORIALS and "$ ampler" in page.read_text(encoding="utf-8")],
    ids=name,
)
def test_the_commands_of_a_page_print_what_it_shows(page, tmp_path, typed, figures_only_of):
    if page.stem != "README":
        figures_only_of("comparisons")
    check_session([each for each in sessions(page) if each[0].startswith("ampler ")], tmp_path, typed)


@pytest.mark.parametrize("page", TUTORIALS, ids=name)
def test_a_tutorial_leads_where_it_says(page, tmp_path, typed, figures_only_of):
    figures_only_of("comparisons")
    needed = {command.split()[0] for command, _ in sessions(page)} - {"python", "ampler"}
    if missing := [program for program in needed if shutil.which(program) is None]:
        pytest.skip(f"the tutorial needs {', '.join(missing)}, which is not installed here")
    for file, text in files(page).items():
        (tmp_path / file).write_text(text, encoding="utf-8")

    assert len(sessions(page)) > 0
    check_session(sessions(page), tmp_path, typed)


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.parent.name)
def test_an_example_prints_what_its_page_shows(page, tmp_path, typed):
    shutil.copytree(page.parent, tmp_path, dirs_exist_ok=True)

    check_session(sessions(page), tmp_path, typed)


def test_there_are_five_examples():
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize("page", TUTORIALS, ids=name)
def test_every_file_of_a_tutorial_has_a_name(page):
    blocks = re.findall(r"^```(python|toml|c)$", page.read_text(encoding="utf-8"), re.MULTILINE)

    assert len(files(page)) == len(blocks) > 0


@pytest.mark.parametrize("page", [page for page in PAGES[1:] if ">>>" in page.read_text(encoding="utf-8")], ids=name)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, figures_only_of):
    figures_only_of("comparisons")
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(str(page), module_relative=False, optionflags=SHOWN, encoding="utf-8")

    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command):
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")

    assert re.search(rf"^## ampler {command}$", page, re.MULTILINE), f"docs/commands.md has no section for {command}"


def test_only_commands_that_exist_are_documented():
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")

    assert set(re.findall(r"^## ampler (\S+)$", page, re.MULTILINE)) <= set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_make_targets_that_a_page_names_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:\$ |`)make ([a-z-]+)", page.read_text(encoding="utf-8")))

    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_in_the_table_of_contents():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)```", index, re.DOTALL)
    listed = [page for tree in trees for page in tree.split()]

    assert len(listed) == len(set(listed))
    assert set(listed) == {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}


@pytest.mark.parametrize(("page", "least"), [("CONTRIBUTING.md", 3), ("docs/architecture.md", 20)])
def test_files_named_by_the_pages_for_contributors_exist(page, least):
    named = set(re.findall(r"`(\w+(?:/[\w.]+)+/?)`", (ROOT / page).read_text(encoding="utf-8")))

    assert len(named) > least
    assert [name for name in named if not any((base / name).exists() for base in (ROOT, ROOT / "src" / "ampler"))] == []


def test_every_figure_is_shown_with_the_lines_that_draw_it():
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)

    for script in (ROOT / "docs" / "gallery").glob("*.py"):
        assert f"gallery/{script.name}" in pages
        assert f"_build/figures/{script.stem}.svg" in pages


def test_the_changelog_speaks_of_this_version_or_of_what_is_not_released():
    headings = re.findall(r"^## \[?([^\]\s]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert headings[0] in {"Unreleased", ampler.__version__}


@pytest.mark.parametrize("page", ["README.md", "CITATION.cff", "docs/method.md", "src/ampler/report/references.bib"])
def test_the_article_is_cited_alike_everywhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")

    assert re.search(r"Journal of Heuristics\D{1,30}26\D", text)
    assert re.search(r"851\D{1,15}883", text)
    assert "2020" in text
    assert "2019" not in text or "reprint of 2019" in text


def test_the_api_page_finds_every_choice_and_every_public_name():
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    choices, names = conf["choices"](), conf["public_names"]()

    assert choices.count("\n- `") == len(conf["CHOICES"]) - 1
    assert all(re.search(rf"^\.\. auto\w+:: {name}$", names, re.MULTILINE) for name in ampler.__all__)
