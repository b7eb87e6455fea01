from pathlib import Path

import ampler as am
from ampler_upmsp import published
from ampler_upmsp.beside import Ours, beside, draw_beside
from ampler_upmsp.sheets import read_sheet

SHEET = Path(am.__file__).parents[2] / "docs" / "figures" / "scheduling_second.csv"  # written by upmsp-paper

ax = draw_beside(beside(read_sheet(Ours, SHEET), published.SECOND))
