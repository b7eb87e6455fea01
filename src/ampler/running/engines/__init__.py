"""Who makes the runs: processes of this machine, an executor, a Dask cluster."""
