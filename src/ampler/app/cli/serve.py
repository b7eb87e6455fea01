"""`ampler serve`: the pages for a browser on this machine; it opens nothing by itself and changes no study."""

from __future__ import annotations

import sys
from pathlib import Path
from secrets import token_urlsafe
from typing import Annotated

import typer

from ampler.app.cli.options import IntegerOption, usage_errors
from ampler.app.cli.output import WrongUsage, note, say_lines
from ampler.core.errors import MissingDependency

Option = typer.Option


def serve(
    studies: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[STUDY.DB]...", help="Results files to show; studies may be running."),
    ] = None,
    port: Annotated[int, IntegerOption(help="Port to listen on; 0 means any free port.")] = 0,
    host: Annotated[str, Option(metavar="ADDRESS", help="Address to listen on.")] = ("127.0.0.1"),
) -> None:
    """Show studies and results in a browser.

    It prints the address to open. Ctrl-C ends it.

    Example: ampler serve study.db
    """
    if not 0 <= port <= 65535:
        raise WrongUsage(f"--port must be between 0 and 65535, got {port}")
    try:
        from ampler.app.web import server
        from ampler.app.web.studies import check_watchable
    except ModuleNotFoundError as problem:
        raise MissingDependency("the browser needs Starlette and uvicorn: pip install 'ampler[web]'") from problem
    check_watchable(studies or [])
    token = token_urlsafe(24)  # on this machine, too: other users of it can open its ports
    with usage_errors():
        listener = server.listening_socket(host, port)
    app = server.application(studies or [], host=host, token=token)
    say_lines([server.address_of(listener, host, token)])
    sys.stdout.flush()  # a program that reads the address through a pipe waits for it
    note("Open this address in a browser; Ctrl-C ends it.")
    server.answer_requests(app, listener)
