import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import convergence_data, draw_convergence

rng = np.random.default_rng(2019)
rows = [
    (f"i{k}", name, 100 + 10 * k + rng.normal(0, spread))
    for k in range(8)
    for name, spread in {"annealing": 6.0, "tabu": 3.0, "greedy": 1.0}.items()
    for _ in range(40)
]
frame = pd.DataFrame(rows, columns=["instance", "algorithm", "cost"])
analysis = am.analyse(frame, difference="percent", better="lower", settings=am.Settings(se=0.01))
ax = draw_convergence(convergence_data(analysis))  # or of an instance that you name
