"""Results of airspeed velocity (asv): one row per sample of a benchmark at a commit in an environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from ampler.core.settings import Better
from ampler.data.imports.reader import Imported, ResultFile, Row, frame_of, rows_of, varying_parts

COSTS = ("time", "mem", "peakmem", "timeraw")  # first words of benchmarks whose values are better lower


class Asv:
    """The commit, and the environment if there are several, is the algorithm; benchmark and parameters the instance."""

    tool = "asv"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is a document with results at a commit."""
        return file.has("commit_hash", "env_name", "results")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per sample; where samples were not recorded, the result of each benchmark."""
        rows = rows_of(files, _rows, self.tool)
        algorithms = varying_parts([(row.pop("commit")[:8], row.pop("environment")) for row in rows])
        rows = [{"commit": name, **row} for name, row in zip(algorithms, rows, strict=True)]
        kinds = {row.pop("kind") for row in rows}
        frame = frame_of(rows, source, self.tool)
        summary = "commits are the algorithms, benchmarks with their parameters the instances"
        better: Better | None = "lower" if kinds <= set(COSTS) else None
        return Imported(frame, self.tool, ("commit",), ("benchmark",), "result", summary, better)


def _rows(file: ResultFile) -> Iterator[Row]:
    document = file.document
    columns = document.get("result_columns") or ["result", "params"]
    for name, entry in document["results"].items():
        fields = dict(zip(columns, entry, strict=False)) if isinstance(entry, list) else {"result": [entry]}
        combinations = list(product(*(fields.get("params") or [])))
        results = fields.get("result") or [None] * len(combinations)  # none where the benchmark failed
        samples = fields.get("samples") or [None] * len(results)
        for parameters, result, own in zip(combinations, results, samples, strict=True):
            arguments = f"({', '.join(parameters)})" if parameters else ""
            for run, value in enumerate(own or [result], start=1):
                yield {
                    "commit": str(document["commit_hash"]),
                    "environment": str(document["env_name"]),
                    "benchmark": name + arguments,
                    "run": run,
                    "result": float("nan") if value is None else float(value),
                    "kind": name.rpartition(".")[2].partition("_")[0],
                }
