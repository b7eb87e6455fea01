"""Shared parts of pages: parsing of addresses, templates with escaping, scripts, and error pages."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ampler import __version__
from ampler.core.errors import AmplerError, InvalidInput
from ampler.core.settings import (
    DESIGN,
    DIFFERENCE_ALIASES,
    canonical_difference,
    choice,
    choices,
    finite,
    help_text,
    integer,
    label,
    types,
)
from ampler.core.text import count, digits, render_for_browser, short_duration, shortened, split_names
from ampler.report.resources import environment, template_text
from ampler.report.theme import tokens_css

if TYPE_CHECKING:
    from jinja2 import Environment

    from ampler.core.runs import Observation

HERE = files("ampler.app.web")
MAX_SENTENCE = 1000  # maximum length of an error message, which may quote names
SECTIONS = (("plan", "/design", "Plan"), ("studies", "/studies", "Studies"), ("results", "/results", "Results"))
REPORTS = "report/"  # prefix of templates from reports
NEXT_STEPS = {
    "/design": ("Begin again with the paper's design", "/design"),
    "/study": ("See the studies", "/studies"),
    "/results": ("Upload another file", "/results"),
    "": ("Go to the first page", "/"),
}
SHARED: Mapping[str, Callable[[], str]] = {  # shared with reports
    "tokens.css": tokens_css,
    "components.css": partial(template_text, "components.css"),
}
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FOREVER = "private, max-age=31536000, immutable"


class NotThere(Exception):
    """A page that does not exist, with the sentence that says so."""


def home(request: Request) -> Response:
    """Show the home page: plan, studies, results."""
    return page("home.html", here="home", studies=list(request.app.state.studies))


@cache
def templates() -> Environment:
    """Return the templates; everything in them is escaped unless it is markup of our own."""
    result = environment(_template)
    result.globals |= {"version": __version__, "sections": SECTIONS, "static": static_address}
    result.globals |= {"label": label, "help_text": help_text, "choices_of": choices, "DESIGN": DESIGN}
    result.filters |= {"digits": digits, "count": count, "short_duration": short_duration}
    result.filters |= {"short_time": short_time, "end_time": end_time, "error": error_text}
    return result


def _template(name: str) -> str:
    """A template of the pages, or one shared with reports."""
    if name.startswith(REPORTS):
        return template_text(name.removeprefix(REPORTS))
    return template_text(name, "ampler.app.web")


def fragment(template: str, **values: Any) -> str:
    """Return a template filled in, for a part of a page."""
    return templates().get_template(template).render(**values)


def short_time(seconds: float) -> str:
    """Return a time that may be short.

    >>> short_time(0.0123), short_time(7.2), short_time(300)
    ('12.3 ms', '7.2 s', '5 min')
    """
    if seconds < 1:
        return f"{digits(1000 * seconds)} ms"
    return f"{digits(seconds)} s" if seconds < 100 else short_duration(seconds)


def error_text(error: float, percent: bool) -> str:
    """Return a standard error as text."""
    return f"{digits(100 * error)} %" if percent else digits(error)


def end_time(run: Observation) -> str:
    """Return when a run ended, by the clock here."""
    return "–" if run.started is None else time.strftime("%H:%M:%S", time.localtime(run.started + run.seconds))


def page(template: str, *, status: int = 200, **values: Any) -> Response:
    """Return a page."""
    return HTMLResponse(fragment(template, **values).encode("utf-8", "replace"), status_code=status)


# style sheets and scripts: our own, from the package, nothing from elsewhere ----------------------------------------


def static_file(request: Request) -> Response:
    """Return a file of the pages; a browser that asks for what is in it now need not ask again."""
    name = request.path_params["name"]
    text = _content(name)
    current = request.query_params.get("of") == _digest(name)
    media_type = MEDIA_TYPES[name.rpartition(".")[2]]
    return Response(text, media_type=media_type, headers={"cache-control": FOREVER if current else "no-cache"})


def static_address(name: str) -> str:
    """Return where a page finds a file, which is elsewhere when other things are in it."""
    return f"/static/{name}?of={_digest(name)}"


@cache
def _digest(name: str) -> str:
    return hashlib.sha256(_content(name).encode()).hexdigest()[:16]


@cache
def static_names() -> frozenset[str]:
    """Return the names of all entries."""
    return frozenset({*SHARED, *(file.name for file in HERE.joinpath("static").iterdir())})


def _content(name: str) -> str:
    if name not in static_names():
        raise NotThere("pages have no file of this name")
    return SHARED[name]() if name in SHARED else HERE.joinpath("static", name).read_text("utf-8")


# parsing of addresses --------------------------------------------------------------------------------------------

Query = Mapping[str, str]
MAX_LENGTH = 200  # maximum length of a value
MAX_COLUMN_LENGTH = 20_000  # characters of names of columns: a table may have many


def text_in(query: Query, name: str, max_length: int = MAX_LENGTH) -> str | None:
    """Return the entry of a name, or None.

    >>> text_in({"effect": " 0.5 ", "power": ""}, "effect"), text_in({"power": ""}, "power")
    ('0.5', None)
    """
    text = query.get(name, "").strip()
    if len(text) > max_length:
        raise InvalidInput(f"{name} must be shorter than {max_length} characters, got {shortened(text)!r}")
    return text or None


def number_in(query: Query, name: str, default: float | None = None) -> float | None:
    """Return a number, or the default.

    >>> number_in({"effect": "0,5"}, "effect")
    0.5
    """
    text = text_in(query, name)
    if text is None:
        return default
    try:
        return finite(name, float(text.replace(",", ".")), error=InvalidInput)
    except ValueError:
        raise InvalidInput(f"{name} must be a number, such as 0.5, got {text!r}") from None


def integer_in(query: Query, name: str, default: int | None = None, *, least: int, most: int) -> int | None:
    """Return a whole number within limits, or the default."""
    number = number_in(query, name)
    return default if number is None else integer(name, number, least, most, error=InvalidInput)


def choice_in(query: Query, name: str, choices: Collection[str], default: Any = None) -> Any:
    """Return one of the choices, or the default."""
    text = text_in(query, name)
    return default if text is None else choice(name, text, choices, f"{default} is usual", error=InvalidInput)


def setting_in(query: Query, name: str) -> Any:
    """Return a setting of an analysis, read as its declaration says; a kind of difference has two names.

    >>> setting_in({"difference": "log-ratio"}, "difference"), setting_in({"alpha": "0.1"}, "alpha")
    ('ratio', 0.1)
    """
    kind = types()[name]
    if words := choices(name):
        aliases = DIFFERENCE_ALIASES if name == "difference" else ()
        return canonical_difference(choice_in(query, name, (*words, *aliases)))
    return number_in(query, name) if float in (kind, *get_args(kind)) else text_in(query, name)


def address(path: str, values: Mapping[str, Any]) -> str:
    """Return the address of a page with its state; what is empty is left out.

    >>> address("/design", {"effect": 0.5, "power": None})
    '/design?effect=0.5'
    """
    pairs = [(name, value) for name, value in values.items() if value not in (None, "")]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def number_text(value: Any) -> str:
    """Return a value as a field and a command have it."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


