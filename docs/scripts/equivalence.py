"""Show that two versions are equivalent within a margin."""

import numpy as np
import pandas as pd

import ampler as am

rng = np.random.default_rng(2)
base = rng.uniform(50, 100, 30)
frame = pd.DataFrame({"task": range(30), "v1": base, "v2": base + rng.normal(0, 0.5, 30)})
analysis = am.analyse(am.read_results(frame, instance="task"), difference="simple", better="higher", margin=1.0)
print(analysis.comparisons[0].verdict)
