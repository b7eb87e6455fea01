import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import draw_intervals, intervals_data

rng = np.random.default_rng(2019)
hard = rng.normal(100, 15, 40)  # 40 instances
gains = {"baseline": 0.0, "tuned": 3.0, "restarts": 1.5, "greedy": -4.0, "random": -0.2}
results = {name: hard - gain + rng.normal(0, 4, 40) for name, gain in gains.items()}
analysis = am.analyse(
    pd.DataFrame({"instance": [f"i{k}" for k in range(40)], **results}),
    reference="baseline",
    difference="percent",
    better="lower",
)
ax = draw_intervals(intervals_data(analysis, order="estimate"), interval="both", digits=1)
