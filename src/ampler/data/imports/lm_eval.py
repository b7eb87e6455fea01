"""lm-evaluation-harness: documents of tasks (--log_samples), or a row per task from its results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ampler.core.errors import InvalidData
from ampler.core.text import quoted
from ampler.data.imports.json_tables import log_rows
from ampler.data.imports.reader import Imported, ResultFile, Row, frame_of, rows_of, varying_parts

SAMPLES = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl")


class LmEval:
    """The folder names the model; documents of the tasks are the instances, or the tasks where no samples are there."""

    tool = "lm-evaluation-harness"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is called as samples are, or is a document with the results of tasks."""
        are_samples = SAMPLES.fullmatch(file.name) is not None
        return b'"doc_id"' in file.head if are_samples else file.has("results", "configs", "versions")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per document, or per task and metric."""
        samples = [file for file in files if SAMPLES.fullmatch(file.name)]
        if samples:
            return self._of_samples(samples, source)
        frame = frame_of(rows_of(files, _rows, self.tool), source, self.tool)
        frame["model"] = varying_parts(frame.pop("model").tolist())
        directions = set(frame.pop("better"))
        summary = "models are the algorithms, tasks the instances"
        better = directions.pop() if len(directions) == 1 else None
        return Imported(frame, self.tool, ("model",), ("task",), "value", summary, better)

    def _of_samples(self, files: Sequence[ResultFile], source: str) -> Imported:
        logs = [list(log_rows(file, lists=("metrics",))) for file in files]
        models = varying_parts([file.path.parent.parts[-2:] for file in files])
        metrics = sorted({str(name) for log in logs for row in log for name in row.get("metrics", ())})
        if len(metrics) != 1:
            raise InvalidData(
                f"{source} holds several metrics ({quoted(metrics)}); write the one to compare into a table"
            )
        rows: list[Row] = []
        for model, file, log in zip(models, files, logs, strict=True):
            task = SAMPLES.sub(r"\1", file.name)
            for row in log:
                filters = {"filter": row["filter"]} if "filter" in row else {}
                instance = {"model": model, "instance": f"{task}/{row['doc_id']}"}
                rows.append(instance | {metrics[0]: row.get(metrics[0])} | filters)
        summary = f"the folder names the model, each document of a task is an instance, the value is {metrics[0]!r}"
        return Imported(frame_of(rows, source, self.tool), self.tool, ("model",), ("instance",), metrics[0], summary)


def _rows(file: ResultFile) -> Iterator[Row]:
    document = file.document
    config = document.get("config") or {}
    model = tuple(str(part) for part in (config.get("model"), config.get("model_args"), document.get("model_name")))
    for task, results in document["results"].items():
        higher = (document.get("higher_is_better") or {}).get(task) or {}
        for name, value in results.items():
            metric, comma, _ = name.partition(",")  # as in acc,none: the metric and its filter
            if comma and not metric.endswith("_stderr") and isinstance(value, int | float):
                better = {True: "higher", False: "lower"}.get(higher.get(metric))  # type: ignore[arg-type]
                yield {"model": model, "task": task, "metric": name, "value": float(value), "better": better}
