"""The core of the methods paragraph has at most 150 words in every kind of study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ampler
from ampler.report import subject_of
from ampler.report.methods import core, methods
from ampler.sampling.rules import Fixed

MOST = 150
OLD = Path(__file__).parents[1] / "study" / "old"


def table(algorithms="abc", instances=12, runs=4, **columns):
    """Runs of algorithms that differ a little, with further columns made from instance and run."""
    rng, rows = np.random.default_rng(3), []
    for k, algorithm in enumerate(algorithms):
        for i in range(instances):
            for run in range(runs):
                more = [make(i, run) for make in columns.values()]
                rows.append((algorithm, f"i{i}", 50.0 + 3 * i + k + rng.normal(), *more))
    return pd.DataFrame(rows, columns=["algorithm", "instance", "cost", *columns])


def analysed(frame, **settings):
    reading = {
        name: settings.pop(name)
        for name in ("cluster", "paired", "crossed", "nested", "on_failure")
        if name in settings
    }
    others = {
        name: settings.pop(name) for name in ("alternative", "floor", "mean_over", "inference") if name in settings
    }
    asked = {"difference": "simple", "better": "lower"} | settings
    return ampler.analyse(ampler.read_results(frame, **reading), **asked, settings=ampler.Settings(**others))


def measures():
    frame = table().assign(seconds=lambda x: x.cost / 10)
    cost = {"name": "cost", "better": "lower", "difference": "ratio"}
    seconds = {"name": "seconds", "better": "lower", "difference": "ratio", "role": "non-inferior", "margin": 0.1}
    joint = ampler.analyse_measures(frame, [cost, seconds])
    return replace(joint.analyses["cost"], measures=joint)


def solver_table():
    frame = table().assign(status="ok")
    frame.loc[::7, ["cost", "status"]] = [100.0, "timeout"]
    return frame.rename(columns={"cost": "time"})


KINDS = {
    "table": lambda: analysed(table()),
    "table with a margin": lambda: analysed(table(), margin=1.0, reference="a"),
    "percent": lambda: analysed(table(), difference="percent", alternative="less", reference="a"),
    "ratio of medians": lambda: analysed(table(), difference="ratio", statistic="median", test="wilcoxon"),
    "bootstrap-t": lambda: analysed(table(), difference="ratio", test="bootstrap-t", floor=1e-8),
    "solvers": lambda: analysed(solver_table(), on_failure="par=10,cutoff=100"),
    "clusters": lambda: analysed(table(passage=lambda i, run: i // 3), cluster="passage"),
    "instances in clusters": lambda: analysed(
        table(passage=lambda i, run: i // 3), cluster="passage", mean_over="instances"
    ),
    "folds": lambda: analysed(table(fold=lambda i, run: run), paired="fold"),
    "sessions": lambda: analysed(table(day=lambda i, run: run), crossed="day"),
    "one instance": lambda: analysed(table(instances=1, runs=12)),
    "these instances": lambda: analysed(table(), inference="these instances"),
    "rates": lambda: analysed(table().assign(cost=lambda x: (x.cost > x.cost.median()) * 1.0), statistic="rate"),
    "measures": measures,
    "detect": lambda: OLD / "sized" / "study.db",
    "interim analyses": lambda: OLD / "looks" / "study.db",
    "se": lambda: OLD / "se" / "study.db",
    "fixed": lambda: OLD / "fixed" / "study.db",
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_core_has_at_most_150_words(kind):
    sentences = methods(subject_of(KINDS[kind]()))
    words = " ".join(sentence.words for sentence in core(sentences)).split()

    assert len(words) <= MOST


def test_the_core_of_a_planned_study_has_at_most_150_words(study_file):
    for path in (study_file(), study_file(Fixed(runs=6))):
        assert len(" ".join(sentence.words for sentence in core(methods(subject_of(path)))).split()) <= MOST
