"""`ampler compare` of two programs that differ by 0 % or by 5 % of their work, on this machine; hyperfine next to it.

Each study is one call of the command on a busy loop of about 5 ms. The order of the studies is drawn with a fixed seed.
hyperfine makes as many runs of each program as ampler made; it reports a ratio with a standard deviation and no test,
so Welch's t-test of its times stands next to it, as in its own script for this purpose.

    python benchmarks/bench_compare.py            # 60 studies of each kind, some 10 minutes; --studies 4 for a trial
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from scipy import stats

import ampler as am
from ampler.app.cli.compare import SAME, _checks

PROGRAM = """#include <stdlib.h>
int main(int argc, char **argv) {
    volatile unsigned long x = 1;
    for (long k = 0, n = atol(argv[1]); k < n; k++) x = x * 6364136223846793005UL + 1;
    return 0;
}
"""
LOOPS = 4_000_000  # some 5 ms
KINDS = [(value, change) for value in ("seconds", "cpu-seconds") for change in (0, 5)]
ROWS = {
    "runs": "runs of each command, mean",
    "reached": "precision of 1 % reached",
    "estimate": "estimated difference, mean, %",
    "claimed": "claimed: better or worse",
    "regression": "`gate`: regression",
    "pass": "`gate --tolerate 3%`: pass",
    "same": "`--same`: clock not trusted",
    "summary": "hyperfine: ratio − σ above 1",
    "welch": "hyperfine's times: Welch's t-test",
}


def study(value: str, change: int, folder: Path) -> dict[str, float]:
    """Return what one study concluded."""
    base, candidate = f"./old {LOOPS}", f"./new {LOOPS * (100 + change) // 100}"
    command = ["compare", base, candidate, "--names", "old,new", "--value", value, "--same", "--json"]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "ampler", *command], cwd=folder, env=environment, capture_output=True, check=True
    )
    document = json.loads(done.stdout)
    pairs = {each["second"]: each for each in document["comparisons"]}
    analysis = am.analyse(folder / "compare.db")
    tolerant = am.analyse(folder / "compare.db", settings=am.Settings(non_inferior=0.03))
    runs = document["runs"] // 3
    times = hyperfine(base, candidate, runs, folder) if value == "seconds" else None
    (folder / "compare.db").unlink()
    return {
        "runs": runs,
        "reached": "budget" not in str([each["kind"] for each in document["warnings"]]),
        "claimed": pairs["new"]["claimed"],
        "estimate": 100 * math.expm1(-pairs["new"]["estimate"]),
        "regression": _checks(analysis)[0].outcome == "regression",
        "pass": _checks(tolerant)[0].outcome == "pass",
        "same": pairs[SAME]["claimed"],
    } | (times or {})


def hyperfine(base: str, candidate: str, runs: int, folder: Path) -> dict[str, float]:
    """Return what hyperfine's summary and a test of its times conclude."""
    options = ["-N", "--runs", str(runs), "--export-json", "h.json"]
    subprocess.run(["hyperfine", *options, base, candidate], cwd=folder, capture_output=True, check=True)
    first, second = json.loads((folder / "h.json").read_text())["results"]
    fast, slow = sorted((first, second), key=lambda row: row["mean"])
    ratio = slow["mean"] / fast["mean"]
    sd = ratio * ((slow["stddev"] / slow["mean"]) ** 2 + (fast["stddev"] / fast["mean"]) ** 2) ** 0.5
    p = stats.ttest_ind(first["times"], second["times"], equal_var=False).pvalue
    return {"summary": ratio - sd > 1, "welch": p <= 0.05}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=60)
    number = parser.parse_args().studies
    order = [kind for kind in KINDS for _ in range(number)]
    random.Random(20261119).shuffle(order)
    results: defaultdict[tuple[str, int], list[dict[str, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work.c").write_text(PROGRAM)
        for program in ("old", "new"):
            subprocess.run(["cc", "-O1", "-o", program, "work.c"], cwd=folder, check=True)
        for k, kind in enumerate(order):
            results[kind].append(study(*kind, folder))
            print(k, *kind, results[kind][-1], file=sys.stderr, flush=True)
    print("| | " + " | ".join(f"{value}, {change} %" for value, change in KINDS) + " |")
    print("|---|" + "---:|" * len(KINDS))
    for name, text in ROWS.items():
        print(f"| {text} | " + " | ".join(shown(name, results[kind]) for kind in KINDS) + " |")


def shown(name: str, rows: list[dict[str, float]]) -> str:
    """Return a mean, or how many of the studies, as a cell of the table."""
    if not rows or name not in rows[0]:
        return "–"
    total = sum(row[name] for row in rows)
    return f"{total / len(rows):.1f}" if name in ("runs", "estimate") else f"{total:.0f} of {len(rows)}"


if __name__ == "__main__":
    main()
