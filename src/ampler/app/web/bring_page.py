"""Bring results: drop a file, see how its columns were understood, correct that, and go on to what it shows."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from ampler.app.web.analysed import ResultsSource
from ampler.app.web.asked_analysis import AskedAnalysis, asked_analysis
from ampler.app.web.brought import MOST_BYTES, MOST_UNPACKED, BroughtFile, BroughtFiles, too_large
from ampler.app.web.downloads import download
from ampler.app.web.pages import as_sentence, page
from ampler.app.web.results_page import results_view
from ampler.core.enumerated import enumerated
from ampler.core.errors import AmplerError, InvalidInput
from ampler.core.wording import in_bytes
from ampler.data.tables import Columns
from ampler.data.tables.understood import Understanding, understood

ROLES = {
    "algorithm": "names the algorithm",
    "instance": "names the instance",
    "value": "is the value",
    "compared": "values of an algorithm",
    "group": "describes instances",
    "ignored": "is ignored",
}
SAID_BY = {
    "algorithm": "algorithm",
    "instance": "instance",
    "compared": "algorithms",
    "ignored": "ignore",
    "group": "describing",
}
FOUND = {"run": "numbers the runs", "metric": "names the metric", "ending": "says how a run ended"}
MOST_COLUMNS = 200  # whose roles are shown


def bring(request: Request) -> Response:
    """Show where to drop a file."""
    return page("bring.html", here="results", most=in_bytes(MOST_BYTES))


async def take_in(request: Request) -> Response:
    """Take a file that is the body of the request; answer where it can be seen, or why it cannot."""
    try:
        content = await _body(request)
        name = unquote(request.headers.get("x-file-name", ""))[:500]
        where = await run_in_threadpool(_kept, request, name, content)
    except AmplerError as problem:
        status = 413 if str(problem) == str(too_large()) else 422
        return JSONResponse({"problem": as_sentence(problem)}, status_code=status)
    return JSONResponse({"where": where}, status_code=201)


def columns_page(request: Request) -> Response:
    """Show how the columns of a file were understood."""
    brought = _brought(request)
    asked = asked_analysis(dict(request.query_params))
    found = understood(brought.path, _columns(asked), limit=MOST_UNPACKED)
    shown = found.columns[:MOST_COLUMNS]
    return page(
        "columns.html",
        here="results",
        brought=brought,
        found=found,
        shown=[(place, name, found.roles[place]) for place, name in enumerate(shown)],
        roles=ROLES,
        others=FOUND,
        asked=asked,
        known=_known(brought, asked, found),
        hidden=len(found.columns) - len(shown),
    )


def corrected(request: Request) -> Response:
    """Take what was chosen over the columns and lead to the page that reads them so."""
    brought = _brought(request)
    words = dict(request.query_params)
    found = understood(brought.path, Columns(), limit=MOST_UNPACKED)
    chosen = {name: words.get(f"role{place}", "") for place, name in enumerate(found.columns)}
    said = columns_said(found, chosen)
    rest = {name: words[name] for name in ("difference", "better", "decimal") if words.get(name)}
    asked = asked_analysis(said | rest)
    return RedirectResponse(asked.at(f"/results/{brought.key}"), status_code=303)


def columns_said(found: Understanding, chosen: dict[str, str]) -> dict[str, str]:
    """Return what must be said of the columns so that they are read as chosen; nothing where that is found anyway.

    >>> found = Understanding(("a", "b"), ("algorithm", "value"), (), 0)
    >>> columns_said(found, {"a": "instance", "b": "value"})
    {'instance': 'a'}
    """
    otherwise = {role: names for role in ROLES if (names := _having(chosen, role)) != found.having(role)}  # type: ignore[arg-type]
    values = otherwise.pop("value", ())
    if len(values) > 1:
        raise InvalidInput(f"one column is the value, got {len(values)}: {', '.join(values[:5])}; ignore the others")
    taken = found.having("group")  # these describe instances anyway
    otherwise["group"] = tuple(name for name in otherwise.get("group", ()) if name not in taken)
    said = {SAID_BY[role]: enumerated(names) for role, names in otherwise.items() if names}
    return said | ({"value": values[0]} if values else {})


def _having(chosen: dict[str, str], role: str) -> tuple[str, ...]:
    return tuple(name for name, own in chosen.items() if own == role)


def brought_results(request: Request) -> Response:
    """Show what a file that was brought allows to conclude."""
    return results_view(request, _source(request))


def brought_download(request: Request) -> Response:
    """Return a file made from results that were brought."""
    return download(request, _source(request))


def _source(request: Request) -> ResultsSource:
    brought, words = _brought(request), dict(request.query_params)
    home = f"/results/{brought.key}/analysis"
    back = asked_analysis({name: words[name] for name in (*SAID_BY.values(), "value", "decimal") if words.get(name)})
    where = back.at(f"/results/{brought.key}")
    return ResultsSource(brought.path, home, brought.name, brought.name, (brought.name, where), is_study=False)


def _brought(request: Request) -> BroughtFile:
    brought: BroughtFile = request.app.state.brought.find(request.path_params["key"])
    return brought


def _kept(request: Request, name: str, content: bytes) -> str:
    """Keep a file whose table can be read at all; any other goes at once."""
    files: BroughtFiles = request.app.state.brought
    brought = files.keep(name, content)
    try:
        understood(brought.path, Columns(), limit=MOST_UNPACKED)
    except BaseException:
        files.remove(brought)
        raise
    return f"/results/{brought.key}"


async def _body(request: Request) -> bytes:
    """The body, no more of it than is allowed."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise too_large()
        parts.append(part)
    return b"".join(parts)


def _columns(asked: AskedAnalysis) -> Columns:
    options = asked.options
    several = {name: tuple(options.get(name, ())) for name in SAID_BY.values()}
    return Columns(**several, value=asked.value, metric=asked.metric, decimal=asked.decimal)


def _known(brought: BroughtFile, asked: AskedAnalysis, found: Understanding) -> dict[str, Any]:
    """What the table says of itself: its algorithms, and which values are better."""
    from ampler.front import evidence_of

    if found.problem:
        return {"problem": as_sentence(found.problem), "algorithms": [], "better": ""}
    try:
        evidence = evidence_of(brought.path, columns=_columns(asked))
    except AmplerError as problem:
        return {"problem": as_sentence(problem), "algorithms": [], "better": ""}
    runs = evidence.runs
    return {
        "problem": "",
        "algorithms": runs.algorithms,
        "better": evidence.settings.get("better", ""),
        "instances": len(runs.instances),
        "runs": len(runs),
        "failed": int((~runs.ok).sum()),
        "notes": [note.sentence for note in evidence.notes],
    }
