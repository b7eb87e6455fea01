"""Logs of Inspect (inspect_ai), .eval or JSON: one row per sample and epoch, a column for each score."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ampler.core.errors import InvalidData, MissingDependency
from ampler.core.settings import Better
from ampler.data.imports.reader import LARGEST_FOLDER, Imported, ResultFile, Row, frame_of, parse_json, rows_of

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # as Inspect's accuracy counts them
ZSTANDARD = 93  # a method of zip archives that Python knows from 3.14 on


class Inspect:
    """The model is the algorithm, each sample of a task is an instance, epochs are runs."""

    tool = "Inspect"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is called .eval, or is a document with an evaluation and its status."""
        return file.name.endswith(".eval") or file.has("eval", "status", "version")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per sample and epoch; samples that ended in an error have failed."""
        rows = rows_of(files, _rows, self.tool)
        scores = list(dict.fromkeys(name for row in rows for name in row if name.startswith("score.")))
        are_grades = False not in {row.pop("graded") for row in rows}
        frame = frame_of(rows, source, self.tool)
        if not scores and (frame["status"] == "failed").all():
            raise InvalidData(f"{source} holds no scores: all {len(frame)} samples ended in an error")
        if not scores:
            raise InvalidData(f"{source} holds no scores; score the log first with: inspect score")
        frame = frame.rename(columns={name: name.removeprefix("score.") for name in scores})
        value = scores[0].removeprefix("score.") if len(scores) == 1 else ""
        summary = "models are the algorithms, samples of a task the instances, epochs the runs"
        better: Better | None = "higher" if are_grades else None  # of numbers Inspect records no direction
        return Imported(frame, self.tool, ("model",), ("task", "sample"), value, summary, better)


def _rows(file: ResultFile) -> Iterator[Row]:
    header, samples = _log(file)
    for sample in samples:
        row: Row = {"model": str(header["model"]), "task": str(header["task"]), "sample": str(sample["id"])}
        row |= {"run": int(sample.get("epoch", 1)), "status": "failed" if sample.get("error") else "ok"}
        row["graded"] = True
        for name, score in (sample.get("scores") or {}).items():
            value = score["value"]
            parts = value if isinstance(value, Mapping) else {"": value}
            row["graded"] &= all(isinstance(part, str | bool) for part in parts.values())
            row |= {f"score.{name}{'.' if key else ''}{key}": _number(part) for key, part in parts.items()}
        yield row


def _log(file: ResultFile) -> tuple[Mapping[str, Any], list[Any]]:
    """The evaluation, and the summaries of its samples."""
    if not file.name.endswith(".eval"):
        return file.document["eval"], file.document.get("samples") or []
    try:
        with zipfile.ZipFile(file.path) as archive:
            return _member(archive, "header.json", file)["eval"], _member(archive, "summaries.json", file)
    except (OSError, zipfile.BadZipFile, NotImplementedError) as problem:
        raise InvalidData(f"{file.name} is not a valid Inspect log: {problem}") from problem


def _member(archive: zipfile.ZipFile, name: str, file: ResultFile) -> Any:
    """A document of the archive, unpacked up to what may be read."""
    member = archive.getinfo(name)
    if member.compress_type != ZSTANDARD:
        with archive.open(member) as stream:
            content = stream.read(LARGEST_FOLDER + 1)
    else:
        try:
            import pyarrow
        except ImportError as problem:
            raise MissingDependency(f"{file.name} is packed with zstd: pip install 'ampler[parquet]'") from problem
        with file.path.open("rb") as raw:
            raw.seek(member.header_offset)
            header = raw.read(30)  # of the member; its last four bytes are the lengths of two fields that follow
            raw.seek(sum(int.from_bytes(header[k : k + 2], "little") for k in (26, 28)), 1)
            packed = pyarrow.BufferReader(raw.read(member.compress_size))
        content = pyarrow.input_stream(packed, compression="zstd").read(LARGEST_FOLDER + 1)
    if len(content) > LARGEST_FOLDER:
        raise InvalidData(f"{name} of {file.name} unpacks to more than is read")
    return parse_json(content, f"{name} of {file.name}")


def _number(value: Any) -> float:
    """A score as a number; words as Inspect counts them, others are no value."""
    return float(value) if isinstance(value, bool | int | float) else GRADES.get(str(value), float("nan"))
