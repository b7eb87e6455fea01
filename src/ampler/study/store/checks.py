"""What every store insists on: observations that can be kept, and plans that fit the runs. Pure."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

from ampler.core.choices import Status
from ampler.core.errors import InvalidData, PlanMismatch
from ampler.core.values import Fingerprint, Observation
from ampler.study.record import changed

LONGEST_MESSAGE = 2000  # characters; a message is a sentence, the output itself is not kept
STATUSES: tuple[Status, ...] = get_args(Status)


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
    return replace(
        observation,
        value=None if value is None else float(value) + 0.0,  # SQLite knows no -0.0
        message=_text(observation.message),
        measures=None if observation.measures is None else dict(observation.measures),
    )


def refuse_mismatch(recorded: Fingerprint | None, planned: Fingerprint, where: str) -> None:
    """Raise PlanMismatch, naming the field, when a plan contradicts what is recorded."""
    change = None if recorded is None else changed(recorded, planned)
    if change is not None:
        way_out = "" if change.field == "seed" else " give the changed one a new name, or"
        raise PlanMismatch(f"{where} holds runs of another plan: {change};{way_out} use another study file")


def _text(message: str) -> str:
    """Undecodable bytes of a program's output come as lone surrogates, which no file can hold."""
    return message[:LONGEST_MESSAGE].encode("utf-8", "replace").decode()
