"""The measured half of the page on other tools; what was not measured is said to be missing."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

from peers_rows import Row
from peers_tables import EASE, SCENARIOS

NOT_HERE = "not installed; described from its documentation"
INTRODUCTION = """Written by `python benchmarks/peers.py --write` from `docs/benchmarks/peers.csv`; nothing there is
typed by hand but the words. All seeds are fixed; standard errors in brackets, in the last digits. Times are processor
times on a machine with other work going on.
"""


def page(rows: list[Row]) -> str:
    """Return the page; `include` puts it below the words of docs/peers.md."""
    parts = (INTRODUCTION, _installed(rows), _tables(rows), _often(rows), _races(rows), _alone(rows))
    return "\n".join(part for part in parts if part)


def _installed(rows: list[Row]) -> str:
    found = [row for row in rows if row.part == "installed" and row.tool]
    lines = [f"| {row.tool} | {row.note or NOT_HERE} |" for row in found]
    return _section("What was there", "", "| tool | version |", lines)


def _tables(rows: list[Row]) -> str:
    words = (
        "Which pairs does each tool declare different, at a level of 0.05 for the whole table? The first table is "
        "generated, so that the truth is known: of 45 pairs 39 differ, by 0.5 to 4 standard deviations of what an "
        f"algorithm adds on an instance; instances themselves vary by {EASE:g} of them. The second is that of the "
        "tutorial for people of autorank, the third the published accuracies of five classifiers on 54 data sets "
        "(Benavoli et al. 2017), both with unknown truth."
    )
    keys = dict.fromkeys(row.key for row in rows if row.part == "table" and row.tool)
    lines = []
    for key in keys:
        number = _numbers(row for row in rows if row.key == key)
        counts = (f"{number[name].value:.0f}" if name in number else "–" for name in ("found", "wrong", "missed"))
        lines.append(f"| {key[1]} | {key[2]} | {' | '.join(counts)} | {1000 * number['seconds'].value:.0f} |")
    return _section("The same tables", words, "| table | tool | declared | of them wrong | missed | ms |", lines)


def _often(rows: list[Row]) -> str:
    words = (
        "Tables of 5 algorithms and 20 instances, simulated again and again. An error is any false claim in a table; "
        "power is the share of the seven true differences (0.8 and 1.6 standard deviations) that are found. ampler, "
        "autorank and Nemenyi promise at most 0.05 of errors. baycomp promises no such rate: each pair is claimed "
        "where its posterior probability is above 0.95, and ten pairs are ten chances. What was never seen in n tables "
        "may still come in 3/n of them."
    )
    lines = []
    for scenario in SCENARIOS:
        for key in dict.fromkeys(row.key for row in rows if row.part == "often" and row.data == scenario):
            number = _numbers(row for row in rows if row.key == key)
            error, power = number["error"], number.get("power")
            shown = f"{_share(error)} | {_share(power) if power else '–'} | {error.count}"
            lines.append(f"| {scenario} | {key[2]} | {shown} | {1000 * number['seconds'].value:.0f} |")
    text = _section("How often they err", words, "| truth | tool | error | power | tables | ms each |", lines)
    covered = [row for row in rows if row.part == "often" and row.measure == "coverage"]
    shares = "; ".join(f"{_share(row)} ({row.data})" for row in covered)
    return text + (
        f"\nThe joint intervals of ampler's t hold all ten true differences in this share of the tables: {shares}. The "
        "other tools give no intervals of differences for these tables.\n"
        if covered
        else ""
    )


def _races(rows: list[Row]) -> str:
    words = (
        "*Ten candidates*, as in the generated table, with run noise as large as what an algorithm adds on an "
        "instance, and 500 runs to spend. irace gives them to the candidates that survive; for ampler they are one run "
        "of each candidate on each of 50 instances. Its best is the elite that irace puts first, or the lowest "
        "mean; three candidates are truly best. *Five learners* have at most 25 runs each on one task, with normal "
        "noise; two of them are worse by 0.8 and 1.6 standard deviations of a run, or none is. adastop decides after "
        "every five runs who needs no more (level 0.05, else as it comes: 10 000 permutations); ampler tests all pairs "
        "when all runs are made."
    )
    names = ("best is best", "error", "power", "runs")
    lines = []
    for key in dict.fromkeys(row.key for row in rows if row.part == "race"):
        number = _numbers(row for row in rows if row.key == key)
        cells = [_share(number[name]) if name in number else "–" for name in names[:3]]
        runs = number["runs"]
        lines.append(f"| {key[1]} | {key[2]} | {' | '.join(cells)} | {runs.value:.0f} | {runs.count} |")
    heading = "| question | tool | its best is truly best | error | power | runs | studies |"
    return _section("While runs are made", words, heading, lines)


def _alone(rows: list[Row]) -> str:
    found = [row for row in rows if row.part == "alone"]
    lines = [f"| {row.data} | {row.tool} | {WORDS[row.measure]} | {_value(row)} | {row.note or '–'} |" for row in found]
    heading = "| data | tool | what | | ampler's verdict |"
    words = (
        "Tools with another purpose: what each did, and what ampler says of its results. *Two commands that sleep* 20 "
        "and 30 ms were run 50 times each by hyperfine and as a study by ampler. *Two searches*, at random and by "
        "Nelder and Mead's simplex, had 500 evaluations on each of 3 instances of the first 12 functions of bbob in 5 "
        "dimensions (of all 24 where ioh logged them)."
    )
    return _section("Beside tools that do something else", words, heading, lines)


WORDS = {
    "designs alike": "designs with the same number of instances",
    "traces alike": "samples replayed to the same runs",
    "seconds": "processor time of the tool, s",
    "seconds of ampler": "processor time of ampler to read and analyse, s",
    "nap, ms": "mean of the shorter command, ms",
    "longer nap, ms": "mean of the longer command, ms",
}


def _value(row: Row) -> str:
    if row.measure.endswith("alike"):
        return f"{row.value * row.count:.0f} of {row.count}"
    if isnan(row.value):
        return "not run"
    return f"{row.value:.2f}" if isnan(row.error) else f"{row.value:.1f} ± {row.error:.1f}"


def _share(row: Row) -> str:
    return f"{row.value:.3f} ({round(1000 * row.error)})"


def _numbers(rows: Iterable[Row]) -> dict[str, Row]:
    return {row.measure: row for row in rows}


def _section(title: str, words: str, heading: str, lines: list[str]) -> str:
    """A heading, a paragraph, a table; nothing where there are no lines."""
    if not lines:
        return ""
    rule = "|" + "---|" * (heading.count("|") - 1)
    return "\n".join([f"### {title}", "", *([words, ""] if words else []), heading, rule, *lines, ""])
