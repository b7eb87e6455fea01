"""What is kept of the comparison with other tools: one number a row; and which of the tools are installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import nan, sqrt
from statistics import fmean, stdev

import ampler as am

PYTHON = ("autorank", "scikit-posthocs", "baycomp", "adastop", "optuna", "coco-experiment", "cocopp", "ioh")
R = ("irace", "CAISEr", "scmamp", "IOHanalyzer")


@dataclass(frozen=True)
class Row:
    """One number that a tool gave on some data; `note` where words say it better."""

    part: str
    data: str
    tool: str
    measure: str = "done"
    value: float = nan
    error: float = nan  # standard error
    count: int = 0
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.part, self.data, self.tool

    @classmethod
    def share(cls, part: str, data: str, tool: str, measure: str, values: Sequence[float]) -> Row:
        """The mean of what was seen, with its standard error."""
        error = stdev(map(float, values)) / sqrt(len(values))
        return cls(part, data, tool, measure, fmean(values), error, len(values))


def installed() -> list[Row]:
    """Each tool with its version, or none."""
    found = {"ampler": am.__version__} | {tool: _python_version(tool) for tool in PYTHON}
    found |= {"hyperfine": _said("hyperfine", "--version").removeprefix("hyperfine ")}
    found |= {tool: _r_version(tool) for tool in R}
    return [Row("installed", "", ""), *(Row("installed", "", tool, note=known) for tool, known in found.items())]


def has_r(package: str) -> bool:
    return bool(_r_version(package))


def _python_version(tool: str) -> str:
    try:
        return version(tool)
    except PackageNotFoundError:
        return ""


def _r_version(package: str) -> str:
    return _said("Rscript", "-e", f'cat(tryCatch(as.character(packageVersion("{package}")), error = function(e) ""))')


def _said(program: str, *words: str) -> str:
    if shutil.which(program) is None:
        return ""
    return subprocess.run([program, *words], capture_output=True, text=True, check=False).stdout.strip()
