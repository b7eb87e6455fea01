"""ampler beside other tools, on the same data: what each concludes, how often it errs, what it costs.

    python benchmarks/peers.py            what is installed, and a table on which all of them decide
    python benchmarks/peers.py --write    everything that is installed (some ten minutes); docs/benchmarks/peers.*
    python benchmarks/peers.py --page     only the page, from the results that are there

Make an environment for it, as the other tools are no part of ampler's:

    python -m venv peers
    peers/bin/pip install . autorank baycomp adastop scikit-posthocs optuna coco-experiment cocopp six ioh

hyperfine and R with irace are used where they are found. AMPLER_PUBLIC names a folder with the published table of
Benavoli et al. (2017), which is not ours to include. Results are kept part by part; delete the CSV to start afresh.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import process_time

from kept_results import FOLDER, append, asked, read
from peers_alone import alone
from peers_learners import learners
from peers_page import page
from peers_races import races
from peers_rows import Row, installed
from peers_tables import SCENARIOS, fixed_tables, scored, simulated
from peers_tools import TOOLS, ampler_t

CSV = FOLDER / "peers.csv"
TABLES = {"baycomp, signed rank": 60, "autorank": 100}  # fewer, where a tool is slow
MOST_TABLES = 400
OFTEN = ("Friedman–Nemenyi", "ampler, t", "autorank", "baycomp, signed rank")


def main() -> int:
    chosen = asked(__doc__)
    if chosen.write:
        write()
    if chosen.write or chosen.page:
        (FOLDER / "peers.md").write_text(page(read(CSV, Row)), encoding="utf-8")
        return 0
    for row in [*installed(), *on_tables()]:
        print(f"{row.part:10} {row.data:28} {row.tool:28} {row.measure:10} {row.value:8.3f} {row.note}")
    return 0


def write() -> None:
    """Measure what the file does not hold yet."""
    known = {row.key for row in read(CSV, Row)}
    for make, key in parts():
        if key not in known:
            print(*key, file=sys.stderr, flush=True)
            append(CSV, make())


def parts() -> Iterator[tuple[Callable[[], list[Row]], tuple[str, str, str]]]:
    """Each part of the work with its key: what kind, on which data, by which tool."""
    yield installed, ("installed", "", "")
    yield on_tables, ("table", "", "")
    for tool in filter(TOOLS.__contains__, OFTEN):
        for scenario in SCENARIOS:
            yield lambda s=scenario, t=tool: often(s, t), ("often", scenario, tool)
    yield from races()
    yield from learners()
    yield from alone()


def on_tables() -> list[Row]:
    """What each tool finds in single tables, and the processor time it takes."""
    rows = [Row("table", "", "")]
    for data, (frame, truth) in fixed_tables().items():
        for tool, decide in TOOLS.items():
            decide(frame.copy())  # imports are not what is compared
            began = process_time()
            found = decide(frame)
            spent = process_time() - began
            counts = scored(found, truth) if truth else {"found": float(len(found))}
            rows += [Row("table", data, tool, what, count) for what, count in counts.items()]
            rows.append(Row("table", data, tool, "seconds", spent))
    return rows


def often(scenario: str, tool: str) -> list[Row]:
    """How often a tool errs, and what share of the true differences it finds, over many tables."""
    truth = SCENARIOS[scenario].truth
    tables = [simulated(SCENARIOS[scenario], number) for number in range(TABLES.get(tool, MOST_TABLES))]
    began = process_time()
    found = [(TOOLS[tool](table), tool == "ampler, t" and ampler_t.covers(table, truth)) for table in tables]
    spent = (process_time() - began) / len(tables)
    scores = [scored(claims, truth) for claims, _ in found]
    rows = [Row.share("often", scenario, tool, "error", [score["wrong"] > 0 for score in scores])]
    if different := sum(1 for difference in truth.values() if difference):
        rows.append(Row.share("often", scenario, tool, "power", [score["found"] / different for score in scores]))
    if tool == "ampler, t":
        rows.append(Row.share("often", scenario, tool, "coverage", [covered for _, covered in found]))
    return [*rows, Row("often", scenario, tool, "seconds", spent)]


if __name__ == "__main__":
    sys.exit(main())
