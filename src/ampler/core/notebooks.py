"""How a value asks to be shown in a notebook: the room of reports, above all values, writes the page."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def shown_in_notebook(value: Any) -> str:
    """Return a value as a piece of HTML; values have this as their `_repr_html_`."""
    page: str = import_module("ampler.report.notebook").notebook_html(value)
    return page
