"""Uploaded results: their columns are corrected, then they are analysed.

Files stay in private folders of this machine, a few at a time, and are gone when the server is.
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from ampler.app.web.pages import ROLES, AnalysisForm, NotThere, as_sentence, page
from ampler.app.web.results import ResultsSource
from ampler.core.errors import AmplerError, InvalidData, InvalidInput
from ampler.core.text import in_bytes, join_names
from ampler.data.tables import Columns
from ampler.data.tables.column_roles import ColumnRoles, column_roles

MAX_BYTES = 32 * 10**6  # maximum size of an upload
MAX_TABLE_BYTES = 128 * 10**6  # maximum size of the table in it
MAX_FILES = 8
LIFETIME = 3600.0  # seconds after which an unused file is deleted
MAX_NAME_LENGTH = 200  # bytes; file systems take 255
SQLITE = b"SQLite format 3\0"
MAX_COLUMNS = 200  # maximum number of displayed columns

FIXED_ROLES = {"run": "numbers the runs", "metric": "names the metric", "ending": "is the status of a run"}


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file under a random name."""

    key: str
    name: str
    path: Path


class Uploads:
    """Uploaded files; the oldest is deleted if there are too many, and all when the server ends."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, tuple[Upload, float]] = OrderedDict()
        weakref.finalize(self, lambda files: _delete(*files.values()), self._files)  # also at exit
        self._lock = threading.Lock()

    def add(self, name: str, content: bytes) -> Upload:
        """Store a file whose table can be read at all; any other is deleted at once, with an error of ours."""
        check_content(content)
        path = Path(mkdtemp(prefix="ampler-")) / safe_name(name)  # a private folder
        try:
            path.write_bytes(content)
            column_roles(path, Columns(), limit=MAX_TABLE_BYTES)
        except BaseException as problem:
            shutil.rmtree(path.parent, ignore_errors=True)
            if isinstance(problem, OSError):
                remedy = "analyse it at the command line"
                raise InvalidData(f"the file cannot be stored here ({problem.strerror}); {remedy}") from None
            raise
        upload = Upload(secrets.token_urlsafe(12), path.name, path)
        with self._lock:
            self._files[upload.key] = (upload, time.monotonic())
            self._delete_old()
        return upload

    def find(self, key: str) -> Upload:
        """Return a file; NotThere when it is gone."""
        with self._lock:
            self._delete_old()
            if key not in self._files:
                raise NotThere(
                    "this file is no longer here: files that were brought go away after a while; bring it again"
                )
            upload, _ = self._files.pop(key)
            self._files[key] = (upload, time.monotonic())
            return upload

    def _delete_old(self) -> None:
        for key, (_, when) in list(self._files.items()):
            if len(self._files) > MAX_FILES or time.monotonic() - when > LIFETIME:
                _delete(self._files.pop(key))


def _delete(*uploads: tuple[Upload, float]) -> None:
    for upload, _ in uploads:
        shutil.rmtree(upload.path.parent, ignore_errors=True)


def check_content(content: bytes) -> None:
    """Raise InvalidData if the upload is no table or is too large."""
    if not content.strip():
        raise InvalidData("the file is empty; bring one with a row for each run, or one for each instance")
    if len(content) > MAX_BYTES:
        raise TooLarge
    if content.startswith(SQLITE):
        raise InvalidData("this is a results file or another database; start the server with it: ampler serve study.db")


class TooLarge(InvalidData):
    """A file beyond the limit."""

    def __init__(self) -> None:
        super().__init__(
            f"the file is larger than {in_bytes(MAX_BYTES)}; analyse it at the command line: ampler analyse"
        )


def safe_name(name: str) -> str:
    """Return the name of a file without folders and without anything that could be more than a name.

    >>> safe_name("../../etc/my runs.csv"), safe_name(""), safe_name(".csv")
    ('my runs.csv', 'results.csv', 'results.csv')
    """
    last = re.split(r"[/\\\\]", name)[-1]
    safe = re.sub(r"[^\w. ()+-]+", "-", last).strip(" .-")
    safe = safe.encode()[-MAX_NAME_LENGTH:].decode(errors="ignore")
    stem, dot, ending = safe.rpartition(".")
    return safe if dot and stem else f"results.{ending}" if last.startswith(".") and ending else safe or "results.csv"


# pages ------------------------------------------------------------------------------------------------------------


def upload_page(_: Request) -> Response:
    """Show the upload page."""
    return page("bring.html", here="results", most=in_bytes(MAX_BYTES))


async def upload(request: Request) -> Response:
    """Store the file in the body of the request; return its address or an error."""
    try:
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > MAX_BYTES:
                raise TooLarge
        name = unquote(request.headers.get("x-file-name", ""))[:500]
        added = await run_in_threadpool(request.app.state.uploads.add, name, bytes(content))
    except ClientDisconnect:
        return Response(status_code=400)  # the client is gone
    except AmplerError as problem:
        status = 413 if isinstance(problem, TooLarge) else 422
        return JSONResponse({"problem": as_sentence(problem)}, status_code=status)
    return JSONResponse({"where": f"/results/{added.key}"}, status_code=201)


def columns_page(request: Request) -> Response:
    """Show how the columns of a file are read."""
    upload, form = _upload(request), AnalysisForm.of(dict(request.query_params))
    table = column_roles(upload.path, _columns(form), limit=MAX_TABLE_BYTES)
    columns = list(enumerate(table.columns[:MAX_COLUMNS]))
    return page(
        "columns.html",
        here="results",
        upload=upload,
        table=table,
        columns=[(index, name, table.roles[index]) for index, name in columns],
        roles=ROLES,
        others=FIXED_ROLES,
        form=form,
        summary=_summary(upload, form, table),
        hidden=len(table.columns) - len(columns),
    )


def corrected_columns(request: Request) -> Response:
    """Redirect to the page with the chosen roles of columns."""
    upload, query = _upload(request), dict(request.query_params)
    table = column_roles(upload.path, Columns(), limit=MAX_TABLE_BYTES)
    chosen = {name: query.get(f"role{index}", "") for index, name in enumerate(table.columns)}
    rest = {name: query[name] for name in ("difference", "better", "decimal", "metric") if query.get(name)}
    form = AnalysisForm.of(column_options(table, chosen) | rest)
    return RedirectResponse(form.address(f"/results/{upload.key}"), status_code=303)


def column_options(table: ColumnRoles, chosen: dict[str, str]) -> dict[str, str]:
    """Return the options that make columns be read as chosen; none where they are read so anyway.

    >>> table = ColumnRoles(("a", "b"), ("algorithm", "value"), (), 0)
    >>> column_options(table, {"a": "instance", "b": "value"})
    {'instance': 'a'}
    """
    changed = {}
    for role in ROLES:
        names = tuple(name for name, own in chosen.items() if own == role)
        if names != table.having(role):  # type: ignore[arg-type]
            changed[role] = names
    values = changed.pop("value", ())
    if len(values) > 1:
        raise InvalidInput(f"one column is the value, got {len(values)}: {', '.join(values[:5])}; ignore all but one")
    described = table.having("group")  # already describe instances
    changed["group"] = tuple(name for name in changed.get("group", ()) if name not in described)
    options = {ROLES[role]: join_names(names) for role, names in changed.items() if names}
    return options | ({"value": values[0]} if values else {})


def upload_source(request: Request) -> ResultsSource:
    """Return the file that an address names, as results."""
    upload, query = _upload(request), dict(request.query_params)
    home = f"/results/{upload.key}/analysis"
    columns = {name: query[name] for name in (*ROLES.values(), "decimal", "metric") if query.get(name)}
    where = AnalysisForm.of(columns).address(f"/results/{upload.key}")
    return ResultsSource(upload.path, home, upload.name, upload.name, (upload.name, where), is_study=False)


def _upload(request: Request) -> Upload:
    upload: Upload = request.app.state.uploads.find(request.path_params["key"])
    return upload


def _columns(form: AnalysisForm) -> Columns:
    values: dict[str, Any] = {name: value for name, value in form.reading.items() if name != "on_failure"}
    values |= {name: tuple(values[name]) for name in ROLES.values() if name in values and name != "value"}
    return Columns(**values)


def _summary(upload: Upload, form: AnalysisForm, table: ColumnRoles) -> dict[str, Any]:
    """Summary of a table: its algorithms, and the better direction."""
    from ampler.api import read_results

    try:
        if table.problem:
            raise InvalidData(str(table.problem))
        results = read_results(upload.path, **form.reading)
    except AmplerError as problem:
        return {"problem": as_sentence(problem), "algorithms": [], "better": ""}
    runs = results.runs
    return {
        "problem": "",
        "algorithms": runs.algorithms,
        "better": results.settings.get("better", ""),
        "instances": len(runs.instances),
        "runs": len(runs),
        "failed": int((~runs.ok).sum()),
        "notes": [note.sentence for note in results.notes],
    }
