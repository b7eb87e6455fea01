from pathlib import Path

import ampler as am
from ampler_upmsp.rules import RuleOnInstance, draw_rules
from ampler_upmsp.sheets import read_sheet

SHEET = Path(am.__file__).parents[2] / "docs" / "figures" / "scheduling_rules.csv"  # by upmsp-paper --only rules

ax = draw_rules(read_sheet(RuleOnInstance, SHEET))
