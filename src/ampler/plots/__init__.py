"""Figures, first the data, then the drawing: `*_data(…)` gives a value, `draw_*(data, ax)` draws it on axes."""

from ampler.plots.design import (
    PowerCurve,
    PowerProfiles,
    SampleSizes,
    draw_power_curve,
    draw_power_profiles,
    draw_sample_sizes,
    power_curve_data,
    power_profiles_data,
    sample_sizes_data,
)
from ampler.plots.style import save

__all__ = [
    "PowerCurve",
    "PowerProfiles",
    "SampleSizes",
    "draw_power_curve",
    "draw_power_profiles",
    "draw_sample_sizes",
    "power_curve_data",
    "power_profiles_data",
    "sample_sizes_data",
    "save",
]