ROLES = {  # what a column can be, with the option that says so
    "algorithm": "algorithm",
    "instance": "instance",
    "value": "value",
    "compared": "algorithms",
    "group": "describing",
    "ignored": "ignore",
}
SETTINGS = ("difference", "better", "reference", "test", "alternative", "statistic", "alpha", "margin", "on_failure")
COLUMNS = ("algorithm", "instance", "value", "metric", "ignore", "algorithms", "describing", "decimal")
LISTS = ("algorithm", "instance", "ignore", "algorithms", "describing")  # names joined by commas


@dataclass(frozen=True, slots=True)
class AnalysisForm:
    """The settings and columns in an address; the study or the defaults give the others."""

    items: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, query: Query) -> AnalysisForm:
        """Return the form with the values of an address; InvalidInput for invalid values."""
        values = {name: setting_in(query, name) for name in SETTINGS if name in types()}
        values |= {"on_failure": text_in(query, "on_failure")}
        values |= {name: text_in(query, name, MAX_COLUMN_LENGTH) for name in COLUMNS}
        values["decimal"] = choice_in(query, "decimal", (".", ","))
        return cls(tuple((name, value) for name, value in values.items() if value is not None))

    @property
    def values(self) -> dict[str, Any]:
        """The filled fields, by name."""
        return dict(self.items)

    @property
    def reading(self) -> dict[str, Any]:
        """The columns and the policy of failures, as `read_results` takes them."""
        values = {name: value for name, value in self.items if name not in types()}
        lists = {name: [column for column in split_names(values[name]) if column] for name in LISTS if name in values}
        return values | lists

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, as `analyse` takes them."""
        return {name: value for name, value in self.items if name in types()}

    def address(self, path: str, **more: Any) -> str:
        """Return an address with this state."""
        return address(path, self.values | more)

    def command(self, command: str, file: str) -> str:
        """Return the same at the command line."""
        options = [f"--{name.replace('_', '-')} {shlex.quote(number_text(value))}" for name, value in self.items]
        return " ".join([f"ampler {command}", shlex.quote(file), *options])

    def changes(self, plan: Mapping[str, Any]) -> list[str]:
        """Return the settings that differ from the plan of the study."""
        return [name for name, value in self.items if name in SETTINGS and name in plan and plan[name] != value]


# error pages with a next step -------------------------------------------------------------------------------------


def as_sentence(problem: object) -> str:
    """Return the message of an error as a sentence.

    >>> as_sentence("effect must be positive"), as_sentence("runs.csv is empty")
    ('Effect must be positive.', 'runs.csv is empty.')
    """
    text = render_for_browser(problem.message, label) if isinstance(problem, AmplerError) else str(problem)
    begins_with_file = "." in text.partition(" ")[0].rstrip(".")
    return f"{text[:1] if begins_with_file else text[:1].upper()}{text[1:].rstrip('.')}."


def error_page(path: str, sentence: str, *, status: int, title: str) -> Response:
    """Return the error page, with a next step."""
    step, where = next(step for begin, step in NEXT_STEPS.items() if path.startswith(begin))
    sentence = shortened(sentence, MAX_SENTENCE)
    return page("problem.html", status=status, title=title, sentence=sentence, step=step, where=where, here="")


def refused_request(request: Request, problem: Exception) -> Response:
    """Return the page for one of our own errors about the request."""
    is_absent = isinstance(problem, NotThere)
    title, status = ("There is no such page", 404) if is_absent else ("This cannot be shown", 422)
    return error_page(request.url.path, as_sentence(problem), status=status, title=title)


def unknown_address(request: Request, problem: Exception) -> Response:
    """Return the page for an address or a way of asking that does not exist."""
    assert isinstance(problem, HTTPException)
    title, sentence = (
        ("There is no such page", "The address is unknown.")
        if problem.status_code == 404
        else ("This cannot be done here", f"{problem.detail}.")
    )
    answer = error_page(request.url.path, sentence, status=problem.status_code, title=title)
    answer.headers.update(problem.headers or {})
    return answer


def defect(request: Request, problem: Exception) -> Response:
    """Return the page for an internal error; the terminal of the server has the details."""
    sentence = (
        f"This is a defect of ampler, not of your data ({type(problem).__name__}). Please report it with the text in"
        " the terminal of ampler serve. Other pages still work."
    )
    return error_page(request.url.path, sentence, status=500, title="Something went wrong here")


ERROR_PAGES: dict[Any, Any] = {
    AmplerError: refused_request,
    NotThere: refused_request,
    HTTPException: unknown_address,
    Exception: defect,
}
