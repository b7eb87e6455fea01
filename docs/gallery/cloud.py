import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import cloud_data, draw_cloud

rng = np.random.default_rng(2019)
rows = [
    (f"i{k}", name, 100 + 10 * k + rng.gamma(shape, 6 / shape))
    for k in range(8)
    for name, shape in {"annealing": 2.0, "tabu": 6.0, "greedy": 30.0}.items()
    for _ in range(40)
]
frame = pd.DataFrame(rows, columns=["instance", "algorithm", "cost"])
analysis = am.analyse(frame, difference="percent", better="lower")
ax = draw_cloud(cloud_data(analysis, "i3"))
