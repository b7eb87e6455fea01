"""The folder of Criterion.rs (target/criterion): one row per sample of the newest run, in nanoseconds per iteration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.core.errors import InvalidData
from ampler.data.imports.reader import Imported, ResultFile, Row, competitors_in, rows_of


class Criterion:
    """Functions are the algorithms; the group and the input make the instance."""

    tool = "Criterion"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is the description of a benchmark in a folder called new."""
        return file.name == "benchmark.json" and file.path.parent.name == "new" and file.has("group_id", "full_id")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per sample."""
        rows = rows_of(files, _rows, self.tool)
        return competitors_in(rows, source, self.tool, "function", "nanoseconds")


def _rows(file: ResultFile) -> Iterator[Row]:
    sample = file.sibling("sample.json")
    if sample is None:
        raise InvalidData(f"{file.path.parent} holds no sample.json, which Criterion writes next to benchmark.json")
    names = {name: file.document.get(f"{name}_id") for name in ("function", "group")}
    names["input"] = file.document.get("value_str")
    times, iterations = sample.document["times"], sample.document["iters"]
    for run, (time, number) in enumerate(zip(times, iterations, strict=True), start=1):
        yield {k: str(name) for k, name in names.items() if name} | {"run": run, "nanoseconds": float(time) / number}
