"""Output of pytest-benchmark with --benchmark-json: one row per round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.data.imports.reader import Imported, ResultFile, Row, benchmarks_in, rows_of


class PytestBenchmark:
    """Seconds of benchmarks; their parameters are columns. Where no rounds were saved, the mean of each is read."""

    tool = "pytest-benchmark"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is a document with benchmarks and their statistics."""
        return file.has("machine_info", "benchmarks")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per round."""
        return benchmarks_in(rows_of(files, _rows, self.tool), source, self.tool, "time", "lower")


def _rows(file: ResultFile) -> Iterator[Row]:
    for benchmark in file.document["benchmarks"]:
        parameters = {name: str(value) for name, value in (benchmark.get("params") or {}).items()}
        name = str(benchmark["fullname"])
        if any(" at 0x" in value for value in parameters.values()):
            parameters = {}  # an address differs from process to process; the full name has the parameters' ids
        names = {"benchmark": name.partition("[")[0] if parameters else name, **parameters}
        statistics = benchmark["stats"]
        for run, seconds in enumerate(statistics.get("data") or [statistics["mean"]], start=1):
            yield names | {"run": run, "time": float(seconds)}
