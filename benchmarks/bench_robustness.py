"""What claims of the default t-test rest on: false claims, doubts and warnings in worlds of one shape each.

    python benchmarks/bench_robustness.py 10        10 studies of every cell (a minute)
    python benchmarks/bench_robustness.py 300       the numbers of docs/benchmarks/robustness.md (about 20 minutes)

Every study is one `am.analyse` with default settings, on one value per algorithm and instance. The thresholds in
`analysis/robustness.py` were chosen on other seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import ampler as am
from kept_results import FOLDER

Floats = NDArray[np.float64]

SEED = 20261122  # fixed before the first look
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {  # mean 0
    "normal": lambda rng, size: rng.standard_normal(size),
    "exponential": lambda rng, size: rng.standard_exponential(size) - 1,
    "lognormal": lambda rng, size: rng.lognormal(0, 1, size) - np.exp(0.5),
    "outliers, one side, 10 sd": lambda rng, size: rng.standard_normal(size) + 10 * (rng.random(size) < 0.05) - 0.5,
    "outliers, one side, 5 sd": lambda rng, size: rng.standard_normal(size) + 5 * (rng.random(size) < 0.05) - 0.25,
    "outliers, both sides": lambda rng, size: rng.standard_normal(size) * np.where(rng.random(size) < 0.05, 10, 1),
    "t (3 df)": lambda rng, size: rng.standard_t(3, size),
    "t (2 df)": lambda rng, size: rng.standard_t(2, size),
}
DESIGNS = {"two": 2, "five, reference": 5, "five, all pairs": 5}
WEIGHTS = np.array(
    [1.0, 0.6, 0.2, -0.4, -1.0]
)  # of the shape in each of five algorithms: pairs of equals are symmetric
INSTANCES = (15, 30, 60)
COLUMNS = (
    "| algorithms | N | differences | effect | significant | claimed | silent | warned | skewness | outlier"
    " | power t | claimed |"
)


def values_of(
    shape: str, design: str, instances: int, effect: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The values of each algorithm (columns), and their true means."""
    draw, size = SHAPES[shape], DESIGNS[design]
    means = effect * np.array([0.0, 1.0, 0.0, 1.0, 2.0][:size])
    if design == "five, all pairs":
        noise = draw(rng, (instances, size)) * (1.0 if shape == "normal" else WEIGHTS)
        return 100 + noise + 0.2 * rng.standard_normal((instances, size)) + means, means
    base = 100 + rng.standard_normal((instances, 1))
    return base + np.hstack([np.zeros((instances, 1)), draw(rng, (instances, size - 1))]) + means, means


def study(shape: str, design: str, instances: int, effect: float, rng: np.random.Generator) -> list[float]:
    """Whether something false is significant, claimed, claimed silently, warned of; kinds of warnings; power."""
    values, means = values_of(shape, design, instances, effect, rng)
    rows = [(f"i{i}", f"a{k}", values[i, k]) for i, k in np.ndindex(values.shape)]
    table = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
    reference = None if design == "five, all pairs" else "a0"
    found = am.analyse(table, better="lower", difference="simple", reference=reference)
    kinds = {each.kind for each in found.warnings}
    warned = bool(kinds & {"skewness", "outlier"})
    true = {(c.first, c.second): means[int(c.first[1])] == means[int(c.second[1])] for c in found.comparisons}
    false = [c for c in found.comparisons if true[c.first, c.second]]
    real = [c for c in found.comparisons if not true[c.first, c.second]]
    significant, claimed = any(c.rejected for c in false), any(c.claimed for c in false)
    power = [float(np.mean([flag(c) for c in real])) if real else np.nan for flag in (_rejected, _claimed)]
    noticed = significant and (warned or not claimed)
    return [significant, claimed, claimed and not warned, noticed, "skewness" in kinds, "outlier" in kinds, *power]


def _rejected(comparison: am.Comparison) -> bool:
    return comparison.rejected


def _claimed(comparison: am.Comparison) -> bool:
    return comparison.claimed


def cells() -> Iterator[tuple[str, str, int, float]]:
    for design, instances, shape in product(DESIGNS, INSTANCES, SHAPES):
        yield shape, design, instances, 0.0
        if shape == "normal":
            for standardised in (2.0, 3.5):  # effect times √N
                yield shape, design, instances, standardised / np.sqrt(instances)


def main() -> int:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    lines = []
    for place, cell in enumerate(cells()):
        rng = np.random.default_rng([SEED, place])
        rates = np.array([study(*cell, rng) for _ in range(studies)], dtype=float)
        significant, claimed, silent, noticed, skewness, outlier, power, kept = rates.mean(axis=0)
        shape, design, instances, effect = cell
        of_false = "–" if not significant else f"{noticed / significant:.2f}"
        powers = "– | –" if np.isnan(power) else f"{power:.3f} | {kept:.3f}"
        rest = (
            f"{significant:.3f} | {claimed:.3f} | {silent:.3f} | {of_false} | {skewness:.3f} | {outlier:.3f} | {powers}"
        )
        lines.append(f"| {design} | {instances} | {shape} | {effect:.2f} | {rest} |")
        print(lines[-1], flush=True)
    if studies >= 300:
        page = FOLDER / "robustness.md"
        head = page.read_text(encoding="utf-8").split("| algorithms")[0]
        page.write_text("\n".join([head + COLUMNS, "|---" * 12 + "|", *lines, ""]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
