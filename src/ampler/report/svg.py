"""A figure as SVG inside an HTML page: texts stay texts, and colours follow the page, light or dark."""

from __future__ import annotations

import re
import warnings
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from ampler.report.figures.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCH = 128  # pixels: a third larger than in print, as screens are further away
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # texts can be read aloud, searched and copied
    "svg.hashsalt": "ampler",  # the same figure gives the same page
}
COLOURS = {
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    SKY: "sky",
    PURPLE: "purple",
    GREY: "grey",
    "#DDDDDD": "grid",
    "#FFFFFF": "paper",
    "#000000": "ink",
}
_VARIABLES = {colour.lower(): f"var(--{name})" for colour, name in COLOURS.items()}


def inline_svg(ax: Axes, *, name: str, words: str) -> str:
    """Return the figure that holds `ax` as an <svg> element whose ids begin with `name`; `words` say what it shows."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    width, _ = figure.get_size_inches()
    body = _without_prologue(_written(figure))
    body = re.sub(r"#[0-9a-f]{6}\b", lambda found: _VARIABLES.get(found[0], found[0]), body)
    body = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", body)
    body = re.sub(r"(font: [^;\"]*?px) [^;\"]*", r"\1 var(--letters)", body)
    view = re.search(r'viewBox="[^"]*"', body)
    assert view is not None
    opening = f'<svg role="img" aria-label="{escape(words)}" {view[0]} style="width:{width * INCH:.0f}px">'
    return re.sub(r"<svg[^>]*>", lambda _: opening, body, count=1)


def _written(figure: Any) -> str:
    import matplotlib

    buffer = StringIO()
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has fonts for every script
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()


def _without_prologue(text: str) -> str:
    """Leave out what only a file of its own needs, and the rule for all elements, which would leak into the page."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    return re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>\s*", "", text, count=1, flags=re.DOTALL)
