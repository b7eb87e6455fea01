"""Whose results are these? Decided by what is there, not by where it came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ampler.core.errors import InvalidData
from ampler.data.imports.benchexec import read_benchexec
from ampler.data.imports.coco import read_coco
from ampler.data.imports.imported import Imported
from ampler.data.imports.ioh import is_ioh, read_ioh
from ampler.data.imports.jsonlines import read_json_lines, read_logs
from ampler.data.imports.optuna import is_journal, is_optuna, read_journal, read_optuna
from ampler.data.imports.safely import files_below

XML = (".xml", ".xml.bz2", ".xml.gz")
Reader = Callable[[Path, Sequence[Path]], Imported]
LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.bz2", ".jsonl.xz", ".ndjson.gz")


def read_import(path: Path) -> Imported | None:
    """Return the runs that another tool left at a place; None when the file is none of these but may be a table."""
    if path.is_dir():
        return _of_folder(path)
    name = path.name.lower()
    if name.endswith(XML):
        return read_benchexec(path, [path])
    if is_optuna(path):
        return read_optuna(path)
    if is_journal(path):
        return read_journal(path)
    if name.endswith(LINES):
        return read_json_lines(path)
    return None


def _of_folder(folder: Path) -> Imported:
    """Results of one tool; where those of several lie in a folder, the user says which."""
    readers: dict[str, tuple[list[Path], Reader]] = {
        "COCO": (files_below(folder, (".info",)), read_coco),
        "IOHexperimenter": ([path for path in files_below(folder, (".json",)) if is_ioh(path)], read_ioh),
        "BenchExec": ([path for path in files_below(folder, XML) if ".results" in path.name], read_benchexec),
        "logs in JSON lines": (files_below(folder, LINES), read_logs),
    }
    found = {tool: row for tool, row in readers.items() if row[0]}
    if not found:
        raise InvalidData(
            f"{folder} is a folder without results that are understood: .info files of COCO, IOHprofiler_*.json, .xml"
            " or .xml.bz2 of BenchExec, or logs in .jsonl; name a file, or the folder of these"
        )
    if len(found) > 1:
        raise InvalidData(f"the folder {folder} holds results of {' and '.join(found)}; name the folder of one of them")
    ((files, read),) = found.values()
    return read(folder, files)
