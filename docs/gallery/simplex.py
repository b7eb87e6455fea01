import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import draw_simplex, simplex_data

rng = np.random.default_rng(2019)
rows = [
    (f"i{k}", name, 100 + shift + rng.normal(0, 6))
    for k in range(30)
    for name, shift in (("baseline", 0), ("cached", -2.5))
]
results = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
analysis = am.analyse(results, difference="simple", better="lower", margin=2)
ax = draw_simplex(simplex_data(analysis, "baseline", "cached"))
