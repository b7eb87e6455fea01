"""The colours of figures: those of verdicts, and those of categories, told apart with every kind of colour vision.

All of them are tokens of `report.look`; `PROPERTIES` says which, so that a page can show a figure in its own colours.
Marks and line styles say the same in print.
"""

from ampler.report.look import LIGHT

INK, MUTED, LINE, PAPER = LIGHT["ink"], LIGHT["muted"], LIGHT["line"], LIGHT["paper"]
ACCENT, CONTRAST = LIGHT["accent"], LIGHT["contrast"]  # better, worse
EQUIVALENT, UNDECIDED = LIGHT["equivalent"], LIGHT["undecided"]

BLUE, ORANGE, GREY = ACCENT, CONTRAST, UNDECIDED
GREEN, PURPLE, SKY = LIGHT["series-3"], LIGHT["series-4"], LIGHT["series-5"]
SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, GREY)
STYLES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (5, 1.4, 1.2, 1.4)))  # whole, dashed, dotted, both

VERDICTS = {  # colour and mark of each: never colour alone
    "better": (ACCENT, "^"),
    "worse": (CONTRAST, "v"),
    "equivalent": (EQUIVALENT, "s"),
    "undecided": (UNDECIDED, "o"),
}
LOOKS = [(SERIES[k % 6], "osD^vX"[(k + k // 6) % 6]) for k in range(36)]  # of categories with marks: both differ

PROPERTIES = {colour: name for name, colour in LIGHT.items()} | {"#000000": "ink"}
