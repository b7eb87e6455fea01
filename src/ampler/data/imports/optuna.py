"""Optuna's studies, in SQLite or a journal: each study is one run, its best value the value of the run.

Attributes (`study.set_user_attr("sampler", "tpe")`) say what the study compares: one names the algorithm, one the
instance.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ampler.core.errors import InvalidData
from ampler.core.text import quoted
from ampler.data.imports import reader
from ampler.data.tables.vocabulary import ALGORITHM, ALGORITHM_ELSE, INSTANCE, INSTANCE_ELSE, fold

TABLES = {"studies", "study_directions", "study_user_attributes", "trials", "trial_values"}
MAX_STUDIES = 100_000
COMPLETE = 1  # the state of a complete trial
MINIMIZE, MAXIMIZE = "MINIMIZE", "MAXIMIZE"


@dataclass(slots=True)
class _Study:
    name: str
    directions: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)
    trials: int = 0

    def add(self, state: object, values: Sequence[Any] | None) -> None:
        """Record the value of a complete trial."""
        if state in (COMPLETE, "COMPLETE") and values and values[0] is not None:
            self.values.append(float(values[0]))


class Optuna:
    """Studies that their attributes describe."""

    tool = "Optuna"

    def recognises(self, file: reader.ResultFile) -> bool:
        """Return whether a file has the tables of Optuna, or begins as its journal does."""
        line = file.head.partition(b"\n")[0]
        is_journal = line.startswith(b'{"op_code"') or (b'"op_code"' in line and b'"worker_id"' in line)
        return is_journal or reader.has_tables(file, ("studies", "trials", "trial_values"))

    def read(self, files: Sequence[reader.ResultFile], source: str) -> reader.Imported:
        """Return one row per study: its attributes, its best value and the number of its trials."""
        studies = reader.rows_of(
            files, lambda file: _stored(file) if reader.is_sqlite(file) else _replayed(file), self.tool
        )
        frame = reader.frame_of([_row(study, source) for study in studies], source, self.tool)
        directions = {study.directions for study in studies}
        if len(directions) > 1:
            raise InvalidData(f"{source} holds studies to minimise and studies to maximise; compare one kind at a time")

        def named(*vocabularies: frozenset[str]) -> tuple[str, ...]:
            return tuple(name for words in vocabularies for name in attributes if fold(name) in words)[:1]

        attributes = [str(name) for name in frame.columns if name not in ("study", "best", "trials")]
        owned = f"they have {quoted(attributes)}" if attributes else "they have none"
        return reader.Imported(
            frame,
            self.tool,
            named(ALGORITHM, ALGORITHM_ELSE),
            named(INSTANCE, INSTANCE_ELSE),
            "best",
            "each study of Optuna is one run, its best value the value of the run; attributes of the studies name the"
            " algorithm and the instance",
            "higher" if directions == {(MAXIMIZE,)} else "lower",
            f"studies in {source} need attributes for algorithm and instance, but {owned}; specify"
            ' --algorithm and --instance, or set them: study.set_user_attr("algorithm", "tpe")',
        )


def _stored(file: reader.ResultFile) -> Iterable[_Study]:
    """The studies of an SQLite file."""
    with reader.connected(file, Optuna.tool) as connection:
        kinds = dict(connection.execute("SELECT name, type FROM sqlite_master LIMIT 1000"))
        missing = sorted(name for name in TABLES if kinds.get(name) != "table")
        if missing:
            raise InvalidData(f"{file.name} is not a database of Optuna: it has no table {missing[0]!r}")
        names = connection.execute(f"SELECT study_id, study_name FROM studies LIMIT {MAX_STUDIES + 1}")
        studies = {key: _Study(str(name), ()) for key, name in names}
        if len(studies) > MAX_STUDIES:
            raise InvalidData(f"{file.name} holds more than the {MAX_STUDIES:,} studies that are read")
        for key, direction in connection.execute(
            "SELECT study_id, direction FROM study_directions JOIN studies USING (study_id)"
            " ORDER BY study_id, objective"
        ):
            studies[key].directions += (str(direction),)
        for key, name, text in connection.execute(
            "SELECT study_id, key, value_json FROM study_user_attributes JOIN studies USING (study_id)"
        ):
            studies[key].attributes |= {} if text is None else {str(name): json.loads(text)}
        for key, state, value in connection.execute(
            "SELECT t.study_id, t.state, v.value FROM trials t JOIN studies USING (study_id)"
            " LEFT JOIN trial_values v ON v.trial_id = t.trial_id AND v.objective = 0"
        ):
            studies[key].trials += 1
            studies[key].add(state, [value])
    return studies.values()


def _replayed(file: reader.ResultFile) -> Iterable[_Study]:
    """The studies of a journal, by repeating its operations; those that are not about values are passed over."""
    studies: dict[int, _Study] = {}
    trials: list[_Study] = []
    created = 0
    for line in filter(str.strip, file.text(reader.LARGEST_FOLDER).splitlines()):
        operation = reader.parse_json(line, f"a line of {file.name}")
        study = studies.get(operation.get("study_id"))
        match operation["op_code"]:  # the numbers of Optuna's operations
            case 0:  # a study is created
                if all(study.name != operation["study_name"] for study in studies.values()):
                    directions = tuple(("", MINIMIZE, MAXIMIZE)[code] for code in operation["directions"])
                    studies[created] = _Study(str(operation["study_name"]), directions)
                    created += 1
            case 1:  # deleted
                studies.pop(operation["study_id"], None)
            case 2 if study:  # gets an attribute
                study.attributes.update(operation["user_attr"])
            case 4 if study:  # a trial is created
                trials.append(study)
                study.trials += 1
                study.add(operation.get("state"), operation.get("values") or [operation.get("value")])
            case 6:  # gets a state, and values
                trials[operation["trial_id"]].add(operation["state"], operation["values"])
    return studies.values()


def _row(study: _Study, source: str) -> reader.Row:
    if len(study.directions) != 1:
        raise InvalidData(
            f"{source} holds a study with {len(study.directions)} objectives ({study.name!r}); only studies of one"
            " objective are read: put the value to compare into a table"
        )
    best = (max if study.directions == (MAXIMIZE,) else min)(study.values, default=float("nan"))
    own = {"study": study.name, "best": best, "trials": study.trials}
    scalars = {name: str(value) for name, value in study.attributes.items() if isinstance(value, str | int | float)}
    return {name: value for name, value in scalars.items() if name not in own} | own
