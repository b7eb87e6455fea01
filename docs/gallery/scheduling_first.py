from pathlib import Path

import ampler as am
from ampler_upmsp import published
from ampler_upmsp.replication import OwnEstimate, draw_estimate_pairs, estimate_pairs
from ampler_upmsp.sheets import read_sheet

SHEET = Path(am.__file__).parents[2] / "docs" / "figures" / "scheduling_first.csv"  # written by upmsp-paper

ax = draw_estimate_pairs(estimate_pairs(read_sheet(OwnEstimate, SHEET), published.FIRST))
