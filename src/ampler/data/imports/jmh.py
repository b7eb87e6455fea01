"""Output of JMH with -rf json: one row per measured iteration of a fork."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ampler.core.errors import InvalidData
from ampler.core.settings import Better
from ampler.data.imports.reader import Imported, ResultFile, Row, benchmarks_in, rows_of


class Jmh:
    """Scores of benchmarks; their parameters are columns. Iterations of a fork are not independent of each other."""

    tool = "JMH"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is a list of benchmarks with a primary metric."""
        document = file.document
        return isinstance(document, list) and bool(document) and all(
            isinstance(row, Mapping) and "primaryMetric" in row for row in document
        )  # fmt: skip

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per iteration; throughput is better higher, times are better lower."""
        rows = rows_of(files, _rows, self.tool)
        units = {(row.pop("mode") == "thrpt", row["unit"]) for row in rows}
        if len(units) > 1:
            kinds = " and ".join(sorted(unit for _, unit in units))
            raise InvalidData(f"{source} holds scores in {kinds}; write one mode and one unit into a file")
        better: Better = "higher" if any(is_throughput for is_throughput, _ in units) else "lower"
        return benchmarks_in(rows, source, self.tool, "score", better, process="fork")


def _rows(file: ResultFile) -> Iterator[Row]:
    for row in file.document:
        metric = row["primaryMetric"]
        raw = metric.get("rawData") or [[metric["score"]]]
        parameters = {name: str(value) for name, value in (row.get("params") or {}).items()}
        names = {"benchmark": str(row["benchmark"]), **parameters}
        scores = ((fork, score) for fork, own in enumerate(raw, start=1) for score in own)
        for run, (fork, score) in enumerate(scores, start=1):
            mode = {"mode": str(row["mode"]), "unit": str(metric["scoreUnit"])}
            yield names | mode | {"fork": fork, "run": run, "score": float(score)}
