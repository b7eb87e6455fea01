"""The paper's rule against ours on the same instances: what each spends, and how accurate its result truly is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

import ampler as am
from ampler.sampling.rules import Fixed
from ampler.study.store import read_store
from ampler_upmsp.experiments import SE, START, first_experiment
from ampler_upmsp.variants import FULL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ampler.analysis import InstanceAccuracy

TRUTH_SEED = 2021  # another one than the experiment's: the truth must not be made of the runs that it judges
TRUTH_RUNS = 120  # of each algorithm on each instance: a true standard error is then known to 6.5 percent
WORDS = {
    "paper": "the paper's Algorithm 1",
    "pairs": "optimal, guard pairs (default)",
    "all": "optimal, guard all",
}
MARKS = {"paper": ("#D55E00", "^"), "pairs": ("#0072B2", "o"), "all": ("#009E73", "s")}


@dataclass(frozen=True, slots=True)
class Truth:
    """Mean and variance of the makespan on one instance, by algorithm."""

    mean: Mapping[str, float]
    variance: Mapping[str, float]

    def errors(self, runs: Mapping[str, int]) -> np.ndarray:
        """Return the true standard errors of the percent differences to `full` after so many runs.

        The difference 1 − θj/θ1 has the variance v1·(θj/θ1²)² + vj/θ1², with v = σ²/n.
        """
        v = {name: self.variance[name] / count for name, count in runs.items()}
        first = self.mean[FULL]
        others = [name for name in runs if name != FULL]
        return np.sqrt([v[FULL] * (self.mean[name] / first**2) ** 2 + v[name] / first**2 for name in others])


@dataclass(frozen=True, slots=True)
class RuleOnInstance:
    """What one rule did on one instance: its runs, how many pairs are truly within `se`, and the largest true error."""

    instance: str
    rule: str
    runs: int
    pairs: int
    within: int
    hard: int  # pairs that the first runs alone do not bring within se
    hard_within: int
    worst: float  # in units of se
    at_budget: bool


def truth_experiment(instances: Iterable[am.Instance], *, iterations: int, runs: int = TRUTH_RUNS) -> am.Study:
    """Return the study that finds the true means and variances: many runs of everything, whatever they say."""
    return first_experiment(instances, iterations=iterations, seed=TRUTH_SEED, rule=Fixed(runs=runs))


def true_moments(path: str | PathLike[str]) -> dict[str, Truth]:
    """Return means and variances on each instance of a finished truth experiment."""
    values: dict[str, dict[str, list[float]]] = {}
    with read_store(path) as store:
        for run in store.observations():
            values.setdefault(run.key.instance, {}).setdefault(run.key.algorithm, []).append(run.value)
    return {instance: _truth(samples) for instance, samples in values.items()}


def judge_rule(rule: str, analysis: am.Analysis, truth: Mapping[str, Truth]) -> tuple[RuleOnInstance, ...]:
    """Judge a finished study by the truth, instance by instance."""
    names = [row.algorithm for row in analysis.algorithms]
    first_runs = dict.fromkeys(names, START)
    judged = []
    for row in analysis.accuracy:
        true = truth[row.instance]
        errors = true.errors(dict(zip(names, row.runs, strict=True)))
        judged.append(_on_instance(rule, row, errors, hard=true.errors(first_runs) > SE))
    return tuple(judged)


def summary(rows: Sequence[RuleOnInstance]) -> str:
    """Return a table in Markdown, a row for each rule."""
    lines = [
        "| rule | runs | at the budget | pairs truly within se | of the hard ones | instances with all pairs within"
        " | largest true error (mean) |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for rule in dict.fromkeys(row.rule for row in rows):
        own = [row for row in rows if row.rule == rule]
        within, pairs, hard_within, hard = (
            sum(getattr(row, name) for row in own) for name in ("within", "pairs", "hard_within", "hard")
        )
        lines.append(
            f"| {WORDS[rule]} | {sum(row.runs for row in own)} | {sum(row.at_budget for row in own)} "
            f"| {100 * within / pairs:.1f} % | {100 * hard_within / max(1, hard):.1f} % "
            f"| {sum(row.within == row.pairs for row in own)} of {len(own)} "
            f"| {np.mean([row.worst for row in own]):.2f}·se |"
        )
    return "\n".join(lines) + "\n"


def draw_rules(rows: Sequence[RuleOnInstance]) -> Axes:
    """Draw what each rule did on each instance: its runs, and the largest true standard error, in units of se."""
    from ampler.report.figures.canvas import sheet

    ax = sheet(figsize=(5.2, 3.2), layout="constrained").subplots()
    for rule, (colour, marker) in MARKS.items():
        own = [row for row in rows if row.rule == rule]
        runs, worst = [row.runs for row in own], [row.worst for row in own]
        ax.plot(runs, worst, marker, color=colour, markersize=4, alpha=0.75, label=WORDS[rule])
    ax.axhline(1, color="black", linewidth=0.8, linestyle="--")
    ax.set_xlabel("runs of all 22 algorithms on the instance", fontsize=8)
    ax.set_ylabel("largest true standard error / se", fontsize=8)
    ax.tick_params(labelsize=7)
    ax.grid(linewidth=0.4, color="#DDDDDD")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=7, frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax


def _on_instance(rule: str, row: InstanceAccuracy, errors: np.ndarray, *, hard: np.ndarray) -> RuleOnInstance:
    within = errors <= SE
    return RuleOnInstance(
        instance=row.instance,
        rule=rule,
        runs=sum(row.runs),
        pairs=within.size,
        within=int(within.sum()),
        hard=int(hard.sum()),
        hard_within=int(within[hard].sum()),
        worst=float(errors.max() / SE),
        at_budget=row.at_budget,
    )


def _truth(samples: Mapping[str, Sequence[float]]) -> Truth:
    return Truth(
        {name: float(np.mean(sample)) for name, sample in samples.items()},
        {name: float(np.var(sample, ddof=1)) for name, sample in samples.items()},
    )
