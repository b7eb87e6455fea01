"""The sampling benchmark as a page of the documentation: what was run, what is promised, tables, weak spots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

from sampling_simulation import DISTRIBUTIONS, PATTERNS
from sampling_table import ALGORITHMS, LOADS, Row, Target, every_cell, targets, worse_than_greedy

ADAPTIVE = ("greedy/none (paper)", "optimal/pairs", "greedy/pairs", "optimal/all", "greedy/all")
ALL_RULES = (*ADAPTIVE, "fixed 30", "fixed 50")
COLUMNS = ("runs", "error", "within", "all", "price")
HEADINGS = "runs/optimum | largest true SE/se | pairs within se | all within se | price"

INTRODUCTION = """# Sampling rules compared

Which rule knows every difference on an instance to within `se`, really, and for how many runs? Simulated instances have
a truth to compare with. This page is written by `make bench-sampling` from the results of every cell, which are in
`docs/benchmarks/sampling.csv`; nothing in it is typed by hand but the words.

A *cell* is a kind of instance: the difference, with a reference or all pairs, the number of algorithms A, how their
standard deviations differ, how values are distributed, and the *load*: `se` is such that the optimum for known
variances takes 1.5, 5 or 20 times the first runs (`start` = 10 of each algorithm). True means lie within ±30 % of each
other; the base sd is 2 % of their middle. Patterns of the sds: equal; one algorithm (the last) with ten times the sd of
the others; a reference with ten times the sd; linear from 0.2 (the first, the reference) to 2; lognormal quantiles with
log-sd 1 in random order. Distributions: normal; exponential; lognormal with log-sd 1; discrete (four values, skewed);
Bernoulli 0.1. All rules and cells with the same A and distribution see the same streams of values. Rounds hold up to
16 runs, for the paper's rule one. The guard is that of the first edition; [its second](guard.md) is safer and
takes about 5 % more runs on normal values.

