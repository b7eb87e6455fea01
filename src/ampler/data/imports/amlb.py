"""results.csv of the AutoML benchmark (automlbenchmark): one row per framework, task and fold."""

from __future__ import annotations

from collections.abc import Sequence

from ampler.data.imports.reader import Imported, ResultFile, as_float, header_of
from ampler.data.tables.files import read_text

COLUMNS = {"task", "framework", "constraint", "fold", "result", "metric"}
OTHERS = ("type", "duration", "training_duration", "predict_duration", "models_count", "seed")


class AutoMlBenchmark:
    """The framework is the algorithm, the task the instance, folds are its runs; a higher result is always better."""

    tool = "AutoML benchmark"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether the header has the columns of its results."""
        return set(header_of(file)) >= COLUMNS

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per fold; one without a result has failed."""
        import pandas as pd

        rows = pd.concat([read_text(file.path) for file in files], ignore_index=True)
        rows["result"] = rows["result"].map(as_float)
        names = ["framework", "task", "constraint", "fold", "result", *(name for name in OTHERS if name in rows)]
        summary = "frameworks are the algorithms, tasks the instances, folds the runs, the value is 'result'"
        rows = rows[names]
        return Imported(rows, self.tool, ("framework",), ("task", "constraint"), "result", summary, "higher")
