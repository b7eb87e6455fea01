"""Functions under a time limit that import inside: runs per second with warm children, without, and without a limit.

Run it with `make bench` or by itself; it exits with 1 if a target is missed. The module that is imported takes 0.2
seconds, of the kind that numerical packages take. Cold children, each of which imports again, are measured in the same
run by leaving out the warming.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from ampler import Fixed, Question, make_plan, open_store, run_plan
from ampler.core.values import Limits
from measuring import Row, print_table

IMPORT = 0.2  # seconds
RUNS = 30  # on each of two instances, by each of two algorithms


def imports_inside(instance: str, seed: int) -> float:
    """A run that does nothing but import."""
    import slow_to_import  # type: ignore[import-not-found]

    return float(seed % slow_to_import.SIZE)


def rate(limits: Limits) -> float:
    """Recorded runs per second of a study with one worker."""
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms=dict.fromkeys("ab", imports_inside),
        instances=["i1", "i2"],
        rule=Fixed(runs=RUNS),
        seed=1,
        count="all",
        limits=limits,
    )
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder, "study.db")) as store:
        began = time.perf_counter()
        progress = run_plan(plan, store, workers=1)
        return progress.new / (time.perf_counter() - began)


def rows() -> Iterator[Row]:
    free = rate(Limits())
    with patch("ampler.running.one_run.functions.warm_up"):
        cold = rate(Limits(timeout=60))
    warm = rate(Limits(timeout=60))
    yield "runs without a limit, one worker", "", f"{free:.1f} /s", True
    yield "runs under a time-out, each child imports again", "", f"{cold:.1f} /s", True
    yield "runs under a time-out, warm children", "", f"{warm:.1f} /s", True
    yield "warm over cold", "≥ 5 ×", f"{warm / cold:.1f} ×", warm >= 5 * cold


def main() -> int:
    """Print the table and return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "slow_to_import.py").write_text(f"import time\ntime.sleep({IMPORT})\nSIZE = 1000\n")
        sys.path.insert(0, folder)
        return print_table(rows())


if __name__ == "__main__":
    sys.exit(main())
