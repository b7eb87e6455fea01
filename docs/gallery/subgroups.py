import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import draw_subgroups, subgroups_data

rng = np.random.default_rng(2019)
rows = [
    (f"i{k}", size, name, 100 + shift * (size == "large") + rng.normal(0, 4))
    for k, size in enumerate(["small", "large"] * 25)
    for name, shift in (("baseline", 0), ("parallel", -9), ("cached", -3), ("lazy", 4))
]
results = pd.DataFrame(rows, columns=["instance", "size", "algorithm", "value"])
analysis = am.analyse(results, reference="baseline", difference="simple", better="lower")
ax = draw_subgroups(subgroups_data(analysis, "size"))
