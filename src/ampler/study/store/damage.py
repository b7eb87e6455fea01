"""A study file that is damaged: the one sentence for it, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ampler.core.errors import StoreError, StoreUnusable
from ampler.core.wording import printable, shortened

LONGEST = 160  # characters of what was found

# What code meets that was written for sound rows: names that nothing has, numbers that are texts, JSON that is none.
SURPRISES = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)


def damaged(path: Path, what: object) -> StoreUnusable:
    """Return the error for a damaged file: what was found, and how to save the rest."""
    short = shortened(printable(" ".join(str(what).split())), LONGEST)
    return StoreUnusable(
        f"{path.name} is damaged ({short}); take it from a backup, or save every run that can be read:"
        f" ampler rescue {path.name} -o rescued.db"
    )


@contextmanager
def told_as_damage(path: Path, what: str) -> Iterator[None]:
    """Have whatever surprises the reader of a file told as damage to `what`."""
    try:
        yield
    except StoreError:
        raise
    except SURPRISES as problem:
        raise damaged(path, f"{what} cannot be read: {type(problem).__name__} {problem}") from None
