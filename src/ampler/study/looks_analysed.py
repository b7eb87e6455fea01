"""When a study with looks may be analysed: by its looks and as it was asked, unless somebody asks otherwise. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ampler.analysis.looked import LookCourse
from ampler.core.errors import InvalidData
from ampler.core.settings import AnalysisSettings
from ampler.core.spoken import parameter
from ampler.core.values import Caution
from ampler.core.wording import listed

DECISIVE = (
    *("difference", "reference", "test", "alternative", "alpha", "statistic", "margin", "floor", "failures"),
    *("effect", "estimate"),
)
ANYWAY = f"say {parameter('ignore_looks', True)} for ordinary tests, whose level is not kept"
SHOWN = 3


def check_looks(looks: LookCourse, planned: Mapping[str, Any], asked: AnalysisSettings) -> None:
    """Raise InvalidData unless a look is over and everything that its decisions rest on is asked as it was planned."""
    if not looks.done:
        raise InvalidData(
            f"results of this study are looked at after {looks.looks[0]} instances for the first time, which are not"
            f" finished yet; run it further, or {ANYWAY}"
        )
    before = AnalysisSettings(**planned)
    changed = [name for name in DECISIVE if getattr(before, name) != getattr(asked, name)]
    if changed:
        raise InvalidData(
            f"{listed(changed, SHOWN)} must stay as planned in a study that was looked at on the way, as its decisions"
            f" were taken by {'it' if len(changed) == 1 else 'them'}; leave out what was changed, or {ANYWAY}"
        )


def without_looks(looks: LookCourse) -> Caution:
    """Return what stands above an analysis that was asked to forget the looks."""
    when = listed([str(each) for each in looks.looks], len(looks.looks))
    return Caution(
        "looked",
        f"The results were looked at after {when} instances, to stop what is decided, and here they are tested as if"
        " they had not been, as was asked for: differences that are not there are found too often, so claim nothing on"
        " it; leave out ignore-looks for tests that allow for the looks.",
    )
