"""`ampler serve`: the pages for a browser on this machine; it opens nothing by itself and changes no study."""

from __future__ import annotations

import sys
from pathlib import Path
from secrets import token_urlsafe
from typing import Annotated

import typer

from ampler.app.shell.options import WholeOption, told_as_usage
from ampler.app.shell.output import WrongUsage, note, say_lines
from ampler.core.errors import MissingDependency

Option = typer.Option
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(
    studies: Annotated[
        list[Path] | None, typer.Argument(metavar="[STUDY.DB]...", help="Studies to show; they may be running.")
    ] = None,
    port: Annotated[int, WholeOption(help="To listen at; a free one if not said.")] = 0,
    host: Annotated[str, Option(metavar="ADDRESS", help="To listen at; others than this machine need a token.")] = (
        "127.0.0.1"
    ),
) -> None:
    """Look at designs, studies and results in a browser: prints the address to open; Ctrl-C ends it.

    Example: ampler serve study.db
    """
    if not 0 <= port <= 65535:
        raise WrongUsage(f"--port must be between 0 and 65535, got {port}")
    try:
        from ampler.app.web import server, shelf
    except ModuleNotFoundError as problem:
        raise MissingDependency("the browser needs Starlette and uvicorn: pip install 'ampler[web]'") from problem
    shelf.check_shown(shelf.shelf_of(studies or []))
    token = None if host in LOOPBACK else token_urlsafe(24)
    with told_as_usage():
        opened = server.listening_socket(host, port)
    app = server.application(studies or [], host=host, token=token)
    say_lines([server.address_of(opened, host, token)])
    sys.stdout.flush()  # a program that reads the address through a pipe waits for it
    note("Open this address in a browser; Ctrl-C ends it.")
    server.answer_requests(app, opened)