Columns, each a mean over the replications and then over the cells of the row: runs over the optimum; the largest *true*
standard error of the instance's pairs over `se`; the share of pairs whose true standard error is within `se`; the share
of instances on which all are; and the price of the accuracy really reached, runs × (largest true SE/se)² over the
optimum, which does not reward stopping too early.
"""

GRID = (
    "*the kinds*: simple, percent and ratio differences, with a reference and all pairs, every pattern, every "
    "distribution, A = 2, 5, 10 and 22, load 5×;",
    "*the loads*, 1.5× and 20×: simple differences with a reference and all pairs, percent differences with a "
    "reference, every pattern, with normal values for A = 2, 5, 10 and 22, and with every distribution for A = 5;",
    "*many algorithms*, A = 50: the same differences, every pattern, normal values, load 5×.",
)

WHY_WORSE = """Two reasons were found. The optimum makes every pair just exact enough, so the largest true error is the
largest of many equals; `greedy` cannot do that, it leaves most pairs a margin, and this price, which looks at the
largest error alone, pays for the margin where variances are hard to estimate. And when the noisy one of several
Bernoulli algorithms gives ten equal values (one time in three) it looks like a constant, whose bound comes from the
quiet others; `greedy`, which runs everything more often, finds out more often. No rule that sees only these values can
know; `optimal` takes fewer runs throughout."""


def page(rows: list[Row]) -> str:
    """Return the page."""
    parts = [
        INTRODUCTION,
        _what_was_run(rows),
        _promises(targets(rows)),
        _weak_spots(rows),
        _rules(rows),
        _by_algorithms(rows),
        _by_pattern(rows),
        _by_distribution(rows),
        _by_load(rows),
        _price(rows),
    ]
    return "\n".join(parts)


def _what_was_run(rows: list[Row]) -> str:
    cells = {row.key[:6] for row in rows}
    lines = [
        "## What was run",
        "",
        f"{_completeness(len(cells), sum(1 for _ in every_cell()))}, {_replications(rows)} replications each. The grid "
        "is made of full factorials; whatever lies outside them (other loads with A = 50, with ratios, or with "
        "percent differences of all pairs, say) is not shown, and nothing is claimed of it:",
        "",
        *(f"- {kind}" for kind in GRID),
        "",
        "Cells by distribution, A and load:",
        "",
        "| distribution | " + " | ".join(f"A = {a}" for a in ALGORITHMS) + " |",
        "|---|" + "---|" * len(ALGORITHMS),
    ]
    for distribution in DISTRIBUTIONS:
        counts = (
            " + ".join(
                f"{number} ({load:g}×)"
                for load in LOADS
                if (number := sum(1 for c in cells if (c[2], c[4], c[5]) == (algorithms, distribution, load)))
            )
            for algorithms in ALGORITHMS
        )
        lines.append(f"| {distribution} | " + " | ".join(count or "–" for count in counts) + " |")
    return "\n".join([*lines, ""])


def _completeness(run: int, declared: int) -> str:
    return f"All {declared} cells of the grid" if run == declared else f"{run} of the {declared} cells of the grid"


def _replications(rows: list[Row]) -> str:
    numbers = sorted({row.replications for row in rows})
    return " to ".join(str(number) for number in dict.fromkeys((numbers[0], numbers[-1])))


def _promises(found: list[Target]) -> str:
    lines = [
        "## What is promised, and what came out",
        "",
        "Normal data, start 10, optimum = 5·start·A runs; simple and percent differences, all sd patterns, every A of "
        "the grid: the mean over these cells. (For each A and each pattern see the tables below.)",
        "",
        "| promise | wanted | measured | |",
        "|---|---|---|---|",
        *(f"| {one.what} | {one.wanted} | {one.measured} | {'kept' if one.kept else '**missed**'} |" for one in found),
    ]
    return "\n".join([*lines, ""])


def _weak_spots(rows: list[Row]) -> str:
    """The cells that, taken alone, fall short of what holds on average."""
    lines = [
        "## Where a single cell falls short of the average",
        "",
        "The promises above are means. Cells below them by more than two standard errors, normal data, 5×:",
        "",
        "| cell | rule | runs/optimum | pairs within se | all within se |",
        "|---|---|---|---|---|",
    ]
    for row in _normal(rows):
        pairs_short = (
            row.rule == "optimal/pairs" and row.within < (0.93 if row.algorithms == 2 else 0.95) - 2 * row.within_se
        )
        all_short = row.rule == "optimal/all" and row.all < 0.95 - 2 * row.all_se
        if pairs_short or all_short:
            lines.append(f"| {row.cell} | {row.rule} | {row.runs:.2f} | {row.within:.1%} | {row.all:.1%} |")
    lines += [
        "",
        "Where the reference is among the quiet ones, each pair's accuracy rests on the bound of the other algorithm "
        "alone, at level 0.1, instead of on two bounds that seldom fail together; and where sds differ much there is "
        "little to borrow. Then 91 to 94 % of the pairs are within `se` rather than 96 %.",
    ]
    return "\n".join([*lines, ""])


def _rules(rows: list[Row]) -> str:
    return _section("The rules on normal data", "Load 5×, all A; the fixed rules know nothing of `se`.", "rule", (
        (rule, [row for row in _normal(rows) if row.rule == rule]) for rule in ALL_RULES
    ))  # fmt: skip


def _by_algorithms(rows: list[Row]) -> str:
    return _section("By the number of algorithms", "Normal data, load 5×.", "A, rule", (
        (f"{a}, {rule}", [row for row in _normal(rows) if row.rule == rule and row.algorithms == a])
        for a in ALGORITHMS for rule in ADAPTIVE
    ))  # fmt: skip


def _by_pattern(rows: list[Row]) -> str:
    def rows_of(pairs: str, pattern: str, rule: str) -> list[Row]:
        return [row for row in _normal(rows) if (row.pairs, row.pattern, row.rule) == (pairs, pattern, rule)]

    return _section("By sd pattern", "Normal data, load 5×, all A.", "pairs, sds, rule", (
        (f"{pairs}, {pattern}, {rule}", rows_of(pairs, pattern, rule))
        for pairs in ("reference", "all pairs") for pattern in PATTERNS for rule in ADAPTIVE
    ))  # fmt: skip


def _by_distribution(rows: list[Row]) -> str:
    shared = _cells_of_every(rows, DISTRIBUTIONS, lambda row: row.distribution, lambda key: (*key[:4], key[5]))
    return _section(
        "By distribution",
        "The same cells for each distribution. Skewed data stay harder: the variance of a few skewed values is too "
        "small more often than too large, and no bound made from the same values knows.",
        "distribution, rule",
        (
            (f"{name}, {rule}", [row for row in shared if row.distribution == name and row.rule == rule])
            for name in DISTRIBUTIONS
            for rule in ADAPTIVE
        ),
    )


def _by_load(rows: list[Row]) -> str:
    normal = [row for row in rows if row.distribution == "normal"]
    shared = _cells_of_every(normal, LOADS, lambda row: row.load, lambda key: key[:5])
    return _section("By load", "Normal data, the same cells for each load.", "load, rule", (
        (f"{load:g}×, {rule}", [row for row in shared if row.load == load and row.rule == rule])
        for load in LOADS for rule in ADAPTIVE
    ))  # fmt: skip


def _price(rows: list[Row]) -> str:
    worse, total = worse_than_greedy(rows)
    lines = [
        "## Where the price is above greedy's",
        "",
        f"{len(worse)} of {total} comparisons under the same guard have a price more than 3 % above that of `greedy`.",
    ]
    if worse:
        lines += [
            "",
            "| cell | guard | price, optimal | price, greedy | runs, optimal | runs, greedy |",
            "|---" * 6 + "|",
        ]
        for one, other in sorted(worse, key=lambda both: both[1].price / both[0].price):
            guard = one.rule.split("/")[1]
            prices, runs = f"{one.price:.3f} | {other.price:.3f}", f"{one.runs:.3f} | {other.runs:.3f}"
            lines.append(f"| {one.cell} | {guard} | {prices} | {runs} |")
        lines += ["", WHY_WORSE]
    return "\n".join([*lines, ""])


def _section(title: str, words: str, first: str, groups: Iterable[tuple[str, list[Row]]]) -> str:
    lines = [f"## {title}", "", words, "", f"| {first} | cells | {HEADINGS} |", "|---|---|" + "---|" * len(COLUMNS)]
    for label, members in groups:
        if members:
            runs, error, within, every, price = (fmean(getattr(row, name) for row in members) for name in COLUMNS)
            numbers = f"{runs:.3f} | {error:.3f} | {within:.1%} | {every:.1%} | {price:.3f}"
            lines.append(f"| {label} | {len(members)} | {numbers} |")
    return "\n".join([*lines, ""])


def _normal(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.distribution == "normal" and row.load == 5 and row.difference != "ratio"]


def _cells_of_every(
    rows: list[Row], kinds: Iterable[object], kind: Callable[[Row], object], rest: Callable[[tuple], tuple]
) -> list[Row]:
    """Keep the rows whose cell was run for every kind."""
    seen: dict[tuple, set[object]] = {}
    for row in rows:
        seen.setdefault(rest(row.key), set()).add(kind(row))
    return [row for row in rows if seen[rest(row.key)] >= set(kinds)]
