"""Compare algorithms in a table: one row per comparison."""

import pandas as pd

import ampler as am

frame = pd.DataFrame({"dataset": list("abcdef"), "old": [9.1, 8.4, 7.7, 9.9, 8.8, 9.4], "new": [5, 4.2, 4, 6, 5.1, 5]})
analysis = am.analyse(frame, difference="ratio", better="lower", reference="old")
print(analysis.table()[["first", "second", "estimate", "p_holm"]])
