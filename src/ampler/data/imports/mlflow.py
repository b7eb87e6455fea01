"""Runs of MLflow, in a folder (mlruns) or an SQLite file: one row per run with its last metrics and its parameters.

A table that MLflow exports (`search_runs().to_csv()`) has the same columns and is read as any table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ampler.data.imports.reader import Imported, ResultFile, Row, connected, frame_of, has_tables, rows_of

TABLES = ("experiments", "runs", "latest_metrics", "params", "tags")
STATUSES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
MAX_ROWS = 5_000_000


class MlFlow:
    """Parameters and tags name algorithm and instance as columns of any table do; metrics may be the value."""

    tool = "MLflow"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is the description of a run, or an SQLite file with the tables of MLflow."""
        return (file.name == "meta.yaml" and b"\nrun_id:" in b"\n" + file.head) or has_tables(file, TABLES)

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per run that is not deleted."""
        rows = rows_of(files, lambda file: [_run(file)] if file.name == "meta.yaml" else _stored(file), self.tool)
        return Imported(frame_of([row for row in rows if row], source, self.tool), self.tool)


def _run(file: ResultFile) -> Row:
    pairs = (line.partition(":") for line in file.text().splitlines())
    meta = {name: value.strip().strip("'\"") for name, _, value in pairs}
    if meta.get("lifecycle_stage") == "deleted":
        return {}
    row: Row = {"run_id": meta["run_id"], "status": STATUSES.get(meta.get("status", ""), meta.get("status", ""))}
    for name, metric in file.files_in("metrics"):
        row[f"metrics.{name}"] = float(metric.text().splitlines()[-1].split()[1])  # time, value, step
    row |= {f"params.{name}": parameter.text() for name, parameter in file.files_in("params")}
    return row | {f"tags.{name}": tag.text() for name, tag in file.files_in("tags") if not name.startswith("mlflow.")}


def _stored(file: ResultFile) -> Iterator[Row]:
    rows: dict[str, Row] = defaultdict(dict)
    queries = {
        "metrics.": "SELECT run_uuid, key, CASE WHEN is_nan THEN NULL ELSE value END FROM latest_metrics",
        "params.": "SELECT run_uuid, key, value FROM params",
        "tags.": "SELECT run_uuid, key, value FROM tags WHERE key NOT LIKE 'mlflow.%'",
    }
    with connected(file, MlFlow.tool) as connection:
        runs = "SELECT run_uuid, status FROM runs WHERE lifecycle_stage = 'active' ORDER BY start_time, run_uuid"
        for run, status in connection.execute(f"{runs} LIMIT {MAX_ROWS}"):
            rows[run] = {"run_id": str(run), "status": str(status)}
        for prefix, query in queries.items():
            for run, name, value in connection.execute(f"{query} LIMIT {MAX_ROWS}"):
                if run in rows:
                    rows[run][prefix + str(name)] = value
    yield from rows.values()
