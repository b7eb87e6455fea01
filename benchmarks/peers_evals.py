"""Tools for evaluations of models, on the same answers: who claims a difference that is not there, and who finds one?

    python benchmarks/peers_evals.py            a few studies
    python benchmarks/peers_evals.py --write    all; docs/benchmarks/evaluations.csv and evaluations.md

It needs `pip install evalstats evalsig evalconfidence evalci` beside ampler. Two models answer 30 passages of 8
questions with yes or no. Each model knows other passages, so the differences within a passage are correlated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version

import numpy as np
import pandas as pd

import ampler as am
from kept_results import FOLDER, append, asked, read
from peers_rows import Row

SEED = 20261120  # fixed before the first study
STUDIES, FEW = 300, 10
PASSAGES, QUESTIONS, SPREAD = 30, 8, 0.25
GAPS = {"no difference": 0.0, "15 points": 0.15}
PATH = FOLDER / "evaluations.csv"


def table(number: int, gap: float) -> pd.DataFrame:
    """Return the answers of one study: passage, question, model, correct."""
    rng = np.random.default_rng([SEED, number])
    known = rng.normal(0, SPREAD, PASSAGES)
    rows = []
    for passage in range(PASSAGES):
        for question in range(QUESTIONS):
            for model, skill in (("small", 0.55 - known[passage]), ("large", 0.55 + gap + known[passage])):
                rows.append((f"p{passage}", f"p{passage}q{question}", model, int(rng.random() < skill)))
    return pd.DataFrame(rows, columns=["passage", "question", "model", "correct"])


def scores(data: pd.DataFrame) -> tuple[list[float], list[float]]:
    small, large = (data[data.model == name].correct.astype(float).tolist() for name in ("small", "large"))
    return small, large


def ampler(data: pd.DataFrame, **columns: str) -> bool:
    """Whether a difference is claimed without a warning that could reverse the verdict."""
    results = am.read_results(data, algorithm="model", instance="question", value="correct", **columns)
    found = am.analyse(results, difference="simple", better="higher")
    (pair,) = found.comparisons
    return bool(pair.claimed) and not any(warning.severity == "could reverse a verdict" for warning in found.warnings)


def evalci(data: pd.DataFrame) -> bool:
    import evalci as tool

    return bool(tool.compare(*scores(data), method="permutation", random_state=0).p_value < 0.05)


def evalconfidence(data: pd.DataFrame, cluster: str | None = None) -> bool:
    import evalconfidence as tool

    small, large = (
        tool.from_dataframe(
            data[data.model == name], item_id="question", model_id="model", score="correct", cluster_id=cluster
        )
        for name in ("small", "large")
    )
    return bool(tool.compare(small, large).p_value < 0.05)


def evalsig(data: pd.DataFrame, cluster: str | None = None) -> bool:
    import evalsig as tool
    from evalsig.types import ItemResult

    def frame(name: str) -> object:
        rows = data[data.model == name].itertuples()
        items = [ItemResult(row.question, float(row.correct), cluster_id=row.passage) for row in rows]
        return tool.RunFrame(name, name, "task", "accuracy", items)

    return bool(tool.compare(frame("small"), frame("large"), cluster=cluster).p_value < 0.05)


def evalstats(data: pd.DataFrame) -> bool:
    import evalstats as tool

    renamed = data.rename(columns={"question": "item", "correct": "score"})[["model", "item", "score"]]
    result = tool.compare(tool.load_from(renamed), factors="model")
    return bool(next(iter(result.pairwise.results.values())).p_value < 0.05)


TOOLS: Mapping[str, Callable[[pd.DataFrame], bool]] = {
    "ampler": ampler,
    "ampler --cluster passage": lambda data: ampler(data, cluster="passage"),
    "evalci (permutation)": evalci,
    "evalconfidence": evalconfidence,
    "evalconfidence, cluster_id": lambda data: evalconfidence(data, "passage"),
    "evalsig": evalsig,
    "evalsig --cluster": lambda data: evalsig(data, "passage"),
    "evalstats": evalstats,
}


def main() -> int:
    chosen = asked(__doc__)
    known = {row.key for row in read(PATH, Row)} if chosen.write else set()
    for name, gap in GAPS.items():
        for tool, claims in TOOLS.items():
            if ("evaluation", name, tool) in known:
                continue
            found = [claims(table(number, gap)) for number in range(STUDIES if chosen.write else FEW)]
            rows = [Row.share("evaluation", name, tool, "claimed", found)]
            if chosen.write:
                append(PATH, rows)
            else:
                print(*rows)
    if chosen.write:
        (FOLDER / "evaluations.md").write_text(page(read(PATH, Row)), encoding="utf-8")
    return 0


def page(rows: list[Row]) -> str:
    """Return the table of the page on related tools."""
    tools = {"ampler": am.__version__} | {
        name: version(name) for name in ("evalci", "evalconfidence", "evalsig", "evalstats")
    }
    lines = [
        f"Written by `python benchmarks/peers_evals.py --write`; {STUDIES} studies each, standard errors in brackets.",
        f"Versions: {', '.join(f'{name} {number}' for name, number in tools.items())}.",
        "",
        "| tool | claims without a difference (5 % promised) | claims at 15 points |",
        "|---|---|---|",
    ]
    values = {(row.data, row.tool, row.measure): row for row in rows}
    for tool in TOOLS:
        shares = [values[name, tool, "claimed"] for name in GAPS]
        cells = " | ".join(f"{row.value:.3f} ({round(1000 * row.error)})" for row in shares)
        lines.append(f"| {tool} | {cells} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
