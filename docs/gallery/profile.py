import numpy as np
import pandas as pd

import ampler as am
from ampler.plots import draw_profile, profile_data

rng = np.random.default_rng(2019)
results = {
    name: 100 * rng.lognormal(mean, 0.4, 60) for name, mean in {"tabu": 0.0, "annealing": 0.1, "greedy": 0.6}.items()
}
frame = pd.DataFrame({"instance": [f"i{k}" for k in range(60)], **results})
analysis = am.analyse(frame, difference="ratio", better="lower")
ax = draw_profile(profile_data(analysis))  # of="runs" sets every run beside the best one
