"""Optuna's studies, in SQLite or a journal: each study is one run, its best value the value of the run.

What the study compares must be said by attributes (`study.set_user_attr("sampler", "tpe")`): one that names the
algorithm and one that names the instance.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ampler.core.choices import Better
from ampler.core.errors import InvalidData
from ampler.core.wording import quoted
from ampler.data.imports.imported import Imported, frame_of
from ampler.data.imports.safely import LARGEST_FOLDER, as_json, content_of, decoded
from ampler.data.tables.vocabulary import ALGORITHM, ALGORITHM_ELSE, INSTANCE, INSTANCE_ELSE, fold

SQLITE = b"SQLite format 3\0"
TABLES = ("studies", "study_directions", "study_user_attributes", "trials", "trial_values")
STEPS = 50_000_000  # of SQLite's machine: more than any study of this size needs
MOST_STUDIES = 100_000
COMPLETE = 1  # the state of a trial that gave a value
MINIMIZE, MAXIMIZE = "MINIMIZE", "MAXIMIZE"
OWN = ("study", "best", "trials")  # columns of every study


@dataclass(slots=True)
class _Study:
    name: str
    directions: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)
    trials: int = 0

    @property
    def best(self) -> float:
        """The best value of its complete trials; NaN if there is none."""
        pick = max if self.directions == (MAXIMIZE,) else min
        return pick(self.values, default=float("nan"))


def is_optuna(path: Path) -> bool:
    """Whether a file is an SQLite file with the tables of Optuna."""
    try:
        with path.open("rb") as file:
            if file.read(len(SQLITE)) != SQLITE:
                return False
        with closing(_connect(path)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1000")
            return {"studies", "trials", "trial_values"} <= {str(name) for (name,) in rows}
    except (OSError, sqlite3.Error, UnicodeError):  # what SQLite says of a damaged file may be no text
        return False


def is_journal(path: Path) -> bool:
    """Whether a file begins as a journal of Optuna does."""
    try:
        with path.open("rb") as file:
            line = file.readline(10_000)
        return line.startswith(b'{"op_code"') or (b'"op_code"' in line and b'"worker_id"' in line)
    except OSError:
        return False


def read_optuna(path: Path) -> Imported:
    """Read the studies of an SQLite file."""
    try:
        with closing(_connect(path)) as connection:
            kinds = dict(connection.execute("SELECT name, type FROM sqlite_master LIMIT 1000"))
            lacking = [name for name in TABLES if kinds.get(name) != "table"]
            if lacking:
                raise InvalidData(f"{path.name} is not a study file of Optuna: it has no table {lacking[0]!r}")
            studies = _stored(connection, path)
    except (sqlite3.Error, UnicodeError, ValueError) as problem:
        raise InvalidData(f"{path.name} cannot be read as a study file of Optuna: {problem}") from problem
    return _imported(list(studies.values()), path.name)


def read_journal(path: Path) -> Imported:
    """Read the studies of a journal."""
    lines = decoded(content_of(path, LARGEST_FOLDER), path.name).splitlines()
    try:
        studies = _replayed(as_json(line, f"a line of {path.name}") for line in lines if line.strip())
    except (LookupError, TypeError, ValueError, AttributeError) as problem:
        raise InvalidData(f"{path.name} is not a journal of Optuna: an operation in it has another form") from problem
    return _imported(studies, path.name)


def _connect(path: Path) -> sqlite3.Connection:
    """Open for reading alone; a query that never ends is interrupted."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    left = [STEPS // 10_000]

    def spent() -> int:
        left[0] -= 1
        return int(left[0] < 0)

    connection.set_progress_handler(spent, 10_000)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _stored(connection: sqlite3.Connection, path: Path) -> dict[int, _Study]:
    number = connection.execute("SELECT count(*) FROM studies").fetchone()[0]
    if number > MOST_STUDIES:
        raise InvalidData(f"{path.name} holds {number:,} studies, more than the {MOST_STUDIES:,} that are read")
    names = connection.execute("SELECT study_id, study_name FROM studies")
    studies = {key: _Study(str(name), ()) for key, name in names}
    directions = "SELECT study_id, direction FROM study_directions ORDER BY study_id, objective"
    for key, direction in connection.execute(directions):
        if key in studies:
            studies[key].directions += (str(direction),)
    for key, name, text in connection.execute("SELECT study_id, key, value_json FROM study_user_attributes"):
        if key in studies and text is not None:
            studies[key].attributes[str(name)] = json.loads(text)
    values = (
        "SELECT t.study_id, t.state, v.value FROM trials t"
        " LEFT JOIN trial_values v ON v.trial_id = t.trial_id AND v.objective = 0"
    )
    for key, state, value in connection.execute(values):
        if key in studies:
            studies[key].trials += 1
            studies[key].values += [float(value)] if state == "COMPLETE" and value is not None else []
    return studies


