"""Write a report and a figure for a paper."""

import pandas as pd

import ampler as am

frame = pd.DataFrame({"dataset": list("abcdef"), "old": [9.1, 8.4, 7.7, 9.9, 8.8, 9.4], "new": [5, 4.2, 4, 6, 5.1, 5]})
analysis = am.analyse(frame, difference="simple", better="lower", settings=am.Settings(floor=1.0))
analysis.plot().figure.savefig("verdict.pdf")
print(am.write_report(analysis, "report.html"), am.write_report(analysis, "report.tex"))
