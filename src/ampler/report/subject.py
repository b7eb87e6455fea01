"""What a report is about: an analysis, its title, and what the study file says of how the runs were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ampler.analysis import Analysis
from ampler.core.errors import InvalidInput
from ampler.core.values import PlanRecord, Session
from ampler.front import analyse, is_study_file
from ampler.study.store import read_store


@dataclass(frozen=True, slots=True)
class Record:
    """What a study file says besides its runs: the last plan, the date of the first one, and the last environment."""

    plan: PlanRecord
    begun: str
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What a report is about."""

    title: str
    analysis: Analysis
    record: Record | None = None


def subject_of(
    source: Any, *, title: str | None = None, study: str | PathLike[str] | None = None, **options: Any
) -> Subject:
    """Return the subject of a report on an Analysis, a study file, a table of results or a data frame.

    `study` names the study file of an Analysis, so that the report can say how the runs were made; `options` are those
    of `analyse`.
    """
    if isinstance(source, Analysis):
        if options:
            raise InvalidInput(
                f"an Analysis is reported as it is, got {', '.join(map(repr, options))} besides; give them to analyse"
            )
        record = None if study is None else record_of(study)
        return Subject(title or (record.plan.name if record else "Comparison of algorithms"), source, record)
    study = study or (source if is_study_file(source) else None)
    record = None if study is None else record_of(study)
    return Subject(title or _title(source, record), analyse(source, **options), record)


def record_of(study: str | PathLike[str]) -> Record | None:
    """Return what a study file says besides its runs; None when it holds no plan yet."""
    with read_store(study) as store:
        return as_record(store.plans(), store.sessions())


def as_record(plans: tuple[PlanRecord, ...], sessions: tuple[Session, ...]) -> Record | None:
    """Return what the plans and sessions of a study say; None without a plan."""
    if not plans:
        return None
    return Record(plans[-1], plans[0].created, sessions[-1].environment if sessions else {})


def _title(source: Any, record: Record | None) -> str:
    if record is not None:
        return record.plan.name
    return Path(source).stem if isinstance(source, str | PathLike) else "Comparison of algorithms"
