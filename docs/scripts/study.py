"""Run a study that finds its own size, and resume it by running the script again."""

import random

import ampler as am

study = am.Study(
    algorithms={"plain": lambda x, seed: x + random.Random(seed).random(), "slow": lambda x, seed: 1.2 * x + 0.5},
    instances={f"i{x}": x for x in range(10, 40)},
    difference="ratio", better="lower", reference="plain", detect=0.05, seed=2019,
)  # fmt: skip
print(study)
print(study.run("study.db", workers=2, progress=False))
