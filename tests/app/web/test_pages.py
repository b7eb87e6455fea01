from __future__ import annotations

import re
from pathlib import Path

import pytest

from ampler.app.web.pages import HERE, error_page, static_address, static_names
from ampler.report.theme import DARK, LIGHT


def test_an_address_that_leads_nowhere_is_a_page_with_a_next_step(browser):
    reply = browser.get("/nothing/here")

    assert reply.status == 404
    assert "The address is unknown." in reply.words
    assert '<a class="button" href="/">' in reply.text


def test_a_way_of_asking_that_does_not_exist_is_refused_in_words(browser):
    reply = browser.ask("POST", "/design")

    assert reply.status == 405
    assert "This cannot be done here" in reply.words


def test_what_a_problem_quotes_is_escaped_and_cut():
    page = error_page("/x", f"<script>{'a' * 5000}", status=422, title="No")

    assert b"<script>a" not in page.body
    assert len(page.body) < 5000


def test_what_must_not_happen_is_told_as_a_defect_in_words(browse, monkeypatch):
    from ampler.app.web import studies

    monkeypatch.setattr(studies, "page", lambda *_, **__: {}["a <b>secret</b>"])
    browser, sent = browse(), []

    async def asked() -> None:
        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/studies",
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
        }
        headers = [(b"host", b"127.0.0.1:8000")]
        await browser.app(scope | {"headers": headers, "server": ("127.0.0.1", 8000)}, receive, send)

    with pytest.raises(KeyError):  # the terminal has the details
        browser.loop.run_until_complete(asked())
    text = b"".join(each.get("body", b"") for each in sent).decode()
    assert sent[0]["status"] == 500
    assert "This is a defect of ampler, not of your data (KeyError)" in " ".join(text.split())
    assert "secret" not in text
    assert b"content-security-policy" in dict(sent[0]["headers"])


@pytest.mark.parametrize("name", sorted(static_names()))
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
    addresses = [static_address(name) for name in static_names()]

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


DOCS = Path(__file__).parents[3] / "docs"


def test_the_doors_of_the_first_page_lead_somewhere(browser):
    first = browser.get("/")

    doors = re.findall(r'class="door" href="([^"]+)"', first.text)
    assert doors[0] == "/design"
    assert all(browser.get(door).status == 200 for door in doors)
    assert "what may I conclude?" in first.words


def test_every_page_has_its_pictures_in_the_documentation():
    page = (DOCS / "browser.md").read_text(encoding="utf-8")
    pictures = sorted((DOCS / "browser").glob("*.webp"))

    assert {path.name for path in pictures} == set(re.findall(r"browser/([\w-]+\.webp)", page))
    assert sum("-dark" in path.name for path in pictures) == len(pictures) / 2
    assert sum(path.stat().st_size for path in pictures) < 1.5e6
