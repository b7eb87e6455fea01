from __future__ import annotations

import re

import pytest

from ampler.app.web.pages import HERE
from ampler.app.web.static_files import known_files, static_address
from ampler.report.look import DARK, LIGHT


@pytest.mark.parametrize("name", sorted(known_files()))
def test_every_file_of_the_pages_is_given(browser, name):
    reply = browser.get(f"/static/{name}")

    assert reply.status == 200
    assert reply.headers["content-type"].split(";")[0] in ("text/css", "text/javascript", "image/svg+xml")


@pytest.mark.parametrize("where", ["/", "/design", "/results", "/nothing"])
def test_a_browser_keeps_the_files_of_a_page_until_there_are_others(browser, where):
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', browser.get(where).text)

    assert len(files) >= 5
    for file in files:
        name = file.partition("?")[0]
        assert "immutable" in browser.get(file).headers["cache-control"]
        assert browser.get(file).body == browser.get(name).body
        assert browser.get(name).headers["cache-control"] == "no-cache"
        assert browser.get(f"{name}?of=another").headers["cache-control"] == "no-cache"


def test_a_file_with_other_things_in_it_has_another_address():
    addresses = [static_address(name) for name in known_files()]

    assert len({address.partition("?")[2] for address in addresses}) == len(addresses)


@pytest.mark.parametrize("name", ["nothing.css", "..%2fserver.py", "%2e%2e%2fserver.py", "ampler.css%00"])
def test_no_other_file_is(browser, name):
    assert browser.get(f"/static/{name}").status == 404


def test_the_style_sheet_takes_its_colours_from_the_one_appearance():
    sheet = HERE.joinpath("static", "ampler.css").read_text("utf-8")

    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s])", sheet) == []
    assert set(re.findall(r"var\(--([a-z-]+)\)", sheet)) <= {*LIGHT, *DARK, "letters", "radius", "type", "space"} | {
        name for name in re.findall(r"var\(--([a-z-]+-?\d?)\)", sheet) if name.startswith(("type-", "space-"))
    }


def test_no_script_names_another_machine():
    scripts = [file for file in HERE.joinpath("static").iterdir() if file.name.endswith(".js")]

    assert scripts
    assert not any(re.search(r"https?://|eval\(|new Function", file.read_text("utf-8")) for file in scripts)


def test_scripts_of_one_page_name_nothing_twice():
    names = {
        file.name: _names(file.read_text("utf-8")) for file in HERE.joinpath("static").iterdir() if ".js" in file.name
    }
    shared = names.pop("common.js") + names.pop("theme.js")

    assert len(set(shared)) == len(shared) > 3
    assert {page for page, own in names.items() if not own} == {"columns.js", "results.js"}, "these only listen"
    for page, own in names.items():
        assert not set(own) & set(shared), page


def _names(script: str) -> list[str]:
    """What a script declares for all: functions, and all names of a line that begins with const or let."""
    lines = re.findall(r"^(?:const|let) (.*)$", script, re.MULTILINE)
    declared = [name for line in lines for name in re.findall(r"(?:^|, )([A-Za-z_]\w*)(?= =|[,;])", line)]
    return declared + re.findall(r"^(?:async )?function (\w+)", script, re.MULTILINE)
