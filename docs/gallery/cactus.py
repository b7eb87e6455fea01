import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import cactus_data, draw_cactus

rng = np.random.default_rng(2019)
rows = []
for solver, typical in {"kissat": 30.0, "cadical": 40.0, "glucose": 80.0, "minisat": 150.0}.items():
    for k, seconds in enumerate(typical * rng.lognormal(0, 1.3, 120)):
        rows.append((f"f{k}.cnf", solver, min(seconds, 600.0), "ok" if seconds < 600 else "timeout"))
frame = pd.DataFrame(rows, columns=["instance", "solver", "seconds", "status"])
analysis = am.analyse(am.read_results(frame, on_failure="par=10"), difference="ratio", better="lower")
data = cactus_data(analysis)  # data.solved, data.runs and data.par are the table
ax = draw_cactus(data)
