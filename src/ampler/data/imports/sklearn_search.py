"""cv_results_ of scikit-learn's searches as CSV: one row per candidate and split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ampler.core.errors import InvalidData
from ampler.data.imports.reader import Imported, ResultFile, Row, as_float, frame_of, header_of, rows_of
from ampler.data.tables.files import read_text

SPLIT = re.compile(r"split(\d+)_test_(.+)")
OWN = re.compile(r"Unnamed: 0|params|param_.*|split\d+_(test|train)_.+|(mean|std)_.+|rank_.+|n_resources|iter|")

OUR_COLUMNS = ("candidate", "instance", "fold")


class SklearnSearch:
    """Candidates are the algorithms, the data set the only instance; splits are runs that share training data."""

    tool = "scikit-learn"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether all columns are those of cv_results_."""
        header = header_of(file)
        return "params" in header and any(map(SPLIT.fullmatch, header)) and all(map(OWN.fullmatch, header))

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return the scores of each split; of a successive halving those of its last iteration, as best_index_ does."""
        if len(files) > 1:
            raise InvalidData(f"{source} holds the results of {len(files)} searches; name one of the files")
        frame = frame_of(rows_of(files, _rows, self.tool), source, self.tool)
        scores = [name for name in frame.columns if name not in OUR_COLUMNS]
        value = scores[0] if len(scores) == 1 else ""
        summary = "candidates are the algorithms, splits of the one data set the runs, the values are test scores"
        if "iter" in header_of(files[0]):
            summary += "; of a successive halving only the last iteration is read"
        return Imported(frame, self.tool, ("candidate",), ("instance",), value, summary, "higher")


def _rows(file: ResultFile) -> Iterator[Row]:
    table = read_text(file.path)
    if "iter" in table:
        iterations = table["iter"].map(int)
        table = table[iterations == iterations.max()]
    splits = [match for name in table.columns if (match := SPLIT.fullmatch(str(name)))]
    for candidate in table.to_dict("records"):
        for number in dict.fromkeys(match[1] for match in splits):
            scores = {match[2]: as_float(candidate[match[0]]) for match in splits if match[1] == number}
            yield dict(zip(OUR_COLUMNS, (candidate["params"], "the data set", int(number)), strict=True)) | scores
