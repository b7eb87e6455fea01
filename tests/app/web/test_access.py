from __future__ import annotations

import pytest

from ampler.app.web.server import LOOPBACK, cookie_name, hostname, own_names

TOKEN = "a-token-of-this-server"
NAME = cookie_name(TOKEN)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:9", "[::1]:8000", "localhost", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered(browser, host):
    assert browser.get("/", host=host).status == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "evil@127.0.0.1", "192.168.0.1", "::1"])
def test_a_foreign_host_is_refused(browser, host):
    reply = browser.get("/", host=host)

    assert reply.status == 403
    assert "open the one that ampler serve printed" in reply.text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8000", ""]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_foreign_origin_is_refused(browser, origin, method):
    assert browser.ask(method, "/", headers=[("origin", origin)]).status == 403


def test_our_own_origin_is_answered(browser):
    assert browser.get("/", origin="http://127.0.0.1:8000").status == 200


@pytest.mark.parametrize("where", ["/", "/design", "/design/answer", "/static/ampler.css", "/nothing"])
def test_every_answer_carries_the_policy(browser, where):
    headers = browser.get(where).headers

    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert headers["x-content-type-options"] == "nosniff"


def test_no_page_has_a_script_in_it(browser):
    for where in ("/", "/design", "/nothing"):
        text = browser.get(where).text
        assert "<script>" not in text
        assert " onclick=" not in text
        assert "http://" not in text.replace("http://www.w3.org", "")


class TestOnOtherHosts:
    @pytest.fixture
    def outside(self, browse):
        return browse(host="0.0.0.0", token=TOKEN)

    def test_who_has_no_token_is_turned_away(self, outside):
        reply = outside.get("/", host="192.168.0.7:8000")

        assert reply.status == 401
        assert "token" in reply.text
        assert outside.get("/?token=wrong", host="192.168.0.7:8000").status == 401

    def test_the_token_becomes_a_cookie_and_leaves_the_address(self, outside):
        reply = outside.get(f"/design?effect=1&token={TOKEN}", host="192.168.0.7:8000")

        assert reply.status == 303
        assert reply.headers["location"] == "/design?effect=1"
        assert "httponly" in reply.headers["set-cookie"].lower()
        assert "samesite=strict" in reply.headers["set-cookie"].lower()
        cookie = reply.headers["set-cookie"].partition(";")[0]
        assert outside.get("/design", host="192.168.0.7:8000", cookie=cookie).status == 200

    def test_a_name_that_is_not_ours_is_refused_even_with_the_token(self, outside):
        assert outside.get(f"/?token={TOKEN}", host="rebound.example").status == 403

    @pytest.mark.parametrize(
        "cookie", [f"{NAME}=", f"{NAME}=ü", "=", ";;;", f"{NAME}={TOKEN[:-1]}", f"ampler-token={TOKEN}"]
    )
    def test_a_cookie_that_is_no_token_opens_nothing(self, outside, cookie):
        assert outside.get("/", host="192.168.0.7:8000", cookie=cookie).status == 401


@pytest.mark.parametrize("where", ["/", "/design", "/static/ampler.css", "/study/small/live", "/results"])
def test_another_user_of_this_machine_is_turned_away(browse, where):
    inside = browse(token=TOKEN)

    assert inside.get(where).status == inside.ask("POST", where).status == 401
    assert inside.get("/", host="192.168.0.7:8000").status == 403


def test_servers_on_two_ports_of_a_machine_have_cookies_of_their_own():
    assert cookie_name(TOKEN) != cookie_name(f"{TOKEN}2")
    assert TOKEN[:4] not in NAME.removeprefix("ampler-token-")


def test_a_path_from_a_token_address_leads_to_no_other_site(browse):
    reply = browse(host="0.0.0.0", token=TOKEN).get(f"//evil.example/?token={TOKEN}", host="192.168.0.7")

    assert not reply.headers["location"].startswith("//")


def test_names_are_told_from_ports():
    assert hostname("[fe80::1]:80") == "fe80::1"
    assert own_names("127.0.0.1") == LOOPBACK
    assert "lab.example" in own_names("Lab.example")
