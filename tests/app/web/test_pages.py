from __future__ import annotations

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
