"""What a report is about: an analysis, its title, and what the results file says of how the runs were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ampler.analysis import Analysis
from ampler.api import analyse, is_study_file, read_results
from ampler.core.errors import InvalidInput
from ampler.study.evidence import StudyOrigin, origin_of_study


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What a report is about."""

    title: str
    analysis: Analysis
    origin: StudyOrigin | None = None


def subject_of(
    source: Any,
    *,
    title: str | None = None,
    study: str | PathLike[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> Subject:
    """Return the subject of a report on an Analysis, a results file, a table of results or a data frame.

    `study` names the results file of an Analysis, so that the report can say how the runs were made; `reading` are
    keywords of `read_results`, and `options` those of `analyse`."""
    if isinstance(source, Analysis):
        if options:
            raise InvalidInput(
                f"an Analysis has its settings already, got {', '.join(map(repr, options))}; give them to analyse"
            )
        origin = None if study is None else origin_of_study(study)
        return Subject(title or (origin.plan.name if origin else "Comparison of algorithms"), source, origin)
    study = study or (source if is_study_file(source) else None)
    origin = None if study is None else origin_of_study(study)
    return Subject(title or _title(source, origin), analyse(read_results(source, **reading or {}), **options), origin)


def _title(source: Any, origin: StudyOrigin | None) -> str:
    if origin is not None:
        return origin.plan.name
    return Path(source).stem if isinstance(source, str | PathLike) else "Comparison of algorithms"
