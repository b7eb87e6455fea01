import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import draw_scatter, scatter_data

rng = np.random.default_rng(2019)
old = rng.lognormal(4, 1.4, 50)
frame = pd.DataFrame({"instance": [f"i{k}" for k in range(50)], "old": old, "new": old * rng.lognormal(-0.2, 0.4, 50)})
analysis = am.analyse(am.read_results(frame, algorithms=["old", "new"]), difference="ratio", better="lower")
ax = draw_scatter(scatter_data(analysis, "old", "new"))
