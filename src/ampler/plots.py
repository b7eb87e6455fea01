"""Figures, each as data and drawing: `*_data(…)` gives a value, `draw_*(data, ax)` draws it on axes.

The modules of `ampler.report.figures` name the figures they have in `__all__`.
"""

# ruff: noqa: F403

from ampler.report.figures.accuracy import *
from ampler.report.figures.canvas import save as save  # noqa: PLC0414 - an alias of itself is exported
from ampler.report.figures.intervals import *
from ampler.report.figures.pairs import *
from ampler.report.figures.performance import *
from ampler.report.figures.planning import *
from ampler.report.figures.probabilities import *
from ampler.report.figures.ranks import *
