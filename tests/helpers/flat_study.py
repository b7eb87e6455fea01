"""Studies whose size is varied keyword by keyword, as parametrised tests do."""

from __future__ import annotations

import inspect
from typing import Any

import ampler as am
from ampler.core.settings import READING

SIZE = (
    "detect",
    "pilot",
    "available",
    "instance_cost",
    "se",
    "rule",
    "use",
    "effect",
    "looks",
    "start",
    "budget",
    "target",
)
NEW_NAMES = {"looks": "interim", "use": "instances", "rule": "runs"}


def flat_study(**keywords: Any) -> am.Study:
    """Return a study; keywords of its size, limits and settings become a design, Limits and Settings."""
    size = {name: keywords.pop(name) for name in SIZE if name in keywords}
    size = {NEW_NAMES.get(name, name): value for name, value in size.items() if value is not None}
    limits = {name: keywords.pop(name) for name in ("timeout", "memory", "cpu_timeout") if name in keywords}
    settings = {name: keywords.pop(name) for name in ("floor", "alternative", "formula") if name in keywords}
    if "detect" in size:
        size = {{"start": "runs"}.get(name, name): value for name, value in size.items() if name != "instances"}
        design: Any = am.Detect(size.pop("detect"), **size)
    elif "se" in size and "runs" not in size:
        design = am.Precision(**{"instances": "needed", **size})
    else:
        size = {name: value for name, value in size.items() if name not in ("se", "start", "budget")}
        design = am.FixedSize(**{"instances": "needed", **size})
    return am.Study(
        **{"better": "lower"} | keywords,
        design=design,
        **({"limits": am.Limits(**limits)} if limits else {}),
        **({"settings": am.Settings(**settings)} if settings else {}),
    )


def flat_analyse(source: Any, **keywords: Any) -> am.Analysis:
    """Return an analysis; keywords of the reading and of the settings find their way."""
    return am.analyse(*_sorted(am.analyse, source, keywords), **keywords)


def flat_advise(source: Any, **keywords: Any) -> Any:
    """Return advice; keywords of the reading and of the settings find their way."""
    return am.advise(*_sorted(am.advise, source, keywords), **keywords)


def flat_subject(source: Any, **keywords: Any) -> Any:
    """Return the subject of a report; keywords of the reading and of the settings find their way."""
    from ampler.report import subject_of

    reading = {name: keywords.pop(name) for name in list(keywords) if name in READING}
    settings = {
        name: keywords.pop(name) for name in list(keywords) if name not in inspect.signature(am.analyse).parameters
    }
    return subject_of(
        source, reading=reading, **keywords, **({"settings": am.Settings(**settings)} if settings else {})
    )


def _sorted(call: Any, source: Any, keywords: dict[str, Any]) -> list[Any]:
    """The source, read as keywords say; those of settings become Settings."""
    own = inspect.signature(call).parameters
    reading = {name: keywords.pop(name) for name in list(keywords) if name in READING}
    settings = {name: keywords.pop(name) for name in list(keywords) if name not in own}
    if settings:
        keywords["settings"] = am.Settings(**settings)
    return [am.read_results(source, **reading) if reading else source]
