"""Import and export of runs.

* `tables`: CSV, ARFF, Parquet and data frames, long or wide, become `Runs` (`read_table`);
* `imports`: results of other tools, one module for each: hyperfine, COCO, BenchExec, Optuna, JSON, …;
* `export`: the runs of a study become a table that any program reads (`write_runs`).

Imports `core` alone; pandas and pyarrow are loaded when a table is read or written. Nothing here depends on studies:
what a results file says about its runs is in `study`.
"""
