import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import draw_probable, probable_data

rng = np.random.default_rng(2019)
rows = [
    (f"i{k}", name, level * (1 + shift + rng.normal(0, 0.03)) + rng.normal(0, 1))
    for k, level in enumerate(rng.uniform(80, 120, 40))
    for name, shift in (("full", 0), ("no-cuts", 0.06), ("no-restarts", 0.005), ("no-warm-start", 0.02))
    for _ in range(5)
]
results = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
analysis = am.analyse(results, reference="full", difference="percent", better="lower", margin=0.02)
ax = draw_probable(probable_data(analysis))
