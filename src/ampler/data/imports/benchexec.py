"""BenchExec's results in XML, also packed: one row per run, what failed as a failed run.

The XML is read by expat, with every entity refused: a few hundred bytes of them could fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.parsers import expat

from ampler.core.errors import InvalidData
from ampler.core.text import parameter
from ampler.data.imports.reader import Imported, ResultFile, Row, as_float, frame_of, varying_parts

MEASURES = ("cputime", "walltime", "memory")
QUANTITY = re.compile(r"([-+0-9.eE]+)\s*(s|B)?")
ANSWERED = ("correct", "missing")  # categories: a correct answer, or an answer without a verdict
ENDS = {  # of runs without an answer, by words of their status
    "timeout": ("TIMEOUT",),
    "memout": ("OUT OF MEMORY",),
    "crash": ("SEGMENTATION FAULT", "KILLED", "ABORTED", "SIGNAL", "ASSERTION"),
}
MAX_DEPTH = 50
MAX_RUNS = 5_000_000


class BenchExec:
    """Tool and run definition are the algorithm, the task is the instance."""

    tool = "BenchExec"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether a file is called as XML is."""
        return file.name.lower().endswith((".xml", ".xml.bz2", ".xml.gz"))

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per run."""
        documents = [_Document(file) for file in files]
        algorithms = varying_parts([document.names for document in documents])
        rows = [row for document, name in zip(documents, algorithms, strict=True) for row in document.rows(name)]
        limits = {document.result.get("timelimit", "") for document in documents}
        limit = _quantity(limits.pop()) if len(limits) == 1 else 0.0
        return Imported(
            frame_of(rows, source, self.tool, number=("algorithm", "instance")),
            self.tool,
            ("algorithm",),
            ("instance",),
            "cputime",
            "tool and run definition are the algorithm, the task is the instance, the value is the CPU time in seconds"
            f" (otherwise {parameter('value', 'walltime')} or memory); runs with a wrong or no answer have failed",
            "lower",
            time_limits={"cputime": limit if limit > 0 else None},
        )


class _Document:
    """The results of one file, gathered by the parser."""

    def __init__(self, file: ResultFile) -> None:
        self.result: dict[str, str] = {}
        self.runs: list[dict[str, str]] = []
        self._depth = 0
        self._run: dict[str, str] | None = None
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.EntityDeclHandler = self._refuse_entity
        try:
            parser.Parse(file.content(), True)
            if not self.runs:
                raise InvalidData("it holds no <run>")
        except (expat.ExpatError, InvalidData) as problem:
            raise InvalidData(f"{file.name} is not a valid BenchExec file: {problem}") from problem

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH or len(self.runs) > MAX_RUNS:
            raise InvalidData("it nests too deeply" if self._depth > MAX_DEPTH else "it holds millions of runs")
        if self._depth == 1:
            if tag != "result":
                raise InvalidData("it must begin with <result>")
            self.result = attributes
        elif tag == "run":
            self._run = {"name": attributes.get("name", ""), "properties": attributes.get("properties", "")}
        elif tag == "column" and self._run is not None:
            self._run[attributes.get("title", "")] = attributes.get("value", "")

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "run" and self._run is not None:
            self.runs.append(self._run)
            self._run = None

    def _refuse_entity(self, *_: object) -> None:
        raise InvalidData("it declares entities, which results do not need")

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that name the algorithm: tool, version and run definition."""
        block, name = self.result.get("block", ""), self.result.get("name", "")
        definition = name.removesuffix(f".{block}") if block else name
        return self.result.get("displayName") or self.result.get("tool", ""), self.result.get("version", ""), definition

    def rows(self, algorithm: str) -> list[Row]:
        """Return one row per run."""
        return [_row(run, algorithm) for run in self.runs]


def _row(run: dict[str, str], algorithm: str) -> dict[str, Any]:
    status = run.get("status", "").upper()
    category = run.get("category", "error" if "TIMEOUT" in status else "missing")
    ends = (end for end, words in ENDS.items() if any(word in status for word in words))
    failure = category if category in ("wrong", "unknown") else next(ends, "error")
    return {
        "algorithm": algorithm,
        "instance": run["name"] + (f" ({run['properties']})" if run["properties"] else ""),
        **{title: _quantity(run[title]) for title in MEASURES if title in run},
        "status": "ok" if category in ANSWERED else failure,
    }


def _quantity(text: str) -> float:
    match = QUANTITY.fullmatch(text.strip())
    return as_float(match[1]) if match else float("nan")
