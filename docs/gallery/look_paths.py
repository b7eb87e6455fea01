import random
import tempfile

import ampler as am
from ampler.plots import draw_look_paths, look_paths_data


def solver(name, shift):
    return lambda instance, seed: 100 + shift + random.Random(f"{name}, {instance}").gauss(0, 0.7)


shifts = {"full": 0.0} | {f"without {k}": (0.0, 0.5, 1.0)[k % 3] for k in range(1, 13)}
study = am.Study(
    algorithms={name: solver(name, shift) for name, shift in shifts.items()},
    instances=[f"i{k}" for k in range(80)],
    difference="simple",
    reference="full",
    design=am.FixedSize(instances="needed", runs=2, effect=0.5, interim=4),
    better="lower",
)
with tempfile.TemporaryDirectory() as folder:
    analysis = study.run(f"{folder}/study.db", workers=1)
ax = draw_look_paths(look_paths_data(analysis))
