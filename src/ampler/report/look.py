"""The one appearance: colours, type and spaces that page, browser and figures share.

A page takes them as CSS custom properties (`tokens_css`); figures take the colours of `LIGHT`, and the page that shows
a figure writes each of them as its property, so that a figure follows the page into the dark.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LIGHT: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#1b1c20",
        "muted": "#5c6270",
        "line": "#e2e5ea",
        "paper": "#ffffff",
        "wash": "#f6f7f9",
        "accent": "#0b62a8",  # ours, better
        "contrast": "#b8480a",  # worse
        "equivalent": "#177351",
        "undecided": "#6a707c",
        "caution-wash": "#fff4df",
        "caution": "#8f5f00",
        "series-3": "#009e73",  # of more categories than verdicts: after accent and contrast
        "series-4": "#cc6fa3",
        "series-5": "#3d98cf",
    }
)
DARK: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#e9eaee",
        "muted": "#a2a8b5",
        "line": "#353945",
        "paper": "#16181d",
        "wash": "#1e2128",
        "accent": "#6cb3ee",
        "contrast": "#f0955c",
        "equivalent": "#5fc39b",
        "undecided": "#9aa0ab",
        "caution-wash": "#33290f",
        "caution": "#e0b04a",
        "series-3": "#35c99a",
        "series-4": "#e29cc3",
        "series-5": "#8ccdf2",
    }
)
SIZES: Mapping[str, str] = MappingProxyType(
    {
        **{f"type-{number}": f"{pixels}px" for number, pixels in enumerate((13, 15, 18, 24, 32), start=1)},
        **{f"space-{number}": f"{pixels}px" for number, pixels in enumerate((4, 8, 12, 16, 24, 32, 48), start=1)},
        "radius": "6px",
        "letters": 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
    }
)

MARKS: Mapping[str, str] = MappingProxyType({"better": "▲", "worse": "▼", "equivalent": "≈", "undecided": "·"})
"""The mark of each verdict: colour never stands alone."""


def tokens_css() -> str:
    """Return the style sheet that every page begins with.

    Light or dark as the reader's system has it, unless the page says `data-theme="light"` or `"dark"` on its root; on
    paper always light.
    """
    light, dark = _properties(LIGHT), _properties(DARK)
    return (
        f":root {{ color-scheme: light dark; {_properties(SIZES)} {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {dark} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"
        ":root[data-theme=light] { color-scheme: light; }\n"
        f"@media print {{ :root:root:root {{ color-scheme: light; {light} }} }}\n"
    )


def _properties(tokens: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in tokens.items())
