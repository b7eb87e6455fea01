"""runhistory.json of SMAC 2: one row per trial of a configuration on an instance with a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.data.imports.reader import Imported, ResultFile, Row, frame_of, rows_of

FIELDS = ("config_id", "instance", "seed", "budget", "cost", "time", "cpu_time", "status")
STATUSES = {1: "ok", 2: "failed", 3: "timeout", 4: "failed"}  # success, crashed, timeout, out of memory


class Smac:
    """Configurations are the algorithms; the cost is the value, lower is better."""

    tool = "SMAC"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether it is a document with trials and configurations."""
        return file.has("data", "configs", "stats")

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per finished trial."""
        frame = frame_of(rows_of(files, _rows, self.tool), source, self.tool)
        summary = "configurations are the algorithms, the value is the cost"
        return Imported(frame, self.tool, ("configuration",), ("instance",), "cost", summary, "lower")


def _rows(file: ResultFile) -> Iterator[Row]:
    for trial in file.document["data"]:
        # versions before 2.3 write lists, and those before 2.1 have no CPU time
        names = FIELDS if len(trial) > 10 else [name for name in FIELDS if name != "cpu_time"]
        fields = trial if isinstance(trial, dict) else dict(zip(names, trial, strict=False))
        if fields["status"] not in STATUSES:
            continue  # still running
        cost = fields["cost"]
        yield {
            "configuration": str(fields["config_id"]),
            "instance": "the only one" if fields["instance"] is None else str(fields["instance"]),
            "seed": fields["seed"],
            "cost": float(cost[0] if isinstance(cost, list) and len(cost) == 1 else cost),
            "time": float(fields["time"]),
            "status": STATUSES[fields["status"]],
        }
