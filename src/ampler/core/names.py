"""Names as people know them: without the folder and ending that all share, short, and never two alike. Pure.

The whole name stays what it is everywhere else: in files, on hover and in exports.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

ENDING = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,9}){1,2}$")  # of a file: .txt, .tsp.gz; not the .5 of a number
CONTEXT = 4  # characters shown before the place where long names begin to differ


def composed(name: str) -> str:
    """Return a name in the one spelling in which names are compared: letters with their accents (NFC).

    >>> composed("e\\N{COMBINING ACUTE ACCENT}") == "\\N{LATIN SMALL LETTER E WITH ACUTE}"
    True
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def short_names(names: Sequence[str], widest: int | None = None) -> tuple[str, ...]:
    """Return the names without their common folder and ending, each at most `widest` characters (None: whole).

    >>> short_names(["instances/G_1-124_1.txt", "instances/G_1-124_2.txt"])
    ('G_1-124_1', 'G_1-124_2')
    """
    return told_apart(without_common(names), widest)


def natural(name: str) -> tuple[tuple[int, float, str], ...]:
    """Return by what a name is sorted as people would: numbers within it count as numbers.

    >>> sorted(["n100", "n20", "N3", "1-9", "-2", "0.5"], key=natural)
    ['-2', '0.5', '1-9', 'N3', 'n20', 'n100']
    """
    try:
        return ((0, float(name), ""),)
    except ValueError:
        parts = re.split(r"(\d+)", name.casefold())
        return tuple((0, float(part), part) if part.isdecimal() else (1, 0.0, part) for part in parts if part)


@lru_cache(maxsize=8)  # a study is told in many sentences
def known_as(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return the short name of each, for sentences that name some of them.

    >>> dict(known_as(("runs/a.txt", "runs/b.txt")))
    {'runs/a.txt': 'a', 'runs/b.txt': 'b'}
    """
    return MappingProxyType(dict(zip(names, short_names(names), strict=True)))


def without_common(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without the folder, and the ending of files, that all of them have.

    >>> without_common(["runs/a/x.tsp.gz", "runs/b/x.tsp.gz"]), without_common(["v1.5", "v2.5"])
    (('a/x', 'b/x'), ('v1.5', 'v2.5'))
    """
    folder, ending = _common_folder(names), _common_ending(names)
    inner = tuple(name[len(folder) : len(name) - len(ending)] for name in names)
    return inner if all(map(str.strip, inner)) else tuple(names)


def told_apart(names: Sequence[str], widest: int | None = None) -> tuple[str, ...]:
    """Return the names on one line, cut to `widest` characters so that what tells them apart stays.

    Only what cannot be told apart in so many characters is numbered by its place.

    >>> told_apart(["full", "no-swap, with a very long explanation", "no-swap, with a Very long explanation"], 20)
    ('full', '…h a very long expl…', '…h a Very long expl…')
    """
    seen = dict(zip(names, (_visible(name) for name in names), strict=True))
    width = max(map(len, seen.values()), default=0) + 1 if widest is None else widest
    short = _distinct_cuts(seen, width)
    if len(set(short.values())) < len(short):
        short = _numbered(seen, short, width)
    if len(set(short.values())) < len(short):  # a number made a name that was there
        short = _numbered(seen, dict.fromkeys(seen, ""), width)
    return tuple(short[name] for name in names)


def _common_folder(names: Sequence[str]) -> str:
    shared = _shared_start(names)
    return shared[: max(shared.rfind("/"), shared.rfind("\\")) + 1]


def _common_ending(names: Sequence[str]) -> str:
    """The ending of all; of one name alone nobody knows what is its ending."""
    if len(set(names)) < 2:
        return ""
    shared = _shared_start([name[::-1] for name in names])[::-1]
    found = ENDING.search(shared)
    return "" if found is None else found[0]


def _shared_start(texts: Sequence[str]) -> str:
    """The characters with which all begin: those with which the first and the last in order do."""
    first, last = min(texts, default=""), max(texts, default="")
    end = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:end]


def _visible(name: str) -> str:
    """On one line, without characters that move or hide others."""
    return " ".join("".join(c if unicodedata.category(c) not in {"Cc", "Cf"} else " " for c in name).split())


def _distinct_cuts(seen: dict[str, str], widest: int) -> dict[str, str]:
    """Each name cut in its middle; where that makes some alike, these are shown where they begin to differ."""
    short = {name: _cut(text, widest) for name, text in seen.items()}
    alike: dict[str, list[str]] = defaultdict(list)
    for name, label in short.items():
        alike[label].append(name)
    for group in alike.values():
        if len(group) > 1:
            short |= _where_they_differ({name: seen[name] for name in group}, widest)
    return short


def _where_they_differ(group: dict[str, str], widest: int) -> dict[str, str]:
    begin = max(0, len(_shared_start(list(group.values()))) - CONTEXT)
    return {name: _window(text, begin, widest) for name, text in group.items()}


def _window(text: str, begin: int, widest: int) -> str:
    """The text from a place on, with a mark at each end where something is left out."""
    begin = min(begin, max(0, len(text) - widest + 1))
    if begin == 0:
        return text if len(text) <= widest else f"{text[: widest - 1]}…"
    rest = text[begin:]
    return f"…{rest}" if len(rest) < widest else f"…{rest[: widest - 2]}…"


def _numbered(seen: dict[str, str], short: dict[str, str], widest: int) -> dict[str, str]:
    """Those that are alike with their places among the names."""
    alike = Counter(short.values())
    ends = {name: f" ({place})" for place, name in enumerate(seen, start=1)}
    return {
        name: label if alike[label] == 1 else f"{_cut(seen[name], widest - len(ends[name]))}{ends[name]}"
        for name, label in short.items()
    }


def _cut(text: str, widest: int) -> str:
    """The beginning and, longer, the end, which tells most names apart."""
    if len(text) <= widest:
        return text
    head = max(0, widest // 3)
    return f"{text[:head]}…{text[len(text) - max(0, widest - head - 1) :]}"
