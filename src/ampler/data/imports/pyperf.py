"""Output of pyperf with -o: one row per value, with the process that measured it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.core.settings import Better
from ampler.data.imports.reader import Imported, ResultFile, Row, benchmarks_in, rows_of


class Pyperf:
    """Values of benchmarks, mostly seconds; values of one process are not independent of each other."""

    tool = "pyperf"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is a document with benchmarks, their runs and a version."""
        benchmarks = file.document["benchmarks"] if file.has("benchmarks", "version") else None
        return isinstance(benchmarks, list) and all(isinstance(row, dict) and "runs" in row for row in benchmarks)

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per value."""
        rows = rows_of(files, _rows, self.tool)
        are_costs = all(row["unit"] in ("second", "byte") for row in rows)
        better: Better | None = "lower" if are_costs else None
        return benchmarks_in(rows, source, self.tool, "measurement", better, process="process")


def _rows(file: ResultFile) -> Iterator[Row]:
    common = file.document.get("metadata") or {}
    for benchmark in file.document["benchmarks"]:
        metadata = common | (benchmark["runs"][0].get("metadata") or {}) | (benchmark.get("metadata") or {})
        names = {"benchmark": str(metadata.get("name", file.path.stem)), "unit": metadata.get("unit", "second")}
        measured = (run["values"] for run in benchmark["runs"] if run.get("values"))  # others calibrate
        values = ((process, value) for process, own in enumerate(measured, start=1) for value in own)
        for run, (process, value) in enumerate(values, start=1):
            yield names | {"process": process, "run": run, "measurement": float(value)}
