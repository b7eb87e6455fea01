"""Who may ask, and what a page may do: the door of the server, before any page is made.

Other sites that a browser has open can send requests to this machine. So requests must name a host that is ours and
must not come from another origin; a server that listens to other machines also wants its token. What is answered may
load and run nothing but our own files.
"""

from __future__ import annotations

import socket
from collections.abc import Collection
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from secrets import compare_digest
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
COOKIE = "ampler-token"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",  # figures carry their lengths and widths; a style cannot run
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


@dataclass(frozen=True, slots=True)
class Doorkeeper:
    """Let in who may ask; everything that goes out carries the policy.

    `hosts` are the names under which the server may be called; with a `token` addresses in numbers are, too, as no
    other site can have one of them, and who does not show the token is turned away.
    """

    app: ASGIApp
    hosts: Collection[str] = LOOPBACK
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in a sentence."""
        if scope["type"] != "http":
            return
        refused = self.refusal(scope)
        await (refused or self.app)(scope, receive, _with_headers(send))

    def refusal(self, scope: Scope) -> Response | None:
        """Return the answer to who may not ask; None for who may."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return _refused("This server answers to its own address only: open the one that ampler serve printed.")
        if not self._same_origin(headers, host):
            return _refused("Another site asked for this page, so it was not given: open it in a window of its own.")
        return None if self.token is None else _without_token(scope, headers, self.token)

    def _is_ours(self, host: str) -> bool:
        name = hostname(host)
        return name in self.hosts or (self.token is not None and is_address(name))

    def _same_origin(self, headers: Headers, host: str) -> bool:
        origin = headers.get("origin")
        return origin is None or origin in (f"http://{host}", f"https://{host}")


def hostname(host: str) -> str:
    """Return the name in a Host header, without the port.

    >>> hostname("localhost:8000"), hostname("[::1]:80"), hostname("EXAMPLE.org")
    ('localhost', '::1', 'example.org')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def is_address(name: str) -> bool:
    """Whether a host is called by its number: nobody else's name can lead to it.

    >>> is_address("192.168.0.7"), is_address("example.org")
    (True, False)
    """
    try:
        return bool(ip_address(name))
    except ValueError:
        return False


def own_names(host: str) -> frozenset[str]:
    """Return the names under which this machine may be called when the server listens on `host`."""
    return LOOPBACK if host in LOOPBACK else LOOPBACK | {host.lower(), socket.gethostname().lower()}


def _refused(sentence: str, status: int = 403) -> Response:
    return PlainTextResponse(f"{sentence}\n", status_code=status)


def _without_token(scope: Scope, headers: Headers, token: str) -> Response | None:
    """The answer to who has no token yet; the address that has it becomes a cookie and leaves the address."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if any(name == "token" and _same(value, token) for name, value in pairs):
        rest = urlencode([pair for pair in pairs if pair[0] != "token"])
        path = f"/{quote(scope['path']).lstrip('/')}"  # two slashes would be another site's
        answer = RedirectResponse(f"{path}{'?' if rest else ''}{rest}", status_code=303)
        answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
        return answer
    if _same(_cookie(headers), token):
        return None
    return _refused("This page needs its token: open the whole address that ampler serve printed.", 401)


def _same(said: str, token: str) -> bool:
    return compare_digest(said.encode(), token.encode())


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            kept = any(name.lower() == b"cache-control" for name, _ in own)
            message["headers"] = [*own, *ENCODED, *(() if kept else [(b"cache-control", b"no-store")])]
        await send(message)

    return sending
