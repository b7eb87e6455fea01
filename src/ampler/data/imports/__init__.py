"""Results of other tools, one module for each, found through the entry point group `ampler.readers`.

    a file or a folder ─► the reader that recognises it ─► Imported: one row per run, and which column is what

`reader` describes what a reader implements, with what readers share. Optimisers: `coco`, `ioh`, `optuna`, `smac`,
`benchopt`. Solvers: `benchexec`. Benchmarks of code: `hyperfine`, `pytest_benchmark`, `pyperf`, `google_benchmark`,
`asv`, `jmh`, `benchmark_dotnet`, `criterion`, `go_bench`. Learning: `inspect_log`, `lm_eval`, `mlflow`, `amlb`,
`sklearn_search`. What no tool recognises: tables and logs in `json_tables`. None of these tools needs to be
installed. What is not understood is refused in one sentence.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from ampler.core.errors import AmplerError, InvalidData
from ampler.data.imports.json_tables import JsonLines, JsonTable
from ampler.data.imports.reader import Imported, ResultFile, ResultsReader, files_below
from ampler.data.tables.files import LIMIT

__all__ = ["Imported", "ResultFile", "ResultsReader", "read_import", "reader_of"]

GROUP = "ampler.readers"


@cache
def readers() -> tuple[ResultsReader, ...]:
    """Return one reader per tool: built-in ones, plug-ins, then the reader for logs of any origin."""
    ours_first = sorted(entry_points(group=GROUP), key=lambda entry: not entry.value.startswith("ampler."))
    found: list[ResultsReader] = []
    for entry in ours_first:
        try:
            found.append(entry.load()())
        except Exception as problem:
            raise AmplerError(f"the reader {entry.name!r} ({entry.value}) cannot be loaded: {problem}") from problem
    return (*found, JsonLines())


def reader_of(file: ResultFile) -> ResultsReader | None:
    """Return the reader that recognises a file; None if it may be a table of any origin."""
    return next((reader for reader in readers() if reader.recognises(file)), None)


def read_import(path: Path, limit: int = LIMIT) -> Imported | None:
    """Return the runs that another tool left in a file or a folder; None where no tool is recognised."""
    if not path.is_dir():
        file = ResultFile(path, limit=limit)
        reader = reader_of(file) or (None if file.document is None else JsonTable())
        return None if reader is None else reader.read([file], path.name)
    recognised: dict[ResultsReader, list[ResultFile]] = defaultdict(list)
    for file in files_below(path):
        if reader := reader_of(file):
            recognised[reader].append(file)
    tools = [reader.tool for reader in recognised]
    if len(tools) > 1:
        raise InvalidData(f"the folder {path} holds results of {' and '.join(tools)}; name the folder of one of them")
    if not tools:
        return None
    ((reader, files),) = recognised.items()
    return reader.read(files, path.name)
