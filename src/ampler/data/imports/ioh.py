"""Folders of IOHexperimenter: the IOHprofiler_*.json files, which keep the best value of each run with all digits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ampler.core.errors import InvalidData
from ampler.data.imports.imported import Imported, frame_of
from ampler.data.imports.safely import Allowance, as_json


def is_ioh(path: Path) -> bool:
    """Whether a file is called as IOHexperimenter calls its own."""
    return path.name.startswith("IOHprofiler_f") and path.suffix == ".json"


def read_ioh(folder: Path, files: Sequence[Path]) -> Imported:
    """Read all IOHprofiler_*.json of a folder: one row per run."""
    allowance = Allowance()
    rows: list[dict[str, Any]] = []
    senses = set()
    for path in files:
        document = as_json(allowance.text(path), path.name)
        try:
            rows += _rows(document)
            senses.add(bool(document["maximization"]))
        except (KeyError, TypeError, AttributeError, ValueError) as problem:
            raise InvalidData(f"{path.name} is not what IOHexperimenter writes: {_lacking(problem)}") from problem
    if len(senses) > 1:
        raise InvalidData(f"{folder} holds functions that are maximised and others that are minimised; read them apart")
    return Imported(
        _numbered(rows, folder),
        "IOHexperimenter",
        ("algorithm",),
        ("function", "dimension"),
        "value",
        "function and dimension make the instance, instances of a function are its runs ('ioh instance'), the value is"
        " the best one found",
        "higher" if senses == {True} else "lower",
    )


def _lacking(problem: Exception) -> str:
    return f"{problem} is missing" if isinstance(problem, KeyError) else "a part of it has another form"


def _rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    name = str(document.get("function_name") or "")
    function = f"f{int(document['function_id'])}" + (f" {name}" if name else "")
    for scenario in document["scenarios"]:
        for run in scenario["runs"]:
            yield {
                "algorithm": str(document["algorithm"]["name"]),
                "function": function,
                "dimension": int(scenario["dimension"]),
                "ioh instance": int(run.get("instance", 0)),
                "value": float(run["best"]["y"]),
                "evaluations": int(run.get("evals", 0)),
            }


def _numbered(rows: Sequence[dict[str, Any]], folder: Path) -> Any:
    number: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in rows:
        key = row["algorithm"], row["function"], row["dimension"]
        number[key] += 1
        row["run"] = number[key]
    return frame_of(rows, str(folder), "IOHexperimenter")
