"""The first page: three doors."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ampler.app.web.pages import page


def home(request: Request) -> Response:
    """Show the ways in: plan, watch, results."""
    return page("home.html", here="home", studies=list(request.app.state.shelf))
