"""Compare classifiers by cross-validation on several data sets: folds are paired."""

import numpy as np
import pandas as pd

import ampler as am

rng = np.random.default_rng(1)
rows = [
    (d, m, f, 0.8 + 0.02 * (m == "svm") + rng.normal(0, 0.01))
    for d in range(8)
    for m in ("svm", "tree")
    for f in range(5)
]
scores = pd.DataFrame(rows, columns=["dataset", "model", "fold", "accuracy"])
results = am.read_results(scores, paired="fold")
print(results)
print(am.analyse(results, difference="simple"))
