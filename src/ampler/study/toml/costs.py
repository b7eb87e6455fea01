"""Costs written into a study file: its text with a line for each algorithm, and nothing else changed. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from ampler.core.errors import InvalidPlan
from ampler.study.toml.lines import key_lines


def with_costs(text: str, costs: Mapping[str, float]) -> str:
    """Return the text of a study file in which each algorithm has its cost.

    >>> print(with_costs('[[algorithm]]\\nname = "full"\\ncommand = "solve"', {"full": 3.2}))
    [[algorithm]]
    name = "full"
    cost = 3.2
    command = "solve"
    """
    lines, where = text.splitlines(keepends=True), key_lines(text)
    entries = tomllib.loads(text).get("algorithm", [])
    wanted = {place: costs[entry["name"].strip()] for place, entry in enumerate(entries)}
    for place, cost in reversed(wanted.items()):
        written = f"cost = {cost:g}\n"
        old, name = where.get(("algorithm", place, "cost")), where.get(("algorithm", place, "name"))
        if old is not None:
            lines[old - 1] = written
        elif name is not None:
            lines[name - 1] = f"{lines[name - 1].rstrip()}\n{written}"
    changed = "".join(lines)
    if not _as_meant(changed, text, wanted):
        listed = ", ".join(f"{name}: cost = {cost:g}" for name, cost in costs.items())
        raise InvalidPlan(f"costs can be written to algorithms that begin with [[algorithm]]; do it by hand ({listed})")
    return changed


def _as_meant(changed: str, text: str, wanted: Mapping[int, float]) -> bool:
    """Whether the new text says what the old one says, with the costs."""
    try:
        now, meant = tomllib.loads(changed), tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    for place, cost in wanted.items():
        meant["algorithm"][place]["cost"] = cost
    return now == meant
