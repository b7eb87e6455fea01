"""The appearance that page, browser and figures share can be read, light and dark."""

import re

import pytest

from ampler.core.verdicts import MARKS
from ampler.report.theme import DARK, LIGHT, SIZES, tokens_css


def luminance(colour: str) -> float:
    """Relative luminance as the accessibility guidelines define it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "wash"])
@pytest.mark.parametrize("name", ["ink", "muted", "accent", "contrast", "equivalent", "inconclusive", "caution"])
def test_every_colour_of_text_stands_out_from_its_ground(theme, ground, name):
    assert contrast(theme[name], theme[ground]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["ink", "caution"])
def test_a_caution_can_be_read_on_its_wash(theme, name):
    assert contrast(theme[name], theme["caution-wash"]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["series-3", "series-4", "series-5"])
def test_lines_of_every_category_stand_out_from_the_page(theme, name):
    assert contrast(theme[name], theme["paper"]) >= 3


def test_both_themes_define_the_same_colours():
    assert set(LIGHT) == set(DARK)


def test_each_token_is_a_property_of_every_page():
    properties = set(re.findall(r"--([a-z0-9-]+):", tokens_css()))
    assert properties == {*LIGHT, *SIZES}


def test_each_verdict_has_a_mark_of_its_own():
    assert len(set(MARKS.values())) == 4
