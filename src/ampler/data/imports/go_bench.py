"""Output of `go test -bench`: one row per line of a benchmark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ampler.data.imports.reader import Imported, ResultFile, Row, benchmarks_in, rows_of

LINE = re.compile(r"^(Benchmark\S+)[ \t]+(\d+)[ \t]+(\S.*)$", re.MULTILINE)
VALUE = re.compile(r"([-+.\deE]+|NaN|[+-]?Inf)\s+(\S+)")


class GoBench:
    """Nanoseconds of benchmarks; parts of a name such as /size=10 are columns, `-count` gives the runs."""

    tool = "go test -bench"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether a text begins as the output of benchmarks does."""
        head = file.head.decode("utf-8", "replace")
        return any(VALUE.match(match[3]) for match in LINE.finditer(head)) and "ns/op" in head

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per line, with a column for each unit."""
        rows = rows_of(files, _rows, self.tool)
        units = {unit for row in rows for unit in row if "/" in unit}
        return benchmarks_in(rows, source, self.tool, "ns/op", "lower", further=("iterations", *units - {"ns/op"}))


def _rows(file: ResultFile) -> Iterator[Row]:
    number = Counter[str]()
    for name, iterations, values in LINE.findall(file.text()):
        number[name] += 1
        first, *parts = re.sub(r"-\d+$", "", name).split("/")  # the number of processors
        pairs = [part.partition("=") for part in parts]
        parameters = {key: value for key, equals, value in pairs if equals}
        row: Row = {"benchmark": "/".join([first, *(key for key, equals, _ in pairs if not equals)]), **parameters}
        row |= {"run": number[name], "iterations": int(iterations)}
        yield row | {unit: float(value) for value, unit in VALUE.findall(values)}
