"""The figures of one pair: its differences on every instance, and their quantiles; on its page and as files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ampler.app.web.drawn import figure_file
from ampler.report.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ampler.analysis import Analysis
    from ampler.report.drawings import Drawing

NAMED = re.compile(r"(differences|quantiles)-of-([1-9][0-9]{0,5})\.(?:svg|pdf)")


def pair_drawings(analysis: Analysis, place: int) -> Iterator[Drawing]:
    """Yield the differences of a pair on every instance, and their quantiles beside those of a normal distribution."""
    from ampler.report.drawings import Drawing

    name = "{} − {}".format(*_pair(analysis, place))
    caption = "The difference on each instance, with its standard error where runs tell it."
    words = f"Differences of {name} on each instance"
    yield Drawing(f"differences-of-{place}", "pair", caption, words, partial(_differences, analysis, place))
    caption = "Quantiles of the differences beside those of a normal distribution: on the line they are normal."
    words = f"Normal quantiles of {name}"
    yield Drawing(f"quantiles-of-{place}", "pair", caption, words, partial(_quantiles, analysis, place))


def of_pair(subject: Subject, name: str) -> bytes | None:
    """Return a figure of a pair by the name of its file; None when it is none of these."""
    found = NAMED.fullmatch(name)
    if found is None or int(found[2]) > len(subject.analysis.comparisons) or subject.analysis.single is not None:
        return None
    place, draw = int(found[2]), DRAWN[found[1]]
    return figure_file(lambda: draw(subject.analysis, place), name)


def _differences(analysis: Analysis, place: int) -> Axes:
    from ampler.report import figures as plots

    return plots.draw_pair_differences(plots.pair_differences_data(analysis, *_pair(analysis, place)))


def _quantiles(analysis: Analysis, place: int) -> Axes:
    from ampler.report import figures as plots

    return plots.draw_quantiles(plots.quantiles_data(analysis, *_pair(analysis, place)))


def _pair(analysis: Analysis, place: int) -> tuple[str, str]:
    each = analysis.comparisons[place - 1]
    return each.first, each.second


DRAWN: dict[str, Callable[[Analysis, int], Axes]] = {"differences": _differences, "quantiles": _quantiles}
