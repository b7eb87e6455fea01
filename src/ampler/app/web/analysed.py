"""Results analysed for pages: what they are of, kept as long as nothing of it changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ampler.app.web.asked_analysis import AskedAnalysis, otherwise
from ampler.app.web.live import stamp_of
from ampler.report.subject import Subject, subject_of

KEPT = 8  # analyses


@dataclass(frozen=True, slots=True)
class ResultsSource:
    """Results that can be analysed: a study file or a file that somebody brought.

    `home` is the address of its pages, `file` what it is called at the command line, and `back` the page it belongs to.
    """

    path: Path
    home: str
    file: str
    title: str
    back: tuple[str, str]
    is_study: bool


class Analyses:
    """Analyses that were asked for, the last few of them; an analysis is made once for all who ask."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], Subject] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, source: ResultsSource, asked: AskedAnalysis) -> Subject:
        """Return the analysis of results as they are now; our own errors when there is none."""
        key = (source.path, stamp_of(source.path), asked)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            self._kept[key] = subject_of(source.path, **asked.options)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]

    def forget(self, path: Path) -> None:
        """Let go of what is known of a file."""
        with self._lock:
            for key in [key for key in self._kept if key[0] == path]:
                del self._kept[key]


def choices_made(subject: Subject, asked: AskedAnalysis) -> list[str]:
    """Return what was chosen on the page otherwise than the study planned it."""
    plan: Mapping[str, Any] = {} if subject.origin is None else _of_plan(subject)
    return otherwise(plan, asked)


def _of_plan(subject: Subject) -> dict[str, Any]:
    from ampler.core.settings import asked_by

    assert subject.origin is not None
    usual = {"test": "t", "alternative": "two-sided", "statistic": "mean", "alpha": 0.05, "margin": None}
    return usual | asked_by(subject.origin.plan.question)
