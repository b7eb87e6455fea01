"""How a page is made: templates that escape every name, and what goes wrong as a page with one next step."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ampler import __version__
from ampler.core.errors import AmplerError
from ampler.core.wording import shortened

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = files("ampler.app.web")
LONGEST = 1000  # characters of a sentence about what went wrong; names that it quotes may be endless
DOORS = (("plan", "/design", "Plan"), ("studies", "/studies", "Studies"), ("results", "/results", "Results"))
REPORTS = "report/"  # how the names of templates begin that are the report's
NEXT_STEPS = {
    "/design": ("Begin again with the paper's design", "/design"),
    "/study": ("See the studies", "/studies"),
    "/results": ("Bring another file", "/results"),
}


class NotThere(Exception):
    """A page that does not exist, with the sentence that says so."""


@cache
def templates() -> Environment:
    """Return the templates; everything in them is escaped unless it is markup of our own."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    from ampler.app.web.static_files import static_address

    made = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"version": __version__, "doors": DOORS, "static": static_address}
    return made


def _template(name: str) -> str:
    """One of our own, or a part that reports have, too."""
    if name.startswith(REPORTS):
        from ampler.report.forest_html import template_text

        return template_text(name.removeprefix(REPORTS))
    return HERE.joinpath("templates", name).read_text(encoding="utf-8")


def fragment(template: str, **values: Any) -> str:
    """Return a template filled in, for a part of a page."""
    return templates().get_template(template).render(**values)


def page(template: str, *, status: int = 200, **values: Any) -> Response:
    """Return a page."""
    return HTMLResponse(fragment(template, **values).encode("utf-8", "replace"), status_code=status)


def as_sentence(problem: object) -> str:
    """Return what an error says as a sentence of a page.

    >>> as_sentence("effect must be positive"), as_sentence("runs.csv is empty")
    ('Effect must be positive.', 'runs.csv is empty.')
    """
    words = str(problem)
    begins_with_file = "." in words.partition(" ")[0].rstrip(".")
    return f"{words[:1] if begins_with_file else words[:1].upper()}{words[1:].rstrip('.')}."


def problem_page(path: str, sentence: str, *, status: int, title: str) -> Response:
    """Return the page that says what went wrong, with one next step."""
    steps = (step for begin, step in NEXT_STEPS.items() if path.startswith(begin))
    said, where = next(steps, ("Go to the first page", "/"))
    sentence = shortened(sentence, LONGEST)
    return page("problem.html", status=status, title=title, sentence=sentence, step=said, where=where, here="")


def told_problem(request: Request, problem: Exception) -> Response:
    """Return what our own errors say, as a page; they are about what was asked for."""
    title = "There is no such page" if isinstance(problem, NotThere) else "That cannot be shown"
    status = 404 if isinstance(problem, NotThere) else 422
    return problem_page(request.url.path, as_sentence(problem), status=status, title=title)


def refused(request: Request, problem: Exception) -> Response:
    """Return the page for an address or a way of asking that does not exist."""
    assert isinstance(problem, HTTPException)
    title = "There is no such page" if problem.status_code == 404 else "That cannot be done here"
    sentence = "The address leads nowhere." if problem.status_code == 404 else f"{problem.detail}."
    answer = problem_page(request.url.path, sentence, status=problem.status_code, title=title)
    answer.headers.update(problem.headers or {})
    return answer


def defect(request: Request, problem: Exception) -> Response:
    """Return the page for what must not happen; the terminal of the server has the details."""
    sentence = (
        f"This is a defect of ampler, not of your data ({type(problem).__name__}). The terminal in which ampler serve"
        " runs says where: please report what stands there, and what you asked for. Other pages go on working."
    )
    return problem_page(request.url.path, sentence, status=500, title="Something went wrong here")


PROBLEMS: dict[Any, Any] = {
    AmplerError: told_problem,
    NotThere: told_problem,
    HTTPException: refused,
    Exception: defect,
}
