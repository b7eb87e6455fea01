"""Follow a study: one function receives the plan, the decisions and the progress."""

import ampler as am
from ampler.running import Progress


def show(event):
    if isinstance(event, Progress):
        print(event.finished, "of", event.instances, "instances")


solvers = {"a": lambda x, seed: x + seed % 7, "b": lambda x, seed: x + seed % 11}
design = am.FixedSize(instances=5, runs=3)
study = am.Study(solvers, {f"i{x}": x for x in range(8)}, difference="simple", better="lower", design=design)
study.run("progress.db", workers=1, progress=show)
