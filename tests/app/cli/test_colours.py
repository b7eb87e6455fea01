"""The colours of verdicts and warnings in a terminal."""

import re

import pytest

from ampler.app.cli.output import mark_colours
from ampler.core.verdicts import MARKS
from ampler.report.theme import TERMINAL


def contrast(colour: str, ground: float) -> float:
    """Contrast as the accessibility guidelines define it, with a ground of this luminance."""
    parts = [int(part, 16) / 255 for part in re.findall("[0-9a-f]{2}", colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    own = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return (max(own, ground) + 0.05) / (min(own, ground) + 0.05)


@pytest.mark.parametrize("name", TERMINAL)
@pytest.mark.parametrize("ground", [0.0, 1.0], ids=["black", "white"])
def test_colours_can_be_read_on_black_and_on_white(name, ground):
    assert contrast(TERMINAL[name], ground) >= 4.5


def test_every_mark_has_its_own_colour():
    colours = mark_colours()

    assert colours.keys() == set(MARKS.values())
    assert len(set(colours.values())) == len(MARKS)
