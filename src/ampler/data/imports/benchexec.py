"""BenchExec's results in XML, also packed: one row per run, what failed as a failed run.

The XML is read by expat, with every entity refused: a few hundred bytes of them could fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

from ampler.core.errors import InvalidData
from ampler.core.spoken import parameter
from ampler.data.imports.imported import Imported, frame_of, without_constants
from ampler.data.imports.safely import LARGEST, LARGEST_FOLDER, content_of

MEASURED = ("cputime", "walltime", "memory")
QUANTITY = re.compile(r"([-+0-9.eE]+)\s*(s|B)?")
DECIDED = ("correct", "missing")  # categories: a right answer, or an answer that nobody can judge
DEEPEST = 50


class _Reading:
    """The results of one file, gathered while the parser goes through it."""

    def __init__(self) -> None:
        self.result: dict[str, str] | None = None
        self.runs: list[dict[str, str]] = []
        self._depth = 0
        self._run: dict[str, str] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise InvalidData("it nests too deeply")
        if self._depth == 1:
            if tag != "result":
                raise InvalidData("it must begin with <result>")
            self.result = attributes
        elif tag == "run":
            self._run = {"name": attributes.get("name", ""), "properties": attributes.get("properties", "")}
        elif tag == "column" and self._run is not None:
            self._run[attributes.get("title", "")] = attributes.get("value", "")

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "run" and self._run is not None:
            self.runs.append(self._run)
            self._run = None


def read_benchexec(place: Path, files: Sequence[Path]) -> Imported:
    """Read results of BenchExec: the tool and its run definition are the algorithm, the task is the instance."""
    found = [_read(path, content_of(path, LARGEST)) for path in files]
    if sum(len(each.runs) for each in found) * 100 > LARGEST_FOLDER:
        raise InvalidData(f"{place.name} holds more runs than are read at once; name fewer files")
    algorithms = without_constants([_names(each.result or {}) for each in found])
    rows = [row for each, name in zip(found, algorithms, strict=True) for row in _rows(each, name)]
    return Imported(
        _numbered(rows, place.name),
        "BenchExec",
        ("algorithm",),
        ("instance",),
        "cputime",
        "tool and run definition are the algorithm, the task is the instance, the value is the CPU time in seconds"
        f" ({parameter('value', 'walltime')} or memory for others), and runs without an answer, or with a wrong one,"
        " have failed",
        "lower",
        time_limits={"cputime": _time_limit(found)},
    )


def _time_limit(found: Sequence[_Reading]) -> float | None:
    """The limit on the CPU time in seconds, if all files have the same."""
    limits = {(each.result or {}).get("timelimit", "") for each in found}
    limit = _quantity(limits.pop()) if len(limits) == 1 else 0.0
    return limit if limit > 0 else None


def _read(path: Path, content: bytes) -> _Reading:
    reading = _Reading()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, InvalidData) as problem:
        raise InvalidData(f"{path.name} is not what BenchExec writes: {problem}") from problem
    if not reading.runs:
        raise InvalidData(f"{path.name} is not what BenchExec writes: it holds no <run>")
    return reading


def _refuse_entity(*_: object) -> None:
    raise InvalidData("it declares entities, which results do not need")


def _names(result: dict[str, str]) -> tuple[str, ...]:
    block, name = result.get("block", ""), result.get("name", "")
    definition = name.removesuffix(f".{block}") if block else name
    return result.get("displayName") or result.get("tool", ""), result.get("version", ""), definition


def _rows(reading: _Reading, algorithm: str) -> Iterator[dict[str, Any]]:
    for run in reading.runs:
        name = run["name"] + (f" ({run['properties']})" if run["properties"] else "")
        measured = {title: _quantity(run[title]) for title in MEASURED if title in run}
        yield {"algorithm": algorithm, "instance": name, **measured, "status": _status(run)}


def _quantity(text: str) -> float:
    match = QUANTITY.fullmatch(text.strip())
    try:
        return float(match[1]) if match else float("nan")
    except ValueError:
        return float("nan")


def _status(run: dict[str, str]) -> str:
    late = "timeout" in run.get("status", "").lower()
    if run.get("category", "error" if late else "missing") in DECIDED:
        return "ok"
    return "timeout" if late else "failed"


def _numbered(rows: Sequence[dict[str, Any]], source: str) -> Any:
    """The runs of a task with the same algorithm, as from several files, have numbers."""
    frame = frame_of(rows, source, "BenchExec")
    frame["run"] = frame.groupby(["algorithm", "instance"]).cumcount() + 1
    return frame
