"""Folders of COCO (`bbob` and its like): what the .info files list, with the digits of the .dat files.

Each .info file names a function, a dimension and an algorithm, then one entry for each trial: `1:60|1.2e+00` is the
instance of the function, the evaluations, and the best value less the optimum to two digits. The .dat file has it with
all digits in the last line of each trial.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ampler.core.errors import InvalidData
from ampler.data.imports.reader import Imported, ResultFile, Row, as_float, frame_of, rows_of

SETTING = re.compile(r"""([A-Za-z_]\w*)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^,\s]+))""")
TRIAL = re.compile(r"(\d+)\s*:\s*(\d+)\s*\|\s*([-+.0-9eEinfa]+)")
BEST = 2  # the column of the .dat files that holds the best value less the optimum
DIGITS = 0.06  # the .info files keep two digits: a value that differs by more is another one


class Coco:
    """Trials on functions of several dimensions."""

    tool = "COCO"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is an .info file."""
        return file.name.lower().endswith(".info")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per trial."""
        frame = frame_of(rows_of(files, _rows, self.tool), source, self.tool)
        folders = frame.groupby("algorithm")["folder"].transform("nunique")  # several call themselves the same
        frame["algorithm"] = frame["algorithm"].where(folders == 1, frame["folder"])
        frame["run"] = frame.groupby(["algorithm", "suite", "function", "dimension"]).cumcount() + 1
        suites = ("suite",) if frame["suite"].nunique() > 1 else ()
        return Imported(
            frame.drop(columns=["folder", *(() if suites else ("suite",))]),
            self.tool,
            ("algorithm",),
            (*suites, "function", "dimension"),
            "value",
            "function and dimension are the instance, COCO's instances of a function are runs ('coco instance');"
            " the value is the best value minus the optimum",
            "lower",
        )


def _rows(file: ResultFile) -> Iterator[Row]:
    """The trials of one .info file: blocks of a line of settings, a comment, and a line of trials."""
    settings: dict[str, str] = {}
    for line in map(str.strip, file.text().splitlines()):
        if not line or line.startswith("%"):
            continue
        pairs = {name: one or other or bare for name, one, other, bare in SETTING.findall(line)}
        if pairs and TRIAL.search(line) is None:
            settings = pairs
            continue
        algorithm = _algorithm(settings, file)
        data, comma, rest = line.partition(",")
        trials = TRIAL.findall(rest)
        if not comma or len(trials) != rest.count(":"):
            raise InvalidData(f"{file.name} is not a valid .info file of COCO: trials must have the form 1:60|1.2e+00")
        values = _best(file, data.strip(), [as_float(rounded) for _, _, rounded in trials])
        for (instance, evaluations, _), value in zip(trials, values, strict=True):
            yield algorithm | {"coco instance": int(instance), "value": value, "evaluations": int(evaluations)}


def _algorithm(settings: dict[str, str], file: ResultFile) -> Row:
    """Settings of the trials below a line."""
    function = settings.get("funcId") or settings.get("function")
    dimension = settings.get("DIM") or settings.get("dim")
    if function is None or dimension is None:
        raise InvalidData(f"{file.name} is not an .info file of COCO: it must name funcId and DIM before the trials")
    if "maximization" in settings:
        raise InvalidData(
            f"{file.name} is an .info file of an old IOHprofiler; export the results as CSV from IOHanalyzer"
        )
    return {
        "algorithm": settings.get("algId") or settings.get("algorithm") or file.path.parent.name,
        "suite": settings.get("suite", ""),
        "function": f"f{function}" if function.isdigit() else function,
        "dimension": dimension,
        "folder": file.top,
    }


def _best(file: ResultFile, data: str, rounded: list[float]) -> list[float]:
    """The best value of each trial with all its digits; rounded where there is no .dat file that fits."""
    data_file = file.sibling(data)
    if data_file is None:
        return rounded
    trials = re.split(r"^%.*$", data_file.text(), flags=re.MULTILINE)  # a line that begins with % begins a trial
    rows = ([cells for cells in map(str.split, trial.splitlines()) if len(cells) > BEST] for trial in trials)
    exact = [as_float(cells[-1][BEST]) for cells in rows if cells]
    fits = len(exact) == len(rounded) and all(
        abs(one - other) <= DIGITS * abs(other) + 1e-300 for one, other in zip(exact, rounded, strict=True)
    )
    return exact if fits else rounded
