"""The server: addresses and pages, access control, and listening on a port of this machine.

Other sites that a browser has open can send requests to this machine. So requests must name a host that is ours and
must not come from another origin. Other users of this machine can send requests, too, so `ampler serve` requires the
token of the address that it printed. What is answered may load and run nothing but our own files.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from secrets import compare_digest
from typing import Any
from urllib.parse import quote, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ampler.app.web import design_page, results, studies, uploads
from ampler.app.web.pages import ERROR_PAGES, home, static_file
from ampler.core.errors import InvalidInput

ROUTES = (
    Route("/", home),
    Route("/design", design_page.calculator),
    Route("/design/answer", design_page.calculator_answer),
    Route("/studies", studies.studies_page),
    Route("/study/{name}", studies.study_page),
    Route("/study/{name}/live", studies.study_updates),
    Route("/study/{name}/instance/{index:int}", studies.instance_page),
    Route("/study/{name}/results", partial(results.results_view, source_of=results.study_source)),
    Route("/study/{name}/results/{file}", partial(results.download, source_of=results.study_source)),
    Route("/results", uploads.upload_page, methods=["GET"]),
    Route("/results", uploads.upload, methods=["POST"]),
    Route("/results/{key}", uploads.columns_page),
    Route("/results/{key}/read", uploads.corrected_columns),
    Route("/results/{key}/analysis", partial(results.results_view, source_of=uploads.upload_source)),
    Route("/results/{key}/analysis/{file}", partial(results.download, source_of=uploads.upload_source)),
    Route("/static/{name}", static_file),
)
SIGNALS = ("SIGTERM", "SIGHUP")  # handled like Ctrl-C: otherwise temporary files would stay
GRACE = 2  # seconds that answers under way have when the server ends

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
COOKIE = "ampler-token-"  # and a digest of the token: browsers share cookies between the ports of a machine
POLICY = (  # figures carry their lengths and widths in attributes of style, which cannot run
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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


def application(paths: Iterable[Path] = (), *, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """Return the pages over these results files, for those who may ask."""
    app = Starlette(routes=ROUTES, exception_handlers=ERROR_PAGES)
    app.state.studies = studies.StudyRegistry(paths)
    app.state.uploads = uploads.Uploads()
    return AccessMiddleware(app, own_names(host), token)


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host`, on a free port if `port` is 0; InvalidInput when it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()  # early requests wait
    except (OSError, OverflowError) as problem:
        listener.close()
        reason = getattr(problem, "strerror", None) or problem
        raise InvalidInput(f"cannot listen at {host}:{port} ({reason}); omit --port to use a free one") from None
    return listener


def address_of(listener: socket.socket, host: str, token: str | None) -> str:
    """Return the address for a browser."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/{'' if token is None else f'?token={token}'}"


def answer_requests(app: ASGIApp, listener: socket.socket) -> None:
    """Answer requests until Ctrl-C or a signal; current requests are finished first."""
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
    config = uvicorn.Config(app, lifespan="off", ws="none", timeout_graceful_shutdown=GRACE, **quiet)
    server, received = uvicorn.Server(config), list[int]()

    def end_in_order(number: int, _: object) -> None:
        received.append(number)
        server.should_exit = True  # exceptions end only the current request

    for name in SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end_in_order)
    server.run(sockets=[listener])
    if received:
        raise SystemExit(128 + received[0])


# access -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AccessMiddleware:
    """Admit authorised requests; every response carries the security policy.

    `hosts` are the names under which the server may be called; unless it is for this machine alone, so are addresses in
    numbers, as no other site can have one of them. With a `token`, who does not show it is turned away.
    """

    app: ASGIApp
    hosts: Collection[str] = LOOPBACK
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with a message."""
        if scope["type"] == "http":

            async def send_with_headers(message: Message) -> None:
                if message["type"] == "http.response.start":
                    headers = MutableHeaders(scope=message)
                    headers.update(HEADERS)
                    headers.setdefault("cache-control", "no-store")
                await send(message)

            await (self.refusal(scope) or self.app)(scope, receive, send_with_headers)

    def refusal(self, scope: Scope) -> Response | None:
        """Return the refusal of an unauthorised request, or None."""
        request = Request(scope)
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        name = hostname(host)
        if name not in self.hosts and not (self.hosts != LOOPBACK and is_address(name)):
            return _refused("This server answers to its own address only: open the one that ampler serve printed.")
        if origin not in (None, f"http://{host}", f"https://{host}"):
            return _refused("Another site requested this page, so access was refused: open it in a new window.")
        return None if self.token is None else _token_check(request, self.token)


def hostname(host: str) -> str:
    """Return the name in a Host header, without the port.

    >>> hostname("localhost:8000"), hostname("[::1]:80"), hostname("EXAMPLE.org")
    ('localhost', '::1', 'example.org')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def is_address(name: str) -> bool:
    """Whether a host is a numerical address, to which no other site's name can lead.

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


def cookie_name(token: str) -> str:
    """Return the name of the cookie that holds a token."""
    return f"{COOKIE}{sha256(token.encode()).hexdigest()[:8]}"


def _refused(sentence: str, status: int = 403) -> Response:
    return PlainTextResponse(f"{sentence}\n", status_code=status)


def _token_check(request: Request, token: str) -> Response | None:
    """Return the answer to a request without a valid cookie; a token in the address becomes a cookie."""
    pairs = request.query_params.multi_items()
    if any(name == "token" and compare_digest(value.encode(), token.encode()) for name, value in pairs):
        rest = urlencode([pair for pair in pairs if pair[0] != "token"])
        path = f"/{quote(request.scope['path']).lstrip('/')}"  # two slashes would be another site's
        answer = RedirectResponse(f"{path}{'?' if rest else ''}{rest}", status_code=303)
        answer.set_cookie(cookie_name(token), token, httponly=True, samesite="strict")
        return answer
    if compare_digest(request.cookies.get(cookie_name(token), "").encode(), token.encode()):
        return None
    return _refused("This page needs its token: open the whole address that ampler serve printed.", 401)
