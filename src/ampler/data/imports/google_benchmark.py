"""Output of Google Benchmark with --benchmark_format=json: one row per repetition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.data.imports.reader import Imported, ResultFile, Row, benchmarks_in, rows_of

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


class GoogleBenchmark:
    """Seconds of benchmarks; where only aggregates were written, the mean of each is read."""

    tool = "Google Benchmark"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is a document with a context and benchmarks."""
        return file.has("context", "benchmarks")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per repetition; one with an error has failed."""
        rows = rows_of(files, _rows, self.tool)
        return benchmarks_in(rows, source, self.tool, "real time", "lower", further=("cpu time", "status"))


def _rows(file: ResultFile) -> Iterator[Row]:
    benchmarks = file.document["benchmarks"]
    measured = {row.get("run_name") for row in benchmarks if row.get("run_type", "iteration") == "iteration"}
    for row in benchmarks:
        is_mean = row.get("aggregate_name") == "mean" and row.get("run_name") not in measured
        if row.get("run_type", "iteration") != "iteration" and not is_mean:
            continue
        failed = bool(row.get("error_occurred") or row.get("skipped"))
        scale = float("nan") if failed else SECONDS[row["time_unit"]]
        yield {
            "benchmark": str(row.get("run_name", row["name"])),
            "run": int(row.get("repetition_index", 0)),
            "real time": scale * float(row.get("real_time", 0)),
            "cpu time": scale * float(row.get("cpu_time", 0)),
            "status": "failed" if failed else "ok",
        }
