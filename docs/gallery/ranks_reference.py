import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import draw_ranks, ranks_data

rng = np.random.default_rng(2019)
results = {f"solver {name}": 50 + 0.9 * k + rng.normal(0, 3, 60) for k, name in enumerate("ABCDEFGH")}
analysis = am.analyse(
    pd.DataFrame({"instance": [f"i{k}" for k in range(60)], **results}), difference="simple", better="lower"
)
ax = draw_ranks(ranks_data(analysis, groups="bonferroni-dunn", reference="solver D"), one_sided=True)
