"""A Dask scheduler that asks SLURM for workers when there is work: start it, then `ampler run --dask ADDRESS`."""

import time

from dask_jobqueue import SLURMCluster


def cluster() -> SLURMCluster:
    return SLURMCluster(
        cores=8,
        processes=8,  # one thread each
        memory="16GB",
        walltime="08:00:00",
        scheduler_options={"dashboard_address": None},
    )


if __name__ == "__main__":
    workers = cluster()
    workers.adapt(maximum_jobs=20)  # they come when there is work and go when there is none
    print(workers.scheduler_address, flush=True)
    while True:
        time.sleep(60)
