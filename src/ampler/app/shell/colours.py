"""The colours of the one appearance in a terminal: light on dark unless the terminal says that it is light."""

from __future__ import annotations

import os
from collections.abc import Mapping

LIGHT_GROUNDS = {"7", "15"}  # the colours of a light ground in COLORFGBG, which some terminals set


def mark_colours() -> Mapping[str, str]:
    """Return the colour of each mark of a verdict."""
    from ampler.report.look import MARKS

    tokens = {"better": "accent", "worse": "contrast", "equivalent": "equivalent", "undecided": "undecided"}
    return {mark: colour(tokens[verdict]) for verdict, mark in MARKS.items()}


def colour(token: str) -> str:
    """Return a colour of the one appearance by its name, for the ground of this terminal."""
    from ampler.report.look import DARK, LIGHT

    return (LIGHT if _is_light() else DARK)[token]


def _is_light() -> bool:
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] in LIGHT_GROUNDS
