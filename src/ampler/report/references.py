"""The works a methods paragraph cites: read from references.bib, cited and listed by its fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

SEVERAL = 3  # authors: from here on only the first is named where a work is cited


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited work: its key, how it is cited in plain text, how it is listed, and its BibTeX entry."""

    key: str
    short: str
    listed: str
    bibtex: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without its full stop, and the works it cites."""

    words: str
    cites: tuple[str, ...] = ()


def reference(key: str) -> Reference:
    """Return a work by its key.

    >>> reference("holm1979").short
    'Holm 1979'
    """
    return _works()[key]


@cache
def _works() -> dict[str, Reference]:
    text = files("ampler.report").joinpath("references.bib").read_text(encoding="utf-8")
    works = map(_work, re.findall(r"^@.*?^\}$", text, re.MULTILINE | re.DOTALL))
    return {work.key: work for work in works}


def _work(entry: str) -> Reference:
    key = entry[entry.index("{") + 1 : entry.index(",")]
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))
    people = [person.split(", ") for person in fields["author"].split(" and ")]
    cited = " & ".join(family for family, _ in people) if len(people) < SEVERAL else f"{people[0][0]} et al."
    return Reference(key, f"{cited} {fields['year']}", _listed(people, fields), entry)


def _listed(people: list[list[str]], fields: Mapping[str, str]) -> str:
    """One line of a list of references: initials before names, an issue in brackets, a dash between pages."""
    *others, last = [f"{_initials(given)} {family}" for family, given in people]
    names = f"{', '.join(others)} and {last}" if others else last
    title = fields["title"].translate({ord(brace): None for brace in "{}"})
    issue = f"({fields['number']})" if "number" in fields else ""
    pages = fields["pages"].replace("--", "–").lower()
    return f"{names}. {title}. {fields['journal']} {fields['volume']}{issue}, {pages}, {fields['year']}."


def _initials(given: str) -> str:
    return " ".join(f"{name[0]}." for name in given.split())
