"""`upmsp-demo`: prepares a small study for `ampler run`: instances, a study file, and the compiled annealing."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path

from ampler_upmsp.annealing import anneal
from ampler_upmsp.experiments import sizes
from ampler_upmsp.instance import Instance, generate_instance, write_instance

JOBS, MACHINES, SETUPS = (50, 75, 100), (10, 15, 20), (9, 124)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the study's files and compile; what is there already stays as it is."""
    parser = argparse.ArgumentParser(prog="upmsp-demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("scheduling-demo"), metavar="FOLDER")
    folder = parser.parse_args(argv).output
    try:
        count = write_study(folder)
        print(
            f"{folder / 'study.toml'} and {count} random instances are there. Compiling the annealing (once) …",
            flush=True,
        )
        print(f"Compiled in {compile_annealing():.0f} s.")
    except OSError as problem:
        print(f"upmsp-demo: {problem}; choose another folder with --output", file=sys.stderr)
        return 1
    return 0


def write_study(folder: Path) -> int:
    """Write the instances, their sizes and the study file; return how many instances there are."""
    instances = [generate_instance(*numbers, seed=1) for numbers in product(JOBS, MACHINES, SETUPS)]
    (folder / "instances").mkdir(parents=True, exist_ok=True)
    for instance in instances:
        path = folder / "instances" / f"{instance.name}.txt"
        if not path.exists():
            write_instance(instance, path)
    (folder / "sizes.csv").write_text(features_csv(instances), encoding="utf-8")
    study = folder / "study.toml"
    if not study.exists():
        study.write_text((files("ampler_upmsp") / "demo.toml").read_text("utf-8"), encoding="utf-8")
    return len(instances)


def features_csv(instances: Sequence[Instance]) -> str:
    """Return the sizes of the instances as a table for `features` in study.toml."""
    rows = [f"instances/{instance.name}.txt,{','.join(sizes(instance.name).values())}" for instance in instances]
    return "\n".join(["instance,jobs,machines,setups", *rows]) + "\n"


def compile_annealing() -> float:
    """Compile the annealing unless it is in the cache; return the seconds it took."""
    began = time.perf_counter()
    anneal(generate_instance(5, 2, 9, seed=1), seed=1, iterations=10)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
