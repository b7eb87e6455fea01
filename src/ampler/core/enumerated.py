"""Several names in one text, as in an option or an address: joined by commas, those that hold one quoted. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

PIECE = re.compile(r'\s*"((?:[^"]|"")*)"\s*(,|\Z)|([^,]*)(,|\Z)')


def enumerated(names: Iterable[str]) -> str:
    """Return names as one text.

    >>> enumerated(["function", "dimension"]), enumerated(["size, small", "a"])
    ('function,dimension', '"size, small",a')
    """
    return ",".join(map(_piece, names))


def names_in(text: str) -> list[str]:
    """Return the names in a text.

    >>> names_in("function, dimension"), names_in('"size, small",a')
    (['function', 'dimension'], ['size, small', 'a'])
    """
    names: list[str] = []
    place = 0
    while True:
        found = PIECE.match(text, place)
        assert found is not None, "some piece is anywhere"
        quoted, after, plain, more = found.groups()
        names.append(plain.strip() if quoted is None else quoted.replace('""', '"'))
        if not (after or more):
            return names
        place = found.end()


def _piece(name: str) -> str:
    plain = "," not in name and not name.startswith('"') and name == name.strip()
    return name if plain else '"{}"'.format(name.replace('"', '""'))
