"""The colours of the one appearance in a terminal."""

import pytest

from ampler.app.shell.colours import colour, mark_colours
from ampler.report.look import DARK, LIGHT, MARKS


@pytest.mark.parametrize(("ground", "tokens"), [("15;0", DARK), ("0;15", LIGHT), ("0;7", LIGHT), ("", DARK)])
def test_colours_are_those_of_the_appearance_on_the_ground_that_the_terminal_names(monkeypatch, ground, tokens):
    monkeypatch.setenv("COLORFGBG", ground)

    assert colour("caution") == tokens["caution"]
    assert mark_colours()[MARKS["worse"]] == tokens["contrast"]


def test_every_mark_has_its_own_colour():
    colours = mark_colours()

    assert colours.keys() == set(MARKS.values())
    assert len(set(colours.values())) == len(MARKS)
