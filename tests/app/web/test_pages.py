from __future__ import annotations

import pytest

from ampler.app.web.pages import problem_page


def test_an_address_that_leads_nowhere_is_a_page_with_a_next_step(browser):
    reply = browser.get("/nothing/here")

    assert reply.status == 404
    assert "The address leads nowhere." in reply.words
    assert '<a class="button" href="/">' in reply.text


def test_a_way_of_asking_that_does_not_exist_is_refused_in_words(browser):
    reply = browser.ask("POST", "/design")

    assert reply.status == 405
    assert "That cannot be done here" in reply.words


def test_what_a_problem_quotes_is_escaped_and_cut():
    page = problem_page("/x", f"<script>{'a' * 5000}", status=422, title="No")

    assert b"<script>a" not in page.body
    assert len(page.body) < 5000


def test_what_must_not_happen_is_told_as_a_defect_in_words(browse, monkeypatch):
    from ampler.app.web import home

    monkeypatch.setattr(home, "page", lambda *_, **__: {}["a <b>secret</b>"])
    browser, sent = browse(), []

    async def asked() -> None:
        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "root_path": "", "scheme": "http"}
        headers = [(b"host", b"127.0.0.1:8000")]
        await browser.app(scope | {"headers": headers, "server": ("127.0.0.1", 8000)}, receive, send)

    with pytest.raises(KeyError):  # the terminal has the details
        browser.loop.run_until_complete(asked())
    text = b"".join(each.get("body", b"") for each in sent).decode()
    assert sent[0]["status"] == 500
    assert "This is a defect of ampler, not of your data (KeyError)" in " ".join(text.split())
    assert "secret" not in text
    assert b"content-security-policy" in dict(sent[0]["headers"])
