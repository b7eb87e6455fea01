"""What `hyperfine --export-json` writes → a data frame with one row per timed run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ampler.core.errors import InvalidData
from ampler.data.tables.vocabulary import ALGORITHM, fold

if TYPE_CHECKING:
    import pandas as pd


def read_hyperfine(content: bytes, source: str) -> pd.DataFrame:
    """One row per run: algorithm, the parameters (which make the instance), run, value and exit code.

    A parameter called solver (or another word for algorithm) names the algorithm; otherwise it is the command, with
    the values of the parameters put back as {name}. Versions 1 (`times`) and 2 (`measurements`) are read.
    """
    import pandas as pd

    try:
        document = json.loads(content)
        rows = [row for result in document["results"] for row in _rows(result, document.get("primary_metric"))]
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
        raise InvalidData(
            f"{source} must be what hyperfine --export-json writes, or a table of records:"
            ' [{"solver": "a", "problem": "x", "result": 1.5}, …]; save other results as CSV or Parquet'
        ) from problem
    if not rows:
        raise InvalidData(f"{source} holds no single times; hyperfine writes them with --export-json")
    return pd.DataFrame(rows, index=range(1, len(rows) + 1))


def instance_columns(frame: pd.DataFrame) -> tuple[str, ...]:
    """The parameters that make the instance: all that do not name the algorithm."""
    own = {"algorithm", "run", "value", "metric", "exit code"}
    return tuple(str(name) for name in frame.columns if name not in own)


def _rows(result: Mapping[str, Any], primary: str | None) -> list[dict[str, Any]]:
    parameters = {name: _plain(value) for name, value in (result.get("parameters") or {}).items()}
    solver = next((name for name in parameters if fold(name) in ALGORITHM), None)
    algorithm = parameters[solver] if solver else _template(result, parameters)
    instance = {name: value for name, value in parameters.items() if name != solver}
    return [
        {"algorithm": algorithm, **instance, "run": run, **measured}
        for run, measured in enumerate(_measured(result, primary))
    ]


def _plain(value: Any) -> str:
    return str(value["value"] if isinstance(value, Mapping) else value)


def _template(result: Mapping[str, Any], parameters: Mapping[str, str]) -> str:
    """The command as it was typed, before hyperfine put the parameters in."""
    command = str(result.get("name") or result["command"])
    for name, value in sorted(parameters.items(), key=lambda item: -len(item[1])):
        command = command.replace(value, f"{{{name}}}")
    return command


def _measured(result: Mapping[str, Any], primary: str | None) -> list[dict[str, Any]]:
    if "measurements" in result:
        metric = primary or "time_wall_clock"
        return [
            {"value": _number(each[metric]["value"]), "exit code": str(each.get("exit_code", 0))}
            for each in result["measurements"]
        ]
    times: Sequence[float] = result["times"]
    codes = result.get("exit_codes") or [0] * len(times)
    return [{"value": _number(time), "exit code": str(code)} for time, code in zip(times, codes, strict=True)]


def _number(value: Any) -> float | str:
    """A number as one; a word stays one, to be shown where it stands."""
    return value if isinstance(value, str) else float(value)
