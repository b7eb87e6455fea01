"""Sampling rules on simulated instances: the promises, and the page that shows them.

    python benchmarks/bench_sampling.py            the promises on normal data, A up to 22 (minutes)
    python benchmarks/bench_sampling.py --write    every cell of the grid (an hour); docs/benchmarks/sampling.*
    python benchmarks/bench_sampling.py --page     only the page, from the results that are there

Set OMP_NUM_THREADS=1: thin matrices gain nothing from threads. Results are kept cell by cell, so a run that was stopped
goes on where it was; delete the CSV to start afresh.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sampling_page import page
from sampling_simulation import Cell, tabulated_chi_square
from sampling_table import Row, every_cell, measure, promised, read, targets

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"
REPLICATIONS = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    how = parser.add_mutually_exclusive_group()
    for option in ("--write", "--page"):
        how.add_argument(option, action="store_true")
    chosen = parser.parse_args()
    rows = results(chosen)
    if chosen.write or chosen.page:
        (FOLDER / "sampling.md").write_text(page(rows), encoding="utf-8")
    for target in targets(rows):
        print(f"{target.what:<70}{target.wanted:>22}{target.measured:>22}  {'' if target.kept else 'MISSED'}")
    return int(not all(target.kept for target in targets(rows)))


def results(chosen: argparse.Namespace) -> list[Row]:
    path = FOLDER / "sampling.csv" if chosen.write or chosen.page else None
    if chosen.page:
        return read(FOLDER / "sampling.csv")
    cells = every_cell() if chosen.write else filter(quick, every_cell())
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tabulated_chi_square():
        return measure(cells, REPLICATIONS, path, lambda cell: print(cell, file=sys.stderr))


def quick(cell: Cell) -> bool:
    return promised(cell) and (cell.algorithms < 22 or (cell.algorithms == 22 and cell.difference == "simple"))


if __name__ == "__main__":
    sys.exit(main())
