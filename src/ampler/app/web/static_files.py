"""The style sheets and scripts of the pages: our own, from the package, nothing from elsewhere."""

from __future__ import annotations

import hashlib
from functools import cache

from starlette.requests import Request
from starlette.responses import Response

from ampler.app.web.pages import HERE, NotThere
from ampler.report.forest_html import components_css
from ampler.report.look import tokens_css

MADE = {"tokens.css": tokens_css, "components.css": components_css}  # that report and figures share
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
KEPT = "private, max-age=31536000, immutable"  # by a browser, for as long as it likes


def static_file(request: Request) -> Response:
    """Return a file of the pages; a browser that asks for what is in it now need not ask again."""
    name = request.path_params["name"]
    text, kind = _content(name)
    kept = request.query_params.get("of") == _stamp(name)
    return Response(text, media_type=kind, headers={"cache-control": KEPT if kept else "no-cache"})


def static_address(name: str) -> str:
    """Return where a page finds a file, which is elsewhere when other things are in it."""
    return f"/static/{name}?of={_stamp(name)}"


@cache
def _stamp(name: str) -> str:
    return hashlib.sha256(_content(name)[0].encode()).hexdigest()[:16]


@cache
def known_files() -> frozenset[str]:
    """Return the names of all that can be asked for."""
    return frozenset({*MADE, *(file.name for file in HERE.joinpath("static").iterdir())})


def _content(name: str) -> tuple[str, str]:
    if name not in known_files():
        raise NotThere("pages have no file of this name")
    kind = KINDS[name.rpartition(".")[2]]
    made = MADE.get(name)
    return (HERE.joinpath("static", name).read_text("utf-8") if made is None else made()), kind
