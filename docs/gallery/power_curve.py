import ampler as am
from ampler.plots import draw_power_curve, power_curve_data

design = am.achieved_power(instances=200, comparisons=7, effect=0.25)
ax = draw_power_curve(power_curve_data(design))
