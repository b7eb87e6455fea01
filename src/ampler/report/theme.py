"""The theme: colours, type and spaces (tokens.toml) of pages, browser, terminal and figures.

A page takes them as CSS custom properties (`tokens_css`); figures take the colours of `LIGHT`, and the page that shows
a figure writes each of them as its property (`PROPERTIES`), so that a figure follows the page into the dark. Marks and
line styles say in print what colours say.
"""

from __future__ import annotations

from collections.abc import Mapping

from ampler.report.resources import constants, templates

TOKENS: Mapping[str, Mapping[str, str]] = constants("tokens.toml")
LIGHT, DARK, SIZES, TERMINAL = (TOKENS[name] for name in ("light", "dark", "sizes", "terminal"))


def tokens_css() -> str:
    """Return the style sheet that every page begins with.

    Light or dark as the reader's system has it, unless the page says `data-theme="light"` or `"dark"` on its root; on
    paper always light.
    """
    properties = {name: " ".join(f"--{key}: {own};" for key, own in tokens.items()) for name, tokens in TOKENS.items()}
    return templates().get_template("tokens.css").render(properties)


INK, MUTED, LINE, PAPER = LIGHT["ink"], LIGHT["muted"], LIGHT["line"], LIGHT["paper"]
ACCENT, CONTRAST = LIGHT["accent"], LIGHT["contrast"]  # better, worse
EQUIVALENT, INCONCLUSIVE = LIGHT["equivalent"], LIGHT["inconclusive"]

BLUE, ORANGE, GREY = ACCENT, CONTRAST, INCONCLUSIVE
GREEN, PURPLE, SKY = LIGHT["series-3"], LIGHT["series-4"], LIGHT["series-5"]
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, GREY)
STYLES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (5, 1.4, 1.2, 1.4)))  # whole, dashed, dotted, both

VERDICTS = {  # colour and mark of each: never colour alone
    "better": (ACCENT, "^"),
    "worse": (CONTRAST, "v"),
    "equivalent": (EQUIVALENT, "s"),
    "inconclusive": (INCONCLUSIVE, "o"),
}
CATEGORIES = [(SERIES[k % 6], "osD^vX"[(k + k // 6) % 6]) for k in range(36)]  # of categories with marks: both differ

PROPERTIES = {colour: name for name, colour in LIGHT.items()} | {"#000000": "ink"}
