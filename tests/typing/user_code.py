"""Code as users write it, which a strict type checker must accept: `make check` reads it, nothing runs it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import assert_type

import pandas as pd

import ampler as am
from ampler import plots


def solve(instance: str, seed: int, *, rounds: int = 3) -> float:
    return float(len(instance) + seed % rounds)


def measures(instance: str, seed: int) -> Mapping[str, float]:
    return {"cost": 1.0, "iterations": 3.0}


def designs() -> None:
    design = am.required_instances(comparisons=21, effect=0.5, power=0.8)
    assert_type(design, am.Design)
    assert_type(design.instances, int)
    assert_type(am.n_comparisons(22), int)
    assert_type(am.effect_from(difference=2.0, sd=4.0), float)


def studies(folder: Path) -> am.Analysis:
    study = am.Study(
        algorithms={"a": solve, "b": measures, "c": am.Command("c", ("solver", "{instance}", "{seed}"))},
        instances=["one", "two"],
        difference="percent",
        reference="a",
        detect=0.02,
        on_failure=am.Par(10),
        better="lower",
    )
    return study.run(folder / "study.db", workers=2)


def results(frame: pd.DataFrame, path: str) -> None:
    analysis = am.analyse(frame, difference="simple", better="higher", test="wilcoxon", margin=0.01)
    assert_type(analysis, am.Analysis)
    for comparison in analysis.comparisons:
        assert_type(comparison.verdict, str)
        assert_type(comparison.p_holm, float)
    assert_type(am.write_report(analysis, path), Path)
    assert_type(am.advise(frame, detect=0.02, difference="percent", better="lower"), am.Advice)
    plots.save(plots.draw_intervals(plots.intervals_data(analysis)), "intervals.pdf")


def rules() -> None:
    rule = am.Accuracy(se=0.05, difference="percent", reference="a")
    answer = rule({"a": [1.0, 2.0], "b": [2.0, 3.0]})
    if isinstance(answer, am.Sample):
        assert_type(answer.counts, Mapping[str, int])
