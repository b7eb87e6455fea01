"""Folders of COCO (`bbob` and its like): what the .info files list, with the digits of the .dat files.

Each .info file names a function, a dimension and an algorithm, then one entry for each trial: `1:60|1.2e+00` is the
instance of the function, the evaluations, and the best value less the optimum to two digits. The .dat file has it with
all digits in the last line of each trial.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ampler.core.errors import InvalidData
from ampler.data.imports.imported import Imported, frame_of
from ampler.data.imports.safely import Allowance, inside

SETTING = re.compile(r"""([A-Za-z_]\w*)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\s]+))""")
TRIAL = re.compile(r"(\d+)\s*:\s*(\d+)\s*\|\s*([-+.0-9eEinfa]+)")
BEST = 2  # the column of the .dat files that holds the best value less the optimum
DIGITS = 0.06  # the .info files keep two digits: a value that differs by more is another one


@dataclass(frozen=True, slots=True)
class _Trial:
    instance: int
    evaluations: int
    rounded: float


def read_coco(folder: Path, files: Sequence[Path]) -> Imported:
    """Read all .info files of a folder: one row per trial."""
    allowance = Allowance()
    rows = [row for path in files for row in _rows(path, allowance)]
    _name_algorithms(rows, folder)
    several = len({row["suite"] for row in rows}) > 1
    frame = frame_of(rows, str(folder), "COCO").drop(columns=["folder", *([] if several else ["suite"])])
    return Imported(
        frame,
        "COCO",
        ("algorithm",),
        (*(("suite",) if several else ()), "function", "dimension"),
        "value",
        "function and dimension make the instance, COCO's instances of a function are its runs ('coco instance'), the"
        " value is the best one found less the optimum",
        "lower",
    )


def _rows(path: Path, allowance: Allowance) -> Iterator[dict[str, Any]]:
    """The trials of one .info file: blocks of a line of settings, a comment, and a line of trials."""
    settings: dict[str, str] = {}
    number: dict[tuple[str, ...], int] = defaultdict(int)
    for line in allowance.text(path).splitlines():
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if (found := _settings(text)) and TRIAL.search(text) is None:
            settings = found
            continue
        common = _common(settings, path)
        data, trials = _trials(text, path)
        for trial, best in zip(trials, _best(path, data, trials, allowance), strict=True):
            key = tuple(map(str, common.values()))
            number[key] += 1
            run = {"run": number[key], "coco instance": trial.instance, "value": best, "evaluations": trial.evaluations}
            yield common | run | {"folder": str(path.parent)}


def _settings(text: str) -> dict[str, str]:
    return {name: one or other or plain for name, one, other, plain in SETTING.findall(text)}


def _common(settings: dict[str, str], path: Path) -> dict[str, Any]:
    function = settings.get("funcId") or settings.get("function")
    dimension = settings.get("DIM") or settings.get("dim")
    if function is None or dimension is None:
        raise InvalidData(f"{path.name} is not an .info file of COCO: it must name funcId and DIM before the trials")
    if "maximization" in settings:
        raise InvalidData(
            f"{path.name} is an .info file of an old IOHprofiler; export the results as CSV from IOHanalyzer"
        )
    return {
        "algorithm": settings.get("algId") or settings.get("algorithm") or path.parent.name,
        "suite": settings.get("suite", ""),
        "function": f"f{function}" if function.isdigit() else function,
        "dimension": dimension,
    }


def _trials(text: str, path: Path) -> tuple[str, list[_Trial]]:
    data, comma, rest = text.partition(",")
    found = [_Trial(int(one), int(evaluations), _number(value)) for one, evaluations, value in TRIAL.findall(rest)]
    if not comma or len(found) != rest.count(":"):
        raise InvalidData(f"{path.name} is not an .info file of COCO: trials must look like 1:60|1.2e+00")
    return data.strip(), found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _best(path: Path, data: str, trials: Sequence[_Trial], allowance: Allowance) -> list[float]:
    """The best value of each trial with all its digits; rounded where there is no .dat file that fits."""
    rounded = [trial.rounded for trial in trials]
    file = inside(path.parent, data)
    if file is None:
        return rounded
    exact = _last_values(allowance.text(file))
    fits = len(exact) == len(rounded) and all(
        abs(one - other) <= DIGITS * abs(other) + 1e-300 for one, other in zip(exact, rounded, strict=True)
    )
    return exact if fits else rounded


def _last_values(text: str) -> list[float]:
    """The last best value of each trial of a .dat file; a line that begins with % begins a trial."""
    found: list[float] = []
    last: float | None = None
    for line in (*text.splitlines(), "%"):
        if line.startswith("%"):
            found += [] if last is None else [last]
            last = None
        elif len(cells := line.split()) > BEST:
            last = _number(cells[BEST])
    return found


def _name_algorithms(rows: Sequence[dict[str, Any]], folder: Path) -> None:
    """Algorithms of different folders that call themselves the same get the names of their folders."""
    homes: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        homes[row["algorithm"]].add(_top(row["folder"], folder))
    for row in rows:
        if len(homes[row["algorithm"]]) > 1:
            row["algorithm"] = _top(row["folder"], folder)


def _top(place: str, folder: Path) -> str:
    parts = Path(place).relative_to(folder).parts
    return parts[0] if parts else folder.name
