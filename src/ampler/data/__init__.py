"""Runs in and out. Answers: how do results that people have become runs, and runs become tables?

* `tables`: CSV, ARFF, Parquet, hyperfine's JSON and data frames, long or wide, become `Runs` (`read_table`);
* `imports`: results as COCO, IOHexperimenter, BenchExec, Optuna and logs in JSON lines leave them;
* `export`: the runs of a study become a table that any program reads (`write_runs`).

Imports `core` alone; pandas and pyarrow are loaded when a table is read or written. It knows no study: what
a study file says about its runs is in `study`.
"""
