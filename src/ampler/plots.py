"""Figures, each as data and drawing: the public door to `ampler.report.figures`."""

from ampler.report.figures import *  # noqa: F403
