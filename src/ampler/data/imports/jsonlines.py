"""Logs in JSON lines, as evaluations of language models write them: one object per line, one line per attempt.

Which key is what is found as in any long table (model, task, attempt, score, …). Objects within an object become
columns called outer.inner; lists are passed over. Samples of lm-evaluation-harness name their metrics themselves, and
their model by the folder they lie in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ampler.core.errors import InvalidData
from ampler.core.wording import quoted
from ampler.data.imports.imported import Imported, frame_of, without_constants
from ampler.data.imports.safely import Allowance, as_json

LONGEST = 200  # a text longer than this names nothing: it is what a model was asked or said
MOST_KEYS = 200
LARGEST_WHOLE = 2**63 - 1
SAMPLES = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl")  # lm-evaluation-harness


def read_json_lines(path: Path) -> Imported:
    """Read one log."""
    rows = _rows(path, Allowance())
    if SAMPLES.fullmatch(path.name) and _are_samples(rows):
        return _of_samples([rows], [path], path.name)
    return _plain(rows, path.name)


def read_logs(folder: Path, files: Sequence[Path]) -> Imported:
    """Read all logs of a folder, one after the other."""
    allowance = Allowance()
    found = [_rows(path, allowance) for path in files]
    if all(SAMPLES.fullmatch(path.name) for path in files) and all(map(_are_samples, found)):
        return _of_samples(found, files, str(folder))
    return _plain([row for rows in found for row in rows], str(folder))


def _plain(rows: Sequence[dict[str, Any]], source: str) -> Imported:
    return Imported(frame_of(rows, source, "a log"), "JSON lines", (), (), "", "")


def _rows(path: Path, allowance: Allowance) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(allowance.text(path).splitlines(), 1):
        where = f"line {number} of {path.name}"
        row = _flat(as_json(line, where)) if line.strip() else {}
        if row is None:
            raise InvalidData(f"{where} must be a JSON object with at most {MOST_KEYS} keys, as every line of a log")
        rows += [row] if row else []
    return rows


def _flat(document: Any) -> dict[str, Any] | None:
    if not isinstance(document, dict) or len(document) > MOST_KEYS:
        return None
    row: dict[str, Any] = {}
    for name, value in document.items():
        inner = value.items() if isinstance(value, dict) and len(value) <= MOST_KEYS else ()
        row |= {f"{name}.{key}": each for key, each in inner if _is_cell(each)}
        row |= {str(name): value} if _is_cell(value) or name == "metrics" else {}
    return {name: _number(value) for name, value in row.items()}


def _is_cell(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= LONGEST)


def _number(value: Any) -> Any:
    """Whole numbers that no column of numbers holds are beyond all values of runs."""
    return float("inf") if isinstance(value, int) and abs(value) > LARGEST_WHOLE else value


# samples of lm-evaluation-harness ---------------------------------------------------------------------------------


def _are_samples(rows: Sequence[Mapping[str, Any]]) -> bool:
    return bool(rows) and all("doc_id" in row and isinstance(row.get("metrics"), list) for row in rows)


def _of_samples(found: Sequence[list[dict[str, Any]]], files: Sequence[Path], source: str) -> Imported:
    """The folder names the model; the document of the task is the instance."""
    models = without_constants([path.parent.parts[-2:] for path in files])
    metrics = sorted({str(name) for rows in found for row in rows for name in row["metrics"]})
    if len(metrics) != 1:
        raise InvalidData(f"{source} holds several metrics ({quoted(metrics)}); write the one to compare into a table")
    rows = [
        {"model": model, "instance": f"{_task(path)}/{row['doc_id']}", metrics[0]: row.get(metrics[0])}
        | ({"filter": row["filter"]} if "filter" in row else {})
        for model, path, each in zip(models, files, found, strict=True)
        for row in each
    ]
    return Imported(
        frame_of(rows, source, "lm-evaluation-harness"),
        "lm-evaluation-harness",
        ("model",),
        ("instance",),
        metrics[0],
        f"the folder names the model, each document of a task is an instance, the value is {metrics[0]!r}",
    )


def _task(path: Path) -> str:
    match = SAMPLES.fullmatch(path.name)
    return match[1] if match else path.stem
