"""The server: every address with its page, behind the door, on a port of this machine."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from ampler.app.web.analysed import Analyses
from ampler.app.web.bring_page import bring, brought_download, brought_results, columns_page, corrected, take_in
from ampler.app.web.brought import BroughtFiles
from ampler.app.web.calculator import calculator, redrawn
from ampler.app.web.home import home
from ampler.app.web.instance_page import instance_page
from ampler.app.web.live import LiveStudies
from ampler.app.web.news import ForWatchers, News
from ampler.app.web.pages import PROBLEMS
from ampler.app.web.results_page import study_download, study_results
from ampler.app.web.security import Doorkeeper, own_names
from ampler.app.web.shelf import Shelf, shelf_of
from ampler.app.web.static_files import static_file
from ampler.app.web.study_page import studies_page, study_changes, study_page, study_parts
from ampler.core.errors import InvalidInput

ROUTES = (
    Route("/", home),
    Route("/design", calculator),
    Route("/design/answer", redrawn),
    Route("/studies", studies_page),
    Route("/study/{name}", study_page),
    Route("/study/{name}/live", study_changes),
    Route("/study/{name}/instance/{place:int}", instance_page),
    Route("/study/{name}/results", study_results),
    Route("/study/{name}/results/{file}", study_download),
    Route("/results", bring, methods=["GET"]),
    Route("/results", take_in, methods=["POST"]),
    Route("/results/{key}", columns_page),
    Route("/results/{key}/read", corrected),
    Route("/results/{key}/analysis", brought_results),
    Route("/results/{key}/analysis/{file}", brought_download),
    Route("/static/{name}", static_file),
)
ENDED_BY = ("SIGTERM", "SIGHUP")  # beside Ctrl-C: whoever is told to end by them leaves files behind otherwise
PATIENCE = 2  # seconds that answers under way have when the server ends


def application(paths: Iterable[Path] = (), *, host: str = "127.0.0.1", token: str | None = None) -> ASGIApp:
    """Return the pages over these study files, behind the door."""
    pages = pages_over(shelf_of(paths))
    return Doorkeeper(ForWatchers(pages, pages.state.news), own_names(host), token)


def pages_over(shelf: Shelf) -> Starlette:
    """Return the pages alone."""
    app = Starlette(routes=ROUTES, exception_handlers=PROBLEMS)
    app.state.shelf = shelf
    app.state.analyses = Analyses()
    app.state.brought = BroughtFiles()
    app.state.live = LiveStudies(shelf.studies)
    app.state.news = {live.name: News(live, study_parts) for live in app.state.live}
    return app


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host`, on a free port if `port` is 0; InvalidInput when it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen()  # who opens the address at once is answered a moment later
    except (OSError, OverflowError) as problem:
        opened.close()
        said = getattr(problem, "strerror", None) or problem
        raise InvalidInput(f"cannot listen at {host}:{port} ({said}); leave --port out to get a free one") from None
    return opened


def address_of(opened: socket.socket, host: str, token: str | None) -> str:
    """Return what to type into a browser."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{opened.getsockname()[1]}/{'' if token is None else f'?token={token}'}"


def answer_requests(app: ASGIApp, opened: socket.socket) -> None:
    """Answer until Ctrl-C, or until a signal asks for the end: then what is being answered is answered first."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    server, asked = uvicorn.Server(config), list[int]()

    def end_in_order(number: int, _: object) -> None:
        asked.append(number)
        server.should_exit = True  # an exception would end no more than the request that it meets

    for name in ENDED_BY:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), end_in_order)
    server.run(sockets=[opened])
    if asked:
        raise SystemExit(128 + asked[0])
