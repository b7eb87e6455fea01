"""What tests of designs share."""

import math

import pytest

from ampler.design.detect import PilotReport


def pilot_report(**changed):
    given = {
        "difference": "percent", "detect": 0.02, "power": 0.8, "alpha": 0.05, "alternative": "two-sided", "share": 0.1,
        "instances": ("i1", "i2", "i3"), "start": 5, "available": 300, "pairs": (("full", "a"), ("full", "b")),
        "means": (0.01, 0.2), "errors": (0.01, 0.02), "freedom": (2.0, 2.0), "p_values": (0.3, 1e-6),
        "clear": (False, True), "skewness": (0.1, math.nan), "deviations": (0.08, 0.03), "noise_shares": (0.4, 0.1),
        "runs": {"full": 14, "a": 6, "b": 0}, "planned": 91, "needed": 91, "interval": (70, 115), "mean_power": 0.81,
        "least_power": 0.75, "se": 0.01, "detectable": 0.0199, "total": 1835,
    }  # fmt: skip
    return PilotReport(**given | changed)


@pytest.fixture
def report():
    """Make reports of a pilot, with what is changed in them."""
    return pilot_report
