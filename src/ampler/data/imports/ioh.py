"""Folders of IOHexperimenter: the IOHprofiler_*.json files, which keep the best value of each run with all digits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.core.errors import InvalidData
from ampler.data.imports.reader import Imported, ResultFile, Row, frame_of, rows_of


class IohExperimenter:
    """Runs on functions of several dimensions."""

    tool = "IOHexperimenter"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether a file is called as IOHexperimenter calls its own."""
        return file.name.startswith("IOHprofiler_f") and file.name.endswith(".json")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per run."""
        rows = rows_of(files, _rows, self.tool)
        frame = frame_of(rows, source, self.tool, number=("algorithm", "function", "dimension"))
        directions = set(frame.pop("maximization"))
        if len(directions) > 1:
            raise InvalidData(f"{source} holds functions to maximise and functions to minimise; read them separately")
        return Imported(
            frame,
            self.tool,
            ("algorithm",),
            ("function", "dimension"),
            "value",
            "function and dimension make the instance, instances of a function are its runs ('ioh instance'), the value"
            " is the best one found",
            "higher" if directions == {True} else "lower",
        )


def _rows(file: ResultFile) -> Iterator[Row]:
    document = file.document
    name = str(document.get("function_name") or "")
    function = f"f{int(document['function_id'])}" + (f" {name}" if name else "")
    for scenario in document["scenarios"]:
        for run in scenario["runs"]:
            yield {
                "algorithm": str(document["algorithm"]["name"]),
                "function": function,
                "dimension": int(scenario["dimension"]),
                "ioh instance": int(run.get("instance", 0)),
                "value": float(run["best"]["y"]),
                "evaluations": int(run.get("evals", 0)),
                "maximization": bool(document["maximization"]),
            }
