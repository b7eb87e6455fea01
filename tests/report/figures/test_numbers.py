"""Differences stand on axes in their unit."""

import pytest

from ampler.report.figures.numbers import compact, write_in_unit
from ampler.report.figures.style import canvas


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((-0.1, 0.12), ["×0.95", "×1", "×1.05", "×1.1"]),
        ((-1.0, 3.0), ["×0.5", "×1", "×2", "×5", "×10", "×20"]),
        ((-20.0, 20.0), None),
        ((-1e5, 1e5), None),
    ],
)
def test_log_ratios_are_written_as_round_factors(ends, expected):
    with canvas(None) as ax:
        ax.set_xlim(*ends)
        write_in_unit(ax.xaxis, "ratio")
        ax.figure.draw_without_rendering()
        low, high = ax.get_xlim()
        marks = [
            label.get_text()
            for place, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
            if low <= place <= high
        ]

    assert expected is None or marks == expected
    assert 2 <= len(marks) <= 9


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (-0.5, "−0.5"), (1e9, "1e9"), (1234.5, "1234.5")])
def test_numbers_at_marks_are_short(value, text):
    assert compact(value) == text
