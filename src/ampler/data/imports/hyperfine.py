"""Output of `hyperfine --export-json`: one row per timed run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ampler.data.imports.reader import Imported, ResultFile, Row, competitors_in, rows_of
from ampler.data.tables.vocabulary import ALGORITHM, fold


class Hyperfine:
    """Times of commands; a parameter called solver (or another word for algorithm) names the algorithm.

    Otherwise the command does, with the values of the parameters put back as {name}; the other parameters make the
    instance. Versions 1 (`times`) and 2 (`measurements`) are read.
    """

    tool = "hyperfine"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is a document with the results of commands."""
        document = file.document
        results = document.get("results") if isinstance(document, Mapping) else None
        return isinstance(results, list) and all(isinstance(row, Mapping) and "command" in row for row in results)

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per run."""
        rows = rows_of(files, _rows, "hyperfine --export-json")
        return competitors_in(rows, source, self.tool, "command", "seconds", further=("exit code",))


def _rows(file: ResultFile) -> Iterator[Row]:
    metric = file.document.get("primary_metric") or "time_wall_clock"
    for result in file.document["results"]:
        parameters = {
            name: str(value["value"] if isinstance(value, Mapping) else value)
            for name, value in (result.get("parameters") or {}).items()
        }
        solver = next((name for name in parameters if fold(name) in ALGORITHM), None)
        algorithm = parameters.pop(solver) if solver else _template(result, parameters)
        for run, (value, code) in enumerate(_measurements(result, metric)):
            # texts are kept, to be named in the error
            number = value if isinstance(value, str) else float(value)
            yield {"command": algorithm, **parameters, "run": run, "seconds": number, "exit code": str(code)}


def _template(result: Mapping[str, Any], parameters: Mapping[str, str]) -> str:
    """The command as it was typed, before hyperfine put the parameters in."""
    command = str(result.get("name") or result["command"])
    for name, value in sorted(parameters.items(), key=lambda item: -len(item[1])):
        command = command.replace(value, f"{{{name}}}")
    return command


def _measurements(result: Mapping[str, Any], metric: str) -> Iterator[tuple[Any, Any]]:
    if "measurements" in result:
        return ((run[metric]["value"], run.get("exit_code", 0)) for run in result["measurements"])
    times = result["times"]
    return zip(times, result.get("exit_codes") or [0] * len(times), strict=True)