def _replayed(operations: Iterator[Mapping[str, Any]]) -> list[_Study]:
    """The studies that a journal tells of, by doing again what it says; what is not about values is passed over."""
    studies: dict[int, _Study] = {}
    trials: list[int] = []
    created = 0
    for each in operations:
        match each["op_code"]:  # the numbers of Optuna's operations
            case 0:  # a study is created
                if all(study.name != each["study_name"] for study in studies.values()):
                    names = ("", MINIMIZE, MAXIMIZE)
                    studies[created] = _Study(str(each["study_name"]), tuple(names[way] for way in each["directions"]))
                    created += 1
            case 1:  # deleted
                studies.pop(each["study_id"], None)
            case 2:  # gets an attribute
                if each["study_id"] in studies:
                    studies[each["study_id"]].attributes.update(each["user_attr"])
            case 4:  # a trial is created
                if each["study_id"] in studies:
                    trials.append(each["study_id"])
                    studies[each["study_id"]].trials += 1
                    _add(studies, each["study_id"], each.get("state"), each.get("values") or [each.get("value")])
            case 6:  # gets a state, and values
                _add(studies, trials[each["trial_id"]], each["state"], each["values"])
    return list(studies.values())


def _add(studies: Mapping[int, _Study], key: int, state: object, values: Sequence[Any] | None) -> None:
    if state == COMPLETE and values and values[0] is not None and key in studies:
        studies[key].values.append(float(values[0]))


def _imported(studies: Sequence[_Study], source: str) -> Imported:
    """One row per study: its attributes, its best value and the number of its trials."""
    rows = [_row(study, source) for study in studies]
    frame = frame_of(rows, source, "Optuna")
    attributes = [str(name) for name in frame.columns if name not in OWN]
    algorithm = _one_of(attributes, ALGORITHM) or _one_of(attributes, ALGORITHM_ELSE)
    instance = _one_of(attributes, INSTANCE) or _one_of(attributes, INSTANCE_ELSE)
    return Imported(
        frame,
        "Optuna",
        algorithm,
        instance,
        "best",
        "each study of Optuna is one run, its best value the value of the run; attributes of the studies name the"
        " algorithm and the instance",
        _direction(studies, source),
        _question(attributes, source),
    )


def _row(study: _Study, source: str) -> dict[str, Any]:
    if len(study.directions) != 1:
        raise InvalidData(
            f"{source} holds a study with {len(study.directions)} objectives ({study.name!r}); only studies of one"
            " objective are read: put the value to compare into a table"
        )
    plain = {name: str(value) for name, value in study.attributes.items() if isinstance(value, str | int | float)}
    own = {"study": study.name, "best": study.best, "trials": study.trials}
    return {name: value for name, value in plain.items() if name not in OWN} | own


def _direction(studies: Sequence[_Study], source: str) -> Better:
    ways = {study.directions for study in studies}
    if len(ways) > 1:
        raise InvalidData(f"{source} holds studies that minimise and others that maximise; compare one kind at a time")
    return "higher" if ways == {(MAXIMIZE,)} else "lower"


def _one_of(names: Sequence[str], words: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in names if fold(name) in words)[:1]


def _question(attributes: Sequence[str], source: str) -> str:
    """What the studies compare is not known."""
    there = f"they have {quoted(attributes)}" if attributes else "they have none"
    return (
        f"attributes of the studies in {source} must name the algorithm and the instance, but {there}; say which with"
        ' --algorithm and --instance, or set them: study.set_user_attr("algorithm", "tpe")'
    )
