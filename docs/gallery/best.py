import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import best_data, draw_best

rng = np.random.default_rng(2019)
results = {f"solver {name}": 50 + k + rng.normal(0, 3, 30) for k, name in enumerate("ABCDEF")}
analysis = am.analyse(
    pd.DataFrame({"instance": [f"i{k}" for k in range(30)], **results}), difference="simple", better="lower"
)
ax = draw_best(best_data(analysis))
