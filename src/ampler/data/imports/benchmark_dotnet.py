"""Output of BenchmarkDotNet's full JSON exporter: one row per measured iteration, in nanoseconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.data.imports.reader import Imported, ResultFile, Row, competitors_in, rows_of


class BenchmarkDotNet:
    """Methods are the algorithms, as the tool compares them; their parameters make the instance."""

    tool = "BenchmarkDotNet"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is a document with a title and benchmarks."""
        return file.has("HostEnvironmentInfo", "Benchmarks")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per iteration."""
        rows = rows_of(files, _rows, self.tool)
        return competitors_in(rows, source, self.tool, "method", "nanoseconds")


def _rows(file: ResultFile) -> Iterator[Row]:
    for benchmark in file.document["Benchmarks"]:
        pairs = (pair.partition("=") for pair in (benchmark.get("Parameters") or "").split("&") if pair)
        names = {"method": f"{benchmark['Type']}.{benchmark['Method']}", **{name: value for name, _, value in pairs}}
        for run, value in enumerate(benchmark["Statistics"]["OriginalValues"], start=1):
            yield names | {"run": run, "nanoseconds": float(value)}
