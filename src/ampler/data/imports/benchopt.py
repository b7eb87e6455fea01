"""Results of benchopt, Parquet or CSV: one row per solver, dataset and repetition, at the end of its curve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ampler.data.imports.reader import Imported, ResultFile, header_of
from ampler.data.tables.files import LIMIT, parquet_modules, read_parquet, read_text

COLUMNS = {"solver_name", "dataset_name", "objective_name", "idx_rep", "stop_val"}
KEYS = ["objective_name", "solver_name", "dataset_name", "idx_rep"]


class Benchopt:
    """The solver is the algorithm, dataset and objective the instance; the value is the objective, better lower."""

    tool = "benchopt"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether the columns are those of benchopt."""
        return set(_columns(file)) >= COLUMNS

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return the last row of each curve, with all measures of the objective and the time."""
        import pandas as pd

        paths = [file.path for file in files]
        frames = [read_parquet(path, limit=LIMIT) if _is_parquet(path) else read_text(path) for path in paths]
        frame = pd.concat(frames, ignore_index=True)
        frame["stop_val"] = pd.to_numeric(frame["stop_val"])
        frame = frame.sort_values("stop_val", kind="stable").groupby(KEYS, sort=False).tail(1).sort_index()
        measures = [name for name in frame.columns if name.startswith("objective_") and name != "objective_name"]
        names = {"solver_name": "solver", "dataset_name": "dataset", "objective_name": "task", "idx_rep": "repetition"}
        frame = frame[[*KEYS, "time", *measures]].rename(columns=names)
        value = "objective_value" if "objective_value" in measures else ""
        summary = "solvers are the algorithms, datasets the instances; values are the ends of the curves"
        return Imported(frame, self.tool, ("solver",), ("task", "dataset"), value, summary, "lower" if value else None)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _columns(file: ResultFile) -> list[str]:
    if not _is_parquet(file.path):
        return header_of(file)
    pyarrow, parquet = parquet_modules()
    try:
        with file.path.open("rb") as stream:
            return list(parquet.read_schema(stream).names)
    except (pyarrow.ArrowException, OSError, ValueError):
        return []
