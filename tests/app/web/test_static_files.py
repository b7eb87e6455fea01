from __future__ import annotations

import re

import pytest

from ampler.app.web.pages import HERE
from ampler.app.web.static_files import known_files
from ampler.report.look import DARK, LIGHT


@pytest.mark.parametrize("name", sorted(known_files()))
def test_every_file_of_the_pages_is_given(browser, name):
    reply = browser.get(f"/static/{name}")

    assert reply.status == 200
    assert reply.headers["content-type"].split(";")[0] in ("text/css", "text/javascript", "image/svg+xml")


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
