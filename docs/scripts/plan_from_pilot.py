"""Plan a study from old results."""

import numpy as np
import pandas as pd

import ampler as am

rng = np.random.default_rng(3)
rows = [
    (f"i{i}", a, 10 + i % 5 + (a == "new") + rng.normal()) for i in range(12) for a in ("old", "new") for _ in range(4)
]
pilot = pd.DataFrame(rows, columns=["instance", "algorithm", "cost"])
print(am.advise(pilot, detect=0.5, difference="simple"))
