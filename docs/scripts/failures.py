"""Compare solvers of which some runs time out: PAR10."""

import pandas as pd

import ampler as am

rows = [
    (f"p{p}", s, 3.0 + p + 4 * (s == "b"), "timeout" if p == 7 and s == "b" else "ok") for p in range(8) for s in "ab"
]
runs = pd.DataFrame(rows, columns=["instance", "solver", "time", "status"])
results = am.read_results(runs, on_failure="par=10,cutoff=60")
print(am.analyse(results, difference="ratio", test="wilcoxon"))
