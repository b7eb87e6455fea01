"""The files of this package that hold texts and constants: templates, style sheets, scripts, sentences, references."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def text_of(name: str, package: str = "ampler.report") -> str:
    """Return a file of this package, or of another."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def constants(name: str) -> dict[str, Any]:
    """Return what a TOML file of this package holds."""
    return tomllib.loads(text_of(name))


def template_text(name: str, package: str = "ampler.report") -> str:
    """Return a template, style sheet or script of reports, or of another package."""
    return text_of(f"templates/{name}", package)


def environment(load: Callable[[str], str]) -> Environment:
    """Return the template environment, with strict variables, and escaping in pages."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape

    options: dict[str, Any] = {"autoescape": select_autoescape(("html", "xml")), "undefined": StrictUndefined}
    return Environment(loader=FunctionLoader(load), trim_blocks=True, lstrip_blocks=True, **options)


@cache
def templates() -> Environment:
    """Return what fills the templates of reports."""
    return environment(template_text)
