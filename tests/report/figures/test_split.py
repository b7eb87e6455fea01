"""An axis that is split shows every mark at its place, and says so."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ampler.report.axis import axis_of
from ampler.report.figures.numbers import unit_at
from ampler.report.figures.split import split_words, write_axis

TOGETHER = [(-0.02, -0.01, 0.0), (0.0, 0.01, 0.02), (-0.01, 0.005, 0.02)]
DWARFED = [(-1.1, -0.8, -0.5), *TOGETHER]


def test_the_small_differences_of_a_split_axis_get_most_of_its_width():
    ax = Figure().subplots()

    write_axis(ax, axis_of(DWARFED, "percent", always=(0.0,)), "percent")
    left, right = ax.transData.transform([(-0.02, 0), (0.02, 0)])[:, 0]

    whole = np.ptp(ax.get_window_extent().get_points()[:, 0])
    assert (right - left) / whole > 0.5
    assert unit_at(ax.xaxis) == "percent"


def test_a_reader_is_told_of_two_scales_and_of_one_nothing():
    assert "two scales" in split_words(axis_of(DWARFED, "percent", always=(0.0,)))
    assert split_words(axis_of(TOGETHER, "percent", always=(0.0,))) == ""
