import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import draw_quantiles, quantiles_data

rng = np.random.default_rng(2019)
results = {"instance": [f"i{k}" for k in range(60)], "old": 10 + rng.exponential(3, 60), "new": np.full(60, 10.0)}
analysis = am.analyse(
    am.read_results(pd.DataFrame(results), algorithms=["old", "new"]), difference="simple", better="lower"
)
ax = draw_quantiles(quantiles_data(analysis, "old", "new"))
