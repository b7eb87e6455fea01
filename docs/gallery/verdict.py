import numpy as np
import pandas as pd

import ampler as am

rng = np.random.default_rng(2019)
hard = rng.normal(100, 15, 14)  # 14 instances
losses = {"full": 0.0, "no-swap": 0.02, "no-shift": 0.008, "no-restart": -0.003, "no-task": 0.75}
results = {name: hard * (1 + loss + rng.normal(0, 0.012, 14)) for name, loss in losses.items()}
frame = pd.DataFrame({"instance": [f"instances/G_{k}.txt" for k in range(14)], **results})
analysis = am.analyse(frame, reference="full", difference="percent", better="lower", margin=0.01)
ax = analysis.plot()  # or draw_verdict(verdict_data(analysis)) of ampler.plots
