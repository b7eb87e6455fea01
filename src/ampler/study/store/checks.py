"""What every store insists on: observations that can be kept, and plans that fit the runs. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from ampler.core.choices import Status
from ampler.core.errors import InvalidData, PlanMismatch
from ampler.core.typed import all_fit, checked, fits, kinds_of
from ampler.core.values import Fingerprint, Observation, RunKey
from ampler.study.record import changed

LONGEST_MESSAGE = 2000  # characters; a message is a sentence, the output itself is not kept
STATUSES: tuple[Status, ...] = get_args(Status)
KINDS = {name: kind for name, kind in (*kinds_of(RunKey).items(), *kinds_of(Observation).items()) if name != "key"}


def storable(observation: Observation) -> Observation:
    """Return the observation as it is kept, with numbers of Python's own types; InvalidData when it makes no sense."""
    key, value = observation.key, observation.value
    if observation.status not in STATUSES:
        raise InvalidData(f"the status of a run must be one of {', '.join(STATUSES)}, got {observation.status!r}")
    if (value is not None) != (observation.status == "ok"):
        raise InvalidData(
            f"a run has a value exactly when it is ok, got {value!r} and {observation.status!r} for {key}"
        )
    numbers = (value or 0.0, observation.seconds, *(observation.measures or {}).values())
    if not all(map(math.isfinite, numbers)):
        raise InvalidData(f"values, seconds and measures must be finite numbers, got {numbers} for {key}")
    if min(key.index, observation.attempt, observation.round, observation.seconds) < 0:
        raise InvalidData(f"index, attempt, round and seconds must not be negative, got {observation}")
    return observation if _is_plain(observation) else _plain(observation)


def are_plain(columns: Mapping[str, Collection[Any]], indexes: Collection[int]) -> bool:
    """Whether runs, column by column, are all ok and such that `storable` returns each as it is."""
    whole = (indexes, columns["attempt"], columns["round"])
    return (
        set(columns["status"]) == {"ok"}
        and not any(columns["message"])
        and set(map(type, columns["value"])) == {float}
        and all(columns["value"])  # SQLite knows no -0.0
        and all(all_fit(columns[name], KINDS[name]) for name in ("value", "seconds", "measures"))
        and all(set(map(type, each)) == {int} for each in whole)
        and min(map(min, (*whole, columns["seconds"]))) >= 0
    )


def believed(observation: Observation) -> Observation:
    """Return a run that was read from a file; ValueError when it is none that could have been recorded."""
    value, key = observation.value, observation.key
    if (value is not None) != (observation.status == "ok") or min(key.index, observation.attempt) < 0:
        raise ValueError(f"a run that cannot be, {key}")
    return checked(observation)


def are_believed(columns: Mapping[str, Collection[Any]]) -> bool:
    """Whether runs, column by column, are all such that `believed` returns them; one that is not, it names."""
    missing = [value is None for value in columns["value"]]
    return (
        missing == [status != "ok" for status in columns["status"]]
        and all(all_fit(columns[name], kind) for name, kind in KINDS.items())
        and min(map(min, (columns["index"], columns["attempt"])), default=0) >= 0
    )


def numbered_names(rows: Iterable[Any]) -> dict[str, int]:
    """Return the numbers of names; ValueError unless they are 1, 2, …, each once, as they are given out."""
    names = dict(rows)
    if sorted(names.values()) != list(range(1, len(names) + 1)) or not all(fits(name, str) for name in names):
        raise ValueError("they must be numbered from 1 on, each name once")
    return names


def check_columns(table: np.ndarray[Any, Any], instances: int, algorithms: int) -> None:
    """Raise ValueError unless runs as numbers name what is there, and have a value exactly when they are ok."""
    if not len(table):
        return
    for name, most in (("instance", instances), ("algorithm", algorithms)):
        if table[name].min() < 1 or table[name].max() > most:
            raise ValueError(f"a run of an {name} that is not there")
    if (np.isinf(table["value"]) == (table["status"] == 0)).any() or np.isnan(table["value"]).any():
        raise ValueError("a run without a value must not be ok, nor one with a value failed")
    if min(table["index"].min(), table["attempt"].min()) < 0:
        raise ValueError("index and attempt must not be negative")


def refuse_mismatch(recorded: Fingerprint | None, planned: Fingerprint, where: str) -> None:
    """Raise PlanMismatch, naming the field, when a plan contradicts what is recorded."""
    change = None if recorded is None else changed(recorded, planned)
    if change is not None:
        way_out = "" if change.field == "seed" else " give the changed one a new name, or"
        raise PlanMismatch(f"{where} holds runs of another plan: {change};{way_out} use another study file")


def _is_plain(observation: Observation) -> bool:
    """Whether an observation can be kept as it is: nearly all can, and copying each costs as much as writing it."""
    value, measures = observation.value, observation.measures
    return (
        (value is None or (type(value) is float and value != 0.0))
        and not observation.message
        and (measures is None or type(measures) is dict)
    )


def _plain(observation: Observation) -> Observation:
    return replace(
        observation,
        value=None if observation.value is None else float(observation.value) + 0.0,  # SQLite knows no -0.0
        message=_text(observation.message),
        measures=None if observation.measures is None else dict(observation.measures),
    )


def _text(message: str) -> str:
    """Undecodable bytes of a program's output come as lone surrogates, which no file can hold."""
    return message[:LONGEST_MESSAGE].encode("utf-8", "replace").decode()
